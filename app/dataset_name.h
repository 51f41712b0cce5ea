/* FILE:/dataset, as datasets are named on the command line. Internal to the program.
 *
 *     slci_dataset_name data;
 *     SLC_TRY(slci_dataset_name_parse("in.h5:/a/b", &data));
 *     // data.path is "in.h5", data.dataset "/a/b"
 */
#ifndef SLC_APP_DATASET_NAME_H
#define SLC_APP_DATASET_NAME_H

#include "core/status.h"
#include "io/outfile.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_DATASET_BYTES 128

typedef struct slci_dataset_name {
    char path[SLC_PATH_BYTES]; /* "": nothing was parsed */
    char dataset[SLCI_DATASET_BYTES];
} slci_dataset_name;

/* The last ":/" divides the two, so that neither part loses a colon of its own. SLC_ERROR_ARGUMENT
 * where a part is missing or too long. */
SLC_MUST_USE slc_status slci_dataset_name_parse(const char *text, slci_dataset_name *out);

#ifdef __cplusplus
}
#endif
#endif
