/* One pass over the list before anything runs: kernels leave out what is out of range, so whatever
 * gets past here would be missing from the result, silently. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/gather_job.h"
#include "core/checked.h"
#include "core/print.h"
#include "kernels/gather_tile.h"

/* Read at a time, or a whole chunk; and at most this part of the host memory that is left. */
#define BLOCK_BYTES (INT64_C(4) << 20)
#define BLOCK_SHARE 4

#define TEXT_BYTES 256

/* A block of the list in memory. */
typedef struct list_block {
    slci_gather_view view; /* of its values alone */
    int n_coordinates;
    int64_t extent[SLC_MAX_RANK]; /* that each coordinate must be below */
    int64_t first;                /* index at its beginning */
    int64_t n;
} list_block;

/* Where value `at` of the list stands in the array in the file: "[3, 0]". */
static void format_position(const slc_layout *index, int64_t at, char text[TEXT_BYTES]) {
    int64_t position[SLC_MAX_RANK];
    for (int d = index->rank - 1; d >= 0; d--) {
        position[d] = at % index->shape[d];
        at /= index->shape[d];
    }
    size_t used = (size_t)slci_print(text, TEXT_BYTES, "[");
    for (int d = 0; d < index->rank; d++) {
        used += (size_t)slci_print(text + used, TEXT_BYTES - used, "%s%" PRId64, d > 0 ? ", " : "",
                                   position[d]);
    }
    (void)slci_print(text + used, TEXT_BYTES - used, "]");
}

static slc_status refuse(const slci_gather_job *job, const list_block *block, int64_t k, int c) {
    const int64_t at = k * block->n_coordinates + c;
    const int64_t value = slci_gather_index(&block->view, at);
    const int d = job->result.axis < 0 ? c : job->result.axis;
    char position[TEXT_BYTES];
    char number[32];
    format_position(&job->result.index, block->first * block->n_coordinates + at, position);
    if (!block->view.is_index_signed && block->view.index_bytes == 8) {
        (void)slci_print(number, sizeof number, "%" PRIu64,
                         ((const uint64_t *)block->view.index)[at]);
    } else {
        (void)slci_print(number, sizeof number, "%" PRId64, value);
    }
    if (block->extent[c] == 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s is %s, but dimension %d of %s has no elements",
                        job->index->name, position, number, d, job->data->name);
    }
    return SLC_FAIL(SLC_ERROR_INPUT,
                    "%s: %s is %s, expected 0 to %" PRId64 " (dimension %d of %s)%s",
                    job->index->name, position, number, block->extent[c] - 1, d, job->data->name,
                    number[0] == '-' ? "; counting from the end is not supported" : "");
}

static slc_status check_block(const slci_gather_job *job, const list_block *block) {
    const int first_dim = job->result.axis < 0 ? 0 : job->result.axis;
    for (int64_t k = 0; k < block->n; k++) {
        for (int c = 0; c < block->n_coordinates; c++) {
            const int64_t value = slci_gather_index(&block->view, k * block->n_coordinates + c);
            if (value < 0 || value >= block->extent[c]) {
                return refuse(job, block, k, c);
            }
            slc_gather_map_note(job->map, first_dim + c, value);
        }
    }
    return SLC_OK;
}

static slc_status read_block(slci_gather_job *job, const list_block *block, void *buffer) {
    slc_box box = {.rank = job->list->shared_rank};
    void *const dst[] = {buffer};
    SLC_TRY(slci_run_tell(&job->options->run, "checking", "indices", (double)block->first,
                          (double)job->result.n_index));
    box.origin[0] = block->first;
    box.extent[0] = block->n;
    box.extent[1] = box.rank > 1 ? block->n_coordinates : 0;
    return slc_source_read(job->list, &box, dst);
}

static slc_status check_blocks(slci_gather_job *job, list_block *block, int64_t most,
                               void *buffer) {
    const int64_t n_index = job->result.n_index;
    for (block->first = 0; block->first < n_index; block->first += block->n) {
        /* Up to the end of a chunk, so that none is decoded twice, where a block holds one. */
        const int64_t end = slc_min_i64(block->first + most, n_index);
        const int64_t unit = slc_source_next_unit(job->list, 0, 0);
        block->n = end - block->first;
        if (end < n_index && unit > 1 && unit <= most) {
            block->n = end / unit * unit - block->first;
        }
        SLC_TRY(read_block(job, block, buffer));
        SLC_TRY(check_block(job, block));
    }
    return SLC_OK;
}

slc_status slci_gather_check(slci_gather_job *job) {
    const slc_gather_result *result = &job->result;
    const slc_dtype dtype = result->index.dtype;
    job->map = malloc(sizeof *job->map);
    if (job->map == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to check the indices");
    }
    slc_gather_map_init(job->map, result->data.rank, result->data.shape);
    list_block block = {.view = {.index_bytes = (int)slc_dtype_bytes(dtype),
                                 .is_index_signed = slc_dtype_is_signed_integer(dtype)},
                        .n_coordinates = result->axis < 0 ? result->data.rank : 1};
    if (result->n_index == 0) {
        return SLC_OK;
    }
    for (int c = 0; c < block.n_coordinates; c++) {
        block.extent[c] = result->data.shape[result->axis < 0 ? c : result->axis];
    }
    const int64_t one_bytes = slc_dtype_bytes(dtype) * block.n_coordinates;
    const int64_t unit_bytes =
        slc_min_i64(slc_source_next_unit(job->list, 0, 0), result->n_index) * one_bytes;
    const int64_t room = slc_min_i64(slc_max_i64(BLOCK_BYTES, unit_bytes),
                                     slci_machine_left_bytes(&job->machine) / BLOCK_SHARE);
    const int64_t most = slc_max_i64(slc_min_i64(room / one_bytes, result->n_index), 1);
    job->check_bytes = most * one_bytes;
    if (!slci_machine_hold(&job->machine, job->check_bytes, "checking the indices")) {
        /* Not even one index fits, so no plan does, and planning says what would: a tile of any
         * plan is larger than this block, which is gone by then. */
        job->machine.missing_bytes -= job->check_bytes;
        SLC_TRY(slci_gather_plan(job));
        return SLC_FAIL(SLC_ERROR_MEMORY, "checking the indices: %lld bytes do not fit --ram",
                        (long long)job->check_bytes);
    }
    void *buffer = calloc((size_t)most, (size_t)one_bytes);
    slc_status status = SLC_OK;
    if (buffer == NULL) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "no memory to check the indices");
    } else {
        block.view.index = buffer;
        status = check_blocks(job, &block, most, buffer);
    }
    free(buffer);
    slc_budget_release(job->machine.budget, SLC_SPACE_HOST, job->check_bytes);
    return status;
}
