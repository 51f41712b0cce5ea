/* A file without a name, for what does not fit in memory: nothing is left of it however the process
 * ends. Internal to io.
 *
 *     SLC_TRY(slci_nameless_create("out.h5", &file));       // in the folder of out.h5
 *     SLC_TRY_GOTO(done, slci_nameless_write(&file, data, n_bytes, at));
 */
#ifndef SLC_IO_NAMELESS_FILE_H
#define SLC_IO_NAMELESS_FILE_H

#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_nameless_file {
    int fd;             /* -1: not open */
    const char *beside; /* the file whose folder it is in, for messages; lent */
} slci_nameless_file;

/* SLC_ERROR_OUTPUT with the system's reason. */
SLC_MUST_USE slc_status slci_nameless_create(const char *beside, slci_nameless_file *out);
void slci_nameless_close(slci_nameless_file *file);

/* All of n_bytes at `at`. SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_nameless_write(const slci_nameless_file *file, const void *data,
                                            int64_t n_bytes, int64_t at);
SLC_MUST_USE slc_status slci_nameless_read(const slci_nameless_file *file, void *data,
                                           int64_t n_bytes, int64_t at);

#ifdef __cplusplus
}
#endif
#endif
