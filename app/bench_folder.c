#include "app/bench_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

slc_status slci_bench_folder_make(const char *where, slci_bench_folder *out) {
    slci_bench_folder folder;
    const int length = snprintf(folder.path, sizeof folder.path, "%s/sluice-bench-XXXXXX", where);
    if (length < 0 || (size_t)length >= sizeof folder.path) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%.80s...: the name of the folder is too long", where);
    }
    if (mkdtemp(folder.path) == NULL) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot make a folder in %s: %s", where, strerror(errno));
    }
    *out = folder;
    return SLC_OK;
}

void slci_bench_folder_remove(const slci_bench_folder *folder) {
    if (folder->path[0] != '\0') {
        (void)rmdir(folder->path);
    }
}
