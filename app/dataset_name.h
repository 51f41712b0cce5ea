/* FILE:/dataset and FILE:/dataset[slice], as datasets and parts of them are named on the command line.
 * Internal to the program.
 *
 *     slci_dataset_name data;
 *     SLC_TRY(slci_dataset_name_parse_slice("in.h5:/a/b[:10, 3]", &data));
 *     // data.path is "in.h5", data.dataset "/a/b", data.slice [:10, 3]
 */
#ifndef SLC_APP_DATASET_NAME_H
#define SLC_APP_DATASET_NAME_H

#include "core/source_slice.h"
#include "core/status.h"
#include "io/outfile.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_DATASET_BYTES 128

typedef struct slci_dataset_name {
    char path[SLC_PATH_BYTES]; /* "": nothing was parsed */
    char dataset[SLCI_DATASET_BYTES];
    slc_slice slice; /* of nothing: the whole dataset */
} slci_dataset_name;

/* A whole dataset. The last ":/" divides the two, so that neither part loses a colon of its own.
 * SLC_ERROR_ARGUMENT where a part is missing or too long, or a slice stands there. */
SLC_MUST_USE slc_status slci_dataset_name_parse(const char *text, slci_dataset_name *out);

/* The same with a slice behind it or without one. What a closing bracket ends is a slice: a dataset
 * whose own name ends in one is written with [...] behind it. SLC_ERROR_ARGUMENT. */
SLC_MUST_USE slc_status slci_dataset_name_parse_slice(const char *text, slci_dataset_name *out);

#ifdef __cplusplus
}
#endif
#endif
