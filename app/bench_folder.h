/* A new folder for the files of a benchmark. Internal to app.
 *
 *     SLC_TRY(slci_bench_folder_make(options->folder, &folder));
 *     ... files in folder.path ...
 *     slci_bench_folder_remove(&folder);                   // after its files
 */
#ifndef SLC_APP_BENCH_FOLDER_H
#define SLC_APP_BENCH_FOLDER_H

#include "core/status.h"
#include "io/outfile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_bench_folder {
    char path[SLC_PATH_BYTES]; /* "": there is none */
} slci_bench_folder;

/* Makes it in `where`. SLC_ERROR_ARGUMENT for a name that is too long, SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_bench_folder_make(const char *where, slci_bench_folder *out);

/* Once it is empty; nothing happens where there is none. */
void slci_bench_folder_remove(const slci_bench_folder *folder);

#ifdef __cplusplus
}
#endif
#endif
