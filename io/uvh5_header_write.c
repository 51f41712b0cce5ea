/* The header of a UVH5 file that is being written: version 1.2 of the memo, with one sidereal phase
 * centre in the catalogue. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/uvh5_parts.h"

/* What the header says in words about itself where the caller says nothing. */
#define UNNAMED "unknown"

static slc_status check_counts(const char *path, const slc_uvh5_header *header) {
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {
        {"rows", header->n_rows},
        {"channels", header->n_channels},
        {"polarisations", header->n_polarisations},
        {"antennas", header->n_antennas},
        {"times", header->n_times},
        {"baselines", header->n_baselines},
    };
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        if (counts[k].value < 1 || counts[k].value > INT32_MAX * (int64_t)INT32_MAX) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: a set of %lld %s cannot be written", path,
                            (long long)counts[k].value, counts[k].name);
        }
    }
    if (header->n_times > header->n_rows || header->n_baselines > header->n_rows) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: %lld times and %lld baselines in %lld rows", path,
                        (long long)header->n_times, (long long)header->n_baselines,
                        (long long)header->n_rows);
    }
    return SLC_OK;
}

slc_status slci_uvh5_check_header(const char *path, const slc_uvh5_header *header) {
    SLC_TRY(check_counts(path, header));
    if (header->freq_hz == NULL || header->channel_width_hz == NULL ||
        header->polarisations == NULL || header->antenna_names == NULL ||
        header->antenna_positions_m == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: the header lacks an array", path);
    }
    if (!isfinite(header->latitude_deg) || !isfinite(header->longitude_deg) ||
        !isfinite(header->altitude_m) || !isfinite(header->ra_rad) || !isfinite(header->dec_rad)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: the telescope's place or the phase centre is not "
                        "a number",
                        path);
    }
    for (int64_t c = 0; c < header->n_channels; c++) {
        if (!isfinite(header->freq_hz[c]) || !isfinite(header->channel_width_hz[c])) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "%s: channel %lld has no finite frequency and "
                            "width",
                            path, (long long)c);
        }
    }
    for (int64_t k = 0; k < header->n_antennas * 3; k++) {
        if (!isfinite(header->antenna_positions_m[k]) || header->antenna_names[k / 3] == NULL) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "%s: antenna %lld has no name or no finite "
                            "position",
                            path, (long long)(k / 3));
        }
    }
    return SLC_OK;
}

/* One small dataset; shape [rank], rank 0 is a scalar. */
static slc_status write_values(const slci_h5_output *output, hid_t group, const char *name,
                               hid_t file_type, hid_t memory_type, int rank, const hsize_t *shape,
                               const void *values) {
    const hid_t list = slci_h5_plist(H5P_DATASET_CREATE);
    const hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, shape, NULL);
    hid_t dataset = -1;
    if (list >= 0 && space >= 0) {
        dataset = H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    slc_status status = SLC_OK;
    if (dataset < 0 || H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
        status = slci_h5_output_fail(output, name);
    }
    if (H5Dclose(dataset) < 0 && status == SLC_OK) {
        status = slci_h5_output_fail(output, name);
    }
    (void)H5Sclose(space);
    (void)H5Pclose(list);
    return status;
}

slc_status slci_uvh5_write_integer(const slci_h5_output *output, hid_t group, const char *name,
                                   int64_t value) {
    return write_values(output, group, name, H5T_STD_I64LE, H5T_NATIVE_INT64, 0, NULL, &value);
}

static slc_status write_real(const slci_h5_output *output, hid_t group, const char *name,
                             double value) {
    return write_values(output, group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, NULL, &value);
}

static slc_status write_text(const slci_h5_output *output, hid_t group, const char *name,
                             const char *text) {
    const char *const shown = text == NULL || text[0] == '\0' ? UNNAMED : text;
    const hid_t type = slci_h5_string_type(strlen(shown));
    const slc_status status = write_values(output, group, name, type, type, 0, NULL, shown);
    (void)H5Tclose(type);
    return status;
}

/* Names as an array of strings of one length. */
static slc_status write_names(const slci_h5_output *output, hid_t group,
                              const slc_uvh5_header *header) {
    size_t longest = 1;
    for (int64_t a = 0; a < header->n_antennas; a++) {
        const size_t n = strlen(header->antenna_names[a]);
        longest = n > longest ? n : longest;
    }
    char *const names = (char *)calloc((size_t)header->n_antennas, longest);
    if (names == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the names of %lld antennas",
                        (long long)header->n_antennas);
    }
    for (int64_t a = 0; a < header->n_antennas; a++) {
        memcpy(names + (size_t)a * longest, header->antenna_names[a],
               strlen(header->antenna_names[a]));
    }
    const hsize_t shape[1] = {(hsize_t)header->n_antennas};
    const hid_t type = slci_h5_string_type(longest);
    const slc_status status =
        write_values(output, group, "antenna_names", type, type, 1, shape, names);
    (void)H5Tclose(type);
    free(names);
    return status;
}

/* Antennas are numbered from 0 in the header's order; all have one diameter. */
static slc_status write_antennas(const slci_h5_output *output, hid_t group,
                                 const slc_uvh5_header *header) {
    const hsize_t shape[2] = {(hsize_t)header->n_antennas, 3};
    SLC_TRY(write_names(output, group, header));
    SLC_TRY(write_values(output, group, "antenna_positions", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2,
                         shape, header->antenna_positions_m));
    const size_t n = (size_t)header->n_antennas;
    int64_t *const numbers = (int64_t *)malloc(n * sizeof *numbers);
    double *const diameters = (double *)malloc(n * sizeof *diameters);
    slc_status status = SLC_OK;
    if (numbers == NULL || diameters == NULL) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %zu antennas", n);
        goto done;
    }
    for (size_t a = 0; a < n; a++) {
        numbers[a] = (int64_t)a;
        diameters[a] = header->antenna_diameter_m;
    }
    SLC_TRY_GOTO(done, write_values(output, group, "antenna_numbers", H5T_STD_I64LE,
                                    H5T_NATIVE_INT64, 1, shape, numbers));
    if (header->antenna_diameter_m > 0) {
        status = write_values(output, group, "antenna_diameters", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                              1, shape, diameters);
    }
done:
    free(diameters);
    free(numbers);
    return status;
}

static slc_status write_axes(const slci_h5_output *output, hid_t group,
                             const slc_uvh5_header *header) {
    const hsize_t channels[1] = {(hsize_t)header->n_channels};
    const hsize_t polarisations[1] = {(hsize_t)header->n_polarisations};
    const hsize_t one[1] = {1};
    const int64_t spectral_window = 0;
    SLC_TRY(write_values(output, group, "freq_array", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1,
                         channels, header->freq_hz));
    SLC_TRY(write_values(output, group, "channel_width", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1,
                         channels, header->channel_width_hz));
    SLC_TRY(write_values(output, group, "polarization_array", H5T_STD_I64LE, H5T_NATIVE_INT, 1,
                         polarisations, header->polarisations));
    SLC_TRY(write_values(output, group, "spw_array", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, one,
                         &spectral_window));
    SLC_TRY(slci_uvh5_write_integer(output, group, "Nblts", header->n_rows));
    SLC_TRY(slci_uvh5_write_integer(output, group, "Nbls", header->n_baselines));
    SLC_TRY(slci_uvh5_write_integer(output, group, "Ntimes", header->n_times));
    SLC_TRY(slci_uvh5_write_integer(output, group, "Nfreqs", header->n_channels));
    SLC_TRY(slci_uvh5_write_integer(output, group, "Npols", header->n_polarisations));
    SLC_TRY(slci_uvh5_write_integer(output, group, "Nspws", 1));
    return slci_uvh5_write_integer(output, group, "Nants_telescope", header->n_antennas);
}

/* The one entry of the catalogue, number 0. */
static slc_status write_phase_centre(const slci_h5_output *output, hid_t group,
                                     const slc_uvh5_header *header) {
    const hid_t list = slci_h5_plist(H5P_GROUP_CREATE);
    const hid_t catalogue =
        H5Gcreate2(group, "phase_center_catalog", H5P_DEFAULT, list, H5P_DEFAULT);
    const hid_t entry = H5Gcreate2(catalogue, "0", H5P_DEFAULT, list, H5P_DEFAULT);
    slc_status status = SLC_OK;
    if (entry < 0) {
        status = slci_h5_output_fail(output, "phase_center_catalog");
        goto done;
    }
    SLC_TRY_GOTO(done, write_text(output, entry, "cat_name", header->object));
    SLC_TRY_GOTO(done, write_text(output, entry, "cat_type", "sidereal"));
    SLC_TRY_GOTO(done, write_text(output, entry, "cat_frame", "icrs"));
    SLC_TRY_GOTO(done, write_real(output, entry, "cat_lon", header->ra_rad));
    SLC_TRY_GOTO(done, write_real(output, entry, "cat_lat", header->dec_rad));
    SLC_TRY_GOTO(done, write_text(output, entry, "info_source", "file"));
    status = slci_uvh5_write_integer(output, group, "Nphase", 1);
done:
    (void)H5Gclose(entry);
    (void)H5Gclose(catalogue);
    (void)H5Pclose(list);
    return status;
}

static slc_status write_telescope(const slci_h5_output *output, hid_t group,
                                  const slc_uvh5_header *header) {
    SLC_TRY(write_text(output, group, "telescope_name", header->telescope));
    SLC_TRY(write_text(output, group, "instrument", header->telescope));
    SLC_TRY(write_text(output, group, "telescope_frame", "itrs"));
    SLC_TRY(write_real(output, group, "latitude", header->latitude_deg));
    SLC_TRY(write_real(output, group, "longitude", header->longitude_deg));
    SLC_TRY(write_real(output, group, "altitude", header->altitude_m));
    return write_antennas(output, group, header);
}

static slc_status write_contents(const slci_h5_output *output, hid_t group,
                                 const slc_uvh5_header *header) {
    SLC_TRY(write_text(output, group, "version", "1.2"));
    SLC_TRY(write_text(output, group, "history", header->history));
    SLC_TRY(write_text(output, group, "vis_units", "Jy"));
    /* I is half of XX + YY, RR + LL. */
    SLC_TRY(write_text(output, group, "pol_convention", "avg"));
    SLC_TRY(write_telescope(output, group, header));
    SLC_TRY(write_axes(output, group, header));
    return write_phase_centre(output, group, header);
}

slc_status slci_uvh5_write_header(const slci_h5_output *output, const slc_uvh5_header *header,
                                  hid_t *group) {
    const hid_t list = slci_h5_plist(H5P_GROUP_CREATE);
    const hid_t made =
        H5Gcreate2(slci_h5_output_file(output), "Header", H5P_DEFAULT, list, H5P_DEFAULT);
    slc_status status = SLC_OK;
    if (made < 0) {
        status = slci_h5_output_fail(output, "group /Header");
    } else {
        status = write_contents(output, made, header);
    }
    (void)H5Pclose(list);
    if (status != SLC_OK) {
        (void)H5Gclose(made);
        return status;
    }
    *group = made;
    return SLC_OK;
}
