/* How fast the CUDA direct kernel is, beside the limit that its instructions for a pair set, the limit
 * of the card's special functions, and the way the transform is commonly written for a GPU; and how
 * wrong each is.
 *
 *     bench_direct_cuda [--quick]
 *
 * Rates are pairs of one visibility and one pixel a second; the best of several runs counts. Errors
 * are against the double reference at a few pixels, in units of Σw|V|. Leaves with 77 where there is
 * no card. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench_direct_cuda.h"
#include "tests/support/test_direct.h"

#define N_CHECKED 8 /* pixels compared with the reference */
#define NO_CARD 77

typedef struct field {
    const char *name;
    int variant; /* of most tiles */
    int64_t size;
    double scale_rad;
    int64_t n_visibilities;
    double reach_uv, reach_w; /* wavelengths */
    bool has_peer;
} field;

typedef struct result {
    int64_t ns, peer_ns;
    double error, peer_error;
} result;

/* What the card could do at most. */
typedef struct bench_limits {
    double special;                 /* special functions a second */
    double pairs[BENCH_N_VARIANTS]; /* pairs a second */
    double phase_error;
} bench_limits;

static const field fields[] = {
    {"narrow, no w c", BENCH_FLAT, 2048, 1e-6, 200000, 1e5, 1e4, true},
    {"narrow, no w c", BENCH_FLAT, 512, 1e-6, 1000000, 1e5, 1e4, true},
    {"w c in single", BENCH_SINGLE, 2048, 1e-4, 200000, 5e3, 1e5, true},
    {"wide, w c in double", BENCH_DOUBLE, 2048, 5e-4, 100000, 1e3, 1e6, false},
    {"wide, w c in two words", BENCH_WIDE, 2048, 5e-4, 100000, 1e3, 1e6, false},
};
#define N_FIELDS ((int)(sizeof fields / sizeof fields[0]))

static void die(const char *what) {
    (void)fprintf(stderr, "bench_direct_cuda: %s: %s\n", what, slc_status_message());
    exit(1);
}

static void *allocate(int64_t bytes) {
    void *memory = malloc((size_t)bytes);
    if (memory == NULL) {
        die("no memory");
    }
    return memory;
}

/* In [-1, 1). */
static double next_number(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)*state * 0x1p-63;
}

typedef struct visibilities {
    double *uvw;
    float *vis, *weight;
    double max_w, size;
} visibilities;

/* Values around 0.3: the sum is coherent at the centre, where errors of one sign show. */
static visibilities make_visibilities(const field *f) {
    const int64_t n = f->n_visibilities;
    visibilities out = {allocate(24 * n), allocate(8 * n), allocate(4 * n), 0.0, 0.0};
    uint64_t seed = 5;
    for (int64_t k = 0; k < n; k++) {
        out.uvw[3 * k] = f->reach_uv * next_number(&seed);
        out.uvw[3 * k + 1] = f->reach_uv * next_number(&seed);
        out.uvw[3 * k + 2] = f->reach_w * next_number(&seed);
        out.vis[2 * k] = (float)(0.3 + 0.1 * next_number(&seed));
        out.vis[2 * k + 1] = (float)(0.1 * next_number(&seed));
        out.weight[k] = 1.0f;
        out.max_w = fmax(out.max_w, fabs(out.uvw[3 * k + 2]));
        out.size += hypot((double)out.vis[2 * k], (double)out.vis[2 * k + 1]);
    }
    return out;
}

/* The centre, two corners and pixels between. */
static int64_t checked_pixel(const field *f, int i) {
    const int64_t size = f->size;
    return i == 0 ? (size / 2) * size + size / 2 : (size * size - 1) * (i - 1) / (N_CHECKED - 2);
}

static double reference_at(const field *f, const visibilities *data, int64_t pixel) {
    static const double one = 1.0;
    const slc_direct_geometry geometry = {.nx = 1,
                                          .ny = 1,
                                          .scale_rad = f->scale_rad,
                                          .centre_l = -(double)(pixel % f->size - f->size / 2) *
                                                      f->scale_rad,
                                          .centre_m = (double)(pixel / f->size - f->size / 2) *
                                                      f->scale_rad,
                                          .is_w_projected = true};
    double value = 0.0;
    slc_direct_reference(&geometry, 1, f->n_visibilities, 1, data->uvw, data->vis, data->weight,
                         &one, &value);
    return value;
}

static void run_kernel(slc_device *device, const field *f, const visibilities *data, int repeats,
                       slc_fixed *image, slc_direct_setup *setup, int64_t *best_ns) {
    static const double one = 1.0;
    const slc_direct_request request = {.device = SLC_DEVICE_CUDA,
                                        .geometry = {.nx = f->size,
                                                     .ny = f->size,
                                                     .scale_rad = f->scale_rad,
                                                     .is_w_projected = true},
                                        .survey = {f->reach_uv, f->reach_uv, data->max_w,
                                                   f->n_visibilities, 0.3 * 4096},
                                        .n_channels = 1,
                                        .epsilon = 1e-6,
                                        .n_parts = 1,
                                        .has_fast_double = f->variant == BENCH_DOUBLE};
    if (slc_direct_choose(&request, setup) != SLC_OK) {
        die("choosing the kernel");
    }
    const test_direct_data rows = {f->n_visibilities, 1, data->uvw, data->vis, data->weight, &one};
    *best_ns = INT64_MAX;
    for (int run = 0; run < repeats; run++) {
        test_direct_tiling tiling = {0};
        if (test_direct_run(device, setup, &rows, &tiling, image) != SLC_OK) {
            die("kernel");
        }
        *best_ns = slc_min_i64(*best_ns, tiling.kernel_ns);
    }
}

static result run_field(slc_device *device, const field *f, int repeats) {
    result out = {0};
    visibilities data = make_visibilities(f);
    slc_fixed *image = allocate((int64_t)sizeof *image * f->size * f->size);
    float *peer = allocate(4 * f->size * f->size);
    memset(peer, 0, (size_t)(4 * f->size * f->size));
    slc_direct_setup setup;
    run_kernel(device, f, &data, repeats, image, &setup, &out.ns);
    if (f->has_peer && !bench_peer(f->n_visibilities, data.uvw, data.vis, f->size, f->scale_rad,
                                   repeats, peer, &out.peer_ns)) {
        exit(1);
    }
    for (int i = 0; i < N_CHECKED; i++) {
        const int64_t pixel = checked_pixel(f, i);
        const double exact = reference_at(f, &data, pixel);
        const double value = slc_fixed_to_double(image[pixel], setup.scale_bits);
        out.error = fmax(out.error, fabs(value - exact) / data.size);
        out.peer_error = fmax(out.peer_error, fabs((double)peer[pixel] - exact) / data.size);
    }
    free(image);
    free(peer);
    free(data.uvw);
    free(data.vis);
    free(data.weight);
    return out;
}

static double tera_pairs(const field *f, int64_t ns) {
    return (double)f->n_visibilities * (double)(f->size * f->size) / (double)ns * 1e-3;
}

/* What tests/gpu/run puts into its own table: fields separated by tabs. */
static void print_results(const result *results, const bench_limits *limits) {
    for (int i = 0; i < N_FIELDS; i++) {
        const field *f = &fields[i];
        const result *r = &results[i];
        const double rate = tera_pairs(f, r->ns);
        const double limit = limits->pairs[f->variant];
        printf("RESULT\t%s, %" PRId64 "^2\t%.3fe12 pairs/s, error %.1e\t%.2f of %.2fe12", f->name,
               f->size, rate, r->error, rate * 1e12 / limit, limit * 1e-12);
        if (f->has_peer) {
            const double peer_rate = tera_pairs(f, r->peer_ns);
            printf("; peer %.3fe12, error %.1e", peer_rate, r->peer_error);
        }
        printf("\n");
    }
    printf("RESULT\tlimit of two special functions a pair\t%.3fe12 pairs/s\t-\n",
           limits->special * 0.5e-12);
    printf("RESULT\tcosine over all phases\terror %.2e\t3.2e-07, 9e-07 with sums\n",
           limits->phase_error);
}

/* One line of the table: `limit` is what the field's instructions allow, 0 where that is not known. */
static void print_row(const char *name, const field *f, int64_t ns, double error, double limit,
                      double special) {
    const double rate = tera_pairs(f, ns);
    printf("%-24s %5" PRId64 "^2 %9" PRId64 " %9.1f %9.3f ", name, f->size, f->n_visibilities,
           (double)ns * 1e-6, rate);
    if (limit > 0.0) {
        printf("%9.2f ", rate * 1e12 / limit);
    } else {
        printf("%9s ", "-");
    }
    printf("%9.2f %9.1e\n", 2.0 * rate * 1e12 / special, error);
}

static void print_table(const result *results, const bench_limits *limits) {
    printf("\n%-24s %7s %9s %9s %9s %9s %9s %9s\n", "direct transform, CUDA", "pixels", "vis", "ms",
           "1e12 p/s", "of limit", "of 2 sf", "error");
    for (int i = 0; i < N_FIELDS; i++) {
        const field *f = &fields[i];
        const result *r = &results[i];
        print_row(f->name, f, r->ns, r->error, limits->pairs[f->variant], limits->special);
        if (f->has_peer) {
            print_row("  common form (peer)", f, r->peer_ns, r->peer_error, 0.0, limits->special);
            printf("%-24s %.2f times the peer\n", "", (double)r->peer_ns / (double)r->ns);
        }
    }
    printf("limits, 1e12 pairs/s: without w c %.3f, w c in single %.3f, in double %.3f, in two "
           "words %.3f; two special functions a pair (2 sf) %.3f\n",
           limits->pairs[BENCH_FLAT] * 1e-12, limits->pairs[BENCH_SINGLE] * 1e-12,
           limits->pairs[BENCH_DOUBLE] * 1e-12, limits->pairs[BENCH_WIDE] * 1e-12,
           limits->special * 0.5e-12);
    printf("cosine over all 2^32 phases: worst error %.2e\n", limits->phase_error);
}

static bool find_limits(bench_limits *limits) {
    bool good = bench_special_rate(&limits->special) && bench_phase_error(&limits->phase_error);
    for (int variant = 0; variant < BENCH_N_VARIANTS && good; variant++) {
        good = bench_pair_rate(variant, &limits->pairs[variant]);
    }
    return good;
}

int main(int argc, char **argv) {
    const bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (argc > (is_quick ? 2 : 1)) {
        (void)fprintf(stderr, "usage: bench_direct_cuda [--quick]\n");
        return 2;
    }
    slc_pool *pool = NULL;
    slc_device *device = NULL;
    if (slc_pool_create(1, &pool) != SLC_OK) {
        die("thread pool");
    }
    const slc_device_options options = {.choice = SLC_CHOOSE_CUDA, .pool = pool};
    if (slc_device_create(&options, &device) != SLC_OK) {
        printf("bench_direct_cuda: no card: %s\n", slc_status_message());
        slc_pool_destroy(pool);
        return NO_CARD;
    }
    slc_device_limits limits;
    if (slc_device_get_limits(device, &limits) == SLC_OK) {
        printf("%s, %d multiprocessors\n", limits.name, limits.n_processors);
    }
    bench_limits most;
    if (!find_limits(&most)) {
        return 1;
    }
    result results[N_FIELDS];
    bool is_good = true;
    for (int i = 0; i < N_FIELDS; i++) {
        results[i] = run_field(device, &fields[i], is_quick ? 1 : 3);
        is_good = is_good && results[i].error <= 1e-6;
    }
    print_results(results, &most);
    print_table(results, &most);
    slc_device_destroy(device);
    slc_pool_destroy(pool);
    return is_good ? 0 : 1;
}
