/* How the options of jobs name an array of a file, or a slice of one.
 *
 *     slc_array_name name = {.path = "in.h5", .dataset = "/data"};
 *     SLC_TRY(slc_slice_parse("[::2, 5]", &name.slice));
 */
#ifndef SLC_APP_ARRAY_NAME_H
#define SLC_APP_ARRAY_NAME_H

#include "core/slice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A dataset of an HDF5 file, or a part of it. Pointers are lent. */
typedef struct slc_array_name {
    const char *path;
    const char *dataset; /* absolute, "/a/b" */
    slc_slice slice;     /* zeros: all of it */
} slc_array_name;

#ifdef __cplusplus
}
#endif
#endif
