/* The sum that plain sets are made for is the tutorials', with exp(+2 pi i (u l + v m + w (n - 1)));
 * Sluice's has the other sign. Negating u, v and w turns one into the other exactly, imaginary part
 * included, which conjugating the visibilities would not. */
#include "io/vis_plain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/vis_combine.h"

/* Rows converted at once. */
#define BLOCK_ROWS 4096

/* Of a converted row: a complex number, a weight and a flag for each channel. */
#define CHANNEL_BYTES (16 + 8 + 1)

const slci_plain_member slci_plain_members[SLCI_PLAIN_MEMBERS] = {
    {"u", SLCI_PLAIN_U},        {"v", SLCI_PLAIN_V},      {"w", SLCI_PLAIN_W},
    {"vis", SLCI_PLAIN_VIS},    {"data", SLCI_PLAIN_VIS}, {"weight", SLCI_PLAIN_WEIGHT},
    {"flags", SLCI_PLAIN_FLAGS}};

void slci_plain_ignore(slci_plain *plain, const char *name) {
    const size_t used = strlen(plain->ignored);
    (void)snprintf(plain->ignored + used, sizeof plain->ignored - used, "%s%s",
                   used > 0 ? ", " : "", name);
}

void slci_plain_ignore_unknown(slci_plain *plain, const char *name) {
    for (int i = 0; i < SLCI_PLAIN_MEMBERS; i++) {
        if (strcmp(slci_plain_members[i].name, name) == 0) {
            return;
        }
    }
    slci_plain_ignore(plain, name);
}

static bool has_column(const slci_plain *plain, int k) {
    return plain->columns[k].set.id != 0 || plain->columns[k].memory != NULL;
}

void slci_plain_destroy(slci_plain *plain) {
    for (int k = 0; k < SLCI_PLAIN_COLUMNS; k++) {
        slci_h5_dataset_close(&plain->columns[k].set); /* its type may be open where it is not */
        free(plain->columns[k].memory);
    }
    if (plain->file != 0) {
        slci_h5_close(plain->file);
    }
    slci_vis_part_fini(&plain->base);
    free(plain);
}

static void destroy(slci_vis_part *part) {
    slci_plain_destroy((slci_plain *)part);
}

/* ---- checks ----------------------------------------------------------------------------------- */

static slc_status check_type(const slci_plain *plain, int k) {
    const slci_h5_dataset *set = &plain->columns[k].set;
    const bool is_vis = k == SLCI_PLAIN_VIS;
    const bool is_flags = k == SLCI_PLAIN_FLAGS;
    const bool is_good = is_vis     ? slci_element_is_complex(&set->type)
                         : is_flags ? slci_element_is_integer(&set->type)
                                    : slci_element_is_real(&set->type);
    if (!is_good) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "%s: %s is of type %s, expected %s",
                        plain->base.path, set->name, set->type_text,
                        is_vis     ? "a complex number"
                        : is_flags ? "a boolean or an integer"
                                   : "a real number");
    }
    return SLC_OK;
}

static slc_status check_column(const slci_plain *plain, int k) {
    const slci_h5_dataset *set = &plain->columns[k].set;
    const slci_h5_dataset *vis = &plain->columns[SLCI_PLAIN_VIS].set;
    const char *path = plain->base.path;
    const bool is_vis = k == SLCI_PLAIN_VIS;
    SLC_TRY(check_type(plain, k));
    if (is_vis && (set->rank < 1 || set->rank > 2 || (set->rank == 2 && set->shape[1] < 1))) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: %s has %d dimensions, expected [rows] or [rows, channels]", path,
                        set->name, set->rank);
    }
    /* A weight may be one for each row, or one for each visibility. */
    const int rank = k == SLCI_PLAIN_FLAGS                      ? vis->rank
                     : k == SLCI_PLAIN_WEIGHT && set->rank == 2 ? 2
                                                                : 1;
    bool is_equal = is_vis || (set->rank == rank && set->shape[0] == vis->shape[0]);
    is_equal = is_equal && (rank == 1 || set->shape[1] == plain->base.header.n_channels);
    if (!is_equal) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: %s has %" PRId64 " rows in %d dimensions, %s has %" PRId64
                        " in %d; expected u, v, w [rows], visibilities [rows] or [rows, channels], "
                        "weight as either, flags as the visibilities",
                        path, set->name, set->shape[0], set->rank, vis->name, vis->shape[0],
                        vis->rank);
    }
    return SLC_OK;
}

static slc_status check_columns(slci_plain *plain) {
    static const char *const names[] = {"u", "v", "w", "vis (or data)"};
    slci_vis_header *header = &plain->base.header;
    for (int k = 0; k < SLCI_PLAIN_WEIGHT; k++) {
        if (!has_column(plain, k)) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: %s is missing, expected u, v, w and vis (or data)",
                            plain->base.path, names[k]);
        }
    }
    const slci_h5_dataset *vis = &plain->columns[SLCI_PLAIN_VIS].set;
    header->n_rows = vis->rank > 0 ? vis->shape[0] : 0;
    header->n_channels = vis->rank == 2 ? vis->shape[1] : 1;
    for (int k = 0; k < SLCI_PLAIN_COLUMNS; k++) {
        if (has_column(plain, k)) {
            SLC_TRY(check_column(plain, k));
        }
    }
    if (header->n_rows == 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: the set is empty: %s has 0 rows", plain->base.path,
                        vis->name);
    }
    return SLC_OK;
}

/* A plain set says little of itself; this is what is taken for the rest. */
static slc_status complete_header(slci_plain *plain) {
    slci_vis_header *header = &plain->base.header;
    const size_t n = (size_t)header->n_channels;
    header->freq_hz = calloc(n, sizeof(double));
    header->channel_width_hz = calloc(n, sizeof(double));
    header->polarisations = calloc(1, sizeof(int));
    if (header->freq_hz == NULL || header->channel_width_hz == NULL ||
        header->polarisations == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for the channels", plain->base.path);
    }
    for (size_t c = 0; c < n; c++) {
        header->freq_hz[c] = plain->freq_hz;
    }
    header->n_polarisations = 1;
    header->polarisations[0] = 1;
    header->is_plain = true;
    header->phase.kind = SLCI_PHASE_SKY;
    (void)snprintf(header->phase.text, sizeof header->phase.text,
                   "plain set: w-projected, phase u l + v m + w (n - 1), sign %+d in the image sum",
                   (int)plain->sign);
    return SLC_OK;
}

slc_status slci_plain_check(slci_plain *plain, const slc_vis_options *options) {
    SLC_TRY(check_columns(plain));
    if (options->weight_by_time || options->phase_centre != NULL || options->use_autos) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: a plain set has no integration times (--weight-by-time), no phase "
                        "centres (--phase-centre) and no autocorrelations (--autos) to choose",
                        plain->base.path);
    }
    if (plain->sign != 1.0 && plain->sign != -1.0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: the attribute sign is %g, expected +1 or -1",
                        plain->base.path, plain->sign);
    }
    SLC_TRY(complete_header(plain));
    if (plain->ignored[0] != '\0') {
        slc_log_warning(options->log,
                        "%s: ignored: %s; a plain set is u, v, w (wavelengths), vis or data, "
                        "weight and flags",
                        plain->base.path, plain->ignored);
    }
    return SLC_OK;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static slc_status scan(slci_vis_part *part, slci_vis_sets *sets) {
    int64_t index;
    if (part->header.n_rows > 0) {
        SLC_TRY(slci_vis_sets_add_time(sets, 0.0, &index));
        sets->time_info[index].is_used = true;
    }
    return SLC_OK;
}

static int64_t column_row_bytes(const slci_plain_column *column) {
    return column->set.type.bytes * (column->set.rank == 2 ? column->set.shape[1] : 1);
}

static slc_status select_rows(slci_vis_part *part, const slci_vis_selection *selection) {
    slci_plain *plain = (slci_plain *)part;
    plain->selection = selection;
    part->kept_bytes = 0;
    const int64_t row_bytes = column_row_bytes(&plain->columns[SLCI_PLAIN_VIS]);
    const int64_t unit = plain->columns[SLCI_PLAIN_VIS].set.chunk[0];
    const int64_t rows = slc_min_i64(selection->block_bytes / row_bytes, BLOCK_ROWS);
    plain->block_rows = slc_max_i64(unit > 0 && rows > unit ? rows / unit * unit : rows, 1);
    for (int k = 0; k < SLCI_PLAIN_COLUMNS && plain->file != 0; k++) {
        slci_h5_dataset *set = &plain->columns[k].set;
        if (set->id == 0) {
            continue;
        }
        const int64_t origin[2] = {0, selection->channel_begin};
        const int64_t extent[2] = {1, selection->n_channels};
        int64_t bytes = slci_h5_dataset_chunk_row_bytes(set, origin, extent);
        const int64_t room = selection->cache_bytes / SLCI_PLAIN_COLUMNS;
        plain->columns[k].keeps_row =
            set->is_filtered && (selection->cache_bytes == 0 || bytes <= room);
        if (selection->cache_bytes > 0) {
            bytes = slc_min_i64(bytes, room);
        }
        part->kept_bytes += bytes;
        SLC_TRY(slci_h5_dataset_set_cache(plain->file, set, bytes));
    }
    return SLC_OK;
}

/* Of a column as long as its blocks. */
static int64_t column_block_bytes(const slci_plain *plain, int k, int64_t rows) {
    const slci_h5_dataset *set = &plain->columns[k].set;
    return rows * (set->rank == 2 ? plain->selection->n_channels : 1) * set->type.bytes;
}

static slci_vis_cost cost(const slci_vis_part *part, bool wants_samples) {
    const slci_plain *plain = (const slci_plain *)part;
    const int n = wants_samples ? SLCI_PLAIN_COLUMNS : SLCI_PLAIN_VIS;
    const int64_t rows = slc_min_i64(plain->block_rows, slc_max_i64(part->header.n_rows, 1));
    slci_vis_cost sum = {.thread_bytes = plain->selection->n_channels * CHANNEL_BYTES};
    for (int k = 0; k < SLCI_PLAIN_COLUMNS; k++) {
        const slci_plain_column *column = &plain->columns[k];
        if (column->memory != NULL) {
            sum.once_bytes += part->header.n_rows * column_row_bytes(column);
        } else if (column->set.id != 0) {
            sum.once_bytes += slci_h5_dataset_index_bytes(&column->set);
            sum.thread_bytes += k < n ? slci_h5_dataset_thread_bytes(&column->set) +
                                            column_block_bytes(plain, k, rows)
                                      : 0;
        }
    }
    return sum;
}

static void rest(slci_vis_part *part) {
    const slci_plain *plain = (const slci_plain *)part;
    for (int k = 0; k < SLCI_PLAIN_COLUMNS; k++) {
        slci_h5_dataset_rest(&plain->columns[k].set);
    }
}

/* A block of one column: the selected channels of n rows. Memory is lent out, files are read into
 * `buffer`. *stride_bytes goes from row to row. */
static slc_status fetch(slci_plain *plain, int k, int64_t row, int64_t n, unsigned char *buffer,
                        const unsigned char **out, int64_t *stride_bytes,
                        slc_source_counters *counters) {
    slci_plain_column *column = &plain->columns[k];
    slci_h5_dataset *set = &column->set;
    const slci_vis_selection *selection = plain->selection;
    const bool is_wide = set->rank == 2;
    if (column->memory != NULL) {
        *stride_bytes = column_row_bytes(column);
        *out = column->memory + row * *stride_bytes +
               (is_wide ? selection->channel_begin * set->type.bytes : 0);
        atomic_fetch_add(&counters->bytes_read, n * *stride_bytes);
        return SLC_OK;
    }
    const int64_t origin[2] = {row, selection->channel_begin};
    const int64_t extent[2] = {n, selection->n_channels};
    const slci_h5_part all = {.origin = origin,
                              .extent = extent,
                              .raw = buffer,
                              .n_parts = 1,
                              .keeps_row = column->keeps_row};
    SLC_TRY(slci_h5_dataset_read_part(set, &all, counters));
    *out = buffer;
    *stride_bytes = (is_wide ? selection->n_channels : 1) * set->type.bytes;
    return SLC_OK;
}

/* Raw rows of the columns of a block, and one converted row. */
typedef struct block {
    unsigned char *buffers[SLCI_PLAIN_COLUMNS];
    const unsigned char *raw[SLCI_PLAIN_COLUMNS];
    int64_t stride_bytes[SLCI_PLAIN_COLUMNS];
    double *values, *weights; /* [n_channels, 2], [n_channels] */
    uint8_t *flags;           /* [n_channels] */
} block;

static bool is_column_read(const slci_plain *plain, const slci_vis_target *target, int k) {
    const bool is_wanted = k < SLCI_PLAIN_VIS    ? true
                           : k == SLCI_PLAIN_VIS ? slci_vis_wants_values(target)
                                                 : slci_vis_wants_samples(target);
    const bool is_weight = k == SLCI_PLAIN_WEIGHT;
    return has_column(plain, k) && is_wanted && !(is_weight && plain->selection->use_unit_weights);
}

/* Converts the samples of row k of the block; what was not read stays NULL. */
static void convert_row(const slci_plain *plain, const block *from, int64_t k, slci_vis_row *row) {
    const int64_t n_channels = plain->selection->n_channels;
    const unsigned char *raw[SLCI_PLAIN_COLUMNS];
    for (int column = SLCI_PLAIN_VIS; column < SLCI_PLAIN_COLUMNS; column++) {
        raw[column] =
            from->raw[column] == NULL ? NULL : from->raw[column] + k * from->stride_bytes[column];
    }
    if (raw[SLCI_PLAIN_VIS] != NULL) {
        const slci_element *type = &plain->columns[SLCI_PLAIN_VIS].set.type;
        slci_element_to_complex(type, raw[SLCI_PLAIN_VIS], type->bytes, n_channels, from->values);
        row->values[0] = from->values;
    }
    if (raw[SLCI_PLAIN_WEIGHT] != NULL) {
        const slci_h5_dataset *weight = &plain->columns[SLCI_PLAIN_WEIGHT].set;
        const int64_t step = weight->rank == 2 ? weight->type.bytes : 0;
        slci_element_to_f64(&weight->type, raw[SLCI_PLAIN_WEIGHT], step, n_channels, from->weights);
        row->nsamples[0] = from->weights;
    }
    if (raw[SLCI_PLAIN_FLAGS] != NULL) {
        const slci_element *type = &plain->columns[SLCI_PLAIN_FLAGS].set.type;
        slci_element_to_flags(type, raw[SLCI_PLAIN_FLAGS], type->bytes, n_channels, from->flags);
        row->flags[0] = from->flags;
    }
}

/* Rows of a block, the first of which is `first_row` of the file, to where they go from `at` on. */
static slc_status combine_block(const slci_plain *plain, const block *from, int64_t first_row,
                                int64_t at, int64_t n, const slci_vis_target *target,
                                slc_vis_counts *counts) {
    const bool has_samples = slci_vis_wants_samples(target);
    for (int64_t k = 0; k < n; k++) {
        slci_vis_row row = {.number = first_row + k, .is_selected = true, .factor = 1.0};
        for (int d = 0; d < 3; d++) {
            const slci_element *type = &plain->columns[d].set.type;
            slci_element_to_f64(type, from->raw[d] + k * from->stride_bytes[d], 0, 1, &row.uvw[d]);
            row.uvw[d] *= -plain->sign;
        }
        const bool is_possible =
            slci_vis_place_row(&row, SLCI_LONGEST_WAVELENGTHS,
                               target->uvw == NULL ? NULL : target->uvw + 3 * (at + k));
        if (!has_samples) {
            continue;
        }
        convert_row(plain, from, k, &row);
        const bool is_used = slci_vis_combine(plain->selection, &row, target, at + k, counts);
        if (is_used && !is_possible) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: row %" PRId64 ": (u, v, w) is (%g, %g, %g), expected at most %g "
                            "wavelengths; are they in wavelengths?",
                            plain->base.path, first_row + k, -plain->sign * row.uvw[0],
                            -plain->sign * row.uvw[1], -plain->sign * row.uvw[2],
                            SLCI_LONGEST_WAVELENGTHS);
        }
    }
    return SLC_OK;
}

static void block_destroy(block *from) {
    for (int k = 0; k < SLCI_PLAIN_COLUMNS; k++) {
        free(from->buffers[k]);
    }
    free(from->values);
    free(from->weights);
    free(from->flags);
}

/* The values of a row need two numbers a channel; a column of a file needs room for its raw rows. */
static slc_status block_create(const slci_plain *plain, const slci_vis_target *target, int64_t rows,
                               block *out) {
    const int64_t n_channels = plain->selection->n_channels;
    block made = {.values = NULL};
    made.values = malloc((size_t)n_channels * 16);
    made.weights = malloc((size_t)n_channels * 8);
    made.flags = malloc((size_t)n_channels);
    bool is_made = made.values != NULL && made.weights != NULL && made.flags != NULL;
    for (int k = 0; k < SLCI_PLAIN_COLUMNS && is_made; k++) {
        const slci_plain_column *column = &plain->columns[k];
        if (column->memory == NULL && is_column_read(plain, target, k)) {
            made.buffers[k] = malloc((size_t)column_block_bytes(plain, k, rows));
            is_made = made.buffers[k] != NULL;
        }
    }
    if (!is_made) {
        block_destroy(&made);
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to read %" PRId64 " rows",
                        plain->base.path, rows);
    }
    *out = made;
    return SLC_OK;
}

static slc_status read_rows(slci_vis_part *part, int64_t origin, int64_t n,
                            const slci_vis_target *target, slc_vis_counts *counts,
                            slc_source_counters *counters) {
    slci_plain *plain = (slci_plain *)part;
    const int64_t rows = slc_min_i64(plain->block_rows, slc_max_i64(n, 1));
    const int64_t unit = plain->columns[SLCI_PLAIN_VIS].set.chunk[0];
    block from = {.values = NULL};
    SLC_TRY(block_create(plain, target, rows, &from));
    slc_status status = SLC_OK;
    for (int64_t row = origin; row < origin + n && status == SLC_OK;) {
        const int64_t begin = unit > 0 && rows >= unit ? row / unit * unit : row;
        const int64_t m = slc_min_i64(slc_min_i64(begin + rows, row + rows), origin + n) - row;
        for (int k = 0; k < SLCI_PLAIN_COLUMNS && status == SLC_OK; k++) {
            if (is_column_read(plain, target, k)) {
                status = fetch(plain, k, row, m, from.buffers[k], &from.raw[k],
                               &from.stride_bytes[k], counters);
            }
        }
        if (status == SLC_OK) {
            status = combine_block(plain, &from, row, row - origin, m, target, counts);
        }
        row += m;
    }
    block_destroy(&from);
    return status;
}

static int64_t next_unit(slci_vis_part *part, int64_t row) {
    const slci_plain *plain = (const slci_plain *)part;
    const int64_t unit = slc_max_i64(plain->columns[SLCI_PLAIN_VIS].set.chunk[0], 1);
    return slc_min_i64((row / unit + 1) * unit, part->header.n_rows);
}

static slc_status describe(slci_vis_part *part, int capacity, slc_vis_dataset *out, int *n) {
    const slci_plain *plain = (const slci_plain *)part;
    *n = 0;
    for (int k = 0; k < SLCI_PLAIN_COLUMNS; k++) {
        if (has_column(plain, k)) {
            if (*n < capacity) {
                slci_h5_dataset_describe(&plain->columns[k].set, &out[*n]);
                if (plain->columns[k].memory != NULL) {
                    (void)snprintf(out[*n].reader, sizeof out[*n].reader, "memory");
                }
            }
            (*n)++;
        }
    }
    return SLC_OK;
}

static const slci_vis_part_ops plain_ops = {
    .scan = scan,
    .select = select_rows,
    .read = read_rows,
    .next_unit = next_unit,
    .cost = cost,
    .rest = rest,
    .describe = describe,
    .destroy = destroy,
};

slc_status slci_plain_create(const char *path, const char *format, slci_plain **out) {
    slci_plain *plain = calloc(1, sizeof *plain);
    if (plain == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to open %s", path);
    }
    const slc_status status = slci_vis_part_init(&plain->base, &plain_ops, path);
    if (status != SLC_OK) {
        slci_plain_destroy(plain);
        return status;
    }
    plain->sign = 1.0;
    (void)snprintf(plain->base.header.format, sizeof plain->base.header.format, "%s", format);
    *out = plain;
    return SLC_OK;
}
