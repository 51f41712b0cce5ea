/* Elements of a dataset without a filter, written past HDF5: the file is complete when it is made but
 * for them, every place in it is known, and any thread writes there. Internal to io.
 *
 *     SLC_TRY(slci_h5_plain_create(&options, &plain));          // HDF5 has closed the file
 *     SLC_TRY(slci_h5_plain_write(plain, &box, elements));
 */
#ifndef SLC_IO_H5_PLAIN_WRITE_H
#define SLC_IO_H5_PLAIN_WRITE_H

#include "io/h5_array_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_h5_plain slci_h5_plain;

/* Everything is lent for the call. */
typedef struct slci_h5_plain_options {
    const slci_h5_settled *settled;
    const char *path;       /* of the file as it is now called */
    const char *final_path; /* for messages */
    int64_t place;          /* where the elements begin, in one piece; below 0: there are none */
} slci_h5_plain_options;

/* What slci_h5_plain_create takes, of a settled output. */
int64_t slci_h5_plain_bytes(const slc_h5_array_output *output);

/* Finds the chunks, and has room made for the elements. Takes the lock. SLC_ERROR_OUTPUT where there is
 * no room or the file cannot be opened again, SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_h5_plain_create(const slci_h5_plain_options *options,
                                             slci_h5_plain **out);
void slci_h5_plain_destroy(slci_h5_plain *plain); /* takes NULL */

/* By any number of threads at once, for disjoint boxes. SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_h5_plain_write(slci_h5_plain *plain, const slc_box *box,
                                            const void *src);

#ifdef __cplusplus
}
#endif
#endif
