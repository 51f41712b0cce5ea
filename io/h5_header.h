/* The small things of an HDF5 file: numbers, short arrays, strings of every kind, attributes, lists.
 * All take the lock themselves, and say file and dataset when something is missing or not what it
 * should be.
 *
 *     SLC_TRY(slci_h5_get_integer(file, path, "/Header/Nblts", &n_rows));
 */
#ifndef SLC_IO_H5_HEADER_H
#define SLC_IO_H5_HEADER_H

#include "io/h5_data.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_H5_LIST_NAME_BYTES 64

/* A number: a scalar or an array of one element, of any integer or float type. SLC_ERROR_INPUT where
 * it is missing or no number. The `_or` forms give `otherwise` where it is missing or null. */
SLC_MUST_USE slc_status slci_h5_get_integer(slci_h5_id file, const char *path, const char *name,
                                            int64_t *out);
SLC_MUST_USE slc_status slci_h5_get_integer_or(slci_h5_id file, const char *path, const char *name,
                                               int64_t otherwise, int64_t *out);
SLC_MUST_USE slc_status slci_h5_get_number_or(slci_h5_id file, const char *path, const char *name,
                                              double otherwise, double *out);

/* All numbers of an array of any rank, in C order, at most `max_count`. The caller frees *out. */
SLC_MUST_USE slc_status slci_h5_get_numbers(slci_h5_id file, const char *path, const char *name,
                                            int64_t max_count, double **out, int64_t *n);

/* A string, fixed or variable, scalar or an array of one; "" where missing or null. Text past
 * `capacity` is cut. SLC_ERROR_INPUT where it is no string. */
SLC_MUST_USE slc_status slci_h5_get_text(slci_h5_id file, const char *path, const char *name,
                                         char *out, size_t capacity);

/* A numeric attribute of the root group; `otherwise` where it is missing. */
SLC_MUST_USE slc_status slci_h5_get_attribute_or(slci_h5_id file, const char *path,
                                                 const char *name, double otherwise, double *out);

/* The names in a group, in the order of their bytes, at most `capacity`; *n is how many there are. */
SLC_MUST_USE slc_status slci_h5_list(slci_h5_id file, const char *path, const char *group,
                                     int64_t capacity, char (*out)[SLCI_H5_LIST_NAME_BYTES],
                                     int64_t *n);

#ifdef __cplusplus
}
#endif
#endif
