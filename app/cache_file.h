/* A small text file in the user's cache that holds what was measured on this machine. Its key is
 * the hardware and software that it was made on: the key's hash is in the file's name, and the key
 * itself is compared letter for letter. The cache only ever saves time: what cannot be read or does
 * not fit is as good as missing. Internal to app.
 *
 *     slci_cache_file file;
 *     SLC_TRY(slci_cache_file_name(device, "rates", 1, folder, &file));
 *     if (slci_cache_file_read(&file, text, sizeof text) == SLCI_CACHE_WHOLE) { ... }
 *     SLC_TRY(slci_cache_file_write(&file, "h2d_bytes_per_s 55e9\n"));
 */
#ifndef SLC_APP_CACHE_FILE_H
#define SLC_APP_CACHE_FILE_H

#include <stddef.h>

#include "core/device.h"
#include "io/outfile.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_CACHE_KEY_BYTES 1024

typedef struct slci_cache_file {
    const char *folder; /* lent; made where it is missing */
    char key[SLCI_CACHE_KEY_BYTES];
    char path[SLC_PATH_BYTES];
} slci_cache_file;

/* The file of this device in `folder` for what `kind` says ("rates"), in the version `format` of
 * what stands in it. SLC_ERROR_DEVICE; SLC_ERROR_ARGUMENT when the name is too long, key then being
 * filled in already. */
SLC_MUST_USE slc_status slci_cache_file_name(slc_device *device, const char *kind, int format,
                                             const char *folder, slci_cache_file *out);

typedef enum slci_cache_state {
    SLCI_CACHE_MISSING, /* there is no regular file of the name, or it cannot be opened */
    SLCI_CACHE_DAMAGED, /* it was cut, is too long, or another key stands in it */
    SLCI_CACHE_WHOLE
} slci_cache_state;

/* text [text_bytes]: what was written, whole lines. Never waits. */
slci_cache_state slci_cache_file_read(const slci_cache_file *file, char *text, size_t text_bytes);

/* Writes whole lines beside it and renames. Where the name is a link, this stays, and the file that it
 * points at is replaced, unless that is somebody else's. SLC_ERROR_OUTPUT, SLC_ERROR_ARGUMENT. */
SLC_MUST_USE slc_status slci_cache_file_write(const slci_cache_file *file, const char *text);

/* For who reads, changes and writes: from here to the unlocking no other process, or call, that
 * does the same is in between. -1 where that cannot be had, after two seconds at most; what was
 * written then may lack what another wrote meanwhile. */
int slci_cache_file_lock(const slci_cache_file *file);
void slci_cache_file_unlock(int lock);

#ifdef __cplusplus
}
#endif
#endif
