/* Files that a job writes beside its result: statistics, trace, report. An ordinary one appears whole
 * or not at all, a device or pipe is written to as it is. Internal to the program.
 *
 *     const slci_side_file file = {.option = "--trace", .path = path, .overwrite = overwrite};
 *     SLC_TRY(slci_side_file_check(&file));          // before the run
 *     SLC_TRY(slci_side_file_write(&file, write, &context));
 */
#ifndef SLC_APP_CMD_FILE_H
#define SLC_APP_CMD_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "core/status.h"
#include "ooc/checkpoint.h"

/* Writes everything; whether it got there is asked of the stream afterwards. */
typedef void (*slci_side_writer)(FILE *out, const void *context);

typedef struct slci_side_file {
    const char *option; /* that names it, for messages */
    const char *path;
    bool overwrite;
    slc_checkpoint *checkpoint; /* that is told of the file before it has its name; NULL: none */
    const volatile int *cancel; /* not 0: wait no longer for a pipe's reader. NULL: never */
} slci_side_file;

/* Whether it could be written now. SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_side_file_check(const slci_side_file *file);

/* A pipe that nobody has opened is waited for. SLC_ERROR_OUTPUT with the file system's reason;
 * SLC_ERROR_INTERRUPTED. */
SLC_MUST_USE slc_status slci_side_file_write(const slci_side_file *file, slci_side_writer writer,
                                             const void *context);

#endif
