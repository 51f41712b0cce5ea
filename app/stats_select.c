/* Digits lie at fixed places, multiples of their bits from the lowest bit on, so that ranks whose
 * keys are known equally far share steps, whatever else is known of them. */
#include "app/stats_select.h"

#include <string.h>

/* The bits from `shift` on, 0 to 64. */
static uint64_t above(uint64_t key, int shift) {
    return shift < 64 ? key >> shift : 0;
}

static int lower(const slci_select *select, int shift) {
    return shift > select->digit_bits ? shift - select->digit_bits : 0;
}

void slci_select_init(slci_select *select, int key_bits, int digit_bits, const int64_t *ranks,
                      int n_ranks) {
    *select = (slci_select){.digit_bits = digit_bits, .n_wanted = n_ranks};
    for (int k = 0; k < n_ranks; k++) {
        select->wanted[k] =
            (slci_select_wanted){.rank = ranks[k],
                                 .shift = (key_bits + digit_bits - 1) / digit_bits * digit_bits};
    }
}

void slci_select_narrow(slci_select *select, uint64_t lowest, uint64_t highest) {
    for (int k = 0; k < select->n_wanted; k++) {
        slci_select_wanted *wanted = &select->wanted[k];
        while (wanted->shift > 0) {
            const uint64_t ones =
                wanted->shift < 64 ? (UINT64_C(1) << wanted->shift) - 1 : UINT64_MAX;
            const uint64_t last = wanted->key | ones;
            const uint64_t from = wanted->key > lowest ? wanted->key : lowest;
            const uint64_t to = last < highest ? last : highest;
            const int shift = lower(select, wanted->shift);
            if (above(from, shift) != above(to, shift)) {
                break;
            }
            wanted->key = from & ~((UINT64_C(1) << shift) - 1);
            wanted->shift = shift;
        }
    }
}

/* The group of a key in a step; -1: none. */
static int find_group(const slc_stats_step *step, uint64_t prefix) {
    for (int g = 0; g < step->n_groups; g++) {
        if (step->group[g] == prefix) {
            return g;
        }
    }
    return -1;
}

static void insert_group(slc_stats_step *step, uint64_t prefix) {
    int g = step->n_groups++;
    while (g > 0 && step->group[g - 1] > prefix) {
        step->group[g] = step->group[g - 1];
        g--;
    }
    step->group[g] = prefix;
}

bool slci_select_next(const slci_select *select, int most, slc_stats_step *step) {
    int shift = 0; /* of those that are known least */
    for (int k = 0; k < select->n_wanted; k++) {
        shift = select->wanted[k].shift > shift ? select->wanted[k].shift : shift;
    }
    *step = (slc_stats_step){.shift = lower(select, shift), .digit_bits = select->digit_bits};
    for (int k = 0; k < select->n_wanted && step->n_groups < most && shift > 0; k++) {
        const uint64_t prefix = above(select->wanted[k].key, shift);
        if (select->wanted[k].shift == shift && find_group(step, prefix) < 0) {
            insert_group(step, prefix);
        }
    }
    return shift > 0;
}

slc_status slci_select_take(slci_select *select, const slc_stats_step *step,
                            const uint64_t *count) {
    const int shift = step->shift + step->digit_bits;
    for (int k = 0; k < select->n_wanted; k++) {
        slci_select_wanted *wanted = &select->wanted[k];
        const int g = wanted->shift == shift ? find_group(step, above(wanted->key, shift)) : -1;
        if (g < 0) {
            continue;
        }
        const uint64_t *of_group = count + ((int64_t)g << step->digit_bits);
        const int64_t n_digits = INT64_C(1) << step->digit_bits;
        int64_t digit = 0;
        uint64_t before = 0;
        while (digit < n_digits && before + of_group[digit] <= (uint64_t)wanted->rank) {
            before += of_group[digit++];
        }
        if (digit == n_digits) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "a pass over the data finds %llu values where the passes before found "
                            "more than %lld: the data changes while it is read",
                            (unsigned long long)before, (long long)wanted->rank);
        }
        wanted->rank -= (int64_t)before;
        wanted->key |= (uint64_t)digit << step->shift;
        wanted->shift = step->shift;
    }
    return SLC_OK;
}
