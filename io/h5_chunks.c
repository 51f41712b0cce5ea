/* The walk over the chunks that a box touches, in the order of the grid, which is mostly that of the
 * file. io/h5_chunks.h has the drawing. */
#include "io/h5_chunks.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/checked.h"
#include "io/h5_chunk_span.h"
#include "io/h5_chunk_worker.h"

/* The kernel is told of chunks so many places ahead where it cannot guess them (measured on a cold
 * file in random order: 1.4 times as fast as without). */
#define HINTS_AHEAD 8

/* Runs into which one chunk is decoded. */
#define MAX_RUNS 64
#define SHORTEST_RUN_BYTES 4096

/* Parts of contiguous data are of places, of which each has at least so many: they differ by an
 * eighth at most. */
#define UNITS_PER_PART 8

/* One read, or a part of it. */
typedef struct walk {
    slci_h5_chunks *chunks;
    const slci_h5_chunk_box *box;
    slci_chunk_worker *worker;
    slci_h5_chunk_counts *counts;
    int64_t dst_stride[SLC_MAX_RANK]; /* of the destination, bytes */
    int64_t first[SLC_MAX_RANK];      /* the grid's place of the box's first chunk */
    int64_t n_places[SLC_MAX_RANK];   /* chunks that the box touches along each dimension */
    int64_t begin, end;               /* of this part, in the order of the places */
} walk;

/* One chunk of a walk: which, and what of it the box wants. */
typedef struct visit {
    int64_t place;                 /* in the index */
    int64_t element[SLC_MAX_RANK]; /* the chunk's first element in the dataset */
    int64_t inside[SLC_MAX_RANK];  /* where the wanted part begins in the chunk */
    int64_t extent[SLC_MAX_RANK];  /* of it */
    int64_t n_elements;            /* in it */
    int64_t n_existing;            /* of the chunk that lie within the dataset */
    bool is_edge;                  /* the chunk reaches past the dataset */
    bool is_whole;                 /* all of the chunk, edges included, is wanted */
    uint32_t mask;
    char *dst;
} visit;

/* ---- places ----------------------------------------------------------------------------------- */

static void place_at(const walk *w, int64_t k, int64_t *at) {
    for (int d = w->chunks->rank - 1; d >= 0; d--) {
        at[d] = w->first[d] + k % w->n_places[d];
        k /= w->n_places[d];
    }
}

static int64_t index_place(const walk *w, int64_t k) {
    int64_t at[SLC_MAX_RANK];
    place_at(w, k, at);
    return slci_h5_index_find(w->chunks->index, at);
}

static void look(const walk *w, int64_t k, visit *v) {
    const slci_h5_chunks *chunks = w->chunks;
    int64_t at[SLC_MAX_RANK];
    place_at(w, k, at);
    *v = (visit){.place = slci_h5_index_find(chunks->index, at),
                 .n_elements = 1,
                 .n_existing = 1,
                 .is_whole = true,
                 .dst = w->box->dst};
    for (int d = 0; d < chunks->rank; d++) {
        const int64_t begin = at[d] * chunks->chunk[d];
        const int64_t end = begin + chunks->chunk[d];
        const int64_t low = slc_max_i64(begin, w->box->origin[d]);
        const int64_t high = slc_min_i64(end, w->box->origin[d] + w->box->extent[d]);
        v->element[d] = begin;
        v->inside[d] = low - begin;
        v->extent[d] = high - low;
        v->n_elements *= high - low;
        v->n_existing *= slc_min_i64(end, chunks->shape[d]) - begin;
        v->is_edge = v->is_edge || end > chunks->shape[d];
        v->is_whole = v->is_whole && high - low == chunks->chunk[d];
        v->dst += (low - w->box->origin[d]) * w->dst_stride[d];
    }
    v->mask = chunks->index->mask[v->place];
    if (v->is_edge && chunks->has_raw_edges) {
        v->mask = UINT32_MAX; /* the file says 0, and is wrong */
    }
}

/* ---- one chunk -------------------------------------------------------------------------------- */

static slci_span_copy copy_of(const walk *w, const visit *v) {
    const slci_h5_chunks *chunks = w->chunks;
    slci_span_copy copy = {.rank = chunks->rank, .element_bytes = chunks->element_bytes};
    int64_t stride = chunks->element_bytes;
    for (int d = chunks->rank - 1; d >= 0; d--) {
        copy.shape[d] = v->extent[d];
        copy.dst_stride[d] = w->dst_stride[d];
        copy.src_stride[d] = stride;
        stride *= chunks->chunk[d];
    }
    return copy;
}

static slc_status copy_part(const walk *w, const visit *v, const void *decoded) {
    const slci_span_copy copy = copy_of(w, v);
    const char *src = decoded;
    for (int d = 0; d < copy.rank; d++) {
        src += v->inside[d] * copy.src_stride[d];
    }
    return slci_span_copy_box(&copy, v->dst, src);
}

/* Elements that no chunk stores: row after row of the fill value. */
static void fill_part(const walk *w, const visit *v) {
    const slci_h5_chunks *chunks = w->chunks;
    const int64_t bytes = chunks->element_bytes;
    const int last = chunks->rank - 1;
    int64_t at[SLC_MAX_RANK] = {0};
    for (int64_t row = 0; row < v->n_elements / v->extent[last]; row++) {
        int64_t left = row;
        char *dst = v->dst;
        for (int d = last - 1; d >= 0; d--) {
            at[d] = left % v->extent[d];
            left /= v->extent[d];
            dst += at[d] * w->dst_stride[d];
        }
        int64_t done = bytes;
        const int64_t row_bytes = v->extent[last] * bytes;
        memcpy(dst, chunks->fill, (size_t)bytes);
        while (done < row_bytes) { /* what is there is doubled */
            const int64_t n = slc_min_i64(done, row_bytes - done);
            memcpy(dst + done, dst, (size_t)n);
            done += n;
        }
    }
}

/* Bytes behind the chunk of place `k` that the next places of this part want too. */
static int64_t bytes_behind(const walk *w, int64_t k, const visit *v) {
    const slci_h5_index *index = w->chunks->index;
    const uint64_t begin = index->offset[v->place];
    uint64_t end = begin + index->bytes[v->place];
    const uint64_t stored = end;
    const uint64_t room = (uint64_t)w->worker->buffer_bytes;
    for (int64_t next = k + 1; next < w->end; next++) {
        const int64_t place = index_place(w, next);
        if (index->bytes[place] == 0 || index->offset[place] != end ||
            end + index->bytes[place] - begin > room) {
            break;
        }
        end += index->bytes[place];
    }
    return (int64_t)(end - stored);
}

/* Where a whole chunk goes. */
typedef struct run_list {
    slci_chunk_runs runs;
    unsigned char *run[MAX_RUNS];
} run_list;

/* A whole chunk in the destination: the runs that lie densely in both. False where they are too
 * many, or so short that decoding them one by one takes longer than copying them. */
static bool find_runs(const walk *w, const visit *v, run_list *out) {
    const slci_h5_chunks *chunks = w->chunks;
    int64_t run_bytes = chunks->element_bytes;
    int64_t n_runs = 1;
    int outer = chunks->rank;
    while (outer > 0 && (w->dst_stride[outer - 1] == run_bytes || chunks->chunk[outer - 1] == 1)) {
        outer--;
        run_bytes *= chunks->chunk[outer];
    }
    for (int d = 0; d < outer && n_runs <= MAX_RUNS; d++) {
        n_runs *= chunks->chunk[d];
    }
    if (n_runs > MAX_RUNS || (n_runs > 1 && run_bytes < SHORTEST_RUN_BYTES)) {
        return false;
    }
    for (int64_t r = 0; r < n_runs; r++) {
        int64_t left = r;
        out->run[r] = (unsigned char *)v->dst;
        for (int d = outer - 1; d >= 0; d--) {
            out->run[r] += left % chunks->chunk[d] * w->dst_stride[d];
            left /= chunks->chunk[d];
        }
    }
    out->runs = (slci_chunk_runs){.n_runs = n_runs, .run_bytes = run_bytes, .run = out->run};
    return true;
}

static slc_status decode_to(const walk *w, int64_t k, const visit *v, const slci_chunk_runs *to) {
    const int64_t more = slci_chunk_worker_holds(w->worker, v->place) ? 0 : bytes_behind(w, k, v);
    w->counts->n_decoded++;
    w->counts->n_chunks++;
    w->counts->stored_bytes += (int64_t)w->chunks->index->bytes[v->place];
    return slci_chunk_worker_decode(w->worker, v->place, v->mask, more, to);
}

static slc_status decode(const walk *w, int64_t k, const visit *v, void *dst) {
    unsigned char *const run[] = {dst};
    const slci_chunk_runs all = {.n_runs = 1, .run_bytes = w->chunks->chunk_bytes, .run = run};
    return decode_to(w, k, v, &all);
}

/* A part of a chunk of which others may want the rest. */
static slc_status read_shared(const walk *w, int64_t k, const visit *v, bool *is_done) {
    slci_window_loan loan;
    const slci_window_answer answer =
        slci_chunk_window_take(w->chunks->window, v->place, v->n_existing, &loan);
    *is_done = answer != SLCI_WINDOW_NO_ROOM;
    if (answer == SLCI_WINDOW_NO_ROOM) {
        return SLC_OK;
    }
    if (answer == SLCI_WINDOW_TO_FILL) {
        const slc_status status = decode(w, k, v, loan.data);
        slci_chunk_window_filled(w->chunks->window, &loan, status == SLC_OK);
        SLC_TRY(status);
    }
    const slc_status status = copy_part(w, v, loan.data);
    slci_chunk_window_return(w->chunks->window, &loan, v->n_elements);
    return status;
}

static slc_status read_filtered(const walk *w, int64_t k, const visit *v) {
    run_list list;
    if (v->is_whole && find_runs(w, v, &list) &&
        (list.runs.n_runs == 1 || slci_chunk_decodes_runs(w->worker->decoder, v->mask))) {
        return decode_to(w, k, v, &list.runs);
    }
    if (w->chunks->window != NULL && v->n_elements < v->n_existing) {
        bool is_done = false;
        SLC_TRY(read_shared(w, k, v, &is_done));
        if (is_done) {
            return SLC_OK;
        }
    }
    void *scratch;
    SLC_TRY(slci_chunk_worker_scratch(w->worker, &scratch));
    SLC_TRY(decode(w, k, v, scratch));
    return copy_part(w, v, scratch);
}

/* What lies densely in the file goes to where it belongs. */
static slc_status read_span(const walk *w, slci_span *span) {
    if (slci_span_needs_buffer(span)) {
        SLC_TRY(slci_chunk_worker_buffer(w->worker, &span->buffer));
    }
    const slc_status status = slci_span_read(span);
    w->worker->has_io_failed = status != SLC_OK;
    return status;
}

static slc_status read_unfiltered(const walk *w, const visit *v) {
    const slci_h5_chunks *chunks = w->chunks;
    slci_span span = {.descriptor = chunks->descriptor,
                      .offset = (int64_t)chunks->index->offset[v->place],
                      .element_bytes = chunks->element_bytes,
                      .rank = chunks->rank,
                      .dst = v->dst,
                      .turn = chunks->turn};
    memcpy(span.shape, chunks->chunk, sizeof span.shape);
    memcpy(span.origin, v->inside, sizeof span.origin);
    memcpy(span.extent, v->extent, sizeof span.extent);
    memcpy(span.dst_stride, w->dst_stride, sizeof span.dst_stride);
    w->counts->n_chunks++;
    w->counts->stored_bytes += v->n_elements * chunks->element_bytes;
    return read_span(w, &span);
}

static slc_status name_chunk(const slci_h5_chunks *chunks, const visit *v, slc_status status) {
    char at[24 * SLC_MAX_RANK] = "";
    size_t used = 0;
    for (int d = 0; d < chunks->rank; d++) {
        used += (size_t)snprintf(at + used, sizeof at - used, "%s%" PRId64, d > 0 ? ", " : "",
                                 v->element[d]);
    }
    return slc_status_prefix(status,
                             "%s: dataset %s cannot be read: the chunk at (%s), %" PRIu32
                             " bytes at byte %" PRIu64,
                             chunks->path, chunks->name, at, chunks->index->bytes[v->place],
                             chunks->index->offset[v->place]);
}

static slc_status read_chunk(const walk *w, int64_t k) {
    const slci_h5_chunks *chunks = w->chunks;
    visit v;
    look(w, k, &v);
    if (chunks->index->bytes[v.place] == 0) {
        fill_part(w, &v);
        return SLC_OK;
    }
    const int n_filters = chunks->pipeline.n_filters;
    const slc_status status = n_filters == 0 || (v.is_edge && chunks->has_raw_edges)
                                  ? read_unfiltered(w, &v)
                                  : read_filtered(w, k, &v);
    return status == SLC_ERROR_INPUT ? name_chunk(chunks, &v, status) : status;
}

/* ---- the walk --------------------------------------------------------------------------------- */

static void hint(const walk *w, int64_t k) {
    const slci_h5_index *index = w->chunks->index;
    const int64_t place = k < w->end ? index_place(w, k) : -1;
    if (place >= 0 && index->bytes[place] > 0) {
        (void)posix_fadvise(w->chunks->descriptor, (off_t)index->offset[place],
                            (off_t)index->bytes[place], POSIX_FADV_WILLNEED);
    }
}

static slc_status read_chunks(walk *w) {
    const slci_h5_chunks *chunks = w->chunks;
    int64_t n = 1;
    for (int d = 0; d < chunks->rank; d++) {
        const int64_t last = w->box->origin[d] + w->box->extent[d] - 1;
        w->first[d] = w->box->origin[d] / chunks->chunk[d];
        w->n_places[d] = last / chunks->chunk[d] - w->first[d] + 1;
        n *= w->n_places[d];
    }
    const int n_parts = w->box->n_parts > 1 ? w->box->n_parts : 1;
    w->begin = n_parts == 1 ? 0 : n * w->box->part / n_parts;
    w->end = n_parts == 1 ? n : n * (w->box->part + 1) / n_parts;
    const bool needs_hints = !chunks->index->is_ascending;
    for (int64_t k = w->begin; needs_hints && k < w->begin + HINTS_AHEAD; k++) {
        hint(w, k);
    }
    for (int64_t k = w->begin; k < w->end; k++) {
        if (needs_hints) {
            hint(w, k + HINTS_AHEAD);
        }
        SLC_TRY(read_chunk(w, k));
    }
    return SLC_OK;
}

/* The least dimension outside which there are so many places that parts are about equal; a box has
 * `n_units` of them, of all that lies inside. */
static int find_cut(const walk *w, int64_t *n_units) {
    const int64_t wanted = (int64_t)w->box->n_parts * UNITS_PER_PART;
    int cut = 0;
    *n_units = w->box->extent[0];
    while (cut < w->chunks->rank - 1 && *n_units < wanted) {
        cut++;
        *n_units *= w->box->extent[cut];
    }
    return cut;
}

/* Makes the span the largest box that begins with unit `at` and ends before `end`; its units. */
static int64_t take_units(const walk *w, int cut, int64_t at, int64_t end, slci_span *span) {
    const slci_h5_chunk_box *box = w->box;
    int64_t step = 1; /* units, along dimension `d` */
    int d = cut;
    while (d > 0 && at % (step * box->extent[d]) == 0 && end - at >= step * box->extent[d]) {
        step *= box->extent[d];
        d--;
    }
    int64_t left = at / step;
    const int64_t n = slc_min_i64(box->extent[d] - left % box->extent[d], (end - at) / step);
    span->dst = box->dst;
    for (int e = w->chunks->rank - 1; e >= 0; e--) {
        int64_t begin = 0;
        span->extent[e] = box->extent[e];
        if (e <= d) {
            begin = left % box->extent[e];
            left /= box->extent[e];
            span->extent[e] = e == d ? n : 1;
        }
        span->origin[e] = box->origin[e] + begin;
        span->dst += begin * w->dst_stride[e];
    }
    return n * step;
}

static slc_status read_box(const walk *w, slci_span *span) {
    const slci_h5_chunks *chunks = w->chunks;
    int64_t bytes = chunks->element_bytes;
    for (int d = 0; d < chunks->rank; d++) {
        bytes *= span->extent[d];
    }
    w->counts->stored_bytes += bytes;
    const slc_status status = read_span(w, span);
    return status == SLC_ERROR_INPUT ? slc_status_prefix(status, "%s: dataset %s cannot be read",
                                                         chunks->path, chunks->name)
                                     : status;
}

static slc_status read_contiguous(walk *w) {
    const slci_h5_chunks *chunks = w->chunks;
    const int64_t n_parts = w->box->n_parts > 1 ? w->box->n_parts : 1;
    slci_span span = {.descriptor = chunks->descriptor,
                      .offset = chunks->offset,
                      .element_bytes = chunks->element_bytes,
                      .rank = chunks->rank,
                      .dst = w->box->dst,
                      .turn = chunks->turn};
    memcpy(span.shape, chunks->shape, sizeof span.shape);
    memcpy(span.dst_stride, w->dst_stride, sizeof span.dst_stride);
    if (chunks->rank == 0) { /* a single value has one part */
        return w->box->part == 0 ? read_box(w, &span) : SLC_OK;
    }
    int64_t n_units;
    const int cut = find_cut(w, &n_units);
    const int64_t end = n_units * (w->box->part + 1) / n_parts;
    for (int64_t at = n_units * w->box->part / n_parts; at < end;) {
        at += take_units(w, cut, at, end, &span);
        SLC_TRY(read_box(w, &span));
    }
    return SLC_OK;
}

slc_status slci_h5_chunks_read(slci_h5_chunks *chunks, const slci_h5_chunk_box *box,
                               slci_h5_chunk_counts *counts) {
    walk w = {.chunks = chunks, .box = box, .counts = counts};
    int64_t stride = chunks->element_bytes;
    for (int d = chunks->rank - 1; d >= 0; d--) {
        w.dst_stride[d] = stride;
        stride *= box->extent[d];
    }
    SLC_TRY(slci_chunk_worker_acquire(chunks, &w.worker));
    const slc_status status = chunks->index == NULL ? read_contiguous(&w) : read_chunks(&w);
    counts->has_io_failed = status != SLC_OK && w.worker->has_io_failed;
    slci_chunk_worker_release(w.worker);
    return status;
}

/* ---- the rest --------------------------------------------------------------------------------- */

slc_status slci_h5_chunks_keep(slci_h5_chunks *chunks, int64_t bytes) {
    slci_chunk_window *window = NULL;
    if (chunks->pipeline.n_filters > 0) {
        SLC_TRY(slci_chunk_window_create(chunks->chunk_bytes, bytes, &window));
    }
    slci_chunk_window_destroy(chunks->window);
    chunks->window = window;
    return SLC_OK;
}

int64_t slci_h5_chunks_index_bytes(const slci_h5_chunks *chunks) {
    return chunks->index == NULL ? 0
                                 : slci_h5_index_bytes(chunks->rank, chunks->shape, chunks->chunk);
}

int64_t slci_h5_chunks_thread_bytes(const slci_h5_chunks *chunks) {
    return slci_chunk_worker_bytes(chunks);
}

void slci_h5_chunks_rest(slci_h5_chunks *chunks) {
    (void)pthread_mutex_lock(&chunks->mutex);
    slci_chunk_worker *worker = chunks->workers;
    chunks->workers = NULL;
    (void)pthread_mutex_unlock(&chunks->mutex);
    while (worker != NULL) {
        slci_chunk_worker *next = worker->next;
        slci_chunk_worker_destroy(worker);
        worker = next;
    }
}

void slci_h5_chunks_destroy(slci_h5_chunks *chunks) {
    if (chunks == NULL) {
        return;
    }
    slci_h5_chunks_rest(chunks);
    slci_chunk_window_destroy(chunks->window);
    slci_h5_index_destroy(chunks->index);
    if (chunks->descriptor >= 0) {
        (void)close(chunks->descriptor);
    }
    (void)pthread_mutex_destroy(&chunks->mutex);
    free(chunks->fill);
    free(chunks->name);
    free(chunks->path);
    free(chunks);
}
