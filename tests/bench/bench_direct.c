/* How fast the host's direct kernel is, beside what it is made of.
 *
 *     bench_direct [--quick] [--threads N] [--tile T] [--block B]
 *
 * Four rates, in pairs of one visibility and one pixel a second, on the same threads: a bare
 * cblas_sgemm that does the multiply-adds of 512² pixels and the same visibilities (two of them for
 * each pair), a plain loop that calls sin and cos for each pair, the product kernel in a narrow
 * field, and the sine kernel in a field that the product does not serve. The best of several runs
 * counts: what else the machine does only makes them slower. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/direct_internal.h"
#include "tests/support/test_direct.h"

#define SIZE 512

extern void openblas_set_num_threads(int n_threads);

typedef struct options {
    bool is_quick;
    int n_threads;
    int64_t tile, block;
} options;

static double uniform(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void die(const char *what) {
    (void)fprintf(stderr, "bench_direct: %s: %s\n", what, slc_status_message());
    exit(1);
}

static void *allocate(int64_t bytes) {
    void *memory = aligned_alloc(64, (size_t)slc_round_up(bytes, 64));
    if (memory == NULL) {
        die("memory");
    }
    return memory;
}

/* Random baselines of a plane-ish array, |u|, |v| < reach, |w| < reach_w. */
static void make_data(int64_t n, double reach, double reach_w, test_direct_data *data) {
    static const double one = 1.0;
    double *uvw = allocate(24 * n);
    float *vis = allocate(8 * n);
    float *weight = allocate(4 * n);
    uint64_t seed = 1;
    for (int64_t k = 0; k < n; k++) {
        uvw[3 * k] = reach * (2.0 * uniform(&seed) - 1.0);
        uvw[3 * k + 1] = reach * (2.0 * uniform(&seed) - 1.0);
        uvw[3 * k + 2] = reach_w * (2.0 * uniform(&seed) - 1.0);
        vis[2 * k] = (float)uniform(&seed);
        vis[2 * k + 1] = (float)uniform(&seed);
        weight[k] = 1.0f;
    }
    *data = (test_direct_data){
        .n_rows = n, .n_channels = 1, .uvw_m = uvw, .vis = vis, .weight = weight, .channels = &one};
}

static void free_data(test_direct_data *data) {
    free((void *)(uintptr_t)data->uvw_m);
    free((void *)(uintptr_t)data->vis);
    free((void *)(uintptr_t)data->weight);
}

typedef struct sgemm_work {
    int64_t n;
    float *left, *right, *out;
} sgemm_work;

/* One large product by OpenBLAS's own threads. */
static double sgemm_rate(const options *opt, int64_t n) {
    const int64_t inner = 2 * n;
    sgemm_work work = {.n = n,
                       .left = allocate(4 * inner * SIZE),
                       .right = allocate(4 * inner * SIZE),
                       .out = allocate(4 * SIZE * SIZE)};
    for (int64_t i = 0; i < inner * SIZE; i++) {
        work.left[i] = (float)(i % 7) - 3.0f;
        work.right[i] = (float)(i % 5) - 2.0f;
    }
    openblas_set_num_threads(opt->n_threads);
    double best = 0.0;
    for (int run = 0; run < (opt->is_quick ? 2 : 5); run++) {
        const int64_t begin = slc_clock_ns();
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, SIZE, SIZE, (int)inner, 1.0f,
                    work.right, SIZE, work.left, SIZE, 0.0f, work.out, SIZE);
        const double ns = (double)(slc_clock_ns() - begin);
        best = fmax(best, (double)n * SIZE * SIZE / ns * 1e9);
    }
    openblas_set_num_threads(1);
    free(work.left);
    free(work.right);
    free(work.out);
    return best;
}

typedef struct loop_work {
    const test_direct_data *data;
    double *sums; /* [8] */
} loop_work;

static slc_status loop_share(void *context, int64_t index, int worker) {
    const loop_work *work = context;
    (void)worker;
    double sum = 0.0;
    for (int64_t i = index * 8; i < (index + 1) * 8; i++) {
        const float l = (float)i * 1e-4f;
        for (int64_t k = 0; k < work->data->n_rows; k++) {
            const float phase = 6.2831853f * ((float)work->data->uvw_m[3 * k] * l);
            sum += (double)(work->data->vis[2 * k] * cosf(phase) +
                            work->data->vis[2 * k + 1] * sinf(phase));
        }
    }
    work->sums[index] = sum;
    return SLC_OK;
}

static double loop_rate(slc_pool *pool, const test_direct_data *data) {
    double sums[8];
    loop_work work = {.data = data, .sums = sums};
    const int64_t begin = slc_clock_ns();
    if (slc_pool_for(pool, 8, loop_share, &work) != SLC_OK) {
        die("plain loop");
    }
    return 64.0 * (double)data->n_rows / (double)(slc_clock_ns() - begin) * 1e9;
}

/* The kernel over 512² pixels of `scale` rad. */
static double kernel_rate(const options *opt, slc_device *device, const test_direct_data *data,
                          double scale, double max_w, const char *what) {
    const slc_direct_request request = {
        .device = SLC_DEVICE_HOST,
        .geometry = {.nx = SIZE, .ny = SIZE, .scale_rad = scale, .is_w_projected = true},
        .survey = {.max_w = max_w, .n_samples = data->n_rows, .first_granule_sum = 4096.0},
        .n_channels = 1,
        .epsilon = 1e-6,
        .n_parts = 1};
    slc_direct_setup setup;
    if (slc_direct_choose(&request, &setup) != SLC_OK) {
        die(what);
    }
    setup.tile_pixels = opt->tile > 0 ? opt->tile : setup.tile_pixels;
    setup.block_samples = opt->block > 0 ? opt->block : setup.block_samples;
    slc_direct_summary summary;
    slc_direct_summarise(&setup, &summary);
    (void)printf("%s: %s; block %lld\n", what, summary.why, (long long)setup.block_samples);
    slc_fixed *image = allocate((int64_t)sizeof(slc_fixed) * SIZE * SIZE);
    double best = 0.0;
    for (int run = 0; run < (opt->is_quick ? 2 : 5); run++) {
        test_direct_tiling tiling = {0};
        if (test_direct_run(device, &setup, data, &tiling, image) != SLC_OK) {
            die(what);
        }
        const double pairs = (double)data->n_rows * (double)summary.finite_pixels;
        best = fmax(best, pairs / (double)tiling.kernel_ns * 1e9);
    }
    free(image);
    return best;
}

static options parse(int n, char **words) {
    options opt = {.n_threads = 2};
    for (int i = 1; i < n; i++) {
        const char *value = i + 1 < n ? words[i + 1] : "0";
        if (strcmp(words[i], "--quick") == 0) {
            opt.is_quick = true;
        } else if (strcmp(words[i], "--threads") == 0) {
            opt.n_threads = (int)strtol(value, NULL, 10);
            i++;
        } else if (strcmp(words[i], "--tile") == 0) {
            opt.tile = strtol(value, NULL, 10);
            i++;
        } else if (strcmp(words[i], "--block") == 0) {
            opt.block = strtol(value, NULL, 10);
            i++;
        } else {
            (void)fprintf(stderr,
                          "usage: bench_direct [--quick] [--threads N] [--tile T] [--block B]\n");
            exit(2);
        }
    }
    return opt;
}

int main(int n_words, char **words) {
    const options opt = parse(n_words, words);
    const int64_t n = opt.is_quick ? 20000 : 100000;
    slc_pool *pool = NULL;
    slc_device *device = NULL;
    if (slc_pool_create(opt.n_threads, &pool) != SLC_OK ||
        slc_device_create_host(pool, NULL, &device) != SLC_OK) {
        die("host device");
    }
    test_direct_data narrow;
    test_direct_data wide;
    make_data(n, 2000.0, 200.0, &narrow);
    make_data(n / 10, 200.0, 1e4, &wide);
    const double sgemm = sgemm_rate(&opt, n);
    const double loop = loop_rate(pool, &narrow);
    const double product = kernel_rate(&opt, device, &narrow, 1e-5, 200.0, "product");
    const double sine = kernel_rate(&opt, device, &wide, 2.0 / SIZE, 1e4, "sine");
    (void)printf("\n%d threads, loops %s, OpenBLAS core %s, %lld visibilities, %d x %d pixels\n",
                 opt.n_threads, slci_direct_simd_get()->name, slci_direct_blas_core(), (long long)n,
                 SIZE, SIZE);
    (void)printf("%-36s %12s %12s\n", "", "pairs/s", "of sgemm");
    (void)printf("%-36s %12.3g %12.3f\n", "bare cblas_sgemm", sgemm, 1.0);
    (void)printf("%-36s %12.3g %12.3f\n", "product kernel, narrow field", product, product / sgemm);
    (void)printf("%-36s %12.3g %12.5f\n", "sine kernel, to the horizon", sine, sine / sgemm);
    (void)printf("%-36s %12.3g %12.5f\n", "plain sine and cosine a pair", loop, loop / sgemm);
    free_data(&narrow);
    free_data(&wide);
    slc_device_destroy(device);
    slc_pool_destroy(pool);
    return 0;
}
