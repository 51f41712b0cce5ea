#include "tests/support/test_npz_file.h"

/* What a .npy header is padded to. */
#define HEADER_BYTES 128

/* The checksum of ZIP: CRC-32, polynomial 0xEDB88320. */
static uint32_t crc_of(const unsigned char *bytes, size_t n) {
    uint32_t crc = 0xFFFFFFFFU;
    for (size_t k = 0; k < n; k++) {
        crc ^= bytes[k];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0);
        }
    }
    return ~crc;
}

static void put(unsigned char *out, size_t *at, uint32_t value, int n) {
    for (int k = 0; k < n; k++) {
        out[(*at)++] = (unsigned char)(value >> (8 * k));
    }
}

static void put_bytes(unsigned char *out, size_t *at, const void *bytes, size_t n) {
    memcpy(out + *at, bytes, n);
    *at += n;
}

/* What a local header and an entry of the directory share, from "version needed" on. */
static void put_entry(unsigned char *out, size_t *at, bool is_deflated, uint32_t crc, size_t stored,
                      size_t plain, size_t name_length) {
    put(out, at, 20, 2);
    put(out, at, 0, 2);
    put(out, at, is_deflated ? 8 : 0, 2);
    put(out, at, 0, 4);
    put(out, at, crc, 4);
    put(out, at, (uint32_t)stored, 4);
    put(out, at, (uint32_t)plain, 4);
    put(out, at, (uint32_t)name_length, 2);
    put(out, at, 0, 2);
}

void test_npz_add_member(test_npz *zip, const char *name, bool is_deflated,
                         const unsigned char *data, size_t n) {
    const uint32_t crc = crc_of(data, n);
    const size_t stored = is_deflated ? n + 5 : n;
    const size_t offset = zip->n;
    put(zip->bytes, &zip->n, 0x04034B50, 4);
    put_entry(zip->bytes, &zip->n, is_deflated, crc, stored, n, strlen(name));
    put_bytes(zip->bytes, &zip->n, name, strlen(name));
    if (is_deflated) { /* one final block, stored: RFC 1951, 3.2.4 */
        put(zip->bytes, &zip->n, 1, 1);
        put(zip->bytes, &zip->n, (uint32_t)n, 2);
        put(zip->bytes, &zip->n, ~(uint32_t)n, 2);
    }
    put_bytes(zip->bytes, &zip->n, data, n);
    put(zip->directory, &zip->n_directory, 0x02014B50, 4);
    put(zip->directory, &zip->n_directory, 20, 2);
    put_entry(zip->directory, &zip->n_directory, is_deflated, crc, stored, n, strlen(name));
    put(zip->directory, &zip->n_directory, 0, 4); /* comment, disk */
    put(zip->directory, &zip->n_directory, 0, 2); /* attributes */
    put(zip->directory, &zip->n_directory, 0, 4);
    put(zip->directory, &zip->n_directory, (uint32_t)offset, 4);
    put_bytes(zip->directory, &zip->n_directory, name, strlen(name));
    zip->n_members++;
}

void test_npz_save(const test_npz *zip, const char *path) {
    test_npz whole = *zip;
    const size_t start = whole.n;
    put_bytes(whole.bytes, &whole.n, whole.directory, whole.n_directory);
    put(whole.bytes, &whole.n, 0x06054B50, 4);
    put(whole.bytes, &whole.n, 0, 4);
    put(whole.bytes, &whole.n, whole.n_members, 2);
    put(whole.bytes, &whole.n, whole.n_members, 2);
    put(whole.bytes, &whole.n, (uint32_t)whole.n_directory, 4);
    put(whole.bytes, &whole.n, (uint32_t)start, 4);
    put(whole.bytes, &whole.n, 0, 2);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(whole.bytes, 1, whole.n, file), whole.n);
    fclose(file);
}

/* A .npy of version 1.0. */
void test_npz_add_array(test_npz *zip, const test_npz_array *array) {
    unsigned char *member = test_allocate(HEADER_BYTES + (int64_t)array->n);
    char dictionary[HEADER_BYTES + 1];
    (void)snprintf(dictionary, sizeof dictionary,
                   "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", array->type, array->order,
                   array->shape);
    size_t at = 0;
    put_bytes(member, &at, "\x93NUMPY\x01", 7);
    put(member, &at, 0, 1);
    put(member, &at, HEADER_BYTES - 10, 2);
    memset(member + at, ' ', HEADER_BYTES - 10);
    memcpy(member + at, dictionary, strlen(dictionary));
    member[HEADER_BYTES - 1] = '\n';
    at = HEADER_BYTES;
    put_bytes(member, &at, array->data, array->n);
    test_npz_add_member(zip, array->name, array->is_deflated, member, at);
    free(member);
}
