/* Rows of a UVH5 file, converted, selected and weighted.
 *
 * A run of rows is cut into blocks of a few megabytes that end at the borders of visdata's chunks
 * where they can. For each block the raw bytes of all datasets are read, then converted and combined
 * row by row. No lock is held meanwhile, unless HDF5 has to read (io/h5_chunk_open.c says when):
 *
 *     visdata --raw--> complex f64 [hand][channel] --+
 *     flags   --raw--> u8          [hand][channel] --+--> slci_vis_combine_row --> vis, weight
 *     nsamples -raw--> f64         [hand][channel] --+
 *     uvw, antennas, time, integration, centre ------+--> uvw; is the row selected?
 *
 * On the channel axis exactly the selected ones are read; on the polarisation axis what the chunks
 * hold anyway, because HDF5 copies long runs much faster than pairs of elements. Buffers for one block
 * are kept and used again, one for each thread that was ever here at the same time. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/uvh5.h"
#include "io/vis_combine.h"

#define BLOCK_ROWS_MAX 65536
#define ALIGNMENT 64

/* One block's buffers. All of them lie in one allocation. */
struct slci_uvh5_scratch {
    slci_uvh5_scratch *next;
    bool has_samples; /* without, there is room for uvw alone */
    unsigned char *vis, *flags, *nsamples, *uvw, *row_raw; /* raw, [block_rows] rows */
    double *values[SLCI_VIS_MOST_HANDS];                   /* [n_channels, 2] */
    double *samples[SLCI_VIS_MOST_HANDS];                  /* [n_channels] */
    uint8_t *flagged[SLCI_VIS_MOST_HANDS];                 /* [n_channels] */
    int64_t *ant_1, *ant_2, *phase_id;                     /* [block_rows] */
    double *time, *integration;                            /* [block_rows] */
};

/* ---- selection -------------------------------------------------------------------------------- */

static int64_t product(const int64_t *extent, int begin, int end) {
    int64_t n = 1;
    for (int d = begin; d < end; d++) {
        n *= extent[d];
    }
    return n;
}

/* Which box of a row is read, and where the selected samples lie in it. */
static void select_field(const slci_uvh5 *uvh5, slci_uvh5_field *field) {
    const slci_vis_selection *selection = uvh5->selection;
    const slci_h5_dataset *set = &field->set;
    const int pol = set->rank - 1;
    const int channel = set->rank - 2;
    const int64_t n_window = uvh5->n_window_channels;
    const int64_t last_channel = selection->channel_begin + selection->n_channels - 1;
    const int64_t first_window = selection->channel_begin / n_window;
    const int64_t last_window = last_channel / n_window;
    int64_t skipped = 0; /* channels read before the first selected one */
    if (first_window == last_window) {
        field->origin[channel] = selection->channel_begin % n_window;
        field->extent[channel] = selection->n_channels;
    } else {
        field->origin[channel] = 0;
        field->extent[channel] = n_window;
        skipped = selection->channel_begin - first_window * n_window;
    }
    if (set->rank == 4) {
        field->origin[1] = first_window;
        field->extent[1] = last_window - first_window + 1;
    }
    const int64_t unit = set->chunk[pol] > 0 ? set->chunk[pol] : set->shape[pol];
    int64_t first = selection->hands[0];
    int64_t last = selection->hands[0];
    for (int k = 1; k < selection->n_hands; k++) {
        first = slc_min_i64(first, selection->hands[k]);
        last = slc_max_i64(last, selection->hands[k]);
    }
    field->origin[pol] = first / unit * unit;
    field->extent[pol] =
        slc_min_i64((last / unit + 1) * unit, set->shape[pol]) - field->origin[pol];
    field->channel_bytes = field->extent[pol] * set->type.bytes;
    field->first_bytes = skipped * field->channel_bytes;
    field->row_bytes = product(field->extent, 1, set->rank) * set->type.bytes;
    for (int k = 0; k < selection->n_hands; k++) {
        field->hand_bytes[k] = (selection->hands[k] - field->origin[pol]) * set->type.bytes;
    }
}

/* The cache holds one row of chunks, so that runs that end inside one do not decode it again; less
 * where the caller allows less, and then tall chunks are decoded more than once. */
static slc_status size_caches(slci_uvh5 *uvh5, slci_uvh5_field *const *fields, int n) {
    double total = 0.0;
    for (int k = 0; k < n; k++) {
        total += (double)slci_h5_dataset_chunk_row_bytes(&fields[k]->set, fields[k]->origin,
                                                         fields[k]->extent);
    }
    uvh5->base.kept_bytes = 0;
    for (int k = 0; k < n; k++) {
        int64_t bytes =
            slci_h5_dataset_chunk_row_bytes(&fields[k]->set, fields[k]->origin, fields[k]->extent);
        if (uvh5->selection->cache_bytes > 0 && total > (double)uvh5->selection->cache_bytes) {
            bytes = (int64_t)((double)uvh5->selection->cache_bytes * ((double)bytes / total));
        }
        fields[k]->keeps_row =
            fields[k]->set.is_filtered &&
            (uvh5->selection->cache_bytes == 0 || total <= (double)uvh5->selection->cache_bytes);
        uvh5->base.kept_bytes += bytes;
        SLC_TRY(slci_h5_dataset_set_cache(uvh5->file, &fields[k]->set, bytes));
    }
    return SLC_OK;
}

slc_status slci_uvh5_select(slci_vis_part *part, const slci_vis_selection *selection) {
    slci_uvh5 *uvh5 = (slci_uvh5 *)part;
    slci_uvh5_field *fields[3] = {&uvh5->vis, &uvh5->flags, NULL};
    int n = 2;
    uvh5->selection = selection;
    if (uvh5->nsamples.set.id != 0) {
        fields[n++] = &uvh5->nsamples;
    }
    int64_t row_bytes = 0;
    for (int k = 0; k < n; k++) {
        select_field(uvh5, fields[k]);
        row_bytes += fields[k]->row_bytes;
    }
    part->is_divisible = uvh5->uvw.chunks != NULL;
    for (int k = 0; k < n; k++) {
        part->is_divisible = part->is_divisible && fields[k]->set.chunks != NULL;
    }
    const int64_t unit = uvh5->vis.set.chunk[0];
    int64_t rows = slc_min_i64(selection->block_bytes / row_bytes, BLOCK_ROWS_MAX);
    rows = unit > 0 && rows > unit ? rows / unit * unit : rows;
    uvh5->block_rows = slc_min_i64(slc_max_i64(rows, 1), slc_max_i64(part->header.n_rows, 1));
    return size_caches(uvh5, fields, n);
}

/* ---- buffers ---------------------------------------------------------------------------------- */

static int64_t aligned(int64_t bytes) {
    return slc_round_up(bytes, ALIGNMENT);
}

#define N_PARTS 12

/* Of these, the first are there for uvw alone. */
#define N_UVW_PARTS 2

/* Bytes of each part of a scratch; returns those of all. */
static int64_t scratch_sizes(const slci_uvh5 *uvh5, bool has_samples, int64_t sizes[N_PARTS]) {
    const int64_t rows = uvh5->block_rows;
    const int64_t n_channels = uvh5->selection->n_channels;
    const int64_t n_hands = slc_max_i64(uvh5->selection->n_hands, 2);
    const int64_t bytes[N_PARTS] = {
        (int64_t)sizeof(slci_uvh5_scratch),
        rows * 3 * 8,
        rows * uvh5->vis.row_bytes,
        rows * uvh5->flags.row_bytes,
        rows * uvh5->nsamples.row_bytes,
        rows * 8,
        n_hands * aligned(n_channels * 16),
        n_hands * aligned(n_channels * 8),
        n_hands * aligned(n_channels),
        rows * 8 * 3,
        rows * 8,
        rows * 8,
    };
    int64_t total = 0;
    for (int k = 0; k < N_PARTS; k++) {
        sizes[k] = k < N_UVW_PARTS || has_samples ? aligned(bytes[k]) : 0;
        total += sizes[k];
    }
    return total;
}

static slci_uvh5_scratch *scratch_create(const slci_uvh5 *uvh5, bool has_samples) {
    const int64_t rows = uvh5->block_rows;
    int64_t sizes[N_PARTS];
    const int64_t total = scratch_sizes(uvh5, has_samples, sizes);
    unsigned char *at[N_PARTS];
    unsigned char *memory = aligned_alloc(ALIGNMENT, (size_t)total);
    if (memory == NULL) {
        return NULL;
    }
    for (int k = 0; k < N_PARTS; k++) {
        at[k] = memory;
        memory += sizes[k];
    }
    slci_uvh5_scratch *scratch = (slci_uvh5_scratch *)(void *)at[0];
    *scratch = (slci_uvh5_scratch){
        .has_samples = has_samples,
        .uvw = at[1],
        .vis = at[2],
        .flags = at[3],
        .nsamples = at[4],
        .row_raw = at[5],
        .ant_1 = (int64_t *)(void *)at[9],
        .ant_2 = (int64_t *)(void *)at[9] + rows,
        .phase_id = (int64_t *)(void *)at[9] + 2 * rows,
        .time = (double *)(void *)at[10],
        .integration = (double *)(void *)at[11],
    };
    const int64_t n_channels = uvh5->selection->n_channels;
    for (int h = 0; h < uvh5->selection->n_hands; h++) {
        scratch->values[h] = (double *)(void *)(at[6] + h * aligned(n_channels * 16));
        scratch->samples[h] = (double *)(void *)(at[7] + h * aligned(n_channels * 8));
        scratch->flagged[h] = at[8] + h * aligned(n_channels);
    }
    return scratch;
}

static slc_status scratch_acquire(slci_uvh5 *uvh5, bool wants_samples, slci_uvh5_scratch **out) {
    (void)pthread_mutex_lock(&uvh5->mutex);
    slci_uvh5_scratch *scratch = uvh5->free_scratch;
    if (scratch != NULL) {
        uvh5->free_scratch = scratch->next;
    }
    (void)pthread_mutex_unlock(&uvh5->mutex);
    if (scratch != NULL && wants_samples && !scratch->has_samples) {
        free(scratch);
        scratch = NULL;
    }
    if (scratch == NULL) {
        scratch = scratch_create(uvh5, wants_samples);
    }
    if (scratch == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to read %" PRId64 " rows", uvh5->base.path,
                        uvh5->block_rows);
    }
    *out = scratch;
    return SLC_OK;
}

static void scratch_release(slci_uvh5 *uvh5, slci_uvh5_scratch *scratch) {
    (void)pthread_mutex_lock(&uvh5->mutex);
    scratch->next = uvh5->free_scratch;
    uvh5->free_scratch = scratch;
    (void)pthread_mutex_unlock(&uvh5->mutex);
}

/* The datasets that reads go to: the last N_SAMPLE_SETS only for samples. */
enum { N_READ_SETS = 9, N_SAMPLE_SETS = 8 };

typedef struct read_sets {
    const slci_h5_dataset *set[N_READ_SETS];
} read_sets;

static read_sets list_sets(const slci_uvh5 *uvh5) {
    return (read_sets){{&uvh5->uvw, &uvh5->vis.set, &uvh5->flags.set, &uvh5->nsamples.set,
                        &uvh5->ant_1, &uvh5->ant_2, &uvh5->time, &uvh5->integration,
                        &uvh5->phase_id}};
}

slci_vis_cost slci_uvh5_cost(const slci_vis_part *part, bool wants_samples) {
    const slci_uvh5 *uvh5 = (const slci_uvh5 *)part;
    const read_sets sets = list_sets(uvh5);
    const int n = wants_samples ? N_READ_SETS : N_READ_SETS - N_SAMPLE_SETS;
    int64_t sizes[N_PARTS];
    slci_vis_cost cost = {.thread_bytes = scratch_sizes(uvh5, wants_samples, sizes)};
    for (int k = 0; k < N_READ_SETS; k++) {
        if (sets.set[k]->id != 0) {
            cost.once_bytes += slci_h5_dataset_index_bytes(sets.set[k]);
            cost.thread_bytes += k < n ? slci_h5_dataset_thread_bytes(sets.set[k]) : 0;
        }
    }
    return cost;
}

void slci_uvh5_rest(slci_vis_part *part) {
    slci_uvh5 *uvh5 = (slci_uvh5 *)part;
    const read_sets sets = list_sets(uvh5);
    (void)pthread_mutex_lock(&uvh5->mutex);
    slci_uvh5_scratch *scratch = uvh5->free_scratch;
    uvh5->free_scratch = NULL;
    (void)pthread_mutex_unlock(&uvh5->mutex);
    while (scratch != NULL) {
        slci_uvh5_scratch *next = scratch->next;
        free(scratch);
        scratch = next;
    }
    for (int k = 0; k < N_READ_SETS; k++) {
        slci_h5_dataset_rest(sets.set[k]);
    }
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* One run of rows on its way: which, to where, and who counts. */
typedef struct run {
    slci_uvh5 *uvh5;
    int64_t row, n;
    const slci_vis_target *target;
    const slci_uvh5_scratch *scratch;
    slc_source_counters *counters;
} run;

static slc_status read_field(const run *r, slci_uvh5_field *field, void *raw) {
    int64_t origin[SLC_MAX_RANK];
    int64_t extent[SLC_MAX_RANK];
    memcpy(origin, field->origin, sizeof origin);
    memcpy(extent, field->extent, sizeof extent);
    origin[0] = r->row;
    extent[0] = r->n;
    const slci_h5_part all = {.origin = origin,
                              .extent = extent,
                              .raw = raw,
                              .n_parts = 1,
                              .keeps_row = field->keeps_row};
    return slci_h5_dataset_read_part(&field->set, &all, r->counters);
}

/* What decides whether a row is used, and with what weight. */
static slc_status read_row_arrays(const run *r) {
    slci_uvh5 *uvh5 = r->uvh5;
    const slci_vis_selection *selection = uvh5->selection;
    const slci_uvh5_rows rows = {.origin = r->row,
                                 .n = r->n,
                                 .raw = r->scratch->row_raw,
                                 .counters = r->counters};
    if (!selection->use_autos) {
        SLC_TRY(slci_uvh5_rows_i64(&uvh5->ant_1, &rows, r->scratch->ant_1));
        SLC_TRY(slci_uvh5_rows_i64(&uvh5->ant_2, &rows, r->scratch->ant_2));
    }
    if (selection->has_times && uvh5->time.id != 0) {
        SLC_TRY(slci_uvh5_rows_f64(&uvh5->time, &rows, r->scratch->time));
    }
    if (selection->weight_by_time && uvh5->integration.id != 0) {
        SLC_TRY(slci_uvh5_rows_f64(&uvh5->integration, &rows, r->scratch->integration));
    }
    if (uvh5->has_other_centres) {
        SLC_TRY(slci_uvh5_rows_i64(&uvh5->phase_id, &rows, r->scratch->phase_id));
    }
    return SLC_OK;
}

static slc_status read_block(const run *r) {
    slci_uvh5 *uvh5 = r->uvh5;
    const int64_t uvw_origin[2] = {r->row, 0};
    const int64_t uvw_extent[2] = {r->n, 3};
    const slci_h5_part uvw = {.origin = uvw_origin,
                              .extent = uvw_extent,
                              .raw = r->scratch->uvw,
                              .n_parts = 1};
    SLC_TRY(slci_h5_dataset_read_part(&uvh5->uvw, &uvw, r->counters));
    if (!slci_vis_wants_samples(r->target)) {
        return SLC_OK;
    }
    if (slci_vis_wants_values(r->target)) {
        SLC_TRY(read_field(r, &uvh5->vis, r->scratch->vis));
    }
    SLC_TRY(read_field(r, &uvh5->flags, r->scratch->flags));
    if (uvh5->nsamples.set.id != 0) {
        SLC_TRY(read_field(r, &uvh5->nsamples, r->scratch->nsamples));
    }
    return read_row_arrays(r);
}

static bool is_selected(const slci_uvh5 *uvh5, const slci_uvh5_scratch *scratch, int64_t k) {
    const slci_vis_selection *selection = uvh5->selection;
    if (!selection->use_autos && scratch->ant_1[k] == scratch->ant_2[k]) {
        return false;
    }
    if (uvh5->has_other_centres && scratch->phase_id[k] != uvh5->chosen_id) {
        return false;
    }
    if (!selection->has_times) {
        return true;
    }
    const double time = uvh5->time.id != 0 ? scratch->time[k] : 0.0;
    return time >= selection->time_low && time < selection->time_high;
}

static double weight_factor(const slci_uvh5 *uvh5, const slci_uvh5_scratch *scratch, int64_t k) {
    if (!uvh5->selection->weight_by_time) {
        return 1.0;
    }
    return uvh5->integration.id != 0 ? scratch->integration[k] : uvh5->integration_s;
}

/* Converts the samples of row k of the block. */
static void convert_row(const slci_uvh5 *uvh5, const slci_uvh5_scratch *scratch, bool wants_vis,
                        int64_t k, slci_vis_row *row) {
    const int64_t n = uvh5->selection->n_channels;
    const slci_uvh5_field *vis = &uvh5->vis;
    const slci_uvh5_field *flags = &uvh5->flags;
    const slci_uvh5_field *nsamples = &uvh5->nsamples;
    for (int h = 0; h < uvh5->selection->n_hands; h++) {
        slci_element_to_flags(&flags->set.type,
                              scratch->flags + k * flags->row_bytes + flags->first_bytes +
                                  flags->hand_bytes[h],
                              flags->channel_bytes, n, scratch->flagged[h]);
        row->flags[h] = scratch->flagged[h];
        if (nsamples->set.id != 0) {
            slci_element_to_f64(&nsamples->set.type,
                                scratch->nsamples + k * nsamples->row_bytes +
                                    nsamples->first_bytes + nsamples->hand_bytes[h],
                                nsamples->channel_bytes, n, scratch->samples[h]);
            row->nsamples[h] = scratch->samples[h];
        }
        const unsigned char *raw =
            scratch->vis + k * vis->row_bytes + vis->first_bytes + vis->hand_bytes[h];
        if (wants_vis && slci_element_is_c64(&vis->set.type)) {
            row->singles[h] = raw;
            row->single_stride = vis->channel_bytes;
        } else if (wants_vis) {
            slci_element_to_complex(&vis->set.type, raw, vis->channel_bytes, n, scratch->values[h]);
            row->values[h] = scratch->values[h];
        }
    }
}

/* Rows of a block, the first of which is `first_row` of the file, to where they go from `at` on. */
static slc_status combine_block(const slci_uvh5 *uvh5, const slci_uvh5_scratch *scratch,
                                int64_t first_row, int64_t at, int64_t n,
                                const slci_vis_target *target, slc_vis_counts *counts) {
    const int64_t uvw_bytes = uvh5->uvw.type.bytes;
    const bool has_samples = slci_vis_wants_samples(target);
    const bool has_values = slci_vis_wants_values(target);
    for (int64_t k = 0; k < n; k++) {
        slci_vis_row row = {.number = first_row + k, .factor = 1.0};
        slci_element_to_f64(&uvh5->uvw.type, scratch->uvw + 3 * k * uvw_bytes, uvw_bytes, 3,
                            row.uvw);
        const bool is_possible =
            slci_vis_place_row(&row, SLCI_LONGEST_M,
                               target->uvw == NULL ? NULL : target->uvw + 3 * (at + k));
        if (!has_samples) {
            continue;
        }
        row.is_selected = is_selected(uvh5, scratch, k);
        if (row.is_selected) {
            row.factor = weight_factor(uvh5, scratch, k);
            convert_row(uvh5, scratch, has_values, k, &row);
        }
        const bool is_used = slci_vis_combine(uvh5->selection, &row, target, at + k, counts);
        if (is_used && !is_possible) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: /Header/uvw_array: row %" PRId64
                            " is (%g, %g, %g), expected at most %g m; are they in metres?",
                            uvh5->base.path, first_row + k, row.uvw[0], row.uvw[1], row.uvw[2],
                            SLCI_LONGEST_M);
        }
    }
    return SLC_OK;
}

/* Where the block that starts at `row` ends: after block_rows, and at a border of chunks where blocks
 * are that long. */
static int64_t block_end(const slci_uvh5 *uvh5, int64_t row, int64_t end) {
    const int64_t unit = uvh5->vis.set.chunk[0];
    const int64_t begin = unit > 0 && uvh5->block_rows >= unit ? row / unit * unit : row;
    return slc_min_i64(begin + uvh5->block_rows, end);
}

slc_status slci_uvh5_read(slci_vis_part *part, int64_t origin, int64_t n,
                          const slci_vis_target *target, slc_vis_counts *counts,
                          slc_source_counters *counters) {
    slci_uvh5 *uvh5 = (slci_uvh5 *)part;
    slci_uvh5_scratch *scratch = NULL;
    SLC_TRY(scratch_acquire(uvh5, slci_vis_wants_samples(target), &scratch));
    slc_status status = SLC_OK;
    for (int64_t row = origin; row < origin + n && status == SLC_OK;) {
        const int64_t end = block_end(uvh5, row, origin + n);
        const run block = {.uvh5 = uvh5,
                           .row = row,
                           .n = end - row,
                           .target = target,
                           .scratch = scratch,
                           .counters = counters};
        status = read_block(&block);
        if (status == SLC_OK) {
            status = combine_block(uvh5, scratch, row, row - origin, end - row, target, counts);
        }
        row = end;
    }
    scratch_release(uvh5, scratch);
    return status;
}
