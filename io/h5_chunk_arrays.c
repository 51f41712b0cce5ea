/* By the file format's specification (sections VII.C and VII.D), L and O being the bytes of lengths and
 * of addresses, and every block beginning with its signature, 0, and whether entries are filtered (1):
 *
 *     fixed    FAHD │ bytes of an entry (1) │ bits of a page (1) │ entries (L) │ data block (O) │ sum
 *     data     FADB │ header (O) │ with pages: a bit for each that is there, else entries │ sum │ pages
 *
 *     growing  EAHD │ bytes of an entry, bits of a place, entries of the index block, of the smallest
 *              data block, data blocks of the smallest super block, bits of a page (1 each) │ 5 numbers
 *              (L), the last one the entries in use │ n (L) │ index block (O) │ sum
 *     index    EAIB │ header (O) │ entries │ data blocks (O each) │ super blocks (O each) │ sum
 *     super    EASB │ header (O) │ place │ bits of the pages of all data blocks │ data blocks │ sum
 *     data     EADB │ header (O) │ place │ entries, where there are no pages │ sum │ pages
 *
 * The place of a block is not looked at: HDF5 writes another one into the data blocks that the index
 * block leads to, and makes no use of it. A page is entries and their sum; a data block has pages where
 * it has more entries than one holds.
 *
 * Super block u, of which the first few have no block of their own, since the index block leads to
 * what they would, has 2^⌊u/2⌋ data blocks of 2^⌈u/2⌉ times the smallest, so that u+1 of them have
 * 2^(u+1) - 1 times the smallest. An entry is an address, and where filtered the bytes that are stored,
 * in one byte more than those of a chunk take, and a mask (4). */
#include "io/h5_chunk_arrays.h"

#include "core/checked.h"
#include "io/h5_lookup3.h"

/* Signature, 0, whether entries are filtered. */
#define HEAD_BYTES 6

/* HDF5 makes pages of 2^10 entries, and growing arrays of up to 2^32. */
#define MOST_PAGE_BITS 20
#define MOST_PLACE_BITS 40

typedef struct array {
    slci_h5_blocks *blocks;
    const slci_h5_entries *entries;
    int64_t address, entry_bytes, page_entries;
    /* Of one that grows: */
    int index_entries, place_bits, smallest_bits;
    int n_super, n_inner; /* super blocks, and how many of them are in the index block */
    size_t place_bytes;
    int64_t n_used; /* entries up to the last one in use */
    uint64_t end;   /* of the last data block that is there, behind the index block's entries */
} array;

static const char impossible[] = "sizes that none can have";
static const char of_another[] = "a block of another array";

static int64_t address_bytes_of(const array *self) {
    return (int64_t)self->blocks->raw->address_bytes;
}

/* Floor of the logarithm to base 2; 0 of 0. */
static int bits_of(uint64_t number) {
    return number < 2 ? 0 : 63 - __builtin_clzll(number);
}

int64_t slci_h5_entry_bytes(const slci_h5_blocks *blocks, const slci_h5_entries *entries) {
    const int64_t size_bytes = 1 + (bits_of((uint64_t)entries->chunk_bytes) + 8) / 8;
    return (int64_t)blocks->raw->address_bytes +
           (entries->are_filtered ? slc_min_i64(size_bytes, 8) + 4 : 0);
}

static array make_array(slci_h5_blocks *blocks, int64_t address, const slci_h5_entries *entries) {
    return (array){.blocks = blocks,
                   .address = address,
                   .entries = entries,
                   .entry_bytes = slci_h5_entry_bytes(blocks, entries)};
}

/* A header, which says what its entries are; n bytes. */
static bool read_header(array *self, int64_t n, const char *signature) {
    slci_h5_blocks *blocks = self->blocks;
    if (!slci_h5_blocks_read(blocks, self->address, n, signature) ||
        !slci_h5_blocks_sum(blocks, self->address, n)) {
        return false;
    }
    const unsigned char *data = blocks->data;
    return (data[4] == 0 && data[5] == (self->entries->are_filtered ? 1 : 0) &&
            data[6] == self->entry_bytes) ||
           slci_h5_blocks_fail(blocks, self->address, "entries that are not of such chunks");
}

/* The first n bytes of another block, up to its sum, which say whose it is. */
static bool read_block(const array *self, int64_t address, int64_t n, const char *signature) {
    slci_h5_blocks *blocks = self->blocks;
    if (!slci_h5_blocks_read(blocks, address, n, signature) ||
        !slci_h5_blocks_sum(blocks, address, n)) {
        return false;
    }
    const unsigned char *data = blocks->data;
    return (data[4] == 0 && data[5] == (self->entries->are_filtered ? 1 : 0) &&
            slci_h5_raw_number(data + HEAD_BYTES, blocks->raw->address_bytes) == self->address) ||
           slci_h5_blocks_fail(blocks, address, of_another);
}

/* ---- pages ------------------------------------------------------------------------------------ */

/* The pages of a data block. A bit that is not set stands for one that was never written. */
typedef struct pages {
    int64_t address, entries; /* of the first page; of all */
    int64_t bits, first_bit;  /* address of the bits; that of the first page */
} pages;

/* 0: the entries are in the block itself. */
static int64_t n_pages_of(const array *self, int64_t n_entries) {
    return n_entries > self->page_entries ? slc_ceil_div(n_entries, self->page_entries) : 0;
}

/* A page has no signature. */
static bool is_page(slci_h5_blocks *blocks, int64_t address, int64_t n) {
    const int64_t summed = n - SLCI_H5_SUM_BYTES;
    return slci_h5_lookup3(blocks->data, summed) ==
               slci_h5_raw_number(blocks->data + summed, SLCI_H5_SUM_BYTES) ||
           slci_h5_blocks_fail(blocks, address, "a page of entries has another checksum");
}

static bool look_at_pages(const array *self, const pages *all) {
    slci_h5_blocks *blocks = self->blocks;
    slci_h5_raw *raw = blocks->raw;
    const int64_t n = n_pages_of(self, all->entries);
    int64_t at = all->address;
    for (int64_t k = 0; k < n; k++) {
        const int64_t bit = all->first_bit + k;
        const int64_t n_entries =
            slc_min_i64(self->page_entries, all->entries - k * self->page_entries);
        const int64_t bytes = n_entries * self->entry_bytes + SLCI_H5_SUM_BYTES;
        unsigned char bits = 0;
        if (!slci_h5_raw_read(raw, raw->base + all->bits + bit / 8, &bits, 1)) {
            return slci_h5_blocks_fail(blocks, all->bits, "the file ends before");
        }
        if ((bits & 0x80 >> bit % 8) != 0 &&
            (!slci_h5_blocks_get(blocks, at, bytes) || !is_page(blocks, at, bytes))) {
            return false;
        }
        at += bytes;
    }
    return true;
}

/* Bytes of n_entries and of the sums of their pages. */
static int64_t entries_bytes(const array *self, int64_t n_entries) {
    return n_entries * self->entry_bytes + n_pages_of(self, n_entries) * SLCI_H5_SUM_BYTES;
}

/* ---- fixed arrays ----------------------------------------------------------------------------- */

static bool look_at_fixed_data(const array *self, int64_t address, int64_t n_entries) {
    slci_h5_blocks *blocks = self->blocks;
    const int64_t n_pages = n_pages_of(self, n_entries);
    const int64_t bits_at = HEAD_BYTES + address_bytes_of(self);
    const int64_t inside = n_pages > 0 ? slc_ceil_div(n_pages, 8) : entries_bytes(self, n_entries);
    const int64_t n = bits_at + inside + SLCI_H5_SUM_BYTES;
    const slci_h5_block block = {.address = address,
                                 .bytes = n + (n_pages > 0 ? entries_bytes(self, n_entries) : 0)};
    if (!slci_h5_blocks_add(blocks, &block) || !read_block(self, address, n, "FADB")) {
        return false;
    }
    const pages all = {.address = address + n, .entries = n_entries, .bits = address + bits_at};
    return look_at_pages(self, &all);
}

bool slci_h5_fixed_array_check(slci_h5_blocks *blocks, int64_t address,
                               const slci_h5_entries *entries) {
    enum { PAGE_BITS_AT = 7, COUNT_AT = 8 };
    array self = make_array(blocks, address, entries);
    const size_t lengths = blocks->raw->length_bytes;
    const int64_t n =
        COUNT_AT + (int64_t)(lengths + blocks->raw->address_bytes) + SLCI_H5_SUM_BYTES;
    slci_h5_blocks_clear(blocks);
    if (!read_header(&self, n, "FAHD")) {
        return false;
    }
    const int page_bits = blocks->data[PAGE_BITS_AT];
    const int64_t n_entries = slci_h5_raw_number(blocks->data + COUNT_AT, lengths);
    const int64_t data = slci_h5_blocks_address(blocks, blocks->data + COUNT_AT + lengths);
    if (page_bits > MOST_PAGE_BITS || n_entries < 1) {
        return slci_h5_blocks_fail(blocks, address, impossible);
    }
    if (n_entries < entries->n) {
        return slci_h5_blocks_fail(blocks, address, "fewer entries than there are chunks");
    }
    self.page_entries = INT64_C(1) << page_bits;
    if (data >= 0 && n_entries > blocks->raw->file_bytes / self.entry_bytes) {
        return slci_h5_blocks_fail(blocks, address, "more entries than the file has room for");
    }
    return data < 0 || look_at_fixed_data(&self, data, n_entries);
}

/* ---- arrays that grow ------------------------------------------------------------------------- */

/* Entries that super blocks before number u have, from the first data block on. */
static uint64_t place_of(const array *self, int u) {
    return ((UINT64_C(1) << u) - 1) << self->smallest_bits;
}

static int64_t n_data_of(int u) {
    return INT64_C(1) << u / 2;
}

static int64_t entries_of(const array *self, int u) {
    return INT64_C(1) << ((u + 1) / 2 + self->smallest_bits);
}

/* Up to what differs, with the sum behind that. */
static int64_t head_bytes(const array *self) {
    return HEAD_BYTES + address_bytes_of(self) + (int64_t)self->place_bytes + SLCI_H5_SUM_BYTES;
}

/* Bytes of the bits of a data block's pages. */
static int64_t bits_bytes(const array *self, int u) {
    return slc_ceil_div(n_pages_of(self, entries_of(self, u)), 8);
}

/* The data blocks of super block u, whose addresses stand at `to`. In the list n is u, and the level 0;
 * `parent` is where the bits of pages are, of all of them. */
static bool add_data(array *self, int u, const unsigned char *to, int64_t bits) {
    slci_h5_blocks *blocks = self->blocks;
    const int64_t n_entries = entries_of(self, u);
    for (int64_t k = 0; k < n_data_of(u); k++, to += blocks->raw->address_bytes) {
        const slci_h5_block data = {.address = slci_h5_blocks_address(blocks, to),
                                    .bytes = head_bytes(self) + entries_bytes(self, n_entries),
                                    .n = u,
                                    .offset = place_of(self, u) + (uint64_t)(k * n_entries),
                                    .parent = bits};
        if (data.address >= 0 && !slci_h5_blocks_add(blocks, &data)) {
            return false;
        }
        if (data.address >= 0 && data.offset + (uint64_t)n_entries > self->end) {
            self->end = data.offset + (uint64_t)n_entries;
        }
    }
    return true;
}

static bool look_at_data(const array *self, const slci_h5_block *block) {
    const int u = (int)block->n;
    const int64_t n_entries = entries_of(self, u);
    const int64_t n_pages = n_pages_of(self, n_entries);
    const int64_t n = head_bytes(self) + (n_pages > 0 ? 0 : entries_bytes(self, n_entries));
    const int64_t number = (int64_t)(block->offset - place_of(self, u)) / n_entries;
    const pages all = {.address = block->address + n,
                       .entries = n_entries,
                       .bits = block->parent,
                       .first_bit = number * n_pages};
    return read_block(self, block->address, n, "EADB") && look_at_pages(self, &all);
}

static bool look_at_super(array *self, const slci_h5_block *block) {
    const int64_t bits_at = HEAD_BYTES + address_bytes_of(self) + (int64_t)self->place_bytes;
    const int u = (int)block->n;
    if (!read_block(self, block->address, block->bytes, "EASB")) {
        return false;
    }
    const unsigned char *to = self->blocks->data + bits_at + n_data_of(u) * bits_bytes(self, u);
    return add_data(self, u, to, block->address + bits_at);
}

static bool look_at_index(array *self, int64_t address) {
    slci_h5_blocks *blocks = self->blocks;
    const int64_t address_bytes = address_bytes_of(self);
    const int64_t entries_at = HEAD_BYTES + address_bytes;
    const int64_t data_at = entries_at + self->index_entries * self->entry_bytes;
    int64_t n = data_at + (self->n_super - self->n_inner) * address_bytes + SLCI_H5_SUM_BYTES;
    for (int u = 0; u < self->n_inner; u++) {
        n += n_data_of(u) * address_bytes;
    }
    if (!slci_h5_blocks_add(blocks, &(slci_h5_block){.address = address, .bytes = n}) ||
        !read_block(self, address, n, "EAIB")) {
        return false;
    }
    const unsigned char *to = blocks->data + data_at;
    for (int u = 0; u < self->n_inner; u++) {
        if (!add_data(self, u, to, 0)) {
            return false;
        }
        to += n_data_of(u) * address_bytes;
    }
    for (int u = self->n_inner; u < self->n_super; u++, to += address_bytes) {
        const slci_h5_block super = {.address = slci_h5_blocks_address(blocks, to),
                                     .bytes = head_bytes(self) +
                                              n_data_of(u) * (bits_bytes(self, u) + address_bytes),
                                     .n = u,
                                     .offset = place_of(self, u),
                                     .level = 1};
        if (super.address >= 0 && !slci_h5_blocks_add(blocks, &super)) {
            return false;
        }
    }
    return true;
}

/* *index: the index block; negative where there is none yet. */
static bool read_growing(array *self, int64_t *index) {
    enum { NUMBERS_AT = 12, IN_USE = 4, N_NUMBERS = 6 };
    slci_h5_blocks *blocks = self->blocks;
    const size_t lengths = blocks->raw->length_bytes;
    const size_t index_at = NUMBERS_AT + N_NUMBERS * lengths;
    if (!read_header(self, (int64_t)index_at + address_bytes_of(self) + SLCI_H5_SUM_BYTES,
                     "EAHD")) {
        return false;
    }
    const unsigned char *data = blocks->data;
    const int n_least = data[10]; /* data blocks of the smallest super block with a block */
    const int page_bits = data[11];
    self->place_bits = data[7];
    self->index_entries = data[8];
    self->smallest_bits = bits_of(data[9]);
    self->n_super = 1 + self->place_bits - self->smallest_bits;
    self->n_inner = 2 * bits_of((uint64_t)n_least);
    self->place_bytes = ((size_t)self->place_bits + 7) / 8;
    self->page_entries = INT64_C(1) << slc_min_i64(page_bits, MOST_PAGE_BITS);
    *index = slci_h5_blocks_address(blocks, data + index_at);
    self->n_used = slci_h5_raw_number(data + NUMBERS_AT + IN_USE * lengths, lengths);
    return (data[9] == 1 << self->smallest_bits && n_least == 1 << bits_of((uint64_t)n_least) &&
            n_least > 1 && self->place_bits > 0 && self->place_bits <= MOST_PLACE_BITS &&
            self->n_inner <= self->n_super && page_bits <= MOST_PAGE_BITS &&
            self->page_entries >= entries_of(self, self->n_inner - 1)) ||
           slci_h5_blocks_fail(blocks, self->address, impossible);
}

bool slci_h5_extensible_array_check(slci_h5_blocks *blocks, int64_t address,
                                    const slci_h5_entries *entries) {
    array self = make_array(blocks, address, entries);
    int64_t index = -1;
    slci_h5_blocks_clear(blocks);
    bool is_sound = read_growing(&self, &index) && (index < 0 || look_at_index(&self, index));
    for (int64_t k = 1; k < blocks->n && is_sound; k++) {
        const slci_h5_block block = blocks->list[k]; /* the list moves when it grows */
        is_sound = block.level > 0 ? look_at_super(&self, &block) : look_at_data(&self, &block);
    }
    /* HDF5 goes through all in use, those too that have no block. */
    if (is_sound && (uint64_t)self.n_used > (uint64_t)self.index_entries + self.end) {
        return slci_h5_blocks_fail(blocks, address, "more entries in use than there are");
    }
    return is_sound && slci_h5_blocks_are_apart(blocks);
}
