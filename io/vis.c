/* Visibility sets: opening by kind, joining files, and reading runs of rows from the files they fall
 * into. Rows of the set are those of the first file, then of the second, and so on. */
#include "io/vis.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/fnv.h"
#include "io/h5_data.h"
#include "io/vis_set.h"

static const slc_source_ops vis_ops;

/* ---- opening ---------------------------------------------------------------------------------- */

/* What local file headers and the end record of an empty archive begin with. */
static slc_status find_zip(const char *path, bool *is_zip) {
    char start[4] = "";
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    }
    const bool is_read = read(descriptor, start, sizeof start) == 4;
    (void)close(descriptor);
    *is_zip = is_read && (memcmp(start, "PK\3\4", 4) == 0 || memcmp(start, "PK\5\6", 4) == 0);
    return SLC_OK;
}

/* The groups of UVH5, and the datasets of a plain set (slci_plain_members). */
slc_h5_reading slc_vis_reading(const char *path) {
    static const char *const names[] = {"/Header", "/Data", "/u",      "/v",    "/w",
                                        "/vis",    "/data", "/weight", "/flags"};
    return (slc_h5_reading){.path = path,
                            .names = names,
                            .n_names = (int)(sizeof names / sizeof names[0])};
}

/* What an HDF5 file with visibilities is. */
typedef enum h5_form { H5_OTHER, H5_HEADER_ONLY, H5_UVH5, H5_PLAIN } h5_form;

static slc_status find_form(slci_h5_id file, const char *path, h5_form *out) {
    static const char *const names[] = {"/Header", "/Data", "/u", "/vis"};
    slci_h5_kind kind[4] = {SLCI_H5_ABSENT};
    for (int k = 0; k < 4; k++) {
        SLC_TRY(slci_h5_find(file, path, names[k], &kind[k]));
    }
    const bool has_header = kind[0] == SLCI_H5_GROUP;
    *out = has_header && kind[1] == SLCI_H5_GROUP                     ? H5_UVH5
           : kind[2] == SLCI_H5_DATASET || kind[3] == SLCI_H5_DATASET ? H5_PLAIN
           : has_header                                               ? H5_HEADER_ONLY
                                                                      : H5_OTHER;
    return SLC_OK;
}

static slc_status open_part(const char *path, const slc_vis_options *options, slci_vis_part **out) {
    slci_file_stamp stamp;
    bool is_zip = false;
    SLC_TRY(slci_file_stamp_get(path, &stamp));
    SLC_TRY(find_zip(path, &is_zip));
    if (is_zip) {
        return slci_npz_open(path, options, out);
    }
    if (!slci_h5_is_hdf5(path)) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: file signature not found: neither HDF5 (UVH5 or a plain set) nor .npz",
                        path);
    }
    slci_h5_id file;
    h5_form form = H5_OTHER;
    SLC_TRY(slci_h5_open(path, options->log, &file));
    const slc_status status = find_form(file, path, &form);
    if (status == SLC_OK && form == H5_UVH5) {
        return slci_uvh5_open(path, file, options, out);
    }
    if (status == SLC_OK && form == H5_PLAIN) {
        return slci_plain_h5_open(path, file, options, out);
    }
    slci_h5_close(file);
    SLC_TRY(status);
    return SLC_FAIL(
        SLC_ERROR_UNSUPPORTED,
        "%s: neither UVH5 (groups /Header and /Data%s) nor a plain set (/u, /v, /w, /vis)", path,
        form == H5_HEADER_ONLY ? ", of which /Data is missing" : "");
}

static uint64_t hash_i64(uint64_t hash, int64_t value) {
    return slci_fnv_add(hash, &value, sizeof value);
}

/* Sizes and times of the files, what their headers say, and what is selected from them. Not their
 * names: a run may be resumed from another folder. */
static void identify(slci_vis *vis) {
    uint64_t hash = SLCI_FNV_BEGIN;
    int64_t bytes = 0;
    int64_t modified_ns = 0; /* of the youngest file */
    for (int k = 0; k < vis->n_parts; k++) {
        const slci_vis_part *part = vis->parts[k];
        hash = hash_i64(hash, part->stamp.bytes);
        hash = hash_i64(hash, part->stamp.modified_ns);
        bytes += part->stamp.bytes;
        modified_ns = slc_max_i64(modified_ns, part->stamp.modified_ns);
    }
    const slc_vis_meta *meta = &vis->meta;
    hash = hash_i64(hash, meta->n_times);
    hash = hash_i64(hash, meta->n_antennas);
    hash = slci_fnv_add(hash, &meta->ra_rad, sizeof meta->ra_rad);
    hash = slci_fnv_add(hash, &meta->dec_rad, sizeof meta->dec_rad);
    hash = slci_fnv_add(hash, meta->wavelengths_per_metre,
                        (size_t)meta->n_channels * sizeof *meta->wavelengths_per_metre);
    const slci_vis_selection *s = &vis->selection;
    hash = hash_i64(hash, s->channel_begin);
    hash = hash_i64(hash, s->n_channels);
    for (int k = 0; k < s->n_imaged; k++) {
        const slci_vis_combination *imaged = &s->imaged[k];
        const bool is_pair = imaged->n_used == 2;
        hash = hash_i64(hash, imaged->n_used * 100 + s->hands[imaged->hand[0]]);
        hash = hash_i64(hash, is_pair ? s->hands[imaged->hand[1]] : 0);
        hash = hash_i64(hash, is_pair + 2 * (imaged->scale < 1.0) + 4 * imaged->is_difference +
                                  8 * imaged->is_turned);
    }
    hash = hash_i64(hash, 2 * s->use_autos + 4 * s->use_unit_weights + 8 * s->weight_by_time +
                              16 * s->conjugate + 32 * s->has_times + 64 * s->has_uv_range);
    const double limits[4] = {s->has_times ? s->time_low : 0.0, s->has_times ? s->time_high : 0.0,
                              s->uv_min, s->uv_max};
    hash = slci_fnv_add(hash, limits, sizeof limits);
    hash = slci_fnv_add(hash, vis->meta.phase_centre_name, strlen(vis->meta.phase_centre_name));
    (void)snprintf(vis->base.identity, sizeof vis->base.identity,
                   "%d file(s) of %" PRId64 " bytes and %" PRId64 " rows, changed at %" PRId64
                   " ns, header and selection %016" PRIx64,
                   vis->n_parts, bytes, meta->n_rows, modified_ns, hash);
}

/* Rows that are read twice would count twice, and nothing in the picture would show it. */
static slc_status refuse_twice(const slci_vis *vis, int k) {
    const slci_vis_part *part = vis->parts[k];
    for (int j = 0; j < k; j++) {
        const slci_vis_part *other = vis->parts[j];
        if (other->stamp.device == part->stamp.device && other->stamp.inode == part->stamp.inode) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "%s is given twice (first as %s), and its rows would count twice; name "
                            "each file once",
                            part->path, other->path);
        }
    }
    return SLC_OK;
}

static slc_status open_parts(slci_vis *vis, const char *const *paths,
                             const slc_vis_options *options) {
    for (int k = 0; k < vis->n_parts; k++) {
        SLC_TRY(open_part(paths[k], options, &vis->parts[k]));
        SLC_TRY(refuse_twice(vis, k));
        if (!slc_checked_add(vis->first_row[k], vis->parts[k]->header.n_rows,
                             &vis->first_row[k + 1])) {
            return SLC_FAIL(SLC_ERROR_INPUT, "%s: more than 2^63 rows", paths[k]);
        }
    }
    vis->meta.n_rows = vis->first_row[vis->n_parts];
    return SLC_OK;
}

static slc_status scan_parts(slci_vis *vis, const slc_vis_options *options) {
    slci_vis_sets sets;
    slci_vis_sets_init(&sets);
    sets.selection = &vis->selection;
    sets.log = options->log;
    slc_status status = SLC_OK;
    for (int k = 0; k < vis->n_parts && status == SLC_OK; k++) {
        status = vis->parts[k]->ops->scan(vis->parts[k], &sets);
        vis->parts[k]->ops->rest(vis->parts[k]); /* else there would be buffers of each file */
    }
    if (status == SLC_OK) {
        status = slci_vis_check_agreement(vis); /* an ephemeris is placed by the scan */
    }
    if (status == SLC_OK) {
        status = slci_vis_place(vis, &sets, options);
    }
    slci_vis_sets_destroy(&sets);
    return status;
}

static slc_status make_fields(slci_vis *vis) {
    const int64_t n_rows = vis->meta.n_rows;
    const int64_t shape[2] = {n_rows, vis->meta.n_channels};
    const int64_t uvw_shape[2] = {n_rows, 3};
    SLC_TRY(slc_layout_dense(SLC_F64, 2, uvw_shape, &vis->base.fields[SLC_VIS_UVW]));
    for (int k = 0; k < vis->meta.n_imaged; k++) {
        SLC_TRY(slc_layout_dense(SLC_C64, 2, shape, &vis->base.fields[slc_vis_data_field(k)]));
        SLC_TRY(slc_layout_dense(SLC_F32, 2, shape, &vis->base.fields[slc_vis_weight_field(k)]));
    }
    vis->base.shared_rank = 1;
    vis->base.n_fields = 1 + 2 * vis->meta.n_imaged;
    return SLC_OK;
}

static slc_status open_set(slci_vis *vis, const char *const *paths,
                           const slc_vis_options *options) {
    SLC_TRY(open_parts(vis, paths, options));
    SLC_TRY(slci_vis_choose(vis, options));
    SLC_TRY(scan_parts(vis, options));
    SLC_TRY(make_fields(vis));
    vis->base.is_divisible = true;
    for (int k = 0; k < vis->n_parts; k++) {
        SLC_TRY(vis->parts[k]->ops->select(vis->parts[k], &vis->selection));
        vis->base.is_divisible = vis->base.is_divisible && vis->parts[k]->is_divisible;
    }
    identify(vis);
    (void)snprintf(vis->base.name, sizeof vis->base.name,
                   vis->n_parts == 1 ? "%.200s" : "%.200s and others", vis->parts[0]->path);
    return SLC_OK;
}

static void destroy(slc_source *source) {
    slci_vis *vis = (slci_vis *)source;
    for (int k = 0; k < vis->n_parts && vis->parts != NULL; k++) {
        if (vis->parts[k] != NULL) {
            vis->parts[k]->ops->destroy(vis->parts[k]);
        }
    }
    free(vis->parts);
    free(vis->first_row);
    free(vis->freq_hz);
    free(vis->channel_width_hz);
    free(vis->wavelengths_per_metre);
    free(vis);
}

slc_status slc_vis_open(const char *const *paths, int n_paths, const slc_vis_options *options,
                        slc_source **out) {
    if (n_paths < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "no visibility file is given");
    }
    slci_vis *vis = calloc(1, sizeof *vis);
    if (vis == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to open %s", paths[0]);
    }
    vis->base.ops = &vis_ops;
    vis->n_parts = n_paths;
    vis->parts = calloc((size_t)n_paths, sizeof(slci_vis_part *));
    vis->first_row = calloc((size_t)n_paths + 1, sizeof *vis->first_row);
    const slc_status status =
        vis->parts == NULL || vis->first_row == NULL
            ? SLC_FAIL(SLC_ERROR_MEMORY, "no memory to open %d files", n_paths)
            : open_set(vis, paths, options);
    if (status != SLC_OK) {
        destroy(&vis->base);
        return status;
    }
    *out = &vis->base;
    return SLC_OK;
}

const slc_vis_meta *slc_vis_get_meta(const slc_source *source) {
    return &((const slci_vis *)source)->meta;
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* The part that holds a row; of empty parts at one place the last. */
static int part_of(const slci_vis *vis, int64_t row) {
    int low = 0;
    int high = vis->n_parts - 1;
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (vis->first_row[middle] <= row) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Buffers are those of one file. Whoever comes to another file frees what lies unused at the one
 * before, and whoever was still reading that one frees its own at the end: so no more is ever there
 * than what each thread uses, and has left at one file. However many files there are, each change
 * costs the same. */
static slc_status read_from(slci_vis *vis, int k, int64_t row, int64_t n,
                            const slci_vis_target *target, slc_vis_counts *counts) {
    slci_vis_part *part = vis->parts[k];
    const int before = atomic_exchange(&vis->current, k);
    if (before != k) {
        vis->parts[before]->ops->rest(vis->parts[before]);
    }
    slc_vis_counts found[SLC_VIS_MOST_IMAGED] = {{0}};
    const slc_status status =
        part->ops->read(part, row - vis->first_row[k], n, target, found, &vis->base.counters);
    for (int i = 0; i < vis->meta.n_imaged; i++) {
        for (int o = 0; o < SLC_VIS_N_OUTSIDE; o++) {
            found[i].outside[o].row += vis->first_row[k];
        }
        slc_vis_counts_add(&counts[i], &found[i]);
    }
    if (atomic_load(&vis->current) != k) {
        part->ops->rest(part);
    }
    return status;
}

/* Rows `begin` to end - 1 of the box that dst is of. */
static slc_status read_rows(slci_vis *vis, const slc_box *box, int64_t begin, int64_t end,
                            void *const *dst, slc_vis_counts *counts) {
    const int64_t n_channels = vis->meta.n_channels;
    double *uvw = dst[SLC_VIS_UVW];
    for (int64_t row = begin; row < end;) {
        const int k = part_of(vis, row);
        const int64_t part_end = slc_min_i64(vis->first_row[k + 1], end);
        const int64_t at = row - box->origin[0];
        slci_vis_target target = {.uvw = uvw == NULL ? NULL : uvw + 3 * at};
        for (int i = 0; i < vis->meta.n_imaged; i++) {
            float *data = dst[slc_vis_data_field(i)];
            float *weight = dst[slc_vis_weight_field(i)];
            target.vis[i] = data == NULL ? NULL : data + 2 * at * n_channels;
            target.weight[i] = weight == NULL ? NULL : weight + at * n_channels;
        }
        SLC_TRY(read_from(vis, k, row, part_end - row, &target, counts));
        row = part_end;
    }
    return SLC_OK;
}

static slc_status read_plain(slc_source *source, const slc_box *box, void *const *dst) {
    slc_vis_counts counts[SLC_VIS_MOST_IMAGED] = {{0}};
    return read_rows((slci_vis *)source, box, box->origin[0], box->origin[0] + box->extent[0], dst,
                     counts);
}

static slc_status read_part(slc_source *source, const slc_box *box, void *const *dst, int part,
                            int n_parts) {
    slc_vis_counts counts[SLC_VIS_MOST_IMAGED] = {{0}};
    const int64_t begin = slc_vis_cut(source, box, 1, part, n_parts);
    const int64_t end = slc_vis_cut(source, box, 1, part + 1, n_parts);
    return read_rows((slci_vis *)source, box, begin, end, dst, counts);
}

slc_status slc_vis_read_counted(slc_source *source, const slc_box *rows, void *const *dst,
                                slc_vis_counts *counts) {
    slci_vis *vis = (slci_vis *)source;
    const int64_t n_rows = vis->meta.n_rows;
    if (rows->rank != 1 || rows->origin[0] < 0 || rows->extent[0] < 0 || rows->origin[0] > n_rows ||
        rows->extent[0] > n_rows - rows->origin[0]) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: %" PRId64 " rows from %" PRId64 " on asked for, there are %" PRId64,
                        source->name, rows->extent[0], rows->origin[0], n_rows);
    }
    slc_vis_counts found[SLC_VIS_MOST_IMAGED] = {{0}};
    const int64_t begin_ns = slc_clock_ns();
    const slc_status status =
        read_rows(vis, rows, rows->origin[0], rows->origin[0] + rows->extent[0], dst, found);
    atomic_fetch_add(&source->counters.read_ns, slc_clock_ns() - begin_ns);
    SLC_TRY(status);
    memcpy(counts, found, (size_t)vis->meta.n_imaged * sizeof *counts);
    return SLC_OK;
}

static int64_t next_unit(slc_source *source, int axis, int64_t index) {
    slci_vis *vis = (slci_vis *)source;
    (void)axis; /* there is one: the row */
    if (index >= vis->meta.n_rows) {
        return index + 1;
    }
    const int k = part_of(vis, index);
    slci_vis_part *part = vis->parts[k];
    return vis->first_row[k] + part->ops->next_unit(part, index - vis->first_row[k]);
}

int64_t slc_vis_cut(slc_source *source, const slc_box *rows, int64_t step, int part, int n_parts) {
    const int64_t begin = rows->origin[0];
    const int64_t n = rows->extent[0];
    if (part >= n_parts || (part > 0 && !source->is_divisible)) {
        return begin + n;
    }
    int64_t row = n / n_parts * part + n % n_parts * part / n_parts;
    while (row > 0 && row < n) {
        row = slc_round_up(row, step);
        const int64_t border = row < n ? next_unit(source, 0, begin + row - 1) - begin : n;
        if (border <= row) {
            break;
        }
        row = border;
    }
    return begin + slc_min_i64(row, n);
}

static slc_status finish(slc_source *source) {
    const slci_vis *vis = (const slci_vis *)source;
    for (int k = 0; k < vis->n_parts; k++) {
        const slci_vis_part *part = vis->parts[k];
        slci_file_stamp now;
        SLC_TRY(slci_file_stamp_get(part->path, &now));
        if (!slci_file_stamp_equal(&now, &part->stamp)) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: the file changed while it was read (%" PRId64 " bytes at first, "
                            "%" PRId64 " now): the result cannot be trusted",
                            part->path, part->stamp.bytes, now.bytes);
        }
    }
    return SLC_OK;
}

/* ---- what it takes ---------------------------------------------------------------------------- */

/* Raw bytes of a block: enough to hide the cost of a call, little beside a tile. */
#define USUAL_BLOCK_BYTES ((int64_t)4 << 20)

void slci_vis_set_room(slci_vis *vis, int64_t block_bytes, int64_t cache_bytes) {
    vis->selection.block_bytes = block_bytes > 0 ? block_bytes : USUAL_BLOCK_BYTES;
    vis->selection.cache_bytes = cache_bytes > 0 ? slc_max_i64(cache_bytes / vis->n_parts, 1) : 0;
}

slc_status slc_vis_set_room(slc_source *source, int64_t block_bytes, int64_t cache_bytes) {
    slci_vis *vis = (slci_vis *)source;
    slc_vis_rest(source);
    slci_vis_set_room(vis, block_bytes, cache_bytes);
    for (int k = 0; k < vis->n_parts; k++) {
        SLC_TRY(vis->parts[k]->ops->select(vis->parts[k], &vis->selection));
    }
    return SLC_OK;
}

void slc_vis_rest(slc_source *source) {
    slci_vis *vis = (slci_vis *)source;
    for (int k = 0; k < vis->n_parts; k++) {
        vis->parts[k]->ops->rest(vis->parts[k]);
    }
}

int64_t slc_vis_reader_bytes(const slc_source *source, bool wants_samples, int n_threads) {
    const slci_vis *vis = (const slci_vis *)source;
    int64_t once_bytes = 0;
    int64_t thread_bytes = 0; /* of the file that takes most */
    for (int k = 0; k < vis->n_parts; k++) {
        const slci_vis_cost cost = vis->parts[k]->ops->cost(vis->parts[k], wants_samples);
        once_bytes += cost.once_bytes;
        thread_bytes = slc_max_i64(thread_bytes, cost.thread_bytes);
    }
    /* read_from says why. */
    const int64_t n_buffers = vis->n_parts == 1 ? n_threads : 2 * (int64_t)n_threads;
    return once_bytes + n_buffers * thread_bytes;
}

int64_t slc_vis_kept_bytes(const slc_source *source) {
    const slci_vis *vis = (const slci_vis *)source;
    int64_t bytes = 0;
    for (int k = 0; k < vis->n_parts; k++) {
        bytes += vis->parts[k]->kept_bytes;
    }
    return bytes;
}

slc_status slc_vis_describe(slc_source *source, int capacity, slc_vis_dataset *out, int *n) {
    slci_vis *vis = (slci_vis *)source;
    return vis->parts[0]->ops->describe(vis->parts[0], capacity, out, n);
}

static const slc_source_ops vis_ops = {
    .read = read_plain,
    .read_part = read_part,
    .next_unit = next_unit,
    .finish = finish,
    .destroy = destroy,
};
