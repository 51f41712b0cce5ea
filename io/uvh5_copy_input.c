/* What a file has for visdata, and what of it the output can keep.
 *
 * A type is kept where it holds single precision: complex floats of 4 or 8 bytes. Chunks are kept;
 * where filters are on and a row of chunks does not fit the staging, they get fewer rows, because
 * HDF5 would otherwise decode and encode each chunk again for every block of rows. Filters are kept
 * where they can be encoded here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/checked.h"
#include "io/h5_header.h"
#include "io/uvh5_copy_parts.h"

#define DEFAULT_STAGING_BYTES ((int64_t)64 << 20)

/* Rows staged where chunks do not ask for more. */
#define PIECE_BYTES ((int64_t)1 << 20)

/* Rows of phase_center_id_array that are read at once. */
#define PASS_ROWS 65536

/* ---- polarisations ------------------------------------------------------------------------- */

/* A number of the header as a code; 0, which is none, where it cannot be one. */
static int code_of(double number) {
    return number >= -8.0 && number <= 4.0 ? (int)number : 0;
}

/* AIPS codes: 1 is Stokes I; -1, -2, -5, -6 are RR, LL, XX, YY; the rest see nothing of I. */
static double factor_of(int code, double hand_factor) {
    const bool is_hand = code == -1 || code == -2 || code == -5 || code == -6;
    return code == 1 ? 1.0 : is_hand ? hand_factor : 0.0;
}

static slc_status read_polarisations(slci_uvh5_copy *copy) {
    const char *path = copy->options.in_path;
    char convention[32];
    double *codes = NULL;
    int64_t n = 0;
    SLC_TRY(slci_h5_get_text(copy->input, path, "/Header/pol_convention", convention,
                             sizeof convention));
    copy->info.hand_factor = strcasecmp(convention, "sum") == 0 ? 0.5 : 1.0;
    SLC_TRY(slci_h5_get_numbers(copy->input, path, "/Header/polarization_array",
                                SLCI_UVH5_MAX_POLARISATIONS, &codes, &n));
    copy->n_polarisations = (int)n;
    size_t used = 0;
    for (int64_t p = 0; p < n; p++) {
        const int code = code_of(codes[p]);
        copy->factor[p] = factor_of(code, copy->info.hand_factor);
        if (copy->factor[p] > 0.0 && used < sizeof copy->info.hands) {
            used += (size_t)snprintf(copy->info.hands + used, sizeof copy->info.hands - used,
                                     "%s%s", used > 0 ? ", " : "", slc_vis_polarisation_name(code));
        }
    }
    free(codes);
    return used > 0 ? SLC_OK
                    : SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                               "%s: none of its %" PRId64
                               " polarisations is I, XX, YY, RR or LL: a model of I has no place "
                               "in it",
                               path, n);
}

/* ---- phase centres ------------------------------------------------------------------------- */

static slc_status check_ids(slci_uvh5_copy *copy, const slci_h5_dataset *set) {
    const int64_t n_rows = set->rank == 1 ? set->shape[0] : 0;
    const int64_t bytes = set->type.bytes;
    unsigned char *raw = malloc((size_t)(PASS_ROWS * (bytes + (int64_t)sizeof(int64_t))));
    if (raw == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to read the rows' phase centres",
                        copy->options.in_path);
    }
    int64_t *ids = (int64_t *)(void *)raw;
    unsigned char *stored = raw + PASS_ROWS * (int64_t)sizeof *ids;
    slc_status status = SLC_OK;
    int64_t first = 0;
    for (int64_t row = 0; row < n_rows && status == SLC_OK; row += PASS_ROWS) {
        const int64_t n = slc_min_i64(PASS_ROWS, n_rows - row);
        status = slci_h5_dataset_read(set, &row, &n, stored);
        if (status != SLC_OK) {
            break;
        }
        slci_element_to_i64(&set->type, stored, bytes, n, ids);
        first = row == 0 ? ids[0] : first;
        for (int64_t k = 0; k < n && status == SLC_OK; k++) {
            if (ids[k] != first) {
                status = SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                                  "%s: rows have several phase centres (%" PRId64 " in row 0, "
                                  "%" PRId64 " in row %" PRId64
                                  "): not supported; predict for one field at a time",
                                  copy->options.in_path, first, ids[k], row + k);
            }
        }
    }
    free(raw);
    return status;
}

static slc_status check_phase_centre(slci_uvh5_copy *copy) {
    const char *name = "/Header/phase_center_id_array";
    slci_h5_dataset set;
    slci_h5_kind kind = SLCI_H5_ABSENT;
    SLC_TRY(slci_h5_find(copy->input, copy->options.in_path, name, &kind));
    if (kind != SLCI_H5_DATASET) {
        return SLC_OK;
    }
    SLC_TRY(slci_h5_dataset_open(copy->input, copy->options.in_path, name, &set));
    const slc_status status = slci_element_is_integer(&set.type)
                                  ? check_ids(copy, &set)
                                  : SLC_FAIL(SLC_ERROR_INPUT,
                                             "%s: %s is of type %s, expected an "
                                             "integer",
                                             copy->options.in_path, name, set.type_text);
    slci_h5_dataset_close(&set);
    return status;
}

/* ---- storage ------------------------------------------------------------------------------- */

static void choose_type(slci_uvh5_copy *copy) {
    const slci_element *type = &copy->vis.type;
    copy->keeps_type = type->kind == SLCI_ELEMENT_COMPLEX_FLOAT &&
                       (type->part_bytes == 4 || type->part_bytes == 8);
    copy->type = copy->keeps_type ? *type
                                  : (slci_element){.kind = SLCI_ELEMENT_COMPLEX_FLOAT,
                                                   .bytes = 8,
                                                   .part_bytes = 4,
                                                   .imag_offset = 4};
    slci_element_text(&copy->type, copy->info.type_text, sizeof copy->info.type_text);
    if (!copy->keeps_type) {
        slc_log_note(copy->options.log, "%s: visdata is of type %s; the model is written as %s",
                     copy->options.in_path, copy->vis.type_text, copy->info.type_text);
    }
}

/* Whether every filter of visdata can be encoded here. Of Sluice's own, zstd alone can. */
static slc_status check_filters(slci_uvh5_copy *copy) {
    bool can_encode = true;
    slci_h5_lock();
    const hid_t list = H5Dget_create_plist((hid_t)copy->vis.id);
    const int n = list < 0 ? -1 : H5Pget_nfilters(list);
    for (int k = 0; k < n; k++) {
        unsigned flags = 0;
        unsigned about = 0;
        size_t n_values = 0;
        const H5Z_filter_t id =
            H5Pget_filter2(list, (unsigned)k, &flags, &n_values, NULL, 0, NULL, NULL);
        const slci_h5_codec codec = slci_h5_codec_of(id);
        can_encode = can_encode && (codec == SLCI_H5_CODECS || codec == SLCI_H5_ZSTD) &&
                     H5Zget_filter_info(id, &about) >= 0 &&
                     (about & H5Z_FILTER_CONFIG_ENCODE_ENABLED) != 0;
    }
    (void)H5Pclose(list);
    slci_h5_unlock();
    copy->keeps_filters = can_encode;
    return n >= 0 ? SLC_OK
                  : SLC_FAIL(SLC_ERROR_INPUT, "%s: the filters of visdata cannot be read",
                             copy->options.in_path);
}

static slc_status choose_storage(slci_uvh5_copy *copy) {
    const slci_h5_dataset *vis = &copy->vis;
    const int64_t limit =
        copy->options.staging_bytes > 0 ? copy->options.staging_bytes : DEFAULT_STAGING_BYTES;
    memcpy(copy->chunk, vis->chunk, sizeof copy->chunk);
    SLC_TRY(check_filters(copy));
    if (!copy->keeps_filters) {
        slc_log_note(copy->options.log,
                     "%s: visdata is stored with filters (%s) that are not encoded here; the "
                     "model is written with shuffle and deflate",
                     copy->options.in_path, vis->filters);
    }
    const int64_t n_rows = slc_max_i64(vis->shape[0], 1);
    const int64_t piece_rows = slc_max_i64(slc_min_i64(PIECE_BYTES / copy->row_bytes, n_rows), 1);
    const int64_t fitting = slc_max_i64(limit / copy->row_bytes, 1);
    if (vis->is_filtered && slc_min_i64(copy->chunk[0], n_rows) > fitting) {
        copy->chunk[0] = fitting;
        slc_log_note(copy->options.log,
                     "%s: a row of chunks of visdata, %" PRId64
                     " rows, is too large to be held; the model is written in chunks of "
                     "%" PRId64 " rows",
                     copy->options.in_path, vis->chunk[0], copy->chunk[0]);
    }
    const int64_t chunk_rows = slc_min_i64(copy->chunk[0], n_rows);
    copy->stage_rows = chunk_rows > 0 && chunk_rows <= fitting ? chunk_rows : piece_rows;
    /* A filtered chunk is encoded once, and so whole. */
    copy->least_rows =
        vis->is_filtered ? copy->stage_rows : slc_min_i64(piece_rows, copy->stage_rows);
    return slc_checked_mul(copy->stage_rows, copy->row_bytes, &copy->info.staging_bytes) &&
                   slc_checked_mul(copy->least_rows, copy->row_bytes,
                                   &copy->info.least_staging_bytes)
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INPUT, "%s: a row of visdata does not fit 63 bits",
                          copy->options.in_path);
}

/* visdata as the reader of visibilities accepts it too. */
static slc_status check_shape(slci_uvh5_copy *copy, int64_t *n_channels) {
    const slci_h5_dataset *vis = &copy->vis;
    int64_t samples = 1;
    if ((vis->rank != 3 && vis->rank != 4) || vis->shape[vis->rank - 1] != copy->n_polarisations ||
        vis->shape[0] < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: /Data/visdata has %d dimensions and %lld polarisations, expected "
                        "(Nblts, [Nspws,] Nfreqs, Npols) with %d",
                        copy->options.in_path, vis->rank,
                        vis->rank > 0 ? (long long)vis->shape[vis->rank - 1] : 0LL,
                        copy->n_polarisations);
    }
    for (int d = 1; d < vis->rank - 1; d++) {
        if (!slc_checked_mul(samples, vis->shape[d], &samples)) {
            samples = 0;
        }
    }
    if (samples < 1 || !slc_checked_mul(samples, copy->n_polarisations, &copy->row_bytes) ||
        !slc_checked_mul(copy->row_bytes, copy->type.bytes, &copy->row_bytes)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: a row of visdata is empty or does not fit 63 bits",
                        copy->options.in_path);
    }
    *n_channels = samples;
    return SLC_OK;
}

slc_status slci_uvh5_copy_look(slci_uvh5_copy *copy) {
    const char *path = copy->options.in_path;
    int64_t n_channels = 0;
    slci_h5_kind kind = SLCI_H5_ABSENT;
    SLC_TRY(slci_file_stamp_get(path, &copy->stamp));
    SLC_TRY(slci_h5_open(path, copy->options.log, &copy->input));
    SLC_TRY(slci_h5_find(copy->input, path, "/Header", &kind));
    if (kind != SLCI_H5_GROUP) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: is not UVH5 (there is no group /Header); the model's visibilities "
                        "are written as UVH5, from UVH5",
                        path);
    }
    SLC_TRY(slci_h5_dataset_open(copy->input, path, "/Data/visdata", &copy->vis));
    SLC_TRY(read_polarisations(copy));
    SLC_TRY(slci_h5_get_text(copy->input, path, "/Header/vis_units", copy->info.units,
                             sizeof copy->info.units));
    SLC_TRY(check_phase_centre(copy));
    choose_type(copy);
    SLC_TRY(check_shape(copy, &n_channels));
    SLC_TRY(choose_storage(copy));
    const int64_t shape[2] = {copy->vis.shape[0], n_channels};
    return slc_layout_dense(SLC_C128, 2, shape, &copy->base.layout);
}
