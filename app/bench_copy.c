/* Each copy is made first and looked at, then timed: in turns with the contiguous copy that it is
 * held against and with the unsorted one, several rounds, and the best of each counts. A timing is
 * of as many copies as take a few milliseconds, between two events of one stream, so that launches
 * do not show. */
#include "app/bench_copy.h"

#include <stdlib.h>
#include <string.h>

#include "app/machine.h"
#include "core/checked.h"
#include "core/copy_unsorted.h"
#include "core/print.h"

/* The unsorted copies, some of them very slow, are timed in the first rounds only. */
#define N_ROUNDS 8
#define N_ROUNDS_QUICK 4
#define N_ROUNDS_UNSORTED 2
#define QUICK_SHARE 8

/* What one timing takes at least, and the copies that it makes at most. */
#define TIMING_NS 5000000
#define MOST_COPIES 32

/* Elements go to the device and back through a buffer of this size. */
#define STAGE_BYTES (INT64_C(16) << 20)
#define ELEMENT_BYTES 4

/* Of the elements that arrived, one in so many is looked at; odd, so that all columns come up. */
#define CHECK_STEP 61

typedef enum copy_kind {
    COPY_SLICE,    /* all but the first element of each row */
    COPY_REVERSED, /* each row backwards */
    COPY_TRANSPOSE /* the last two dimensions exchanged */
} copy_kind;

/* An array of 4-byte elements; the first extent is an eighth in a quick run. */
typedef struct copy_case {
    const char *what;
    copy_kind kind;
    int rank;
    int64_t shape[3];
} copy_case;

static const copy_case copy_cases[] = {
    {"slice 8192 x 8193", COPY_SLICE, 2, {8192, 8193}},
    {"slice 65536 x 1025", COPY_SLICE, 2, {65536, 1025}},
    {"slice 1048576 x 65", COPY_SLICE, 2, {1048576, 65}},
    {"slice 16777216 x 5", COPY_SLICE, 2, {16777216, 5}},
    {"slice 256 x 256 x 1025", COPY_SLICE, 3, {256, 256, 1025}},
    {"slice 65536 x 32 x 33", COPY_SLICE, 3, {65536, 32, 33}},
    {"reversed 8192 x 8192", COPY_REVERSED, 2, {8192, 8192}},
    {"reversed 16777216 x 4", COPY_REVERSED, 2, {16777216, 4}},
    {"transpose 8192 x 8192", COPY_TRANSPOSE, 2, {8192, 8192}},
    {"transpose 65536 x 64", COPY_TRANSPOSE, 2, {65536, 64}},
    {"transpose 64 of 1024 x 1024", COPY_TRANSPOSE, 3, {64, 1024, 1024}},
};

typedef struct bench {
    const slci_bench_options *options;
    slci_machine machine;
    slci_bench_result *result;
    int n_rounds;
    slc_stream *stream;
    slc_event *begin, *end;
    slc_pinned stage;
    int64_t stage_bytes, device_bytes; /* reserved */
    /* Of the case at hand. */
    slc_layout dst_layout, src_layout;
    int64_t dst_bytes, src_bytes;
    void *d_dst, *d_src;
} bench;

typedef slc_status (*copy_function)(bench *self);

/* ---- the three copies ------------------------------------------------------------------------- */

static slc_status copy_contiguous(bench *self) {
    return slc_stream_copy(self->stream, self->d_dst, self->d_src, self->dst_bytes,
                           SLC_COPY_ON_DEVICE);
}

static slc_status copy_sorted(bench *self) {
    return slc_stream_copy_strided(self->stream, self->d_dst, &self->dst_layout, self->d_src,
                                   &self->src_layout, SLC_COPY_ON_DEVICE);
}

static slc_status copy_unsorted(bench *self) {
    return slci_stream_copy_unsorted(self->stream, self->d_dst, &self->dst_layout, self->d_src,
                                     &self->src_layout);
}

static slc_status time_copies(bench *self, copy_function copy, int n, int64_t *ns) {
    SLC_TRY(slc_event_record(self->begin, self->stream));
    for (int i = 0; i < n; i++) {
        SLC_TRY(copy(self));
    }
    SLC_TRY(slc_event_record(self->end, self->stream));
    SLC_TRY(slc_stream_synchronize(self->stream));
    return slc_event_elapsed(self->begin, self->end, ns);
}

/* ---- one case --------------------------------------------------------------------------------- */

static slc_status describe(bench *self, const copy_case *wanted, slc_layout *whole) {
    int64_t shape[3];
    memcpy(shape, wanted->shape, sizeof shape);
    shape[0] /= self->options->is_quick ? QUICK_SHARE : 1;
    SLC_TRY(slc_layout_dense(SLC_U32, wanted->rank, shape, whole));
    const int last = wanted->rank - 1;
    slc_box box = {.rank = wanted->rank};
    memcpy(box.extent, shape, sizeof shape);
    int order[3] = {0, 1, 2};
    switch (wanted->kind) {
    case COPY_SLICE:
        box.origin[last] = 1;
        box.extent[last]--;
        self->src_layout = slc_layout_slice(whole, &box);
        break;
    case COPY_REVERSED:
        self->src_layout = slc_layout_reverse(whole, last);
        break;
    case COPY_TRANSPOSE:
        order[last] = last - 1;
        order[last - 1] = last;
        self->src_layout = slc_layout_permute(whole, order);
        break;
    }
    SLC_TRY(slc_layout_dense(SLC_U32, wanted->rank, self->src_layout.shape, &self->dst_layout));
    self->dst_bytes = slc_layout_bytes(&self->dst_layout);
    self->src_bytes = slc_layout_bytes(whole);
    return SLC_OK;
}

/* A value that tells where in the source it is from. */
static uint32_t mark(int64_t index) {
    return (uint32_t)index * UINT32_C(2654435761);
}

static slc_status fill_source(bench *self) {
    uint32_t *stage = self->stage.host;
    for (int64_t at = 0; at < self->src_bytes; at += STAGE_BYTES) {
        const int64_t bytes = slc_min_i64(STAGE_BYTES, self->src_bytes - at);
        for (int64_t i = 0; i < bytes / ELEMENT_BYTES; i++) {
            stage[i] = mark(at / ELEMENT_BYTES + i);
        }
        SLC_TRY(slc_stream_copy(self->stream, (char *)self->d_src + at, stage, bytes,
                                SLC_COPY_TO_DEVICE));
        SLC_TRY(slc_stream_synchronize(self->stream));
    }
    return SLC_OK;
}

/* Where element number `index` of the destination is in the source, counted in elements. */
static int64_t source_index(const bench *self, int64_t index) {
    const slc_layout *src = &self->src_layout;
    int64_t place = src->offset_bytes;
    for (int d = src->rank - 1; d >= 0; d--) {
        place += index % src->shape[d] * src->stride_bytes[d];
        index /= src->shape[d];
    }
    return place / ELEMENT_BYTES;
}

static slc_status check_copy(bench *self, copy_function copy, const char *what) {
    SLC_TRY(slc_stream_set(self->stream, self->d_dst, 0xff, self->dst_bytes));
    SLC_TRY(copy(self));
    const uint32_t *stage = self->stage.host;
    for (int64_t at = 0; at < self->dst_bytes; at += STAGE_BYTES) {
        const int64_t bytes = slc_min_i64(STAGE_BYTES, self->dst_bytes - at);
        SLC_TRY(slc_stream_copy(self->stream, self->stage.host, (char *)self->d_dst + at, bytes,
                                SLC_COPY_FROM_DEVICE));
        SLC_TRY(slc_stream_synchronize(self->stream));
        for (int64_t i = 0; i < bytes / ELEMENT_BYTES; i += CHECK_STEP) {
            const int64_t index = at / ELEMENT_BYTES + i;
            const uint32_t expected = mark(source_index(self, index));
            if (stage[i] != expected) {
                return SLC_FAIL(SLC_ERROR_INTERNAL,
                                "%s: element %lld of the copy is %08x, expected %08x", what,
                                (long long)index, stage[i], expected);
            }
        }
    }
    return SLC_OK;
}

static void add_figures(bench *self, const char *what, const int64_t best_ns[3]) {
    const double bytes = 2.0 * (double)self->dst_bytes; /* read and written; bytes per ns */
    for (int k = 1; k < 3; k++) {
        slci_bench_figure figure = {.limit_is = "contiguous copy of as many bytes",
                                    .unit = "GB/s",
                                    .measured = bytes / (double)best_ns[k],
                                    .limit = bytes / (double)best_ns[0],
                                    .goal = k == 1 ? SLCI_BENCH_COPY_GOAL : 0,
                                    .may_pass = true};
        (void)slci_print(figure.what, sizeof figure.what, "%s%s", what, k == 1 ? "" : ", unsorted");
        slci_bench_add(self->result, &figure);
    }
}

static slc_status time_case(bench *self, const char *what) {
    static const copy_function copies[3] = {copy_contiguous, copy_sorted, copy_unsorted};
    int n[3];
    int64_t best_ns[3];
    for (int k = 0; k < 3; k++) {
        int64_t ns;
        SLC_TRY(time_copies(self, copies[k], 1, &ns));
        best_ns[k] = slc_max_i64(ns, 1);
        n[k] = (int)slc_min_i64(slc_ceil_div(TIMING_NS, best_ns[k]), MOST_COPIES);
    }
    for (int round = 0; round < self->n_rounds; round++) {
        for (int k = 0; k < (round < N_ROUNDS_UNSORTED ? 3 : 2); k++) {
            SLC_TRY(slci_run_check_stop(&self->options->run));
            int64_t ns;
            SLC_TRY(time_copies(self, copies[k], n[k], &ns));
            best_ns[k] = slc_min_i64(best_ns[k], slc_max_i64(ns / n[k], 1));
        }
    }
    add_figures(self, what, best_ns);
    return SLC_OK;
}

static slc_status run_case(bench *self, const copy_case *wanted) {
    slc_layout whole;
    SLC_TRY(describe(self, wanted, &whole));
    const int64_t unit = self->machine.limits.allocation_unit_bytes;
    const int64_t dst_bytes = slc_round_up(self->dst_bytes, unit);
    const int64_t src_bytes = slc_round_up(self->src_bytes, unit);
    SLC_TRY(slc_budget_reserve(self->machine.budget, SLC_SPACE_DEVICE, dst_bytes + src_bytes,
                               "both arrays"));
    self->device_bytes = dst_bytes + src_bytes;
    SLC_TRY(slc_device_allocate(self->machine.device, src_bytes, &self->d_src));
    SLC_TRY(slc_device_allocate(self->machine.device, dst_bytes, &self->d_dst));
    SLC_TRY(fill_source(self));
    SLC_TRY(check_copy(self, copy_sorted, wanted->what));
    SLC_TRY(check_copy(self, copy_unsorted, wanted->what));
    return time_case(self, wanted->what);
}

/* Whatever came of it; the message of a failure before it stands. */
static slc_status end_case(bench *self, slc_status status) {
    slc_failure failure;
    slc_status_capture(status, &failure);
    const slc_status drained = slc_stream_synchronize(self->stream);
    (void)drained; /* a failure was reported already */
    slc_device_release(self->machine.device, self->d_dst);
    slc_device_release(self->machine.device, self->d_src);
    slc_budget_release(self->machine.budget, SLC_SPACE_DEVICE, self->device_bytes);
    self->d_dst = NULL;
    self->d_src = NULL;
    self->device_bytes = 0;
    return status == SLC_OK ? SLC_OK : slc_status_restore(&failure);
}

/* ---- all of them ------------------------------------------------------------------------------ */

static slc_status run_cases(bench *self) {
    const slc_run_options *run = &self->options->run;
    const int n_cases = (int)(sizeof copy_cases / sizeof copy_cases[0]);
    for (int i = 0; i < n_cases; i++) {
        if (run->progress != NULL) {
            run->progress(run->progress_context, "copying", "", i, n_cases);
        }
        const slc_status status = end_case(self, run_case(self, &copy_cases[i]));
        SLC_TRY(slci_bench_or_omit(self->result, status, copy_cases[i].what));
    }
    return SLC_OK;
}

static slc_status open_bench(bench *self) {
    slc_device *device = self->machine.device;
    SLC_TRY(slc_budget_reserve(self->machine.budget, SLC_SPACE_HOST, STAGE_BYTES, "staging"));
    self->stage_bytes = STAGE_BYTES;
    SLC_TRY(slc_pinned_allocate(device, STAGE_BYTES, &self->stage));
    SLC_TRY(slc_event_create_timed(device, &self->begin));
    SLC_TRY(slc_event_create_timed(device, &self->end));
    return slc_stream_create(device, &self->stream);
}

slc_status slci_bench_copy(const slci_bench_options *options, slci_bench_result *out) {
    slc_status status = SLC_OK;
    slci_bench_result result = {0};
    bench self = {.options = options,
                  .result = &result,
                  .n_rounds = options->is_quick ? N_ROUNDS_QUICK : N_ROUNDS};
    SLC_TRY_GOTO(done, slci_machine_open(&options->run, &self.machine));
    memcpy(result.device_name, self.machine.limits.name, sizeof result.device_name);
    memcpy(result.software, self.machine.limits.software, sizeof result.software);
    result.n_threads = slc_pool_size(self.machine.pool);
    SLC_TRY_GOTO(done, open_bench(&self));
    SLC_TRY_GOTO(done, run_cases(&self));
    *out = result;
done:
    slc_stream_destroy(self.stream);
    slc_event_destroy(self.begin);
    slc_event_destroy(self.end);
    if (self.stage.host != NULL) {
        slc_pinned_release(self.machine.device, &self.stage);
    }
    if (self.stage_bytes > 0) {
        slc_budget_release(self.machine.budget, SLC_SPACE_HOST, self.stage_bytes);
    }
    slci_machine_close(&self.machine);
    return status;
}
