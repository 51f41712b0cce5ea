/* Where the tiles of a job lie in its operands. Along an axis, a tile covers
 *
 *     elements  origin · per_step - halo  …  (origin + extent) · per_step + halo
 *
 * of a dimension that the axis indexes, cut at the array's ends; every other dimension is whole. */
#include "core/job.h"

#include <assert.h>

#include "core/checked.h"

/* Elements of dimension d for one step of its axis; 0 in the description means 1. */
static int64_t per_step(const slc_operand *operand, int d) {
    return operand->per_step[d] == 0 ? 1 : operand->per_step[d];
}

static bool has_axis(const slc_operand *operand, int axis) {
    for (int d = 0; d < operand->rank; d++) {
        if (operand->axes[d] == axis) {
            return true;
        }
    }
    return false;
}

static slc_status check_axes(const slc_job *job) {
    if (job->n_axes < 1 || job->n_axes > SLC_MAX_AXES) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "job %s: %d axes, expected 1 to %d", job->name,
                        job->n_axes, SLC_MAX_AXES);
    }
    for (int a = 0; a < job->n_axes; a++) {
        const slc_axis *axis = &job->axes[a];
        if (axis->name == NULL) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "job %s: axis %d has no name", job->name, a);
        }
        if (axis->extent < 0 || axis->granule < 1) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "job %s: axis %s has extent %lld and granule %lld, expected at least 0 "
                            "and 1",
                            job->name, axis->name, (long long)axis->extent,
                            (long long)axis->granule);
        }
        if ((unsigned)axis->kind > (unsigned)SLC_AXIS_ORDERED) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "job %s: axis %s is of unknown kind %d", job->name,
                            axis->name, (int)axis->kind);
        }
    }
    return SLC_OK;
}

static slc_status check_dimension(const slc_job *job, const slc_operand *operand, int d) {
    const int axis = operand->axes[d];
    if (axis != SLC_AXIS_FIXED && (axis < 0 || axis >= job->n_axes)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "job %s: operand %s names axis %d in dimension %d, the job has %d axes",
                        job->name, operand->name, axis, d, job->n_axes);
    }
    for (int e = 0; e < d; e++) {
        if (axis != SLC_AXIS_FIXED && operand->axes[e] == axis) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "job %s: operand %s is indexed by axis %s in dimensions %d and %d",
                            job->name, operand->name, job->axes[axis].name, e, d);
        }
    }
    if (operand->per_step[d] < 0 || operand->halo[d] < 0 ||
        (axis == SLC_AXIS_FIXED && operand->fixed_extent[d] < 0)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "job %s: operand %s has a negative extent, step or halo in dimension %d",
                        job->name, operand->name, d);
    }
    if (operand->halo[d] > 0 && (operand->access != SLC_ACCESS_IN || axis == SLC_AXIS_FIXED)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "job %s: operand %s has a halo in dimension %d; only dimensions of inputs "
                        "that an axis indexes can have one",
                        job->name, operand->name, d);
    }
    return SLC_OK;
}

/* An output or update that lacks a parallel axis would be written by tiles that claim to be
 * independent; an output that lacks a reduced one, several times. One tile along the axis is fine. */
static slc_status check_writes(const slc_job *job, const slc_operand *operand) {
    if (operand->access != SLC_ACCESS_OUT && operand->access != SLC_ACCESS_UPDATE) {
        return SLC_OK;
    }
    for (int a = 0; a < job->n_axes; a++) {
        const slc_axis *axis = &job->axes[a];
        const bool is_conflict =
            axis->kind == SLC_AXIS_PARALLEL ||
            (axis->kind == SLC_AXIS_REDUCED && operand->access == SLC_ACCESS_OUT);
        if (is_conflict && axis->extent > axis->granule && !has_axis(operand, a)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "job %s: operand %s is written but not indexed by %s axis %s",
                            job->name, operand->name,
                            axis->kind == SLC_AXIS_PARALLEL ? "parallel" : "reduced", axis->name);
        }
    }
    return SLC_OK;
}

static slc_status check_operand(const slc_job *job, int o) {
    const slc_operand *operand = &job->operands[o];
    if (operand->name == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "job %s: operand %d has no name", job->name, o);
    }
    if (slc_dtype_bytes(operand->dtype) == 0 ||
        (unsigned)operand->access > (unsigned)SLC_ACCESS_WORK) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "job %s: operand %s has unknown dtype %d or unknown access %d", job->name,
                        operand->name, (int)operand->dtype, (int)operand->access);
    }
    if (operand->rank < 0 || operand->rank > SLC_MAX_RANK) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "job %s: operand %s has rank %d, expected 0 to %d",
                        job->name, operand->name, operand->rank, SLC_MAX_RANK);
    }
    for (int d = 0; d < operand->rank; d++) {
        SLC_TRY(check_dimension(job, operand, d));
    }
    if (operand->footprint != NULL && operand->access != SLC_ACCESS_IN) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "job %s: operand %s has a footprint function, which only inputs can have",
                        job->name, operand->name);
    }
    if (operand->is_sparse && operand->access != SLC_ACCESS_IN) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "job %s: operand %s is sparse, which only inputs can be", job->name,
                        operand->name);
    }
    SLC_TRY(check_writes(job, operand));
    slc_layout full;
    return slc_job_full_layout(job, o, &full);
}

/* The engine and the device write to it as a slc_loop_state. */
static slc_status check_loop(const slc_job *job) {
    if (job->most_iterations == 0) {
        return SLC_OK;
    }
    const int o = job->loop_operand;
    const bool is_there = job->most_iterations > 0 && o >= 0 && o < job->n_operands;
    const slc_operand *state = is_there ? &job->operands[o] : NULL;
    const int64_t n_elements = (int64_t)(sizeof(slc_loop_state) / sizeof(int64_t));
    if (!is_there || state->access != SLC_ACCESS_WORK || state->dtype != SLC_I64 ||
        state->rank != 1 || state->axes[0] != SLC_AXIS_FIXED ||
        state->fixed_extent[0] != n_elements) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "job %s: a loop of at most %lld iterations with operand %d as its state, "
                        "expected 1 or more and a work operand of %d i8 without an axis",
                        job->name, (long long)job->most_iterations, o, (int)n_elements);
    }
    return SLC_OK;
}

slc_status slc_job_check(const slc_job *job) {
    if (job->name == NULL || job->tile == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "job %s: it needs a name and a tile function",
                        job->name == NULL ? "without a name" : job->name);
    }
    SLC_TRY(check_axes(job));
    if (job->n_operands < 0 || job->n_operands > SLC_MAX_OPERANDS) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "job %s: %d operands, expected 0 to %d", job->name,
                        job->n_operands, SLC_MAX_OPERANDS);
    }
    for (int o = 0; o < job->n_operands; o++) {
        SLC_TRY(check_operand(job, o));
    }
    return check_loop(job);
}

/* The full extent of dimension d; the job was checked, so it fits. */
static int64_t full_extent(const slc_job *job, const slc_operand *operand, int d) {
    const int axis = operand->axes[d];
    return axis == SLC_AXIS_FIXED ? operand->fixed_extent[d]
                                  : job->axes[axis].extent * per_step(operand, d);
}

slc_box slc_job_footprint(const slc_job *job, int o, const slc_tile *tile) {
    assert(o >= 0 && o < job->n_operands);
    const slc_operand *operand = &job->operands[o];
    slc_box full = {.rank = operand->rank};
    for (int d = 0; d < operand->rank; d++) {
        full.extent[d] = full_extent(job, operand, d);
    }
    if (operand->is_sparse) {
        return full;
    }
    slc_box box = full;
    if (operand->footprint != NULL) {
        box = operand->footprint(job->state, tile);
        assert(box.rank == operand->rank);
    } else {
        for (int d = 0; d < operand->rank; d++) {
            const int axis = operand->axes[d];
            if (axis != SLC_AXIS_FIXED) {
                box.origin[d] = tile->origin[axis] * per_step(operand, d) - operand->halo[d];
                box.extent[d] = tile->extent[axis] * per_step(operand, d) + 2 * operand->halo[d];
            }
        }
    }
    return slc_box_intersect(&full, &box);
}

slc_status slc_job_full_layout(const slc_job *job, int o, slc_layout *out) {
    assert(o >= 0 && o < job->n_operands);
    const slc_operand *operand = &job->operands[o];
    int64_t shape[SLC_MAX_RANK] = {0};
    for (int d = 0; d < operand->rank; d++) {
        const int axis = operand->axes[d];
        shape[d] = operand->fixed_extent[d];
        if (axis != SLC_AXIS_FIXED &&
            !slc_checked_mul(job->axes[axis].extent, per_step(operand, d), &shape[d])) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "job %s: operand %s has %lld times %lld elements in dimension %d, more "
                            "than 2^63",
                            job->name, operand->name, (long long)job->axes[axis].extent,
                            (long long)per_step(operand, d), d);
        }
    }
    const slc_status status = slc_layout_dense(operand->dtype, operand->rank, shape, out);
    return status == SLC_OK
               ? SLC_OK
               : slc_status_prefix(status, "job %s: operand %s", job->name, operand->name);
}

/* Moves `tile` to the next place of the grid of `extent` [n_axes], the last axis fastest; false
 * after the last. */
static bool next_tile(const slc_job *job, const int64_t *extent, slc_tile *tile) {
    for (int a = job->n_axes - 1; a >= 0; a--) {
        const int64_t total = job->axes[a].extent;
        const int64_t origin = tile->origin[a] + extent[a];
        const bool is_inside = origin < total;
        tile->origin[a] = is_inside ? origin : 0;
        tile->extent[a] = slc_min_i64(extent[a], total - tile->origin[a]);
        if (is_inside) {
            tile->index++;
            return true;
        }
    }
    return false;
}

/* The largest box of an operand whose footprint is a function: known only by asking every tile. */
static void largest_footprint(const slc_job *job, int o, const int64_t *extent, int64_t *shape) {
    const slc_operand *operand = &job->operands[o];
    slc_tile tile = {.index = 0};
    for (int a = 0; a < job->n_axes; a++) {
        tile.extent[a] = extent[a];
    }
    for (int d = 0; d < operand->rank; d++) {
        shape[d] = 0;
    }
    do {
        const slc_box box = slc_job_footprint(job, o, &tile);
        for (int d = 0; d < operand->rank; d++) {
            shape[d] = slc_max_i64(shape[d], box.extent[d]);
        }
    } while (next_tile(job, extent, &tile));
}

slc_status slc_job_tile_layout(const slc_job *job, int o, const int64_t *extent, slc_layout *out) {
    slc_layout full;
    SLC_TRY(slc_job_full_layout(job, o, &full));
    const slc_operand *operand = &job->operands[o];
    int64_t step[SLC_MAX_AXES] = {0};
    bool is_empty = false;
    for (int a = 0; a < job->n_axes; a++) {
        if (extent[a] < 1) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "job %s: tiles of %lld along axis %s", job->name,
                            (long long)extent[a], job->axes[a].name);
        }
        step[a] = slc_min_i64(extent[a], job->axes[a].extent);
        is_empty = is_empty || step[a] == 0;
    }
    int64_t shape[SLC_MAX_RANK] = {0};
    if (operand->footprint != NULL && !operand->is_sparse && !is_empty) {
        largest_footprint(job, o, step, shape);
        return slc_layout_dense(operand->dtype, operand->rank, shape, out);
    }
    for (int d = 0; d < operand->rank; d++) {
        const int axis = operand->axes[d];
        shape[d] = full.shape[d];
        /* A footprint function is not asked about tiles of a job without points: they may be whole. */
        if (axis != SLC_AXIS_FIXED && !operand->is_sparse && operand->footprint == NULL) {
            /* Where tile and halo pass int64_t they pass the array too, which cuts them. */
            int64_t wide = 0;
            if (slc_checked_mul(step[axis], per_step(operand, d), &wide) &&
                slc_checked_add(wide, operand->halo[d], &wide) &&
                slc_checked_add(wide, operand->halo[d], &wide)) {
                shape[d] = slc_min_i64(wide, shape[d]);
            }
        }
    }
    return slc_layout_dense(operand->dtype, operand->rank, shape, out);
}
