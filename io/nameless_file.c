/* The name is taken away as soon as the file is made. */
#include "io/nameless_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/print.h"
#include "io/outfile.h"

static slc_status fail(const slci_nameless_file *file, const char *what) {
    return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot %s a temporary file beside %s: %s", what,
                    file->beside, strerror(errno));
}

slc_status slci_nameless_create(const char *beside, slci_nameless_file *out) {
    char path[SLC_PATH_BYTES + 32];
    const char *slash = strrchr(beside, '/');
    const int n_folder = slash == NULL ? 0 : (int)(slash - beside) + 1;
    const slci_nameless_file file = {.fd = -1, .beside = beside};
    const int length = slci_print(path, sizeof path, "%.*ssluice-part-XXXXXX", n_folder, beside);
    if (length < 0 || (size_t)length >= sizeof path) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "%.80s...: the name is too long", beside);
    }
    *out = file;
    out->fd = mkostemp(path, O_CLOEXEC);
    if (out->fd < 0) {
        return fail(&file, "make");
    }
    if (unlink(path) != 0) {
        const slc_status status = fail(&file, "remove the name of");
        slci_nameless_close(out);
        return status;
    }
    return SLC_OK;
}

void slci_nameless_close(slci_nameless_file *file) {
    if (file->fd >= 0) {
        (void)close(file->fd);
        file->fd = -1;
    }
}

slc_status slci_nameless_write(const slci_nameless_file *file, const void *data, int64_t n_bytes,
                               int64_t at) {
    return slci_write_at(file->fd, data, n_bytes, at) == 0 ? SLC_OK : fail(file, "write");
}

slc_status slci_nameless_read(const slci_nameless_file *file, void *data, int64_t n_bytes,
                              int64_t at) {
    const int64_t n = slci_read_at(file->fd, data, n_bytes, at);
    if (n >= 0 && n < n_bytes) {
        errno = EIO;
    }
    return n == n_bytes ? SLC_OK : fail(file, "read");
}
