/* Open addressing with linear probing, half full at most. */
#include "io/vis_distinct.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64

/* The finaliser of MurmurHash3 (Appleby, public domain): every input bit reaches every output bit. */
static uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

/* The slot where (a, b) is or would be. */
static int64_t find_slot(const slci_distinct *set, int64_t a, int64_t b) {
    const uint64_t mask = (uint64_t)set->n_slots - 1;
    uint64_t at = mix((uint64_t)a ^ mix((uint64_t)b)) & mask;
    for (;;) {
        const int64_t index = set->slots[at] - 1;
        if (index < 0 || (set->members[2 * index] == a && set->members[2 * index + 1] == b)) {
            return (int64_t)at;
        }
        at = (at + 1) & mask;
    }
}

static slc_status grow(slci_distinct *set) {
    const int64_t n_slots = set->n_slots == 0 ? FIRST_SLOTS : set->n_slots * 2;
    /* One member takes 16 bytes, and there are half as many of them as slots. */
    int64_t *members = realloc(set->members, (size_t)n_slots * sizeof *members);
    if (members != NULL) {
        set->members = members;
    }
    int64_t *slots = calloc((size_t)n_slots, sizeof *slots);
    if (members == NULL || slots == NULL) {
        free(slots);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %" PRId64 " different values", n_slots);
    }
    free(set->slots);
    set->slots = slots;
    set->n_slots = n_slots;
    for (int64_t k = 0; k < set->n; k++) {
        slots[find_slot(set, members[2 * k], members[2 * k + 1])] = k + 1;
    }
    return SLC_OK;
}

slc_status slci_distinct_add(slci_distinct *set, int64_t a, int64_t b, int64_t *index,
                             bool *is_new) {
    if (2 * (set->n + 1) > set->n_slots) {
        SLC_TRY(grow(set));
    }
    const int64_t slot = find_slot(set, a, b);
    *is_new = set->slots[slot] == 0;
    if (*is_new) {
        set->members[2 * set->n] = a;
        set->members[2 * set->n + 1] = b;
        set->n++;
        set->slots[slot] = set->n;
    }
    *index = set->slots[slot] - 1;
    return SLC_OK;
}

void slci_distinct_destroy(slci_distinct *set) {
    free(set->members);
    free(set->slots);
    memset(set, 0, sizeof *set);
}
