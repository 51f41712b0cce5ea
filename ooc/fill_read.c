/* Reading one fill: it is cut into pieces, which pool tasks bring into the line's staging, from the
 * source or from the host tier; whoever brings the last one ends it. ooc/fill.c says when. */
#include <string.h>

#include "core/checked.h"
#include "ooc/engine_internal.h"

/* What one thread copies in some 50 us; handing it to another costs a few. */
#define SMALLEST_PIECE_BYTES (1 << 19)

/* Whether the box of the group's fields has a leading dimension that all of them share. */
static bool has_rows(const slci_group *group, const slc_box *box) {
    return box->rank > 0 && group->source->shared_rank > 0;
}

int64_t slci_fill_row_bytes(const slci_line *line, int i) {
    const slci_run *run = line->group->run;
    const int o = line->group->operand[i];
    const slc_box box = slc_job_footprint(run->job, o, &line->tile);
    int64_t bytes = slc_dtype_bytes(run->layout[o].dtype);
    for (int d = has_rows(line->group, &box) ? 1 : 0; d < box.rank; d++) {
        bytes *= box.extent[d];
    }
    return bytes;
}

int64_t slci_fill_bytes(const slci_line *line) {
    const slci_run *run = line->group->run;
    int64_t bytes = 0;
    for (int i = 0; i < line->group->n_operands; i++) {
        const int o = line->group->operand[i];
        const slc_box box = slc_job_footprint(run->job, o, &line->tile);
        bytes += slc_box_count(&box) * slc_dtype_bytes(run->layout[o].dtype);
    }
    return bytes;
}

/* The piece's part of them; of a part that the source cuts, about. All pieces together are the fill. */
static int64_t piece_bytes(const slci_piece *piece) {
    const slci_line *line = piece->line;
    int64_t bytes = 0;
    for (int i = 0; i < line->group->n_operands; i++) {
        bytes += (piece->end - piece->begin) * slci_fill_row_bytes(line, i);
    }
    const int64_t share = bytes / line->n_pieces;
    const int64_t rest = piece->part == 0 ? bytes % line->n_pieces : 0;
    return piece->part < 0 ? bytes : share + rest;
}

static void trace_piece(const slci_run *run, const slci_piece *piece, int64_t begin_ns) {
    if (run->options->trace != NULL) {
        const slc_trace_stage stage = piece->line->is_from_tier ? SLC_TRACE_TIER : SLC_TRACE_READ;
        slci_trace_host(run, stage, piece->line->tile.index, begin_ns, piece_bytes(piece));
    }
}

/* Reads one piece into its place in the line's staging buffers. */
static slc_status read_piece(const slci_piece *piece) {
    const slci_line *line = piece->line;
    const slci_group *group = line->group;
    const slci_run *run = group->run;
    void *dst[SLC_MAX_FIELDS] = {NULL};
    for (int i = 0; i < group->n_operands; i++) {
        dst[run->options->bindings[group->operand[i]].field] =
            (char *)line->staging[i] + piece->begin * slci_fill_row_bytes(line, i);
    }
    slc_box box = slc_job_footprint(run->job, group->operand[0], &line->tile);
    box.rank = group->source->shared_rank;
    if (piece->part >= 0) {
        return slc_source_read_part(group->source, &box, dst, piece->part, line->n_pieces);
    }
    if (box.rank > 0) {
        box.origin[0] += piece->begin;
        box.extent[0] = piece->end - piece->begin;
    }
    return slc_source_read(group->source, &box, dst);
}

/* Moves a fill that lies in a tile's buffer without gaps to where the tile's layout has it. The last
 * run goes first: every place is at or behind the one it is taken from. */
static void spread(const slci_run *run, int o, const slc_box *box, char *data) {
    const slc_layout *tile = &run->layout[o];
    int64_t run_bytes = slc_dtype_bytes(tile->dtype);
    int n_outer = box->rank;
    for (bool is_whole = true; is_whole && n_outer > 0;) {
        n_outer--;
        run_bytes *= box->extent[n_outer];
        is_whole = box->extent[n_outer] == tile->shape[n_outer];
    }
    int64_t n_runs = run_bytes > 0 ? 1 : 0;
    for (int d = 0; d < n_outer; d++) {
        n_runs *= box->extent[d];
    }
    for (int64_t r = n_runs - 1; r > 0; r--) {
        int64_t at = 0;
        int64_t rest = r;
        for (int d = n_outer - 1; d >= 0; d--) {
            at += rest % box->extent[d] * tile->stride_bytes[d];
            rest /= box->extent[d];
        }
        memmove(data + at, data + r * run_bytes, (size_t)run_bytes);
    }
}

static void spread_in_place(const slci_line *line) {
    const slci_group *group = line->group;
    for (int i = 0; i < group->n_operands && group->is_in_place; i++) {
        const slc_box box = slc_job_footprint(group->run->job, group->operand[i], &line->tile);
        spread(group->run, group->operand[i], &box, line->d_data[i]);
    }
}

/* The copy goes first: the scheduler, once it is woken, may well be given this thread's processor. */
static void finish_fill(slci_line *line) {
    slci_run *run = line->group->run;
    spread_in_place(line);
    if (run->options->trace != NULL) {
        slci_trace_end_fill(run, &line->traced, line->tile.index, slci_fill_bytes(line));
    }
    pthread_mutex_lock(&run->mutex);
    slci_tier_unclaim(line);
    line->state = SLCI_LINE_FULL;
    pthread_mutex_unlock(&run->mutex);
    const slc_status copy_status = slci_fill_copy_ahead(run, line->group);
    (void)copy_status; /* the run has kept the failure */
    pthread_cond_broadcast(&run->changed);
}

static bool is_last_piece(slci_line *line) {
    slci_run *run = line->group->run;
    pthread_mutex_lock(&run->mutex);
    const bool is_last = --line->n_unread == 0;
    pthread_mutex_unlock(&run->mutex);
    return is_last;
}

/* Pool task: copies some rows of a fill to the host tier. */
static slc_status keep_piece(void *argument) {
    const slci_piece *piece = argument;
    slci_line *line = piece->line;
    slci_run *run = line->group->run;
    if (!slci_run_has_failed(run)) {
        slc_busy_begin(&run->read_busy);
        slci_tier_copy(piece);
        slc_busy_end(&run->read_busy);
    }
    if (is_last_piece(line)) {
        finish_fill(line);
    }
    return SLC_OK;
}

/* Cuts a fill into runs of rows, no more than `n` of them. */
static void cut_rows(slci_line *line, int64_t n_rows, int64_t n) {
    const int64_t step = slc_max_i64(slc_ceil_div(n_rows, n), 1);
    line->n_pieces = (int)slc_max_i64(slc_ceil_div(n_rows, step), 1);
    line->n_unread = line->n_pieces;
    for (int p = 0; p < line->n_pieces; p++) {
        line->piece[p] = (slci_piece){.line = line,
                                      .begin = p * step,
                                      .end = slc_min_i64((p + 1) * step, n_rows),
                                      .part = -1};
    }
}

/* The tasks of a line that was cut. The last of them may cut it anew before this returns. */
static slc_status submit_pieces(slci_line *line, slc_task task, bool is_short) {
    const slci_run *run = line->group->run;
    slc_pool *pool = run->options->pool;
    for (int p = 0, n = line->n_pieces; p < n; p++) {
        slci_piece *piece = &line->piece[p];
        SLC_TRY(is_short ? slc_pool_submit_short(pool, run->reads, task, piece)
                         : slc_pool_submit(pool, run->reads, task, piece));
    }
    return SLC_OK;
}

/* All parts that the source has cut are in staging. Only now is it known where each row is, which the
 * tier wants; the rows are shared out anew. */
static void keep_fill(slci_line *line) {
    slci_run *run = line->group->run;
    cut_rows(line, line->piece[0].end, line->n_pieces);
    const slc_status status = submit_pieces(line, keep_piece, false);
    if (status != SLC_OK) {
        slci_run_fail(run, status);
    }
}

/* Pool task: brings one piece of a fill into staging, from the source or from the host tier. */
static slc_status fill_piece(void *argument) {
    const slci_piece *piece = argument;
    slci_line *line = piece->line;
    slci_run *run = line->group->run;
    if (!slci_run_has_failed(run)) {
        slc_status status = SLC_OK;
        const int64_t begin_ns = slci_trace_now(run);
        slc_busy_begin(&run->read_busy);
        if (!line->is_from_tier) {
            status = read_piece(piece);
        }
        if (status == SLC_OK && line->tier_slot >= 0 && piece->part < 0) {
            slci_tier_copy(piece);
        }
        slc_busy_end(&run->read_busy);
        trace_piece(run, piece, begin_ns);
        if (status != SLC_OK) {
            slci_run_fail(run, status);
        }
    }
    const bool is_cut_by_source = piece->part >= 0;
    if (is_last_piece(line)) {
        if (is_cut_by_source && line->tier_slot >= 0 && !slci_run_has_failed(run)) {
            keep_fill(line);
        } else {
            finish_fill(line);
        }
    }
    return SLC_OK; /* the run has kept the failure */
}

/* Cuts a fill along its leading dimension, or has the source cut it, so that several threads
 * share a large one: one core fills only a part of the memory bus. What takes no longer than
 * handing it out stays whole, and so does what a source would not read as fast in parts. */
static void cut_fill(slci_line *line) {
    const slci_run *run = line->group->run;
    const slc_source *source = line->group->source;
    const slc_box box = slc_job_footprint(run->job, line->group->operand[0], &line->tile);
    const int64_t n_rows = has_rows(line->group, &box) ? box.extent[0] : 1;
    const bool has_parts = !line->is_from_tier && source->ops->read_part != NULL;
    const bool is_divisible = line->is_from_tier || source->is_divisible;
    int64_t bytes = 0;
    for (int i = 0; i < line->group->n_operands; i++) {
        bytes += n_rows * slci_fill_row_bytes(line, i);
    }
    int64_t n_pieces = slc_min_i64(slc_pool_size(run->options->pool), SLCI_MAX_PIECES);
    n_pieces = slc_min_i64(n_pieces, bytes / SMALLEST_PIECE_BYTES);
    n_pieces = has_parts ? n_pieces : slc_min_i64(n_pieces, n_rows);
    n_pieces = has_parts || is_divisible ? slc_max_i64(n_pieces, 1) : 1;
    if (!has_parts || n_pieces < 2) {
        cut_rows(line, n_rows, n_pieces);
        return;
    }
    line->n_pieces = (int)n_pieces;
    line->n_unread = line->n_pieces;
    for (int p = 0; p < line->n_pieces; p++) {
        line->piece[p] = (slci_piece){.line = line, .end = n_rows, .part = p};
    }
}

slc_status slci_fill_read(slci_line *line, bool is_short) {
    cut_fill(line);
    return submit_pieces(line, fill_piece, is_short);
}
