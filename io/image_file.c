/* Pictures on disk: which format a name asks for, and what all formats have in common.
 *
 * A format writes into a temporary file; here it gets its place, is synced and renamed, or goes. */
#include "io/image_file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/checked.h"
#include "io/image_formats.h"
#include "io/outfile.h"

static const struct {
    const char *extension;
    const slci_image_format *format;
} extensions[] = {
    {".fits", &slci_format_fits}, {".fit", &slci_format_fits}, {".h5", &slci_format_h5},
    {".hdf5", &slci_format_h5},   {".png", &slci_format_png},
};

static slc_status find_format(const char *path, const slci_image_format **out) {
    const char *const slash = strrchr(path, '/');
    const char *const name = slash == NULL ? path : slash + 1;
    const char *const dot = strrchr(name, '.');
    for (size_t k = 0; dot != NULL && k < sizeof extensions / sizeof extensions[0]; k++) {
        if (strcasecmp(dot, extensions[k].extension) == 0) {
            *out = extensions[k].format;
            return SLC_OK;
        }
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT,
                    "%s: the extension says which picture is wanted: .fits, .h5 "
                    "or .png; found '%s'",
                    path, dot == NULL ? "" : dot);
}

/* That the numbers describe a picture, and that its size in bytes can be said. */
static slc_status check_shape(const char *path, const slc_image_meta *meta) {
    int64_t bytes = 0;
    if (meta->nx < 1 || meta->ny < 1 || meta->n_planes < 1 || meta->n_parts < 1 ||
        meta->n_parts > 2 || meta->n_stokes > SLC_IMAGE_MOST_STOKES) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: a picture of %lld x %lld pixels, %lld planes and "
                        "%d parts",
                        path, (long long)meta->nx, (long long)meta->ny, (long long)meta->n_planes,
                        meta->n_parts);
    }
    if (!slc_checked_mul(meta->nx, meta->ny, &bytes) ||
        !slc_checked_mul(bytes, meta->n_planes, &bytes) ||
        !slc_checked_mul(bytes, slci_image_n_stokes(meta), &bytes) ||
        !slc_checked_mul(bytes, 8 * (int64_t)meta->n_parts, &bytes) || bytes > INT64_MAX / 2) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: %lld x %lld pixels in %lld planes are more bytes "
                        "than 63 bits can count",
                        path, (long long)meta->nx, (long long)meta->ny, (long long)meta->n_planes);
    }
    return SLC_OK;
}

static slc_status choose(const char *path, const slc_image_meta *meta,
                         const slci_image_format **out) {
    SLC_TRY(find_format(path, out));
    SLC_TRY(check_shape(path, meta));
    return (*out)->check(path, meta);
}

/* As slc_image_file_check, and how much the file needs. */
static slc_status check_file(const char *path, const slc_image_meta *meta, bool overwrite,
                             slc_outfile_need *out) {
    const slci_image_format *format = NULL;
    SLC_TRY(choose(path, meta, &format));
    *out = (slc_outfile_need){path, format->bytes(meta)};
    return slc_outfile_check(path, overwrite, out->bytes);
}

slc_status slc_image_file_check(const char *path, const slc_image_meta *meta, bool overwrite) {
    slc_outfile_need need;
    return check_file(path, meta, overwrite, &need);
}

int64_t slc_image_file_bytes(const char *path, const slc_image_meta *meta) {
    const slci_image_format *format = NULL;
    return find_format(path, &format) == SLC_OK ? format->bytes(meta) : 0;
}

slc_status slc_image_files_check(const char *const *paths, int n_paths, const char *psf_path,
                                 const slc_image_meta *meta, bool overwrite) {
    slc_outfile_need *needs = calloc((size_t)n_paths + 1, sizeof *needs);
    slc_status status = SLC_OK;
    int n_needs = 0;
    if (needs == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to check %d outputs", n_paths);
    }
    for (int i = 0; i < n_paths; i++) {
        SLC_TRY_GOTO(done, check_file(paths[i], meta, overwrite, &needs[n_needs]));
        n_needs++;
    }
    if (psf_path != NULL) {
        slc_image_meta psf = *meta;
        psf.n_parts = 1;
        SLC_TRY_GOTO(done, check_file(psf_path, &psf, overwrite, &needs[n_needs]));
        n_needs++;
    }
    status = slc_outfile_check_room(needs, n_needs);
done:
    free(needs);
    return status;
}

slc_status slc_image_file_stage(const slc_image_output *output, bool overwrite, slc_log *log,
                                slc_outfile *out) {
    const slci_image_format *format = NULL;
    const char *path = output->path;
    SLC_TRY(choose(path, output->meta, &format));
    slc_outfile file;
    SLC_TRY(slc_outfile_begin(path, overwrite, &file));
    if (strcmp(path, file.final_path) != 0) {
        slc_log_note(log, "%s is a link; writing %s", path, file.final_path);
    }
    const slc_status status =
        format->write(file.temporary_path, path, output->meta, output->image, log);
    if (status != SLC_OK) {
        slc_outfile_abandon(&file);
        return status;
    }
    *out = file;
    return SLC_OK;
}

slc_status slc_image_file_write(const char *path, const slc_image_meta *meta, const double *image,
                                bool overwrite, slc_log *log) {
    const slc_image_output output = {path, meta, image};
    slc_outfile file;
    SLC_TRY(slc_image_file_stage(&output, overwrite, log, &file));
    return slc_outfile_commit(&file);
}
