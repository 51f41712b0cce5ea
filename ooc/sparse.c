/* Sparse inputs: any tile may touch any element, so the whole array has to be where kernels see it
 * before the first tile runs.
 *
 *     resident   source ──▶ staging ──▶ device memory        pieces of at most one staging buffer
 *     mapped     source ──▶ mapped memory                     kernels read it over the bus
 *
 * The array is read in pieces by tasks of the pool, several at a time, each on a lane. A piece is a
 * contiguous run of the array: a range of indices of one dimension, everything of the faster ones, one
 * index of each slower one. It is cut at the source's natural units where they fit, so that no chunk
 * is decoded twice. */
#include "core/checked.h"
#include "ooc/engine_internal.h"

/* Mapped arrays are read in pieces of about this size: large enough that a task costs nothing beside
 * it, small enough that all threads have work to the end. */
#define MAPPED_PIECE_BYTES (16ll << 20)

/* In the trace: it is done before the first tile. */
#define NO_TILE (-1)

/* How an array is cut into pieces, and where the next one begins. */
typedef struct piece_walk {
    const slc_layout *whole;
    int shared_rank;
    int cut;           /* the dimension that is cut */
    int64_t unit;      /* of the source along `cut` */
    int64_t n_rows;    /* of a full piece, along `cut` */
    int64_t row_bytes; /* of one index of `cut` */
    int64_t n_outer;   /* combinations of the slower indices */
    int64_t outer, begin;
} piece_walk;

/* Elements of one index of dimension d, in bytes. */
static int64_t bytes_below(const slc_layout *whole, int d) {
    int64_t bytes = slc_dtype_bytes(whole->dtype);
    for (int e = d + 1; e < whole->rank; e++) {
        bytes *= whole->shape[e];
    }
    return bytes;
}

/* `most_bytes` is one staging buffer, or 0 where pieces go straight to mapped memory. */
static slc_status walk_open(const slc_layout *whole, slc_source *source, int64_t most_bytes,
                            piece_walk *walk) {
    *walk = (piece_walk){
        .whole = whole, .shared_rank = source->shared_rank, .unit = 1, .n_rows = 1, .n_outer = 1};
    const int last = source->shared_rank - 1;
    while (walk->cut < last && (whole->shape[walk->cut] == 1 ||
                                (most_bytes > 0 && bytes_below(whole, walk->cut) > most_bytes))) {
        walk->n_outer *= whole->shape[walk->cut++];
    }
    walk->row_bytes = last >= 0 ? bytes_below(whole, walk->cut) : slc_layout_bytes(whole);
    if (most_bytes > 0 && walk->row_bytes > most_bytes) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: one index of dimension %d has %lld bytes, more than a staging buffer "
                        "of %lld",
                        source->name, walk->cut, (long long)walk->row_bytes, (long long)most_bytes);
    }
    if (last < 0) {
        return SLC_OK;
    }
    walk->unit = slc_max_i64(slc_source_next_unit(source, walk->cut, 0), 1);
    if (most_bytes > 0) {
        walk->n_rows = most_bytes / slc_max_i64(walk->row_bytes, 1);
    } else {
        const int64_t rows = MAPPED_PIECE_BYTES / slc_max_i64(walk->row_bytes, 1);
        walk->n_rows = slc_max_i64(rows, walk->unit);
    }
    return SLC_OK;
}

/* The next piece, in the source's dimensions; false after the last one. */
static bool walk_next(piece_walk *walk, slci_sparse_lane *lane) {
    if (walk->outer == walk->n_outer || slc_layout_count(walk->whole) == 0) {
        return false;
    }
    lane->box = (slc_box){.rank = walk->shared_rank};
    int64_t rest = walk->outer;
    for (int d = walk->shared_rank - 1; d >= 0; d--) {
        lane->box.extent[d] = d < walk->cut ? 1 : walk->whole->shape[d];
        if (d < walk->cut) {
            lane->box.origin[d] = rest % walk->whole->shape[d];
            rest /= walk->whole->shape[d];
        }
    }
    const int64_t n = walk->shared_rank > 0 ? walk->whole->shape[walk->cut] : 1;
    int64_t end = walk->begin + slc_min_i64(walk->n_rows, n - walk->begin);
    const int64_t whole_units = end / walk->unit * walk->unit;
    end = end < n && whole_units > walk->begin ? whole_units : end;
    if (walk->shared_rank > 0) {
        lane->box.origin[walk->cut] = walk->begin;
        lane->box.extent[walk->cut] = end - walk->begin;
    }
    lane->offset_bytes = (walk->outer * n + walk->begin) * walk->row_bytes;
    lane->bytes = (end - walk->begin) * walk->row_bytes;
    walk->outer += end == n;
    walk->begin = end == n ? 0 : end;
    return true;
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* Pool task: reads the lane's piece. */
static slc_status read_piece(void *argument) {
    slci_sparse_lane *lane = argument;
    slci_run *run = lane->run;
    if (!slci_run_has_failed(run)) {
        const slc_binding *binding = &run->options->bindings[lane->operand];
        void *dst[SLC_MAX_FIELDS] = {NULL};
        dst[binding->field] = lane->target;
        const int64_t begin_ns = slci_trace_now(run);
        slc_busy_begin(&run->read_busy);
        const slc_status status = slc_source_read(binding->source, &lane->box, dst);
        slc_busy_end(&run->read_busy);
        slci_trace_host(run, SLC_TRACE_READ, NO_TILE, begin_ns, lane->bytes);
        if (lane->staging != NULL) {
            slci_trace_end_fill(run, &lane->traced, NO_TILE, lane->bytes);
        }
        if (status != SLC_OK) {
            slci_run_fail(run, status);
        }
    }
    pthread_mutex_lock(&run->mutex);
    lane->is_reading = false;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->mutex);
    return SLC_OK; /* the run has kept the failure */
}

/* Adds the time of the lane's last copy, which has run, to the run's. */
static slc_status count_copy(slci_run *run, slci_sparse_lane *lane) {
    slci_trace_interval interval = {.stage = SLC_TRACE_H2D,
                                    .watch = &lane->watch,
                                    .tile = NO_TILE,
                                    .bytes = lane->copied_bytes};
    SLC_TRY(slci_trace_count(run, &interval, &run->load));
    slci_trace_copied(run, &lane->traced, &(slci_copy_start){0}, &interval);
    return SLC_OK;
}

static slc_status start_piece(slci_run *run, slci_sparse *sparse, slci_sparse_lane *lane) {
    if (lane->staging != NULL) {
        lane->target = lane->staging;
        SLC_TRY(slc_event_synchronize(lane->arrived));
        SLC_TRY(count_copy(run, lane));
        slci_trace_begin_fill(run, &lane->traced, NO_TILE);
    } else {
        lane->target = (char *)sparse->mapped.host + lane->offset_bytes;
    }
    lane->is_reading = true;
    return slc_pool_submit(run->options->pool, run->reads, read_piece, lane);
}

/* Waits for the lane's read and sends what it brought on its way. */
static slc_status finish_piece(slci_run *run, slci_sparse *sparse, slci_sparse_lane *lane) {
    pthread_mutex_lock(&run->mutex);
    while (lane->is_reading && run->failure.status == SLC_OK) {
        pthread_cond_wait(&run->changed, &run->mutex);
    }
    const bool has_failed = run->failure.status != SLC_OK;
    pthread_mutex_unlock(&run->mutex);
    if (has_failed) {
        return slc_status_restore(&run->failure);
    }
    run->report.bytes_read += lane->bytes;
    if (lane->staging == NULL) {
        return SLC_OK;
    }
    SLC_TRY(slci_stopwatch_start(&lane->watch, run->copy_in));
    SLC_TRY(slc_stream_copy(run->copy_in, (char *)sparse->d_data + lane->offset_bytes,
                            lane->staging, lane->bytes, SLC_COPY_TO_DEVICE));
    SLC_TRY(slci_stopwatch_stop(&lane->watch, run->copy_in));
    SLC_TRY(slc_event_record(lane->arrived, run->copy_in));
    run->load.n++;
    lane->copied_bytes = lane->bytes;
    run->report.bytes_h2d += lane->bytes;
    return SLC_OK;
}

static slc_status load(slci_run *run, slci_sparse *sparse) {
    const slc_binding *binding = &run->options->bindings[sparse->operand];
    const bool is_mapped = run->plan->operand[sparse->operand].placement == SLC_PLACE_MAPPED;
    piece_walk walk;
    SLC_TRY(walk_open(&run->layout[sparse->operand], binding->source,
                      is_mapped ? 0 : run->plan->operand[sparse->operand].staging_bytes, &walk));
    int64_t n_started = 0;
    int64_t n_finished = 0;
    for (bool more = true; more || n_finished < n_started;) {
        SLC_TRY(slci_run_check_cancel(run));
        slci_sparse_lane *next = &sparse->lane[n_started % sparse->n_lanes];
        const bool has_lane = n_started - n_finished < sparse->n_lanes;
        if (more && has_lane) {
            more = walk_next(&walk, next);
            if (more) {
                SLC_TRY(start_piece(run, sparse, next));
                n_started++;
            }
            continue;
        }
        SLC_TRY(finish_piece(run, sparse, &sparse->lane[n_finished % sparse->n_lanes]));
        n_finished++;
    }
    return SLC_OK;
}

slc_status slci_sparse_load(slci_run *run) {
    for (int i = 0; i < run->n_sparse; i++) {
        SLC_TRY(load(run, &run->sparse[i]));
    }
    return SLC_OK;
}

slc_status slci_sparse_count_copies(slci_run *run) {
    for (int i = 0; i < run->n_sparse; i++) {
        for (int l = 0; l < run->sparse[i].n_lanes; l++) {
            SLC_TRY(count_copy(run, &run->sparse[i].lane[l]));
        }
    }
    return SLC_OK;
}

/* ---- memory ----------------------------------------------------------------------------------- */

slc_status slci_sparse_create(slci_run *run, slci_sparse *sparse) {
    const slc_plan_operand *planned = &run->plan->operand[sparse->operand];
    if (planned->placement == SLC_PLACE_MAPPED) {
        SLC_TRY(slc_mapped_allocate(run->device, planned->tile_bytes, &sparse->mapped));
        sparse->d_data = sparse->mapped.device_alias;
    }
    for (int l = 0; l < sparse->n_lanes; l++) {
        slci_sparse_lane *lane = &sparse->lane[l];
        lane->run = run;
        lane->operand = sparse->operand;
        if (planned->placement != SLC_PLACE_MAPPED) {
            SLC_TRY(slci_stopwatch_create(run->device, &lane->watch));
            SLC_TRY(slc_event_create(run->device, &lane->arrived));
        }
    }
    run->d_work[sparse->operand] = sparse->d_data;
    return SLC_OK;
}

void slci_sparse_release(slci_run *run) {
    for (int i = 0; i < run->n_sparse; i++) {
        slci_sparse *sparse = &run->sparse[i];
        for (int l = 0; l < sparse->n_lanes; l++) {
            slci_stopwatch_destroy(&sparse->lane[l].watch);
            slc_event_destroy(sparse->lane[l].arrived);
        }
        slc_mapped_release(run->device, &sparse->mapped);
    }
}
