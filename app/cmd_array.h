/* Options that commands on arrays have in common. Internal to the program. */
#ifndef SLC_APP_CMD_ARRAY_H
#define SLC_APP_CMD_ARRAY_H

#include <stdint.h>

#include "app/array_form.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where whole numbers between commas go, and what each of them is, for messages. */
typedef struct slci_integer_list {
    int64_t lowest, highest;
    const char *what;
    int64_t *values; /* [SLC_MAX_RANK] */
    int *n;
} slci_integer_list;

/* "2,0,1": whole numbers of [lowest, highest], SLC_MAX_RANK at most. SLC_ERROR_ARGUMENT. */
SLC_MUST_USE slc_status slci_integer_list_parse(const char *text, const slci_integer_list *list);

/* Values of options; SLC_ERROR_ARGUMENT. */
SLC_MUST_USE slc_status slci_arg_dataset(const char *text, void *field); /* slci_dataset_name */
SLC_MUST_USE slc_status slci_arg_chunk(const char *text, void *field);   /* slc_array_form */
SLC_MUST_USE slc_status slci_arg_filter(const char *text, void *field);  /* slc_array_form */

/* The help text of --filter, whose default is in brackets behind it. */
#define SLCI_FILTER_HELP                                                              \
    "how chunks are compressed: none, deflate:N (h5py reads it everywhere), zstd:N, " \
    "bitshuffle-lz4 or bitshuffle-zstd:N (with the plugin hdf5plugin), or input, as the data "

/* What became of the result, as a clause of the last line of a run: ", stored in 1.2 MiB by deflate:4
 * (ratio 3.2)"; "" where there is no filter. `bytes` are those of the elements. */
#define SLCI_STORED_BYTES 128
void slci_format_stored(const slc_array_stored *stored, int64_t bytes,
                        char text[SLCI_STORED_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
