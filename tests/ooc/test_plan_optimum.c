/* The traffic of a plan against the least that is possible with the memory given, under the engine's
 * own rule: an operand is moved when its tile changes, and nothing is kept in RAM.
 *
 * Matrix product, c(y, x) += a(row, y) b(row, x), all of n elements a side or more. With one slot,
 * tiles of Ty × Tx and one row, c stays while rows stream past it, so a is read N_x / Tx times and b
 * N_y / Ty times:
 *
 *     memory    Ty Tx + Ty + Tx <= M                    elements
 *     traffic   R N_y N_x (1 / Tx + 1 / Ty)  >=  2 R N_y N_x / T,   T = sqrt(M + 1) - 1
 *
 * because Ty + Tx >= 2 sqrt(Ty Tx) turns the first line into sqrt(Ty Tx) <= T. This is the well-known
 * 2 n³ / sqrt(M) (Hong and Kung 1981; Irony, Toledo and Tiskin 2004 have the constants) for M >> 1.
 *
 * Stencil, out(i, j) of in(i ± h, j ± h). Tiles share no halos, so
 *
 *     memory    (Ti + 2h)(Tj + 2h) + Ti Tj <= M         elements, halos cut at the array's ends
 *     traffic   S_i S_j,   S = Σ over the tiles of one axis of their extents with halos
 *
 * whose least value is found here by trying every Ti and Tj.
 */
#include "tests/support/test_jobs.h"

#include <math.h>

#define ELEMENT_BYTES 8
#define MARGIN 1.10

/* Only the bytes read take time. */
static slc_plan_request request_of(int64_t device_bytes) {
    return (slc_plan_request){.device_budget_bytes = device_bytes,
                              .host_budget_bytes = 1ll << 40,
                              .allocation_unit_bytes = 1,
                              .rates = {.disk_bytes_per_s = 1e6,
                                        .read_bytes_per_s = 1e6,
                                        .tier_bytes_per_s = 1e12,
                                        .h2d_bytes_per_s = 1e15,
                                        .d2h_bytes_per_s = 1e15,
                                        .write_bytes_per_s = 1e15,
                                        .step_seconds = 1e-15},
                              .no_tier = true};
}

static void check_product(int64_t n_rows, int64_t ny, int64_t nx, int64_t elements) {
    const slc_job job = test_product_job(n_rows, ny, nx, 1, 1);
    /* Two tile descriptions and the rounding of three buffers to 256 bytes are not the tiles'. */
    const slc_plan_request request = request_of(elements * ELEMENT_BYTES + 5 * 256);
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    const double side = sqrt((double)elements + 1) - 1;
    const double rows = (double)n_rows * (double)ny * (double)nx * ELEMENT_BYTES;
    const double once = (double)n_rows * (double)(ny + nx) * ELEMENT_BYTES;
    const double least = fmax(2 * rows / side, once);
    /* The same with whole numbers of tiles along each side. */
    double least_whole = 1e300;
    for (int64_t ty = 1; ty <= ny; ty++) {
        int64_t tx = (elements - ty) / (ty + 1);
        tx = tx < nx ? tx : nx;
        if (tx >= 1) {
            const double reads = (double)((nx + tx - 1) / tx) * (double)ny +
                                 (double)((ny + ty - 1) / ty) * (double)nx;
            least_whole = fmin(least_whole, reads * (double)n_rows * ELEMENT_BYTES);
        }
    }
    print_message("%lld x %lld in %lld elements: %.3f of the bound, %.3f of the best whole tiles\n",
                  (long long)ny, (long long)nx, (long long)elements,
                  (double)plan.bytes_read / least, (double)plan.bytes_read / least_whole);
    /* What the slack would give if it were all used for tiles. */
    const double most = sqrt((double)elements + 5 * 256 / ELEMENT_BYTES + 1) - 1;
    assert_true((double)plan.bytes_read >= fmax(2 * rows / most, once) * 0.999999);
    assert_true((double)plan.bytes_read <= MARGIN * least_whole);
    /* Ten tiles a side and more: rounding up to whole tiles does not matter either. */
    if (side < (double)ny / 10 && side < (double)nx / 10) {
        assert_true((double)plan.bytes_read <= MARGIN * least);
    }
}

static void product_is_near_the_optimum(void **state) {
    (void)state;
    for (int64_t elements = 500; elements < 40000000; elements = elements * 7 / 3) {
        check_product(5000, 5000, 5000, elements);
        check_product(20000, 20000, 700, elements);
    }
}

/* Σ of extents with halos over the tiles of `tile` along an axis of `n`. */
static double widths(int64_t n, int64_t tile, int64_t halo) {
    int64_t sum = 0;
    for (int64_t begin = 0; begin < n; begin += tile) {
        const int64_t end = begin + tile < n ? begin + tile : n;
        const int64_t from = begin > halo ? begin - halo : 0;
        const int64_t to = end + halo < n ? end + halo : n;
        sum += to - from;
    }
    return (double)sum;
}

static void check_stencil(int64_t ni, int64_t nj, int64_t halo, int64_t elements) {
    slc_job job = test_turn_job(ni, nj, 1);
    job.operands[0].halo[0] = job.operands[0].halo[1] = halo;
    const slc_plan_request request = request_of(elements * ELEMENT_BYTES + 4 * 256);
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    double *along_j = test_allocate((nj + 1) * (int64_t)sizeof *along_j);
    for (int64_t tj = 1; tj <= nj; tj++) {
        along_j[tj] = widths(nj, tj, halo);
    }
    double least = 1e300;
    for (int64_t ti = 1; ti <= ni; ti++) {
        const double along_i = widths(ni, ti, halo);
        const int64_t wide_i = ti + 2 * halo < ni ? ti + 2 * halo : ni;
        for (int64_t tj = 1; tj <= nj; tj++) {
            const int64_t wide_j = tj + 2 * halo < nj ? tj + 2 * halo : nj;
            if (wide_i * wide_j + ti * tj <= elements) {
                least = fmin(least, along_i * along_j[tj] * ELEMENT_BYTES);
            }
        }
    }
    free(along_j);
    print_message("%lld x %lld, halo %lld, in %lld elements: %.3f of the best\n", (long long)ni,
                  (long long)nj, (long long)halo, (long long)elements,
                  (double)plan.bytes_read / least);
    assert_true((double)plan.bytes_read <= MARGIN * least);
}

static void stencil_is_near_the_optimum(void **state) {
    (void)state;
    for (int64_t elements = 600; elements < 2000000; elements = elements * 5 / 2) {
        check_stencil(1000, 800, 1, elements);
        check_stencil(700, 900, 7, elements);
        check_stencil(60, 1500, 3, elements);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_is_near_the_optimum),
        cmocka_unit_test(stencil_is_near_the_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
