/* Output files that appear whole or not at all.
 * A file is written under a temporary name in its final folder, synced, and renamed. Nothing that is
 * half-written ever has the final name, and a failure or interrupt leaves nothing behind.
 *
 *     slc_outfile out;
 *     SLC_TRY(slc_outfile_begin("dirty.fits", false, &out));
 *     ... write to out.temporary_path ...
 *     SLC_TRY(slc_outfile_commit(&out));          // or slc_outfile_abandon(&out)
 */
#ifndef SLC_IO_OUTFILE_H
#define SLC_IO_OUTFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLC_PATH_BYTES 4096

typedef struct slc_outfile {
    char final_path[SLC_PATH_BYTES];
    char temporary_path[SLC_PATH_BYTES + 32]; /* same folder and extension; "": none is open */
    bool overwrite;
    bool is_prepared;
    bool is_replacing; /* once it is prepared: the final name held a file before */
} slc_outfile;

/* Before any work: that the folder exists and can be written (by really making a file there), that
 * the final name is free or `overwrite` is set and the file there may be replaced, and that
 * `needed_bytes` (0: unknown) fit on the file system. SLC_ERROR_OUTPUT says which of these fails. */
SLC_API SLC_MUST_USE slc_status slc_outfile_check(const char *path, bool overwrite,
                                                  int64_t needed_bytes);

/* What one of several outputs of a run needs. */
typedef struct slc_outfile_need {
    const char *path;
    int64_t bytes; /* 0: unknown */
} slc_outfile_need;

/* That all of them fit together, those on one file system side by side; what they replace stays until
 * they are complete. Each has passed slc_outfile_check. SLC_ERROR_OUTPUT. */
SLC_API SLC_MUST_USE slc_status slc_outfile_check_room(const slc_outfile_need *needs, int n_needs);

/* Chooses and creates the temporary file (empty). It is no more readable to others than a file that it
 * is to replace, whose access mode it gets when it is committed. SLC_ERROR_OUTPUT. */
SLC_API SLC_MUST_USE slc_status slc_outfile_begin(const char *path, bool overwrite,
                                                  slc_outfile *out);

/* The part of a commit that comes before any name is given: fsync. For who has to note what the
 * temporary file is, which is what will have the final name. SLC_ERROR_OUTPUT; then only abandon. */
SLC_API SLC_MUST_USE slc_status slc_outfile_prepare(slc_outfile *out);

/* fsync, rename to the final name (never over an existing file unless `overwrite`), fsync the folder.
 * On failure neither name is left, unless the final one held a file before. SLC_ERROR_OUTPUT. */
SLC_API SLC_MUST_USE slc_status slc_outfile_commit(slc_outfile *out);

/* The same for the outputs of a run, files [n_files]: all appear, or none. A file that one of them has
 * replaced does not come back. */
SLC_API SLC_MUST_USE slc_status slc_outfile_commit_all(slc_outfile *files, int n_files);

/* Removes the temporary file. Does nothing after a commit, or for a struct of zeros. */
SLC_API void slc_outfile_abandon(slc_outfile *out);

#ifdef __cplusplus
}
#endif
#endif
