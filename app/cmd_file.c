/* A device or pipe has no folder in which something could be renamed over it, so it is opened by its
 * own name; everything else goes through a temporary file. A pipe is opened without blocking, again
 * and again until somebody reads it, because a signal only sets a flag and ends no system call. */
#include "app/cmd_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/outfile.h"

#define READER_WAIT_MS 20

static bool is_special(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static slc_status refuse(const slci_side_file *file, int reason) {
    return SLC_FAIL(SLC_ERROR_OUTPUT, "%s: cannot write to %s: %s", file->option, file->path,
                    strerror(reason));
}

slc_status slci_side_file_check(const slci_side_file *file) {
    if (!is_special(file->path)) {
        const slc_status status = slc_outfile_check(file->path, file->overwrite, 0);
        return status == SLC_OK ? SLC_OK : slc_status_prefix(status, "%s", file->option);
    }
    return access(file->path, W_OK) == 0 ? SLC_OK : refuse(file, errno);
}

/* Opens a special file for writing as one opens it that may block. */
static slc_status open_special(const slci_side_file *file, int *out) {
    const struct timespec pause = {.tv_nsec = READER_WAIT_MS * 1000000L};
    int fd = -1;
    for (;;) {
        fd = open(file->path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd >= 0 || errno != ENXIO) {
            break;
        }
        if (file->cancel != NULL && *file->cancel != 0) {
            return SLC_FAIL(SLC_ERROR_INTERRUPTED,
                            "%s: interrupted while %s had nobody who reads it", file->option,
                            file->path);
        }
        (void)nanosleep(&pause, NULL);
    }
    const int flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) {
        const int reason = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return refuse(file, reason);
    }
    *out = fd;
    return SLC_OK;
}

/* The temporary file of an ordinary one. */
static slc_status open_ordinary(const char *path, const slci_side_file *file, int *out) {
    *out = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    return *out >= 0 ? SLC_OK : refuse(file, errno);
}

/* Writes into `path`, which is a special file, or the temporary one of an ordinary file; the user
 * knows it by the name in `file`. */
static slc_status write_into(const char *path, const slci_side_file *file, slci_side_writer writer,
                             const void *context) {
    int fd = -1;
    SLC_TRY(path == file->path ? open_special(file, &fd) : open_ordinary(path, file, &fd));
    FILE *out = fdopen(fd, "w");
    if (out == NULL) {
        const int why = errno;
        (void)close(fd);
        return refuse(file, why);
    }
    errno = 0;
    writer(out, context);
    const bool is_written = fflush(out) == 0 && ferror(out) == 0;
    const int reason = errno != 0 ? errno : EIO;
    if (fclose(out) != 0) {
        return refuse(file, is_written ? errno : reason);
    }
    return is_written ? SLC_OK : refuse(file, reason);
}

slc_status slci_side_file_write(const slci_side_file *file, slci_side_writer writer,
                                const void *context) {
    if (is_special(file->path)) {
        return write_into(file->path, file, writer, context);
    }
    slc_outfile out = {.temporary_path = ""};
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slc_outfile_begin(file->path, file->overwrite, &out));
    SLC_TRY_GOTO(done, write_into(out.temporary_path, file, writer, context));
    SLC_TRY_GOTO(done, slc_outfile_prepare(&out));
    SLC_TRY_GOTO(done, slc_checkpoint_settle_beside(file->checkpoint, out.temporary_path));
    SLC_TRY_GOTO(done, slc_outfile_commit(&out));
done:
    slc_outfile_abandon(&out);
    return status;
}
