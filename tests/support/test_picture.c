#include "tests/support/test_picture.h"

#include <hdf5.h>
#include <math.h>

void test_picture_init(test_picture *p, const char *file, int64_t nx, int64_t ny,
                       double scale_rad) {
    memset(p, 0, sizeof *p);
    test_need_shared(file, p->path);
    p->input = p->path;
    slc_image_options_init(&p->options);
    p->options.inputs = &p->input;
    p->options.n_inputs = 1;
    p->options.nx = nx;
    p->options.ny = ny;
    p->options.scale_rad = scale_rad;
    p->options.run.vram_bytes = 1ll << 30;
    p->options.run.ram_bytes = 1ll << 30;
    p->options.run.device = SLC_CHOOSE_HOST;
    p->options.run.n_threads = 2;
}

slc_status test_picture_run(test_picture *p) {
    const int64_t parts = p->options.is_complex ? 2 : 1;
    p->options.inputs = &p->input;
    free(p->image);
    p->image = test_allocate(p->options.nx * p->options.ny * p->options.n_planes * parts *
                             slc_vis_count_imaged(&p->options.vis) * (int64_t)sizeof(double));
    p->options.image = p->image;
    return slc_image_run(&p->options, &p->result);
}

double test_picture_at(const test_picture *p, int64_t x, int64_t y) {
    return p->image[y * p->options.nx + x];
}

/* The image of an exact file, and the scale it was made at. */
double *test_read_expected(const char *name, int64_t count, double *scale_rad) {
    char path[TEST_PATH_BYTES];
    test_need_shared(name, path);
    double *image = test_allocate(count * (int64_t)sizeof *image);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    const hid_t data = H5Dopen2(file, "/image", H5P_DEFAULT);
    const hid_t attribute = H5Aopen(data, "scale_rad", H5P_DEFAULT);
    assert_true(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, image) >= 0);
    assert_true(H5Aread(attribute, H5T_NATIVE_DOUBLE, scale_rad) >= 0);
    H5Aclose(attribute);
    H5Dclose(data);
    H5Fclose(file);
    return image;
}

/* Relative L2 error over pixels that are finite in both; their number must agree. */
double test_image_error(const double *image, const double *expected, int64_t n) {
    double difference = 0;
    double size = 0;
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(isfinite(image[i]) != 0, isfinite(expected[i]) != 0);
        if (isfinite(image[i])) {
            difference += (image[i] - expected[i]) * (image[i] - expected[i]);
            size += expected[i] * expected[i];
        }
    }
    return sqrt(difference / size);
}

void test_same_at_budgets(test_picture *p, const int64_t *vram_bytes, int64_t n) {
    const size_t bytes = (size_t)(p->options.nx * p->options.ny) * sizeof(double);
    double *first = NULL;
    for (int64_t b = 0; b < n; b++) {
        p->options.run.vram_bytes = vram_bytes[b];
        TEST_OK(test_picture_run(p));
        assert_true(p->result.memory.vram_peak_bytes <= vram_bytes[b]);
        if (first == NULL) {
            first = p->image;
            p->image = NULL;
        } else {
            assert_memory_equal(first, p->image, bytes);
        }
    }
    free(first);
}
