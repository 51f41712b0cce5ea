/* From exact sums to doubles. Whole numbers of up to some 5,000 bits, as words of 32 bits, lowest
 * first, and the school's methods for them: what happens here happens once a run.
 *
 * Rounding keeps 64 bits of the result, and one more that says whether anything was below them. That
 * is enough to round to the 53 bits of a double, ties included, as if from the exact value. */
#include "kernels/stats_exact.h"

#include <assert.h>
#include <math.h>

/* Products of n and the squares' sum, squares of the sum, and room below the point for divisions. */
#define WORDS 160

/* Zeros put below a number before it is divided by n² < 2^126, so that 128 bits of the quotient
 * remain whatever the number is. */
#define DIVISION_WORDS 8

__extension__ typedef unsigned __int128 wide;

typedef struct big {
    uint32_t word[WORDS];
    int is_negative;
} big;

void slci_exact_carry(int64_t *digits, int n_digits) {
    int64_t carry = 0;
    for (int d = 0; d < n_digits - 1; d++) {
        const int64_t digit = digits[d] + carry;
        digits[d] = slci_exact_keep(digit);
        carry = slci_exact_carry_of(digit);
    }
    digits[n_digits - 1] += carry;
}

/* ---- whole numbers ------------------------------------------------------------------------------ */

static void negate(big *value) {
    uint64_t carry = 1;
    for (int w = 0; w < WORDS; w++) {
        carry += (uint32_t)~value->word[w];
        value->word[w] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* Digits at word `at`. */
static big big_from(const int64_t *digits, int n_digits, int at) {
    big value = {{0}, 0};
    int64_t carry = 0;
    for (int w = at; w < WORDS; w++) {
        const int d = w - at;
        const int64_t digit = (d < n_digits ? digits[d] : 0) + carry;
        value.word[w] = (uint32_t)slci_exact_keep(digit);
        carry = slci_exact_carry_of(digit);
    }
    value.is_negative = carry < 0;
    if (value.is_negative) {
        negate(&value);
    }
    return value;
}

static int top_word(const big *value) {
    int w = WORDS - 1;
    while (w >= 0 && value->word[w] == 0) {
        w--;
    }
    return w;
}

static int n_bits(const big *value) {
    const int w = top_word(value);
    return w < 0 ? 0 : 32 * w + 32 - __builtin_clz(value->word[w]);
}

/* value · factor, by which it must not grow out of its words. */
static void multiply(big *value, uint64_t factor) {
    wide carry = 0;
    for (int w = 0; w < WORDS; w++) {
        carry += (wide)value->word[w] * factor;
        value->word[w] = (uint32_t)carry;
        carry >>= 32;
    }
    assert(carry == 0);
}

/* The square, begun `at` words further up (or, below 0, down: those words must be zeros). */
static big square(const big *value, int at) {
    big result = {{0}, 0};
    const int top = top_word(value);
    for (int i = 0; i <= top; i++) {
        uint64_t carry = 0;
        for (int j = 0; value->word[i] != 0 && (j <= top || carry > 0); j++) {
            const int w = i + j + at;
            const uint64_t product = (uint64_t)value->word[i] * (j <= top ? value->word[j] : 0);
            assert(w >= 0 || product == 0);
            if (w >= 0) {
                carry += product + result.word[w];
                result.word[w] = (uint32_t)carry;
                carry >>= 32;
            }
        }
    }
    return result;
}

/* a - b for a >= b >= 0, and a + b. */
static void subtract(big *a, const big *b) {
    int64_t borrow = 0;
    for (int w = 0; w < WORDS; w++) {
        borrow += (int64_t)a->word[w] - b->word[w];
        a->word[w] = (uint32_t)slci_exact_keep(borrow);
        borrow = slci_exact_carry_of(borrow);
    }
    assert(borrow == 0);
}

static void add(big *a, const big *b) {
    uint64_t carry = 0;
    for (int w = 0; w < WORDS; w++) {
        carry += (uint64_t)a->word[w] + b->word[w];
        a->word[w] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* Divides in place, towards zero; whether something was left. */
static int divide(big *value, uint64_t divisor) {
    wide rest = 0;
    for (int w = WORDS - 1; w >= 0; w--) {
        rest = rest << 32 | value->word[w];
        value->word[w] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    return rest != 0;
}

/* Bits [at, at + n), n <= 64; bits below 0 are zeros. */
static uint64_t bits_at(const big *value, int at, int n) {
    uint64_t bits = 0;
    for (int b = n - 1; b >= 0; b--) {
        const int bit = at + b;
        const int w = bit / 32;
        bits = bits << 1 | (bit >= 0 && w < WORDS ? value->word[w] >> (bit % 32) & 1u : 0u);
    }
    return bits;
}

static int is_any_below(const big *value, int bit) {
    for (int b = 0; b < bit; b++) {
        if ((value->word[b / 32] >> (b % 32) & 1u) != 0) {
            return 1;
        }
    }
    return 0;
}

/* ---- rounding ----------------------------------------------------------------------------------- */

/* (mantissa + something below 1 if `is_more`) · 2^exponent, the mantissa's highest bit set. */
static double round_to_double(uint64_t mantissa, int is_more, int exponent) {
    /* Bits that a double has no place for: 11, and more below its normal range. */
    int drop = 11;
    if (exponent + drop < -1074) {
        drop = -1074 - exponent;
    }
    if (drop > 64) {
        return 0;
    }
    uint64_t kept = drop < 64 ? mantissa >> drop : 0;
    const uint64_t dropped = drop < 64 ? mantissa << (64 - drop) : mantissa;
    const uint64_t half = UINT64_C(1) << 63;
    if (dropped > half || (dropped == half && (is_more || (kept & 1u) != 0))) {
        kept++;
    }
    return ldexp((double)kept, exponent + drop);
}

/* |value| · 2^-scale, something above it if `is_more`. */
static double big_to_double(const big *value, int is_more, int scale) {
    const int n = n_bits(value);
    if (n == 0) {
        return 0;
    }
    const int at = n - 64;
    const double size =
        round_to_double(bits_at(value, at, 64), is_more || is_any_below(value, at), at - scale);
    return value->is_negative ? -size : size;
}

/* Largest root with root² <= value. */
static uint64_t whole_root(wide value) {
    uint64_t root = 0;
    for (int b = 63; b >= 0; b--) {
        const uint64_t tried = root | UINT64_C(1) << b;
        if ((wide)tried * tried <= value) {
            root = tried;
        }
    }
    return root;
}

/* √(value · 2^-scale), something above the value if `is_more`; the scale is even. */
static double root_to_double(const big *value, int is_more, int scale) {
    const int n = n_bits(value);
    if (n == 0) {
        return 0;
    }
    /* The highest 127 or 128 bits, from an even place on, whose root has 64. */
    int at = n - 128;
    at += at & 1;
    const wide highest = (wide)bits_at(value, at + 64, 64) << 64 | bits_at(value, at, 64);
    const uint64_t root = whole_root(highest);
    const int is_below = is_more || is_any_below(value, at) || (wide)root * root != highest;
    return round_to_double(root, is_below, (at - scale) / 2);
}

/* ---- results ------------------------------------------------------------------------------------ */

double slci_exact_sum(const int64_t *digits) {
    const big value = big_from(digits, SLCI_SUM_DIGITS, 0);
    return big_to_double(&value, 0, 32 * SLCI_SUM_POINT);
}

double slci_exact_mean(const int64_t *digits, int64_t n) {
    big value = big_from(digits, SLCI_SUM_DIGITS, DIVISION_WORDS);
    const int is_more = divide(&value, (uint64_t)n);
    return big_to_double(&value, is_more, 32 * (SLCI_SUM_POINT + DIVISION_WORDS));
}

double slci_exact_deviation(const int64_t *const *sums, const int64_t *const *squares, int n_parts,
                            int64_t n) {
    big total = {{0}, 0};
    for (int p = 0; p < n_parts; p++) {
        const big sum = big_from(sums[p], SLCI_SUM_DIGITS, 0);
        const big squared_sum = square(&sum, DIVISION_WORDS);
        big part = big_from(squares[p], SLCI_SQUARE_DIGITS, DIVISION_WORDS);
        multiply(&part, (uint64_t)n);
        subtract(&part, &squared_sum);
        add(&total, &part);
    }
    const int is_more = divide(&total, (uint64_t)n) | divide(&total, (uint64_t)n);
    return root_to_double(&total, is_more, 32 * (SLCI_SQUARE_POINT + DIVISION_WORDS));
}

void slci_exact_whole(const int64_t *digits, uint64_t *low, int64_t *high) {
    big value = big_from(digits, SLCI_SUM_DIGITS, 0);
    if (value.is_negative) {
        negate(&value);
    }
    const int at = 32 * SLCI_SUM_POINT;
    *low = bits_at(&value, at, 64);
    *high = (int64_t)bits_at(&value, at + 64, 64);
}
