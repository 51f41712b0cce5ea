/* Small UVH5 and HDF5 files for tests, made with HDF5's own calls, and ways to spoil them.
 *
 *     test_uvh5_create(path, 12, 3, 2);                        // a valid set, version 1.0
 *     test_h5_remove(path, "/Header/flags");
 *     test_h5_put_f64(path, "/Header/freq_array", 1, dims, values);   // replaces what was there
 */
#ifndef SLC_TESTS_SUPPORT_TEST_UVH5_H
#define SLC_TESTS_SUPPORT_TEST_UVH5_H

#include <hdf5.h>

#include "io/vis.h"
#include "tests/support/test_support.h"

/* Rows of antennas (k % 4, k % 4 + 1 + k % 3), one time for each 4 rows (10 s apart from 2459000.5 on),
 * uvw (k + 1, 2 k, -k) m, channels of 1 MHz from 100 MHz on, polarisations -5, -6, -7, -8, nothing
 * flagged, nsamples 1. Sample (k, c, p) is test_uvh5_real + i test_uvh5_imag of it. */
void test_uvh5_create(const char *path, int64_t n_rows, int64_t n_channels, int64_t n_pols);
double test_uvh5_real(int64_t row, int64_t channel, int64_t pol);
double test_uvh5_imag(int64_t row, int64_t channel, int64_t pol);

/* Puts a dataset in place of what has the name, in the file type given. `list` is a dataset creation
 * list or H5P_DEFAULT. Groups on the way are made. */
void test_h5_put(const char *path, const char *name, hid_t file_type, hid_t memory_type, int rank,
                 const int64_t *shape, hid_t list, const void *data);
void test_h5_put_f64(const char *path, const char *name, int rank, const int64_t *shape,
                     const double *data);
void test_h5_put_i64(const char *path, const char *name, int rank, const int64_t *shape,
                     const int64_t *data);
void test_h5_put_number(const char *path, const char *name, double value);
void test_h5_put_integer(const char *path, const char *name, int64_t value);
void test_h5_put_text(const char *path, const char *name, const char *text);
void test_h5_put_attribute(const char *path, const char *name, double value);
void test_h5_remove(const char *path, const char *name);
void test_h5_rename(const char *path, const char *from, const char *to);

/* Sets what HDF5 itself can write, bit by bit of `choice`: shuffle, deflate, fletcher32. */
void test_h5_set_filters(hid_t list, int64_t choice);

/* A compound of two members of one type. The caller closes it. */
hid_t test_h5_complex(hid_t part, const char *first, const char *second);

/* The type of texts of any length, which the caller closes. */
hid_t test_h5_text(void);

/* A whole visibility set in memory. */
typedef struct test_vis {
    int64_t n_rows, n_channels;
    double *uvw;
    float *vis, *weight;
    slc_vis_counts counts;
} test_vis;

/* Reads all rows in boxes of `box_rows` (0: one box). The caller frees with test_vis_free. */
void test_vis_read(slc_source *source, int64_t box_rows, test_vis *out);
void test_vis_free(test_vis *vis);

/* Opens one file, or several. */
slc_source *test_vis_open(const char *path, const slc_vis_options *options);
slc_status test_vis_try(const char *path, const slc_vis_options *options);

/* Whether two sets have the same bits. */
bool test_vis_equal(const test_vis *a, const test_vis *b);

#endif
