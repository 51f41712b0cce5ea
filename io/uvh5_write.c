/* The rows of a UVH5 file, written block by block.
 *
 * The same rows must give the same bytes, however the caller cuts them into blocks. Where a chunk is
 * written in two parts, HDF5 compresses it twice and leaves a hole behind; so rows are staged until a
 * row of chunks is full and are written then, all datasets in one order:
 *
 *     append --> staging [chunk_rows] --full--> uvw, times, ..., visdata, flags, nsamples
 *
 * Arrays that have one number or three a row are contiguous and have their place from the start.
 * What the header claims (times, baselines, rows) is counted as rows come and compared at the end. */
#include "io/uvh5_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/h5_array_internal.h"
#include "io/h5_codec.h"
#include "io/h5_file.h"
#include "io/outfile.h"
#include "io/uvh5_parts.h"

#define CHUNK_BYTES ((int64_t)1 << 20)        /* of visdata, where the caller has no wish */
#define MAX_CHUNK_BYTES ((int64_t)UINT32_MAX) /* HDF5's limit */

enum field_index {
    FIELD_UVW,
    FIELD_TIME,
    FIELD_LST,
    FIELD_INTEGRATION,
    FIELD_ANTENNA_1,
    FIELD_ANTENNA_2,
    FIELD_PHASE_ID,
    FIELD_APPARENT_RA,
    FIELD_APPARENT_DEC,
    FIELD_FRAME_ANGLE,
    FIELD_VIS,
    FIELD_FLAGS,
    FIELD_NSAMPLES,
    N_FIELDS
};

/* The type of an element, by what it is in memory. */
enum element { ELEMENT_F64, ELEMENT_I64, ELEMENT_C64, ELEMENT_BOOL, ELEMENT_F32, N_ELEMENTS };

static const struct {
    const char *name; /* in /Header, or in /Data for arrays over channels and polarisations */
    enum element element;
    int64_t values; /* a row; 0: channels x polarisations */
} field_table[N_FIELDS] = {
    [FIELD_UVW] = {"uvw_array", ELEMENT_F64, 3},
    [FIELD_TIME] = {"time_array", ELEMENT_F64, 1},
    [FIELD_LST] = {"lst_array", ELEMENT_F64, 1},
    [FIELD_INTEGRATION] = {"integration_time", ELEMENT_F64, 1},
    [FIELD_ANTENNA_1] = {"ant_1_array", ELEMENT_I64, 1},
    [FIELD_ANTENNA_2] = {"ant_2_array", ELEMENT_I64, 1},
    [FIELD_PHASE_ID] = {"phase_center_id_array", ELEMENT_I64, 1},
    [FIELD_APPARENT_RA] = {"phase_center_app_ra", ELEMENT_F64, 1},
    [FIELD_APPARENT_DEC] = {"phase_center_app_dec", ELEMENT_F64, 1},
    [FIELD_FRAME_ANGLE] = {"phase_center_frame_pa", ELEMENT_F64, 1},
    [FIELD_VIS] = {"visdata", ELEMENT_C64, 0},
    [FIELD_FLAGS] = {"flags", ELEMENT_BOOL, 0},
    [FIELD_NSAMPLES] = {"nsamples", ELEMENT_F32, 0},
};

static const int64_t element_bytes[N_ELEMENTS] = {8, 8, 8, 1, 4};

typedef struct row_field {
    hid_t dataset;
    hid_t memory_type;
    int64_t row_bytes;
    unsigned char *staged; /* [chunk_rows, row_bytes] */
} row_field;

struct slc_uvh5_writer {
    slc_outfile file;
    slci_h5_output *output;
    hid_t header_group;
    row_field fields[N_FIELDS];
    int64_t n_rows, n_channels, n_polarisations, n_antennas, n_times, n_baselines;
    int64_t chunk_rows, chunk_channels;
    int zstd_level;
    double ra_rad, dec_rad;
    int64_t n_written; /* rows in the file */
    int64_t n_staged;  /* rows in the staging buffers */
    double *times;     /* [n_times] sorted, those seen */
    int64_t n_times_seen, n_baselines_seen;
    unsigned char *is_seen; /* [n_antennas, n_antennas]: rows with this pair */
};

/* ---- types and datasets ---- */

/* The enumeration that h5py takes for booleans. */
static hid_t make_bool(void) {
    const hid_t type = H5Tenum_create(H5T_STD_I8LE);
    const signed char no = 0;
    const signed char yes = 1;
    if (H5Tenum_insert(type, "FALSE", &no) < 0 || H5Tenum_insert(type, "TRUE", &yes) < 0) {
        (void)H5Tclose(type);
        return -1;
    }
    return type;
}

static hid_t make_type(enum element element, bool is_file) {
    switch (element) {
    case ELEMENT_F64:
        return H5Tcopy(is_file ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE);
    case ELEMENT_I64:
        return H5Tcopy(is_file ? H5T_STD_I64LE : H5T_NATIVE_INT64);
    case ELEMENT_C64:
        return (hid_t)slci_h5_array_file_type(SLC_C64, false); /* in memory too */
    case ELEMENT_BOOL:
        return make_bool();
    case ELEMENT_F32:
        return H5Tcopy(is_file ? H5T_IEEE_F32LE : H5T_NATIVE_FLOAT);
    case N_ELEMENTS:
        break;
    }
    return -1;
}

/* Contiguous with its place reserved for arrays over rows alone, chunked for the others. The rest of
 * a chunk at the edge is filled with zeros: it would be whatever memory held. */
static hid_t make_layout(const slc_uvh5_writer *writer, bool is_data, hid_t type) {
    const hid_t list = slci_h5_plist(H5P_DATASET_CREATE);
    if (list < 0) {
        return -1;
    }
    if (!is_data) {
        if (H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0 &&
            H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0) {
            return list;
        }
        (void)H5Pclose(list);
        return -1;
    }
    const hsize_t chunk[3] = {(hsize_t)writer->chunk_rows, (hsize_t)writer->chunk_channels,
                              (hsize_t)writer->n_polarisations};
    const unsigned char zeros[8] = {0};
    const unsigned level = (unsigned)writer->zstd_level;
    bool is_ok = H5Pset_chunk(list, 3, chunk) >= 0 && H5Pset_fill_value(list, type, zeros) >= 0 &&
                 H5Pset_fill_time(list, H5D_FILL_TIME_ALLOC) >= 0;
    if (is_ok && writer->zstd_level > 0) {
        is_ok = H5Pset_shuffle(list) >= 0 &&
                H5Pset_filter(list, SLCI_FILTER_ZSTD, H5Z_FLAG_MANDATORY, 1, &level) >= 0;
    }
    if (!is_ok) {
        (void)H5Pclose(list);
        return -1;
    }
    return list;
}

/* Starts and counts, in the file, of a run of rows of a field. Returns the rank. */
static int field_shape(const slc_uvh5_writer *writer, int f, int64_t n_rows, hsize_t shape[3]) {
    shape[0] = (hsize_t)n_rows;
    if (field_table[f].values == 0) {
        shape[1] = (hsize_t)writer->n_channels;
        shape[2] = (hsize_t)writer->n_polarisations;
        return 3;
    }
    shape[1] = (hsize_t)field_table[f].values;
    return field_table[f].values == 1 ? 1 : 2;
}

static slc_status create_field(slc_uvh5_writer *writer, hid_t data_group, int f) {
    row_field *const field = &writer->fields[f];
    const bool is_data = field_table[f].values == 0;
    hsize_t shape[3];
    const int rank = field_shape(writer, f, writer->n_rows, shape);
    const hid_t type = make_type(field_table[f].element, true);
    const hid_t space = H5Screate_simple(rank, shape, NULL);
    const hid_t list = make_layout(writer, is_data, type);
    field->memory_type = make_type(field_table[f].element, false);
    if (type >= 0 && space >= 0 && list >= 0 && field->memory_type >= 0) {
        field->dataset =
            H5Dcreate2(is_data ? data_group : writer->header_group, field_table[f].name, type,
                       space, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    const slc_status status =
        field->dataset < 0 ? slci_h5_output_fail(writer->output, field_table[f].name) : SLC_OK;
    (void)H5Pclose(list);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    return status;
}

static slc_status create_datasets(slc_uvh5_writer *writer, const slc_uvh5_header *header) {
    SLC_TRY(slci_uvh5_write_header(writer->output, header, &writer->header_group));
    const hid_t list = slci_h5_plist(H5P_GROUP_CREATE);
    const hid_t data_group =
        H5Gcreate2(slci_h5_output_file(writer->output), "Data", H5P_DEFAULT, list, H5P_DEFAULT);
    slc_status status = SLC_OK;
    if (data_group < 0) {
        status = slci_h5_output_fail(writer->output, "group /Data");
    }
    for (int f = 0; f < N_FIELDS && status == SLC_OK; f++) {
        status = create_field(writer, data_group, f);
    }
    (void)H5Gclose(data_group);
    (void)H5Pclose(list);
    return status;
}

/* ---- staging ---- */

/* Bytes of a chunk of visdata and of the staging buffers are products of the caller's numbers. */
static slc_status choose_chunks(const char *path, slc_uvh5_writer *writer, int64_t wanted_rows) {
    int64_t samples = 0;
    int64_t bytes = 0;
    if (!slc_checked_mul(writer->n_channels, writer->n_polarisations, &samples) ||
        !slc_checked_mul(samples, 8, &bytes) || wanted_rows < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: a row of %lld channels and %lld polarisations in "
                        "chunks of %lld rows",
                        path, (long long)writer->n_channels, (long long)writer->n_polarisations,
                        (long long)wanted_rows);
    }
    const int64_t rows = wanted_rows > 0 ? wanted_rows : slc_max_i64(CHUNK_BYTES / bytes, 1);
    writer->chunk_rows = slc_min_i64(rows, writer->n_rows);
    writer->chunk_channels = writer->n_channels;
    if (bytes > CHUNK_BYTES) {
        writer->chunk_channels = slc_max_i64(CHUNK_BYTES / (writer->n_polarisations * 8), 1);
    }
    int64_t chunk_bytes = 0;
    if (!slc_checked_mul(writer->chunk_rows, writer->chunk_channels, &chunk_bytes) ||
        !slc_checked_mul(chunk_bytes, writer->n_polarisations * 8, &chunk_bytes) ||
        chunk_bytes > MAX_CHUNK_BYTES) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: chunks of %lld rows are larger than HDF5's limit "
                        "of 4 GiB",
                        path, (long long)rows);
    }
    return SLC_OK;
}

/* What is the same in every row is put into the staging buffers once. The catalogue's place also
 * stands for the apparent one: uvw are made from the local sidereal time minus ra_rad, without
 * precession, and readers that make uvw again from the antennas use the apparent place. */
static void stage_constants(slc_uvh5_writer *writer) {
    int64_t *const phase_id = (int64_t *)(void *)writer->fields[FIELD_PHASE_ID].staged;
    double *const ra = (double *)(void *)writer->fields[FIELD_APPARENT_RA].staged;
    double *const dec = (double *)(void *)writer->fields[FIELD_APPARENT_DEC].staged;
    double *const angle = (double *)(void *)writer->fields[FIELD_FRAME_ANGLE].staged;
    for (int64_t k = 0; k < writer->chunk_rows; k++) {
        phase_id[k] = 0;
        ra[k] = writer->ra_rad;
        dec[k] = writer->dec_rad;
        angle[k] = 0;
    }
}

static slc_status allocate(const char *path, slc_uvh5_writer *writer) {
    const int64_t samples = writer->n_channels * writer->n_polarisations;
    int64_t pairs = 0;
    bool is_ok = slc_checked_mul(writer->n_antennas, writer->n_antennas, &pairs);
    for (int f = 0; f < N_FIELDS && is_ok; f++) {
        row_field *const field = &writer->fields[f];
        const int64_t values = field_table[f].values == 0 ? samples : field_table[f].values;
        field->row_bytes = values * element_bytes[field_table[f].element];
        int64_t bytes = 0;
        is_ok = slc_checked_mul(writer->chunk_rows, field->row_bytes, &bytes);
        field->staged = is_ok ? (unsigned char *)malloc((size_t)bytes) : NULL;
        is_ok = field->staged != NULL;
    }
    if (is_ok) {
        writer->times = (double *)calloc((size_t)writer->n_times, sizeof *writer->times);
        writer->is_seen = (unsigned char *)calloc((size_t)pairs, 1);
        is_ok = writer->times != NULL && writer->is_seen != NULL;
    }
    if (!is_ok) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to stage %lld rows of %lld samples", path,
                        (long long)writer->chunk_rows, (long long)samples);
    }
    stage_constants(writer);
    return SLC_OK;
}

/* Writes the staged rows of one field behind those in the file. */
static slc_status write_field(slc_uvh5_writer *writer, int f) {
    const row_field *const field = &writer->fields[f];
    hsize_t count[3];
    const int rank = field_shape(writer, f, writer->n_staged, count);
    const hsize_t start[3] = {(hsize_t)writer->n_written, 0, 0};
    const hid_t file_space = H5Dget_space(field->dataset);
    const hid_t memory_space = H5Screate_simple(rank, count, NULL);
    slc_status status = SLC_OK;
    if (H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
        H5Dwrite(field->dataset, field->memory_type, memory_space, file_space, H5P_DEFAULT,
                 field->staged) < 0) {
        status = slci_h5_output_fail(writer->output, field_table[f].name);
    }
    (void)H5Sclose(memory_space);
    (void)H5Sclose(file_space);
    return status;
}

static slc_status flush_staged(slc_uvh5_writer *writer) {
    for (int f = 0; f < N_FIELDS && writer->n_staged > 0; f++) {
        SLC_TRY(write_field(writer, f));
    }
    writer->n_written += writer->n_staged;
    writer->n_staged = 0;
    return slci_h5_output_status(writer->output);
}

static void stage(slc_uvh5_writer *writer, int f, const void *rows, int64_t begin, int64_t n) {
    const row_field *const field = &writer->fields[f];
    memcpy(field->staged + writer->n_staged * field->row_bytes,
           (const unsigned char *)rows + begin * field->row_bytes, (size_t)(n * field->row_bytes));
}

static void stage_flags(slc_uvh5_writer *writer, const uint8_t *flags, int64_t begin, int64_t n) {
    const row_field *const field = &writer->fields[FIELD_FLAGS];
    unsigned char *const staged = field->staged + writer->n_staged * field->row_bytes;
    for (int64_t k = 0; k < n * field->row_bytes; k++) {
        staged[k] = flags != NULL && flags[begin * field->row_bytes + k] != 0;
    }
}

static void stage_nsamples(slc_uvh5_writer *writer, const float *nsamples, int64_t begin,
                           int64_t n) {
    if (nsamples != NULL) {
        stage(writer, FIELD_NSAMPLES, nsamples, begin, n);
        return;
    }
    const int64_t values = writer->fields[FIELD_NSAMPLES].row_bytes / 4;
    float *const staged = (float *)(void *)writer->fields[FIELD_NSAMPLES].staged;
    for (int64_t k = writer->n_staged * values; k < (writer->n_staged + n) * values; k++) {
        staged[k] = 1;
    }
}

/* ---- what the header claims ---- */

/* Where a time stands, or would stand, in the sorted list of those seen. */
static int64_t time_place(const slc_uvh5_writer *writer, double time) {
    int64_t low = 0;
    int64_t high = writer->n_times_seen;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (writer->times[middle] < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static slc_status count_time(slc_uvh5_writer *writer, double time) {
    const int64_t place = time_place(writer, time);
    if (place < writer->n_times_seen && writer->times[place] <= time) {
        return SLC_OK;
    }
    if (writer->n_times_seen == writer->n_times) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: the header claims %lld times; another comes at "
                        "row %lld",
                        writer->file.final_path, (long long)writer->n_times,
                        (long long)(writer->n_written + writer->n_staged));
    }
    memmove(writer->times + place + 1, writer->times + place,
            (size_t)(writer->n_times_seen - place) * sizeof *writer->times);
    writer->times[place] = time;
    writer->n_times_seen++;
    return SLC_OK;
}

static slc_status count_row(slc_uvh5_writer *writer, const slc_uvh5_rows *rows, int64_t k) {
    const int64_t first = rows->antenna_1[k];
    const int64_t second = rows->antenna_2[k];
    if (first < 0 || first >= writer->n_antennas || second < 0 || second >= writer->n_antennas ||
        !isfinite(rows->time_jd[k])) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: row %lld of the block has antennas %lld and %lld "
                        "of %lld at time %g",
                        writer->file.final_path, (long long)k, (long long)first, (long long)second,
                        (long long)writer->n_antennas, rows->time_jd[k]);
    }
    unsigned char *const is_seen = &writer->is_seen[first * writer->n_antennas + second];
    writer->n_baselines_seen += *is_seen == 0;
    *is_seen = 1;
    return count_time(writer, rows->time_jd[k]);
}

static int64_t count_antennas(const slc_uvh5_writer *writer) {
    int64_t n = 0;
    for (int64_t a = 0; a < writer->n_antennas; a++) {
        bool is_used = false;
        for (int64_t b = 0; b < writer->n_antennas && !is_used; b++) {
            is_used = writer->is_seen[a * writer->n_antennas + b] != 0 ||
                      writer->is_seen[b * writer->n_antennas + a] != 0;
        }
        n += is_used;
    }
    return n;
}

static slc_status check_claims(const slc_uvh5_writer *writer) {
    const struct {
        const char *name;
        int64_t claimed, found;
    } claims[] = {
        {"rows", writer->n_rows, writer->n_written},
        {"times", writer->n_times, writer->n_times_seen},
        {"baselines", writer->n_baselines, writer->n_baselines_seen},
    };
    for (size_t k = 0; k < sizeof claims / sizeof claims[0]; k++) {
        if (claims[k].claimed != claims[k].found) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "%s: the header claims %lld %s, and the rows have "
                            "%lld",
                            writer->file.final_path, (long long)claims[k].claimed, claims[k].name,
                            (long long)claims[k].found);
        }
    }
    return SLC_OK;
}

/* ---- the writer ---- */

static slc_status open_output(const char *path, slc_uvh5_writer *writer,
                              const slc_uvh5_header *header, bool overwrite) {
    SLC_TRY(slc_outfile_begin(path, overwrite, &writer->file));
    slci_h5_lock();
    slc_status status = slci_h5_output_create(writer->file.temporary_path, path, &writer->output);
    if (status == SLC_OK) {
        status = create_datasets(writer, header);
    }
    slci_h5_unlock();
    return status;
}

int64_t slc_uvh5_needed_bytes(const slc_uvh5_header *header, const slc_uvh5_options *options) {
    int64_t samples = 0;
    int64_t bytes = 0;
    bool is_ok = slc_checked_mul(header->n_channels, header->n_polarisations, &samples);
    for (int f = 0; f < N_FIELDS && is_ok; f++) {
        int64_t field_bytes = element_bytes[field_table[f].element];
        const int64_t values = field_table[f].values == 0 ? samples : field_table[f].values;
        is_ok = slc_checked_mul(field_bytes, values, &field_bytes) &&
                slc_checked_mul(field_bytes, header->n_rows, &field_bytes) &&
                slc_checked_add(bytes, field_bytes, &bytes);
    }
    if (options->zstd_level > 0) {
        return 0;
    }
    return is_ok ? bytes : INT64_MAX;
}

slc_status slc_uvh5_writer_create(const char *path, const slc_uvh5_header *header,
                                  const slc_uvh5_options *options, slc_uvh5_writer **out) {
    SLC_TRY(slci_uvh5_check_header(path, header));
    if (options->zstd_level < 0 || options->zstd_level > 22) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: zstd has levels 1 to 22, and 0 is none; found %d",
                        path, options->zstd_level);
    }
    slc_uvh5_writer *const writer = (slc_uvh5_writer *)calloc(1, sizeof *writer);
    if (writer == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for a writer", path);
    }
    writer->header_group = -1;
    for (int f = 0; f < N_FIELDS; f++) {
        writer->fields[f].dataset = -1;
        writer->fields[f].memory_type = -1;
    }
    writer->n_rows = header->n_rows;
    writer->n_channels = header->n_channels;
    writer->n_polarisations = header->n_polarisations;
    writer->n_antennas = header->n_antennas;
    writer->n_times = header->n_times;
    writer->n_baselines = header->n_baselines;
    writer->zstd_level = options->zstd_level;
    writer->ra_rad = header->ra_rad;
    writer->dec_rad = header->dec_rad;
    slc_status status = choose_chunks(path, writer, options->chunk_rows);
    if (status == SLC_OK) {
        status = allocate(path, writer);
    }
    if (status == SLC_OK) {
        status = open_output(path, writer, header, options->overwrite);
    }
    if (status != SLC_OK) {
        slc_uvh5_writer_destroy(writer);
        return status;
    }
    *out = writer;
    return SLC_OK;
}

/* A run of rows that fits into the staging buffers. */
static slc_status append_run(slc_uvh5_writer *writer, const slc_uvh5_rows *rows, int64_t begin,
                             int64_t n) {
    for (int64_t k = begin; k < begin + n; k++) {
        SLC_TRY(count_row(writer, rows, k));
    }
    stage(writer, FIELD_UVW, rows->uvw_m, begin, n);
    stage(writer, FIELD_TIME, rows->time_jd, begin, n);
    stage(writer, FIELD_LST, rows->lst_rad, begin, n);
    stage(writer, FIELD_INTEGRATION, rows->integration_s, begin, n);
    stage(writer, FIELD_ANTENNA_1, rows->antenna_1, begin, n);
    stage(writer, FIELD_ANTENNA_2, rows->antenna_2, begin, n);
    stage(writer, FIELD_VIS, rows->vis, begin, n);
    stage_flags(writer, rows->flags, begin, n);
    stage_nsamples(writer, rows->nsamples, begin, n);
    writer->n_staged += n;
    return writer->n_staged == writer->chunk_rows ? flush_staged(writer) : SLC_OK;
}

slc_status slc_uvh5_writer_append(slc_uvh5_writer *writer, const slc_uvh5_rows *rows) {
    const int64_t n_before = writer->n_written + writer->n_staged;
    if (rows->n_rows < 0 || rows->n_rows > writer->n_rows - n_before) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: %lld rows after %lld; the header claims %lld",
                        writer->file.final_path, (long long)rows->n_rows, (long long)n_before,
                        (long long)writer->n_rows);
    }
    slci_h5_lock();
    slc_status status = SLC_OK;
    for (int64_t begin = 0; begin < rows->n_rows && status == SLC_OK;) {
        const int64_t room = writer->chunk_rows - writer->n_staged;
        const int64_t n = slc_min_i64(room, rows->n_rows - begin);
        status = append_run(writer, rows, begin, n);
        begin += n;
    }
    slci_h5_unlock();
    return status;
}

/* Closes what is open in the file, which then can be closed itself. Closing a dataset encodes the
 * chunks that HDF5 still holds, and so can fail. */
static bool close_datasets(slc_uvh5_writer *writer) {
    bool is_ok = true;
    for (int f = 0; f < N_FIELDS; f++) {
        if (writer->fields[f].dataset >= 0) {
            is_ok = H5Dclose(writer->fields[f].dataset) >= 0 && is_ok;
            writer->fields[f].dataset = -1;
        }
        if (writer->fields[f].memory_type >= 0) {
            (void)H5Tclose(writer->fields[f].memory_type);
            writer->fields[f].memory_type = -1;
        }
    }
    if (writer->header_group >= 0) {
        is_ok = H5Gclose(writer->header_group) >= 0 && is_ok;
        writer->header_group = -1;
    }
    return is_ok;
}

static slc_status finish(slc_uvh5_writer *writer) {
    SLC_TRY(flush_staged(writer));
    SLC_TRY(check_claims(writer));
    SLC_TRY(slci_uvh5_write_integer(writer->output, writer->header_group, "Nants_data",
                                    count_antennas(writer)));
    if (!close_datasets(writer)) {
        return slci_h5_output_fail(writer->output, "the last chunks");
    }
    slci_h5_output *const output = writer->output;
    writer->output = NULL;
    return slci_h5_output_close(output);
}

slc_status slc_uvh5_writer_commit(slc_uvh5_writer *writer) {
    slci_h5_lock();
    const slc_status status = finish(writer);
    slci_h5_unlock();
    SLC_TRY(status);
    return slc_outfile_commit(&writer->file);
}

void slc_uvh5_writer_destroy(slc_uvh5_writer *writer) {
    if (writer == NULL) {
        return;
    }
    if (writer->output != NULL) {
        slci_h5_lock();
        (void)close_datasets(writer);
        slci_h5_output_destroy(writer->output);
        slci_h5_unlock();
    }
    slc_outfile_abandon(&writer->file);
    for (int f = 0; f < N_FIELDS; f++) {
        free(writer->fields[f].staged);
    }
    free(writer->times);
    free(writer->is_seen);
    free(writer);
}
