/* One file for each machine, since a home folder may be shared by many:
 *
 *     sluice 0.1.0 rates 1
 *     device NVIDIA H200, 150754820096 bytes
 *     software CUDA 13.0, driver 13.0
 *     processor Intel(R) Xeon(R) Platinum 8480+
 *     threads 16
 *     memory 128 GiB
 *     tier_bytes_per_s 28000000000
 *     ...
 *     end
 *
 * The lines above the content are the key. The last line tells a whole file from a cut one. */
#include "app/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/fnv.h"
#include "core/host_memory.h"
#include "core/pool.h"
#include "core/print.h"
#include "core/version.h"

#define GIB (INT64_C(1) << 30)

static const char first_word[] = "sluice ";
static const char last_line[] = "end\n";

/* What writers that take turns wait for each other at most. Each holds the lock for a moment only,
 * unless it was stopped. */
#define LOCK_MS 2000
#define LOCK_PAUSE_MS 5

/* ---- the key ---------------------------------------------------------------------------------- */

static slc_status make_key(slc_device *device, const char *kind, int format,
                           char key[SLCI_CACHE_KEY_BYTES]) {
    slc_device_limits limits;
    slci_host_limits host;
    SLC_TRY(slc_device_get_limits(device, &limits));
    SLC_TRY(slci_host_limits_read("", &host));
    const bool is_cuda = device->kind == SLC_DEVICE_CUDA;
    /* The host's memory to the next GiB: the kernel keeps a little that differs from start to start. */
    (void)slci_print(key, SLCI_CACHE_KEY_BYTES,
                     "%s%s %s %d\n"
                     "device %s, %lld bytes\n"
                     "software %s\n"
                     "processor %s\n"
                     "threads %d\n"
                     "memory %lld GiB\n",
                     first_word, SLC_VERSION, kind, format, limits.name,
                     is_cuda ? (long long)limits.total_bytes : 0LL, limits.software, host.processor,
                     slc_pool_size(device->pool), (long long)((host.total_bytes + GIB - 1) / GIB));
    return SLC_OK;
}

slc_status slci_cache_file_name(slc_device *device, const char *kind, int format,
                                const char *folder, slci_cache_file *out) {
    SLC_TRY(make_key(device, kind, format, out->key));
    out->folder = folder;
    const uint64_t hash = slci_fnv_add(SLCI_FNV_BEGIN, out->key, strlen(out->key));
    const int length = snprintf(out->path, sizeof out->path, "%s/%s-%016llx.txt", folder, kind,
                                (unsigned long long)hash);
    if (length < 0 || (size_t)length >= sizeof out->path) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%.80s...: the name of the folder is too long", folder);
    }
    return SLC_OK;
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* Takes key and last line off. */
static bool unwrap(const slci_cache_file *file, char *text) {
    const size_t key_length = strlen(file->key);
    const size_t length = strlen(text);
    const size_t last_length = strlen(last_line);
    if (length < key_length + last_length || strncmp(text, file->key, key_length) != 0 ||
        strcmp(text + length - last_length, last_line) != 0) {
        return false;
    }
    const size_t inner = length - key_length - last_length;
    memmove(text, text + key_length, inner);
    text[inner] = '\0';
    return inner == 0 || text[inner - 1] == '\n';
}

slci_cache_state slci_cache_file_read(const slci_cache_file *self, char *text, size_t text_bytes) {
    /* Not blocking: it may be a pipe, which nobody writes to. */
    const int fd = open(self->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    if (fd < 0) {
        return SLCI_CACHE_MISSING;
    }
    FILE *file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? fdopen(fd, "r") : NULL;
    if (file == NULL) {
        (void)close(fd);
        return SLCI_CACHE_MISSING;
    }
    const size_t length = fread(text, 1, text_bytes - 1, file);
    const bool is_all = feof(file) != 0 && ferror(file) == 0;
    (void)fclose(file);
    text[length] = '\0';
    return is_all && strlen(text) == length && unwrap(self, text) ? SLCI_CACHE_WHOLE
                                                                  : SLCI_CACHE_DAMAGED;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static slc_status write_text(const slci_cache_file *self, const char *path, const char *text) {
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write to %s: %s", path, strerror(errno));
    }
    errno = 0;
    const bool is_written = fputs(self->key, file) >= 0 && fputs(text, file) >= 0 &&
                            fputs(last_line, file) >= 0 && fflush(file) == 0;
    const int reason = errno;
    if (fclose(file) != 0 || !is_written) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write to %s: %s", path,
                        strerror(reason != 0 ? reason : errno));
    }
    return SLC_OK;
}

/* Makes the folder and the one above it, as ~/.cache may be missing for a new user. */
static slc_status make_folder(const char *folder) {
    char above[SLC_PATH_BYTES];
    const char *slash = strrchr(folder, '/');
    const int length = slash == NULL ? 0 : (int)(slash - folder);
    if (length > 0 && length < SLC_PATH_BYTES) {
        (void)snprintf(above, sizeof above, "%.*s", length, folder);
        (void)mkdir(above, 0700); /* whether it worked, the next one shows */
    }
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot make %s: %s", folder, strerror(errno));
    }
    return SLC_OK;
}

/* A link stays and what it points at is replaced, but only where that came from here. */
static slc_status check_link(const slci_cache_file *self) {
    char begin[sizeof first_word] = "";
    struct stat info;
    if (lstat(self->path, &info) != 0 || !S_ISLNK(info.st_mode) || stat(self->path, &info) != 0 ||
        !S_ISREG(info.st_mode) || info.st_size == 0) {
        return SLC_OK; /* what cannot be replaced the writing says */
    }
    const int fd = open(self->path, O_RDONLY | O_CLOEXEC);
    const int64_t n = fd >= 0 ? slci_read_at(fd, begin, (int64_t)strlen(first_word), 0) : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return n > 0 && strcmp(begin, first_word) == 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_OUTPUT,
                          "%s is a link to a file that does not come from Sluice, which is left as "
                          "it is: remove the link",
                          self->path);
}

slc_status slci_cache_file_write(const slci_cache_file *self, const char *text) {
    slc_outfile file = {.temporary_path = ""};
    slc_status status = SLC_OK;
    SLC_TRY(make_folder(self->folder));
    SLC_TRY(check_link(self));
    SLC_TRY_GOTO(done, slc_outfile_begin(self->path, true, &file));
    SLC_TRY_GOTO(done, write_text(self, file.temporary_path, text));
    SLC_TRY_GOTO(done, slc_outfile_commit(&file));
done:
    slc_outfile_abandon(&file);
    return status;
}

/* ---- taking turns ----------------------------------------------------------------------------- */

/* The folder itself is locked, so that nothing is left in it. */
int slci_cache_file_lock(const slci_cache_file *self) {
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};
    const slc_status made = make_folder(self->folder);
    const int fd = made == SLC_OK ? open(self->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (int ms = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0; ms += LOCK_PAUSE_MS) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || ms >= LOCK_MS) {
            (void)close(fd);
            return -1;
        }
        (void)nanosleep(&pause, NULL);
    }
    return fd;
}

void slci_cache_file_unlock(int lock) {
    if (lock >= 0) {
        (void)close(lock);
    }
}
