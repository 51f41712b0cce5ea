/* Files by their names: which one it is, and that its name lasts; and reading and writing at a
 * place. Internal to Sluice.
 *
 *     slci_file_stamp before, now;
 *     SLC_TRY(slci_file_stamp_get(path, &before));
 *     ... SLC_TRY(slci_file_stamp_get(path, &now)); slci_file_stamp_equal(&before, &now) ...
 *     if (slci_folder_sync(path) != 0) { ... errno ... }      // after path was made or renamed
 */
#ifndef SLC_CORE_FILE_H
#define SLC_CORE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which file it was, to tell whether it changes, or is another one. */
typedef struct slci_file_stamp {
    int64_t bytes;
    int64_t modified_ns;
    uint64_t device, inode;
} slci_file_stamp;

/* Of an input. SLC_ERROR_INPUT with the reason where the file is absent, unreadable, a folder or
 * empty. */
SLC_MUST_USE slc_status slci_file_stamp_get(const char *path, slci_file_stamp *out);
bool slci_file_stamp_equal(const slci_file_stamp *a, const slci_file_stamp *b);

/* Whether there is an ordinary file of that name, readable or not, and its stamp. */
bool slci_file_stamp_find(const char *path, slci_file_stamp *out);

/* The folder that holds `path`: "." where none is named. False where it has `capacity` bytes or
 * more. */
bool slci_folder_of(const char *path, char *folder, int64_t capacity);

/* Makes durable that `path` has its name, which was given or changed just now. 0, or -1 with errno. A
 * folder that cannot be synced (some network file systems), or only be written to and not listed, has
 * nothing that could be done. */
int slci_folder_sync(const char *path);

/* Writes all of data [n_bytes] from byte `at` of an open file on. 0, or -1 with errno. */
int slci_write_at(int fd, const void *data, int64_t n_bytes, int64_t at);

/* Reads into data [n_bytes] likewise. How many bytes there were, fewer only where the file ends before;
 * or -1 with errno. */
int64_t slci_read_at(int fd, void *data, int64_t n_bytes, int64_t at);

#ifdef __cplusplus
}
#endif
#endif
