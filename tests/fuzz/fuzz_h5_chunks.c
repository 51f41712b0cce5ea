/* A dataset whose chunks are anything, for libFuzzer: any filters with any values, chunks of any bytes
 * and masks, and entries of the index that say what is not so. Only HDF5's other structures are sound;
 * with those damaged that library reads past its buffers, which is not what is looked for here.
 *
 *     byte 0      filters (low 2 bits), one rank or two (bit 2), an index of the newer forms (bit 3),
 *                 edges stored without filters (bit 4), changes to the index (bits 5 and 6), twice as
 *                 many (bit 7)
 *     byte 1      type (low 4 bits), which dimensions can grow (bits 4 and 5), place for all chunks
 *                 from the beginning (bit 6)
 *     byte 2 … 5  elements along each dimension, and of a chunk
 *     6 bytes for each filter: which one, and five that its values are made of
 *     4 bytes for each change of the index: which chunk, what of it, and two that the value is made of;
 *                 in the newer forms which block, where in it, how, and the value
 *     then chunks: place, mask (low 3 bits) and more of the place, two bytes of length, and what is
 *                 stored
 *
 * The newer forms are, by what can grow: nothing, a fixed array, in pages where there are over 1024
 * chunks, or the header alone where there is one; one dimension, an extensible array; two, a tree; and
 * with place for all and no filters, nothing but the first place. All their blocks have checksums,
 * which are made right again after the changes, since damage without is refused at its first block.
 *
 * Opening and reading end in a status. What is read without an error is what HDF5 reads, if it does.
 * Filters that only HDF5 can undo are left out: it reads past its buffers where a chunk decodes to too
 * few bytes. */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/chunk_codec.h"
#include "io/h5_array.h"
#include "io/h5_file.h"
#include "io/h5_lookup3.h"
#include "tests/support/test_uvh5.h"

enum { HEAD_BYTES = 6, FILTER_BYTES = 6, CHANGE_BYTES = 4, MOST_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* What is not yet used of the input. */
typedef struct input {
    const uint8_t *at;
    size_t left;
} input;

/* The next n bytes; zeros behind the end. */
static const uint8_t *take(input *from, size_t n) {
    static const uint8_t zeros[8];
    if (from->left < n) {
        from->left = 0;
        return zeros;
    }
    const uint8_t *bytes = from->at;
    from->at += n;
    from->left -= n;
    return bytes;
}

typedef struct made {
    char path[64];
    hid_t set;
    int rank;
    bool is_new; /* of the newer forms */
    hsize_t shape[2], chunk[2];
    int64_t n_chunks; /* of the grid */
} made;

/* ---- the file --------------------------------------------------------------------------------- */

static hid_t type_of(int code) {
    switch (code % 6) {
    case 0:
        return H5Tcopy(H5T_STD_U8LE);
    case 1:
        return H5Tcopy(H5T_STD_I16BE);
    case 2:
        return H5Tcopy(H5T_IEEE_F32LE);
    case 3:
        return H5Tcopy(H5T_IEEE_F64BE);
    case 4:
        return test_h5_complex(H5T_IEEE_F32BE, "r", "i");
    default:
        return H5Tcopy(H5T_STD_I64LE);
    }
}

/* Values that make sense more often than not. */
static void set_filter(hid_t list, const uint8_t *from, size_t element_bytes) {
    static const int ids[] = {SLCI_FILTER_SHUFFLE, SLCI_FILTER_DEFLATE,    SLCI_FILTER_FLETCHER32,
                              SLCI_FILTER_ZSTD,    SLCI_FILTER_BITSHUFFLE, SLCI_FILTER_LZ4,
                              SLCI_FILTER_LZF,     SLCI_FILTER_BLOSC,      SLCI_FILTER_SZIP};
    const int id = ids[from[0] % TEST_COUNT(ids)];
    unsigned values[5];
    for (int k = 0; k < 5; k++) {
        values[k] = from[1 + k];
    }
    if (id == SLCI_FILTER_BITSHUFFLE) {
        values[SLCI_BITSHUFFLE_ELEMENT_BYTES] = (unsigned)element_bytes;
        values[SLCI_BITSHUFFLE_BLOCK] *= 8;
    }
    switch (id) {
    case SLCI_FILTER_SHUFFLE:
        (void)H5Pset_shuffle(list);
        break;
    case SLCI_FILTER_FLETCHER32:
        (void)H5Pset_fletcher32(list);
        break;
    default:
        (void)H5Pset_filter(list, id, H5Z_FLAG_OPTIONAL, id == SLCI_FILTER_DEFLATE ? 1 : 5, values);
        break;
    }
}

/* The dataset, without chunks; its `set` is below 0 where HDF5 wants none of it. */
static void make_set(hid_t file, const uint8_t *head, input *from, made *out) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t type = type_of(head[1] & 15);
    hsize_t most[2];
    out->rank = 1 + (head[0] >> 2 & 1);
    out->n_chunks = 1;
    for (int d = 0; d < out->rank; d++) {
        out->shape[d] = 1U + head[2 + d] % 64U;
        out->chunk[d] = 1U + head[4 + d] % 64U;
        most[d] = (head[1] >> (4 + d) & 1) != 0 ? H5S_UNLIMITED : out->shape[d];
        out->n_chunks *= (int64_t)((out->shape[d] + out->chunk[d] - 1) / out->chunk[d]);
    }
    (void)H5Pset_chunk(list, out->rank, out->chunk);
    for (int k = 0; k < (head[0] & 3); k++) {
        set_filter(list, take(from, FILTER_BYTES), H5Tget_size(type));
    }
    if ((head[0] >> 4 & 1) != 0) {
        (void)H5Pset_chunk_opts(list, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
    }
    if ((head[1] >> 6 & 1) != 0 && H5Pget_nfilters(list) == 0) { /* else HDF5 encodes its fill */
        (void)H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    }
    const hid_t space = H5Screate_simple(out->rank, out->shape, most);
    out->set = H5Dcreate2(file, "/x", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(list);
}

/* Whether Sluice has a decoder for what the filters of the dataset make. */
static bool is_decodable(const made *file) {
    slci_chunk_pipeline pipeline = {0};
    char why[SLCI_CHUNK_WHY_BYTES];
    const hid_t list = H5Dget_create_plist(file->set);
    const hid_t type = H5Dget_type(file->set);
    pipeline.n_filters = H5Pget_nfilters(list);
    pipeline.element_bytes = (int64_t)H5Tget_size(type);
    for (int k = 0; k < pipeline.n_filters && k < SLCI_CHUNK_MAX_FILTERS; k++) {
        slci_chunk_filter *filter = &pipeline.filter[k];
        size_t n_values = SLCI_CHUNK_FILTER_VALUES;
        unsigned config = 0;
        unsigned flags = 0;
        filter->id = (int)H5Pget_filter2(list, (unsigned)k, &flags, &n_values, filter->values, 0,
                                         NULL, &config);
        filter->n_values =
            n_values < SLCI_CHUNK_FILTER_VALUES ? (int)n_values : SLCI_CHUNK_FILTER_VALUES;
    }
    pipeline.chunk_bytes = pipeline.element_bytes;
    for (int d = 0; d < file->rank; d++) {
        pipeline.chunk_bytes *= (int64_t)file->chunk[d];
    }
    H5Tclose(type);
    H5Pclose(list);
    return slci_chunk_pipeline_check(&pipeline, why, sizeof why);
}

static void write_chunks(const made *file, input from) {
    while (from.left >= 4) {
        const uint8_t *head = take(&from, 4);
        int64_t place = (head[0] | head[1] >> 3 << 8) % file->n_chunks;
        hsize_t at[2] = {0};
        for (int d = file->rank - 1; d >= 0; d--) {
            const int64_t n = (int64_t)((file->shape[d] + file->chunk[d] - 1) / file->chunk[d]);
            at[d] = (hsize_t)(place % n) * file->chunk[d];
            place /= n;
        }
        const size_t wanted = (size_t)head[2] | (size_t)(head[3] & 15) << 8;
        const size_t n = wanted < from.left ? wanted : from.left;
        const uint8_t *bytes = from.at;
        (void)H5Dwrite_chunk(file->set, H5P_DEFAULT, head[1] & 7, at, n, bytes);
        from.at += n;
        from.left -= n;
    }
}

/* ---- the index -------------------------------------------------------------------------------- */

/* Where the entry with this size and address stands in the chunks' B-tree; -1: nowhere. An entry is a
 * size and a mask of 4 bytes, a place of 8 for each dimension and one more, and an address of 8. */
static int64_t find_entry(const char *bytes, int64_t n, int rank, uint32_t size, uint64_t address) {
    const int64_t before = 8 + 8 * (rank + 1);
    for (int64_t at = before; at + 8 <= n; at++) {
        if (memcmp(bytes + at, &address, 8) == 0 && memcmp(bytes + at - before, &size, 4) == 0) {
            return at - before;
        }
    }
    return -1;
}

typedef struct entry {
    uint32_t size;
    uint64_t address;
} entry;

/* A size, mask or address of another kind. */
static void change_entry(char *bytes, int64_t n, int rank, const entry *of, const uint8_t *how) {
    const int64_t at = find_entry(bytes, n, rank, of->size, of->address);
    const uint32_t sizes[] = {0,        1,          of->size - 1, of->size + 1,
                              1U << 30, UINT32_MAX, how[2],       how[3]};
    const uint64_t addresses[] = {0,
                                  (uint64_t)n - 1,
                                  (uint64_t)n,
                                  UINT64_MAX,
                                  (uint64_t)INT64_MAX,
                                  of->address + 1,
                                  of->address - how[3],
                                  how[3]};
    const uint32_t mask = (uint32_t)how[2] << (how[3] % 32);
    if (at < 0) {
        return;
    }
    switch (how[1] % 3) {
    case 0:
        memcpy(bytes + at, &sizes[how[2] % 8], 4);
        break;
    case 1:
        memcpy(bytes + at + 4, &mask, 4);
        break;
    default:
        memcpy(bytes + at + 8 + 8 * (rank + 1), &addresses[how[2] % 8], 8);
        break;
    }
}

/* ---- the index of the newer forms ------------------------------------------------------------- */

enum { SUM_BYTES = 4, MOST_PARTS = 128 };

/* A part of the file that has a checksum, and what of it changes. */
typedef struct part {
    int64_t begin, sum_at;
    int64_t from, to;
} part;

typedef struct parts {
    unsigned char *bytes; /* [n], of the file */
    int64_t n;
    part list[MOST_PARTS];
    int n_parts;
} parts;

static bool is_sealed(const parts *all, int64_t begin, int64_t sum_at) {
    uint32_t sum = 0;
    if (sum_at < begin || sum_at > all->n - SUM_BYTES) {
        return false;
    }
    memcpy(&sum, all->bytes + sum_at, sizeof sum);
    return slci_h5_lookup3(all->bytes + begin, sum_at - begin) == sum;
}

/* False where there is no checksum at the place. */
static bool add_part(parts *all, const part *self) {
    if (all->n_parts == MOST_PARTS || !is_sealed(all, self->begin, self->sum_at)) {
        return false;
    }
    all->list[all->n_parts++] = *self;
    return true;
}

static uint64_t number_at(const parts *all, int64_t at) {
    uint64_t number = 0;
    memcpy(&number, all->bytes + at, at + 8 <= all->n ? sizeof number : (size_t)(all->n - at));
    return number;
}

/* The block of entries of a fixed array, and its pages, by what the array's header says. */
static void add_fixed_data(parts *all, int64_t header, int64_t at) {
    enum { ENTRY_BYTES_AT = 6, PAGE_BITS_AT = 7, COUNT_AT = 8, HEAD_BYTES_OF_DATA = 14 };
    const int64_t entry = all->bytes[header + ENTRY_BYTES_AT];
    const int64_t page = INT64_C(1) << (all->bytes[header + PAGE_BITS_AT] & 31);
    const int64_t n = (int64_t)number_at(all, header + COUNT_AT);
    const int64_t n_pages = n > page ? (n + page - 1) / page : 0;
    if (n < 1 || n > all->n) {
        return; /* a chunk that holds such letters */
    }
    int64_t sum_at = at + HEAD_BYTES_OF_DATA + (n_pages > 0 ? (n_pages + 7) / 8 : n * entry);
    bool is_there = add_part(all, &(part){at, sum_at, at, sum_at});
    for (int64_t k = 0; k < n_pages && is_there; k++) {
        const int64_t begin = sum_at + SUM_BYTES;
        const int64_t n_entries = n - k * page < page ? n - k * page : page;
        sum_at = begin + n_entries * entry;
        (void)add_part(all, &(part){begin, sum_at, begin, sum_at}); /* not, if never written */
    }
}

/* A block with the checksum at the first place where one is right. */
static void add_block(parts *all, int64_t at) {
    enum { MOST_BLOCK_BYTES = 2100 };
    int64_t sum_at = at + SUM_BYTES;
    while (sum_at < at + MOST_BLOCK_BYTES && sum_at < all->n && !is_sealed(all, at, sum_at)) {
        sum_at++;
    }
    (void)add_part(all, &(part){at, sum_at, at, sum_at});
}

/* Of a header, the message that says what chunks there are, and where: its kind 8, bytes (2), flags
 * (1), version 4, class 2. */
static void add_layout(parts *all, int64_t at) {
    const int n_before = all->n_parts;
    add_block(all, at);
    if (all->n_parts == n_before) {
        return;
    }
    part *self = &all->list[--all->n_parts];
    for (int64_t k = at; k + 6 <= self->sum_at; k++) {
        const unsigned char *head = all->bytes + k;
        const int64_t end = k + 4 + head[1];
        if (head[0] == 8 && head[2] == 0 && head[4] == 4 && head[5] == 2 && end <= self->sum_at) {
            self->from = k + 4;
            self->to = end;
            all->n_parts++;
            return;
        }
    }
}

static void find_parts(parts *all) {
    static const char *const names[] = {"EAHD", "EAIB", "EASB", "EADB", "BTHD", "BTIN", "BTLF"};
    int64_t fixed = -1;
    for (int64_t at = 0; at + 64 <= all->n; at++) {
        const unsigned char *name = all->bytes + at;
        if (memcmp(name, "OHDR", 4) == 0) {
            add_layout(all, at);
        } else if (memcmp(name, "FAHD", 4) == 0) {
            add_block(all, at);
            fixed = at;
        } else if (memcmp(name, "FADB", 4) == 0 && fixed >= 0) {
            add_fixed_data(all, fixed, at);
        }
        for (size_t k = 0; k < TEST_COUNT(names); k++) {
            if (memcmp(name, names[k], 4) == 0) {
                add_block(all, at);
            }
        }
    }
}

static void change_part(parts *all, const uint8_t *how) {
    const part *self = &all->list[how[0] % all->n_parts];
    const int64_t n = self->to - self->from;
    const int64_t at = self->from + (how[1] | (how[2] & 31) << 8) % n;
    const uint64_t was = number_at(all, at);
    const uint64_t values[] = {0,
                               1,
                               (uint64_t)all->n,
                               (uint64_t)all->n - 1,
                               UINT64_MAX,
                               INT64_MAX,
                               was + 1,
                               was - 1,
                               was + how[3],
                               was << 1,
                               (uint64_t)self->begin,
                               UINT64_C(1) << how[3] / 4};
    const int64_t left = self->to - at;
    const int64_t sizes[] = {1, 1, 2, 4, 8, 8, 8, 8};
    const int64_t size = sizes[how[2] >> 5];
    if (how[2] >> 5 == 0) {
        all->bytes[at] = how[3];
    } else {
        memcpy(all->bytes + at, &values[how[3] % TEST_COUNT(values)],
               (size_t)(size < left ? size : left));
    }
}

static void change_parts(parts *all, int n_changes, input *from) {
    find_parts(all);
    for (int k = 0; k < n_changes && all->n_parts > 0; k++) {
        change_part(all, take(from, CHANGE_BYTES));
    }
    for (int k = 0; k < all->n_parts && n_changes > 0; k++) {
        const part *self = &all->list[k];
        const uint32_t sum = slci_h5_lookup3(all->bytes + self->begin, self->sum_at - self->begin);
        memcpy(all->bytes + self->sum_at, &sum, sizeof sum);
    }
}

/* ---- either ----------------------------------------------------------------------------------- */

static void change_index(const made *file, const entry *entries, int64_t n_entries, int n_changes,
                         input from) {
    parts all = {.n_parts = 0};
    all.bytes = (unsigned char *)test_file_read(file->path, &all.n);
    if (file->is_new) {
        change_parts(&all, n_changes, &from);
    }
    for (int k = 0; k < n_changes && n_entries > 0 && !file->is_new; k++) {
        const uint8_t *how = take(&from, CHANGE_BYTES);
        change_entry((char *)all.bytes, all.n, file->rank, &entries[how[0] % n_entries], how);
    }
    FILE *out = fopen(file->path, "wb");
    if (out == NULL || fwrite(all.bytes, 1, (size_t)all.n, out) != (size_t)all.n ||
        fclose(out) != 0) {
        abort();
    }
    free(all.bytes);
}

/* Sizes and addresses of the stored chunks; how many there are. */
static int64_t list_entries(const made *file, entry *out, int64_t most) {
    const hid_t space = H5Dget_space(file->set);
    hsize_t n = 0;
    int64_t n_found = 0;
    if (H5Dget_num_chunks(file->set, space, &n) < 0) {
        n = 0;
    }
    for (hsize_t k = 0; k < n && n_found < most; k++) {
        hsize_t at[2] = {0};
        hsize_t size = 0;
        unsigned mask = 0;
        haddr_t address = 0;
        if (H5Dget_chunk_info(file->set, space, k, at, &mask, &address, &size) >= 0) {
            out[n_found++] = (entry){(uint32_t)size, address};
        }
    }
    H5Sclose(space);
    return n_found;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static bool read_by_hdf5(const char *path, void *out) {
    slci_h5_lock();
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/x", H5P_DEFAULT);
    const hid_t type = H5Dget_type(set);
    const hid_t native = H5Tget_native_type(type, H5T_DIR_ASCEND);
    const bool is_read = H5Dread(set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0;
    H5Tclose(native);
    H5Tclose(type);
    H5Dclose(set);
    H5Fclose(file);
    slci_h5_unlock();
    return is_read;
}

static void read_all(const char *path) {
    const slc_h5_array_options options = {.path = path, .dataset = "/x"};
    slc_source *source = NULL;
    if (slc_h5_array_open(&options, &source) != SLC_OK) {
        return;
    }
    const int64_t bytes = slc_layout_bytes(&source->fields[0]);
    char *ours = test_allocate(bytes);
    char *theirs = test_allocate(bytes);
    void *const dst[] = {ours};
    slc_box box = {.rank = source->fields[0].rank};
    memcpy(box.extent, source->fields[0].shape, sizeof box.extent);
    if (slc_source_read(source, &box, dst) == SLC_OK && read_by_hdf5(path, theirs) &&
        memcmp(ours, theirs, (size_t)bytes) != 0) {
        abort();
    }
    free(theirs);
    free(ours);
    slc_source_destroy(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    enum { MOST_ENTRIES = 64 };
    entry entries[MOST_ENTRIES];
    made file = {.set = -1};
    input from = {data, n_bytes};
    if (n_bytes < HEAD_BYTES || n_bytes > MOST_BYTES) {
        return 0;
    }
    const uint8_t *head = take(&from, HEAD_BYTES);
    const int n_changes = (head[0] >> 5 & 3) << (head[0] >> 7);
    (void)snprintf(file.path, sizeof file.path, "fuzz-%ld.h5", (long)getpid());
    slci_h5_lock();
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    file.is_new = (head[0] >> 3 & 1) != 0;
    if (file.is_new) {
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    }
    const hid_t id = H5Fcreate(file.path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    make_set(id, head, &from, &file);
    int64_t n_entries = 0;
    bool is_ours = false;
    const input changes = from;
    if (file.set >= 0) {
        is_ours = is_decodable(&file);
        (void)take(&from, (size_t)n_changes * CHANGE_BYTES);
        write_chunks(&file, from);
        n_entries = file.is_new ? 0 : list_entries(&file, entries, MOST_ENTRIES);
        H5Dclose(file.set);
    }
    if (id < 0 || H5Fclose(id) < 0) {
        abort();
    }
    slci_h5_unlock();
    if (is_ours) {
        change_index(&file, entries, n_entries, n_changes, changes);
        read_all(file.path);
    }
    (void)remove(file.path);
    return 0;
}
