#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer names are no file's on Linux (PATH_MAX). */
#define FOLDER_BYTES 4096

static slci_file_stamp stamp_of(const struct stat *info) {
    return (slci_file_stamp){
        .bytes = (int64_t)info->st_size,
        .modified_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 + (int64_t)info->st_mtim.tv_nsec,
        .device = (uint64_t)info->st_dev,
        .inode = (uint64_t)info->st_ino,
    };
}

slc_status slci_file_stamp_get(const char *path, slci_file_stamp *out) {
    struct stat info;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    }
    const int reason = fstat(descriptor, &info) == 0 ? 0 : errno;
    (void)close(descriptor);
    if (reason != 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be examined: %s", path, strerror(reason));
    }
    if (!S_ISREG(info.st_mode)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: is not a file%s", path,
                        S_ISDIR(info.st_mode) ? " but a folder" : "");
    }
    if (info.st_size == 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: the file is empty: 0 bytes found", path);
    }
    *out = stamp_of(&info);
    return SLC_OK;
}

bool slci_file_stamp_equal(const slci_file_stamp *a, const slci_file_stamp *b) {
    return a->bytes == b->bytes && a->modified_ns == b->modified_ns && a->device == b->device &&
           a->inode == b->inode;
}

bool slci_file_stamp_find(const char *path, slci_file_stamp *out) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
        return false;
    }
    *out = stamp_of(&info);
    return true;
}

bool slci_folder_of(const char *path, char *folder, int64_t capacity) {
    const char *const slash = strrchr(path, '/');
    const char *from = slash == NULL ? "." : path;
    const size_t n = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    if ((int64_t)n >= capacity) {
        return false;
    }
    memcpy(folder, from, n);
    folder[n] = '\0';
    return true;
}

int slci_folder_sync(const char *path) {
    char folder[FOLDER_BYTES];
    if (!slci_folder_of(path, folder, (int64_t)sizeof folder)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno == EACCES ? 0 : -1;
    }
    const int reason = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    (void)close(fd);
    errno = reason;
    return reason == 0 ? 0 : -1;
}

int slci_write_at(int fd, const void *data, int64_t n_bytes, int64_t at) {
    const char *from = data;
    while (n_bytes > 0) {
        const ssize_t n = pwrite(fd, from, (size_t)n_bytes, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n == 0 ? ENOSPC : errno;
            return -1;
        }
        from += n;
        at += n;
        n_bytes -= n;
    }
    return 0;
}

int64_t slci_read_at(int fd, void *data, int64_t n_bytes, int64_t at) {
    char *to = data;
    int64_t n_read = 0;
    while (n_read < n_bytes) {
        const ssize_t n = pread(fd, to + n_read, (size_t)(n_bytes - n_read), (off_t)(at + n_read));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -1;
        }
        if (n == 0) {
            break;
        }
        n_read += n;
    }
    return n_read;
}
