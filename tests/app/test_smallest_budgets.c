/* The smallest --ram and --vram that a refusal names, for every job, over shapes, chunks, filters, ways
 * to treat the data and numbers of threads: the run works with that number at once, and with one byte
 * less it is refused again, with the same number. */
#include <ctype.h>

#include "app/gather.h"
#include "app/image.h"
#include "app/predict.h"
#include "app/rewrite.h"
#include "app/stats.h"
#include "tests/support/test_prediction.h"
#include "tests/support/test_rewritten.h"

#define PLENTY (INT64_C(256) << 20)

/* A job whose budgets may be set, again and again. */
typedef struct subject {
    char what[256];
    slc_run_options *run;
    slc_status (*go)(void *options);
    void *options;
} subject;

static slc_status run_with(const subject *self, int64_t vram_bytes, int64_t ram_bytes) {
    self->run->vram_bytes = vram_bytes;
    self->run->ram_bytes = ram_bytes;
    return self->go(self->options);
}

/* The number behind `option` in what a refusal says would work; -1: it names none. */
static int64_t named(const char *option) {
    const char *at = strstr(slc_status_message(), "the smallest that works is ");
    at = at != NULL ? strstr(at, option) : NULL;
    at = at != NULL ? at + strlen(option) : "";
    return isdigit((unsigned char)*at) ? strtoll(at, NULL, 10) : -1;
}

static void expect(const subject *self, bool holds, const char *what) {
    if (!holds) {
        fail_msg("%s, --threads %d --vram %lld --ram %lld: %s: %s", self->what,
                 self->run->n_threads, (long long)self->run->vram_bytes,
                 (long long)self->run->ram_bytes, what, slc_status_message());
    }
}

/* That with plenty of the other, `least` of one memory works, and so does more; one byte less does
 * not. */
static void check_number(const subject *self, bool is_ram, int64_t least) {
    const char *option = is_ram ? "--ram " : "--vram ";
    const int64_t works[] = {least, least + least / 7};
    for (int64_t k = 0; k < TEST_COUNT(works); k++) {
        const int64_t bytes = works[k];
        const slc_status status = run_with(self, is_ram ? PLENTY : bytes, is_ram ? bytes : PLENTY);
        expect(self, status == SLC_OK, "does not work");
    }
    const int64_t less = least - 1;
    const slc_status status = run_with(self, is_ram ? PLENTY : less, is_ram ? less : PLENTY);
    expect(self, status == SLC_ERROR_NO_PLAN && named(option) == least, "is not refused so");
}

static void check_memory(const subject *self, bool is_ram) {
    static const int64_t tiny[] = {1, 60000};
    int64_t least = -1;
    for (int64_t k = 0; k < TEST_COUNT(tiny); k++) {
        const slc_status status =
            run_with(self, is_ram ? PLENTY : tiny[k], is_ram ? tiny[k] : PLENTY);
        if (status == SLC_OK && k > 0) {
            break;
        }
        const int64_t told = named(is_ram ? "--ram " : "--vram ");
        expect(self, status == SLC_ERROR_NO_PLAN && told > tiny[k], "is refused otherwise");
        expect(self, least < 0 || told == least, "names another number than before");
        least = told;
    }
    check_number(self, is_ram, least);
}

/* Both too small: both are named, and work together. */
static void check_both(const subject *self) {
    const slc_status status = run_with(self, 1, 1);
    const int64_t vram_bytes = named("--vram ");
    const int64_t ram_bytes = named("--ram ");
    expect(self, status == SLC_ERROR_NO_PLAN && vram_bytes > 1 && ram_bytes > 1,
           "is refused otherwise");
    expect(self, run_with(self, vram_bytes, ram_bytes) == SLC_OK, "do not work together");
    expect(self, run_with(self, vram_bytes - 1, ram_bytes) == SLC_ERROR_NO_PLAN, "works too");
    expect(self, run_with(self, vram_bytes, ram_bytes - 1) == SLC_ERROR_NO_PLAN, "works too");
}

/* Each subject with another number of threads. */
static void check(const subject *self) {
    static const int thread_counts[] = {2, 1, 5};
    static int n_checked;
    self->run->n_threads = thread_counts[n_checked++ % TEST_COUNT(thread_counts)];
    check_memory(self, true);
    check_memory(self, false);
    check_both(self);
}

static slc_run_options usual_run(void) {
    return (slc_run_options){.device = SLC_CHOOSE_HOST, .overwrite = true};
}

/* ---- arrays ----------------------------------------------------------------------------------- */

static const test_array arrays[] = {
    {.rank = 1, .shape = {40000}},
    {.rank = 1, .shape = {40000}, .chunk = {1500}, .is_deflated = true},
    {.rank = 2, .shape = {300, 210}, .chunk = {20, 210}},
    {.rank = 2, .shape = {300, 210}, .chunk = {32, 50}, .is_deflated = true},
    {.rank = 3, .shape = {17, 40, 31}, .chunk = {5, 40, 8}, .is_deflated = true},
};

static void describe(subject *self, const char *job, const test_array *array, int way) {
    (void)snprintf(self->what, sizeof self->what, "%s of rank %d, first chunk %lld, %s, way %d",
                   job, array->rank, (long long)array->chunk[0],
                   array->is_deflated ? "deflated" : "plain", way);
}

static slc_status go_stats(void *options) {
    slc_stats_result result;
    return slc_stats_run(options, &result);
}

static void statistics(void **state) {
    const test_prediction *self = *state;
    double edges[12];
    int64_t bins[13];
    const double quantiles[] = {0.1, 0.5};
    slc_stats_number values[2];
    for (int64_t a = 0; a < TEST_COUNT(arrays); a++) {
        test_rewrite_put(self->model, "/x", &arrays[a]);
        for (int way = 0; way < 2; way++) {
            slc_stats_options options = {.in = {.path = self->model, .dataset = "/x"},
                                         .run = usual_run()};
            if (way == 0) {
                options.no_median = true;
            } else {
                options.n_quantiles = 2;
                options.quantiles = quantiles;
                options.quantile_values = values;
                options.n_bins = 11;
                options.edges = edges;
                options.bins = bins;
            }
            subject job = {.run = &options.run, .go = go_stats, .options = &options};
            describe(&job, "statistics", &arrays[a], way);
            check(&job);
        }
    }
}

static slc_status go_rewrite(void *options) {
    slc_rewrite_result result;
    return slc_rewrite_run(options, &result);
}

/* In its order with other chunks, turned, turned and cut as the input is, in one piece, filtered. */
static void rewriting(void **state) {
    const test_prediction *self = *state;
    for (int64_t a = 0; a < TEST_COUNT(arrays); a++) {
        const test_array *array = &arrays[a];
        test_rewrite_put(self->model, "/x", array);
        for (int way = 0; way < 5; way++) {
            slc_rewrite_options options = {.in = {.path = self->model, .dataset = "/x"},
                                           .out_path = self->out,
                                           .out = "/y",
                                           .run = usual_run()};
            options.is_reversed = way == 1 || way == 2 || way == 4;
            options.form.is_contiguous = way == 3;
            options.form.n_chunk = way == 0 || way == 4 ? array->rank : 0;
            for (int d = 0; d < options.form.n_chunk; d++) {
                options.form.chunk[d] = 11 + 7 * d;
            }
            options.form.filters = way == 2 || way == 4;
            options.form.filter = (slc_h5_filter){.kind = SLC_H5_FILTER_DEFLATE, .level = 1};
            subject job = {.run = &options.run, .go = go_rewrite, .options = &options};
            describe(&job, "rewriting", array, way);
            check(&job);
        }
    }
}

static slc_status go_gather(void *options) {
    slc_gather_result result;
    return slc_gather_run(options, &result);
}

static void gathering(void **state) {
    const test_prediction *self = *state;
    /* Its values are those from 0 on, and none is beyond the data's first dimension. */
    const test_array list = {.rank = 1, .shape = {17}};
    const test_array cut = {.rank = 1, .shape = {17}, .chunk = {3}, .is_deflated = true};
    static const slc_sparse_choice places[] = {SLC_SPARSE_AUTO, SLC_SPARSE_RESIDENT,
                                               SLC_SPARSE_MAPPED, SLC_SPARSE_STREAMED};
    char index[TEST_PATH_BYTES];
    test_join(self->directory, "index.h5", index);
    for (int64_t a = 0; a < TEST_COUNT(arrays); a++) {
        test_rewrite_put(self->model, "/x", &arrays[a]);
        test_rewrite_put(index, "/i", a % 2 == 0 ? &list : &cut);
        for (int64_t p = 0; p < TEST_COUNT(places); p++) {
            slc_gather_options options = {.data_path = self->model,
                                          .data = "/x",
                                          .index_path = index,
                                          .index = "/i",
                                          .out_path = self->out,
                                          .out = "/v",
                                          .run = usual_run()};
            options.form.filters = p % 2 == 1;
            options.form.filter = (slc_h5_filter){.kind = SLC_H5_FILTER_DEFLATE, .level = 1};
            options.run.sparse = places[p];
            subject job = {.run = &options.run, .go = go_gather, .options = &options};
            describe(&job, "gathering", &arrays[a], (int)p);
            check(&job);
        }
    }
}

/* ---- visibilities ------------------------------------------------------------------------------- */

static slc_status go_image(void *options) {
    slc_image_result result;
    return slc_image_run(options, &result);
}

static void imaging(void **state) {
    const test_prediction *self = *state;
    const char *input = self->sim;
    char path[TEST_PATH_BYTES];
    char psf[TEST_PATH_BYTES];
    const char *output = path;
    test_join(self->directory, "image.h5", path);
    test_join(self->directory, "psf.h5", psf);
    for (int way = 0; way < 4; way++) {
        slc_image_options options;
        slc_image_options_init(&options);
        options.inputs = &input;
        options.n_inputs = 1;
        options.outputs = &output;
        options.n_outputs = 1;
        options.nx = 48;
        options.ny = way == 1 ? 70 : 33;
        options.scale_rad = 1e-3;
        options.weighting = way == 1 ? SLC_WEIGHT_UNIFORM : SLC_WEIGHT_NATURAL;
        options.n_planes = way == 2 ? TEST_PREDICTION_CHANNELS : 1;
        options.psf_path = way == 3 ? psf : NULL;
        options.run = usual_run();
        subject job = {.run = &options.run, .go = go_image, .options = &options};
        (void)snprintf(job.what, sizeof job.what, "imaging, way %d", way);
        check(&job);
    }
}

static slc_status go_predict(void *options) {
    slc_predict_result result;
    return slc_predict_run(options, &result);
}

/* A picture of so many components that their positions show. */
static void write_model(const test_prediction *self, int64_t n_planes) {
    slc_image_meta meta = test_prediction_meta(n_planes);
    const int64_t n = meta.nx * meta.ny * n_planes;
    double *values = test_allocate(n * (int64_t)sizeof *values);
    for (int64_t k = 0; k < n; k++) {
        values[k] = 1e-3 * (double)(k % 7 + 1);
    }
    TEST_OK(slc_image_file_write(self->model, &meta, values, true, NULL));
    free(values);
}

static void predicting(void **state) {
    test_prediction *self = *state;
    static const slc_sparse_choice places[] = {SLC_SPARSE_AUTO, SLC_SPARSE_RESIDENT,
                                               SLC_SPARSE_MAPPED, SLC_SPARSE_STREAMED};
    for (int64_t n_planes = 0; n_planes <= TEST_PREDICTION_CHANNELS; n_planes += 3) {
        slc_predict_options options = self->options;
        options.run = usual_run();
        options.model_path = n_planes == 0 ? self->sky : self->model;
        if (n_planes > 0) {
            write_model(self, n_planes);
        }
        for (int64_t p = 0; p < (n_planes > 0 ? TEST_COUNT(places) : 1); p++) {
            options.run.sparse = places[p];
            subject job = {.run = &options.run, .go = go_predict, .options = &options};
            (void)snprintf(job.what, sizeof job.what, "predicting, %lld planes, %s",
                           (long long)n_planes, slc_sparse_choice_name(places[p]));
            check(&job);
        }
    }
}

#define CASE(function) \
    cmocka_unit_test_setup_teardown(function, test_prediction_create, test_prediction_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(statistics), CASE(rewriting), CASE(gathering), CASE(imaging), CASE(predicting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
