/* A device or pipe has no folder in which something could be renamed over it, so it is opened by its
 * own name; everything else goes through a temporary file. */
#include "app/cmd_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/outfile.h"

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

/* Writes into `path`, which is a special file, or the temporary one of an ordinary file; the user
 * knows it by the name in `file`. */
static slc_status write_into(const char *path, const slci_side_file *file, slci_side_writer writer,
                             const void *context) {
    FILE *out = fopen(path, "we");
    if (out == NULL) {
        return refuse(file, errno);
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
    SLC_TRY_GOTO(done, slc_outfile_commit(&out));
done:
    slc_outfile_abandon(&out);
    return status;
}
