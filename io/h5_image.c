/* Pictures as HDF5: /image, [ny, nx] or [n_planes, ny, nx], double, row 0 south; of several
 * polarisations [n_stokes, n_planes, ny, nx], which the attribute STOKES names.
 *
 * The dataset is contiguous and allocated when it is made, so that everything HDF5 itself has to say
 * is in the file before the first pixel, and the pixels are one write from the caller's array. Complex
 * images are compounds {r, i}, as h5py and UVH5 spell them. The attributes carry the names and values
 * of the FITS header. */
#include <hdf5.h>
#include <string.h>

#include "io/h5_array_internal.h"
#include "io/h5_file.h"
#include "io/h5_output.h"
#include "io/image_formats.h"
#include "io/vis.h"

static slc_status h5_check(const char *name, const slc_image_meta *meta) {
    (void)name;
    (void)meta;
    return SLC_OK;
}

static int64_t h5_bytes(const slc_image_meta *meta) {
    return slci_image_pixels(meta) * 8 * meta->n_parts + 32768; /* attributes and headers */
}

/* The type of a pixel, in memory too. The caller closes it. */
static hid_t pixel_type(int n_parts) {
    return (hid_t)slci_h5_array_file_type(n_parts == 1 ? SLC_F64 : SLC_C128, false);
}

static bool write_attribute(hid_t object, const char *name, hid_t file_type, hid_t memory_type,
                            hid_t space, const void *value) {
    const hid_t attribute = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool is_ok = attribute >= 0 && H5Awrite(attribute, memory_type, value) >= 0;
    return (attribute < 0 || H5Aclose(attribute) >= 0) && is_ok;
}

static bool write_text(hid_t object, const char *name, hid_t space, const char *text,
                       size_t n_bytes) {
    const hid_t type = slci_h5_string_type(n_bytes);
    const bool is_ok = type >= 0 && write_attribute(object, name, type, type, space, text);
    (void)H5Tclose(type);
    return is_ok;
}

static bool write_card(hid_t object, hid_t space, const slci_card *card) {
    switch (card->kind) {
    case SLCI_CARD_TEXT:
        return write_text(object, card->name, space, card->text, strlen(card->text));
    case SLCI_CARD_INTEGER:
        return write_attribute(object, card->name, H5T_STD_I64LE, H5T_NATIVE_INT64, space,
                               &card->integer);
    case SLCI_CARD_REAL:
        return write_attribute(object, card->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space,
                               &card->real);
    }
    return false;
}

static bool write_lines(hid_t object, const char *name, int n, const char *lines,
                        size_t line_bytes) {
    if (n == 0) {
        return true;
    }
    const hsize_t shape[1] = {(hsize_t)n};
    const hid_t space = H5Screate_simple(1, shape, NULL);
    const bool is_ok = space >= 0 && write_text(object, name, space, lines, line_bytes);
    (void)H5Sclose(space);
    return is_ok;
}

/* The names of several polarisations, along the first axis. */
static bool write_stokes(hid_t object, const slc_image_meta *meta) {
    const int n = slci_image_n_stokes(meta);
    char names[SLC_IMAGE_MOST_STOKES][4];
    memset(names, 0, sizeof names);
    for (int k = 0; k < n; k++) {
        slci_copy_ascii(slc_vis_polarisation_name(slci_image_stokes(meta, k)), names[k],
                        sizeof names[k]);
    }
    return n == 1 || write_lines(object, "STOKES", n, names[0], sizeof names[0]);
}

static bool write_attributes(hid_t object, const slc_image_meta *meta) {
    slci_cards cards;
    slci_image_cards(meta, &cards);
    char remarks[4][72];
    memset(remarks, 0, sizeof remarks);
    for (int k = 0; k < cards.n_remarks; k++) {
        slci_copy_ascii(cards.remark[k], remarks[k], sizeof remarks[k]);
    }
    char history[SLC_IMAGE_HISTORY_LINES][72];
    memset(history, 0, sizeof history);
    for (int k = 0; k < meta->n_history; k++) {
        slci_copy_ascii(meta->history[k], history[k], sizeof history[k]);
    }
    const hid_t scalar = H5Screate(H5S_SCALAR);
    bool is_ok = scalar >= 0;
    for (int k = 0; is_ok && k < cards.n; k++) {
        is_ok = write_card(object, scalar, &cards.card[k]);
    }
    is_ok = is_ok && write_lines(object, "COMMENT", cards.n_remarks, remarks[0], 72) &&
            write_lines(object, "HISTORY", meta->n_history, history[0], 72);
    (void)H5Sclose(scalar);
    return is_ok && write_stokes(object, meta);
}

/* The empty dataset, its place in the file already reserved. */
static hid_t create_dataset(hid_t file, const slc_image_meta *meta) {
    const int n_stokes = slci_image_n_stokes(meta);
    const hsize_t shape[4] = {(hsize_t)n_stokes, (hsize_t)meta->n_planes, (hsize_t)meta->ny,
                              (hsize_t)meta->nx};
    const int skipped = n_stokes > 1 ? 0 : meta->n_planes > 1 ? 1 : 2;
    const hid_t space = H5Screate_simple(4 - skipped, shape + skipped, NULL);
    const hid_t type = pixel_type(meta->n_parts);
    const hid_t list = slci_h5_plist(H5P_DATASET_CREATE);
    hid_t dataset = -1;
    if (space >= 0 && type >= 0 && list >= 0 && H5Pset_layout(list, H5D_CONTIGUOUS) >= 0 &&
        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0) {
        dataset = H5Dcreate2(file, "image", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    (void)H5Pclose(list);
    (void)H5Tclose(type);
    (void)H5Sclose(space);
    return dataset;
}

static slc_status write_image(const slci_h5_output *output, const slc_image_meta *meta,
                              const double *image) {
    const hid_t dataset = create_dataset(slci_h5_output_file(output), meta);
    if (dataset < 0) {
        return slci_h5_output_fail(output, "dataset /image");
    }
    slc_status status = SLC_OK;
    if (!write_attributes(dataset, meta)) {
        status = slci_h5_output_fail(output, "the attributes of /image");
    } else {
        const hid_t type = pixel_type(meta->n_parts);
        if (H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, image) < 0) {
            status = slci_h5_output_fail(output, "dataset /image");
        }
        (void)H5Tclose(type);
    }
    if (H5Dclose(dataset) < 0 && status == SLC_OK) {
        status = slci_h5_output_fail(output, "dataset /image");
    }
    return status;
}

static slc_status h5_write(const char *temporary, const char *name, const slc_image_meta *meta,
                           const double *image, slc_log *log) {
    (void)log;
    slci_h5_lock();
    slci_h5_output *output = NULL;
    slc_status status = slci_h5_output_create(temporary, name, &output);
    if (status == SLC_OK) {
        status = write_image(output, meta, image);
        if (status == SLC_OK) {
            status = slci_h5_output_close(output);
        } else {
            slci_h5_output_destroy(output);
        }
    }
    slci_h5_unlock();
    return status;
}

const slci_image_format slci_format_h5 = {"HDF5", h5_check, h5_bytes, h5_write};
