/* A window of the file is kept, because what is read of it is small and lies together. */
#include "io/h5_raw.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/file.h"

bool slci_h5_raw_open(hid_t object, slci_h5_raw *out) {
    struct stat info;
    hsize_t user_block = 0;
    unsigned half_children = 0; /* the file has half of what a node may hold */
    unsigned half_symbols = 0;
    unsigned half_chunks = 0;
    memset(out, 0, sizeof *out);
    const hid_t file = H5Iget_file_id(object);
    const hid_t list = file < 0 ? -1 : H5Fget_create_plist(file);
    const ssize_t n_name = list < 0 ? -1 : H5Fget_name(file, out->file, sizeof out->file);
    const bool is_known = n_name > 0 && n_name < (ssize_t)sizeof out->file &&
                          H5Pget_sizes(list, &out->address_bytes, &out->length_bytes) >= 0 &&
                          H5Pget_userblock(list, &user_block) >= 0 &&
                          H5Pget_shared_mesg_nindexes(list, &out->n_shared) >= 0 &&
                          H5Pget_sym_k(list, &half_children, &half_symbols) >= 0 &&
                          H5Pget_istore_k(list, &half_chunks) >= 0 && out->address_bytes <= 8 &&
                          out->length_bytes <= 8;
    (void)H5Pclose(list);
    (void)H5Fclose(file);
    out->n_symbols = 2 * half_symbols;
    out->n_children = 2 * half_children;
    out->n_chunks = 2 * half_chunks;
    out->base = (int64_t)user_block;
    out->fd = is_known ? open(out->file, O_RDONLY | O_CLOEXEC) : -1;
    if (out->fd < 0 || fstat(out->fd, &info) != 0) {
        out->why = is_known ? errno : 0;
        return false;
    }
    out->file_bytes = (int64_t)info.st_size;
    return true;
}

void slci_h5_raw_close(slci_h5_raw *raw) {
    if (raw->fd >= 0) {
        (void)close(raw->fd);
    }
    raw->fd = -1;
}

bool slci_h5_raw_read(slci_h5_raw *raw, int64_t at, void *bytes, int64_t n) {
    if (at < 0 || n > raw->file_bytes || at > raw->file_bytes - n) {
        return false;
    }
    if (n > SLCI_H5_RAW_WINDOW) {
        return slci_read_at(raw->fd, bytes, n, at) == n;
    }
    if (at < raw->window_at || at + n > raw->window_at + raw->n_window) {
        const int64_t got = slci_read_at(raw->fd, raw->window, SLCI_H5_RAW_WINDOW, at);
        raw->window_at = at;
        raw->n_window = slc_max_i64(got, 0);
    }
    if (n > raw->n_window - (at - raw->window_at)) {
        return false;
    }
    memcpy(bytes, raw->window + (at - raw->window_at), (size_t)n);
    return true;
}

/* What a file begins with, from version 2 on: signature (8) │ version, bytes of addresses, of lengths,
 * flags (1 each) │ base, extension (an address each) │ … */
bool slci_h5_raw_extension(slci_h5_raw *raw, int64_t *out) {
    enum { VERSION_AT = 8, BASE_AT = 12, MOST_BYTES = BASE_AT + 2 * 8 };
    unsigned char head[MOST_BYTES];
    if (raw->n_shared == 0 || !slci_h5_raw_read(raw, raw->base, head, sizeof head) ||
        head[VERSION_AT] < 2) {
        return false;
    }
    *out = slci_h5_raw_number(head + BASE_AT + raw->address_bytes, raw->address_bytes);
    return *out <= raw->file_bytes;
}

int64_t slci_h5_raw_number(const unsigned char *bytes, size_t n) {
    uint64_t value = 0;
    for (size_t k = n; k > 0; k--) {
        value = value << 8 | bytes[k - 1];
    }
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}
