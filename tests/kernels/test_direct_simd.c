/* Every instruction set's pixel loops against the C library's double functions. */
#include "tests/support/test_support.h"

#include <math.h>

#include "kernels/direct_internal.h"

#define N 256
#define TWO_PI 6.283185307179586

static const slci_direct_simd *const sets[] = {&slci_direct_simd_plain, &slci_direct_simd_avx2,
                                               &slci_direct_simd_avx512};

/* The polynomial is off by 7.5e-9, the conversion to single precision by at most 1.7e-8, and the
 * last operations round a result of size 1 by 6e-8 each. */
#define CIRCLE_TOLERANCE 1.5e-7

static double step[N], curve[N];
static float one[N] __attribute__((aligned(64)));
static float two[N] __attribute__((aligned(64)));
static uint32_t turns[N] __attribute__((aligned(64)));

static double phase_of(const slci_direct_ramp *ramp, int x) {
    const double phase = ramp->origin + ramp->u * step[x] + ramp->w * curve[x];
    return phase - rint(phase);
}

static void check_ramp(const slci_direct_simd *set, const slci_direct_ramp *ramp, bool is_small) {
    const double slack = 1e-8 + 1e-15 * (fabs(ramp->u) + fabs(ramp->w)); /* phases in double */
    set->circle(ramp, step, curve, is_small, N, one, two);
    for (int x = 0; x < N; x++) {
        const double angle = TWO_PI * phase_of(ramp, x);
        assert_true(fabs((double)one[x] - cos(angle)) < CIRCLE_TOLERANCE + TWO_PI * slack);
        assert_true(fabs((double)two[x] - sin(angle)) < CIRCLE_TOLERANCE + TWO_PI * slack);
    }
    set->scaled(ramp, 0.6f, -0.8f, step, curve, is_small, N, one, two);
    set->turns(ramp, step, curve, is_small, N, turns);
    for (int x = 0; x < N; x++) {
        const double angle = TWO_PI * phase_of(ramp, x);
        const double re = 0.6 * cos(angle) - 0.8 * sin(angle);
        const double im = -0.8 * cos(angle) - 0.6 * sin(angle);
        assert_true(fabs((double)one[x] - re) < 2.5 * CIRCLE_TOLERANCE + TWO_PI * slack);
        assert_true(fabs((double)two[x] - im) < 2.5 * CIRCLE_TOLERANCE + TWO_PI * slack);
        const double off = (double)turns[x] * 0x1p-32 - phase_of(ramp, x);
        assert_true(fabs(off - rint(off)) < 0x1p-32 + slack);
    }
}

static void phases_are_right(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int x = 0; x < N; x++) {
        step[x] = (x - 127.5) / 256.0;
        curve[x] = -step[x] * step[x] / 3.0;
    }
    step[3] = 0.25; /* quarter, half and whole turns: the ends of the polynomial */
    step[4] = 0.5;
    step[5] = -0.5;
    step[6] = 0.0;
    curve[3] = curve[4] = curve[5] = curve[6] = 0.0;
    for (int64_t s = 0; s < TEST_COUNT(sets); s++) {
        if (!sets[s]->is_supported()) {
            print_message("%s: not on this processor\n", sets[s]->name);
            continue;
        }
        check_ramp(sets[s], &(slci_direct_ramp){0.0, 1.0, 0.0}, true);
        for (int i = 0; i < 50; i++) {
            const double most = i % 2 == 0 ? 1e5 : 1e7; /* the second needs the reduction */
            const slci_direct_ramp ramp = {test_random_between(&seed, -2, 2),
                                           test_random_between(&seed, -most, most),
                                           test_random_between(&seed, -most, most)};
            check_ramp(sets[s], &ramp, i % 2 == 0);
        }
    }
}

/* One row of pixels, eight samples, w c up to 2·10^4 turns or 10^6. */
static void cosines_add_up(void **state) {
    (void)state;
    static uint32_t column[SLCI_DIRECT_SINE_RUN * N] __attribute__((aligned(64)));
    uint32_t row[SLCI_DIRECT_SINE_RUN];
    double w[SLCI_DIRECT_SINE_RUN];
    float amplitude[SLCI_DIRECT_SINE_RUN];
    double sum[N] __attribute__((aligned(64)));
    uint64_t seed = 12;
    for (int64_t s = 0; s < TEST_COUNT(sets); s++) {
        for (int is_small = 0; is_small < 2 && sets[s]->is_supported(); is_small++) {
            const double most = is_small ? 2e4 : 1e6;
            for (int k = 0; k < SLCI_DIRECT_SINE_RUN; k++) {
                row[k] = (uint32_t)test_random(&seed);
                w[k] = test_random_between(&seed, -most, most);
                amplitude[k] = (float)test_random_between(&seed, 0, 1);
            }
            for (int64_t i = 0; i < TEST_COUNT(column); i++) {
                column[i] = (uint32_t)test_random(&seed);
            }
            for (int x = 0; x < N; x++) {
                curve[x] = test_random_between(&seed, -1, 1);
                sum[x] = 100.0;
            }
            sets[s]->cosines(N, SLCI_DIRECT_SINE_RUN, N, column, row, w, amplitude, curve,
                             is_small == 1, sum);
            for (int x = 0; x < N; x++) {
                double exact = 100.0;
                for (int k = 0; k < SLCI_DIRECT_SINE_RUN; k++) {
                    const double phase = (double)column[k * N + x] * 0x1p-32 +
                                         (double)row[k] * 0x1p-32 + w[k] * curve[x];
                    exact += (double)amplitude[k] * cos(TWO_PI * (phase - rint(phase)));
                }
                assert_true(fabs(sum[x] - exact) < 8 * 2e-7);
            }
        }
    }
}

static void promotes_and_scales(void **state) {
    (void)state;
    double sum[N] __attribute__((aligned(64)));
    for (int64_t s = 0; s < TEST_COUNT(sets); s++) {
        if (!sets[s]->is_supported()) {
            continue;
        }
        for (int x = 0; x < N; x++) {
            one[x] = (float)x;
            sum[x] = 0.5;
        }
        sets[s]->promote(N, one, sum);
        sets[s]->scale(N, -2.0f, one, two);
        sets[s]->scale(N, 3.0f, one, one);
        for (int x = 0; x < N; x++) {
            assert_true(sum[x] == 0.5 + x);
            assert_true((double)two[x] == -2.0 * x);
            assert_true((double)one[x] == 3.0 * x);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_are_right),
        cmocka_unit_test(cosines_add_up),
        cmocka_unit_test(promotes_and_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
