/* Pictures to look at, as PNG, through libpng.
 *
 * Eight bits with a palette: entry 0 is transparent and stands for pixels without a value, the other
 * 255 are the colour map. Rows are made one at a time from the last (north) to the first, so that
 * north is up; columns already run from east to west. There is no time in the file.
 *
 * libpng reports errors by longjmp. Everything that must be given back lives in a struct whose
 * members are set before setjmp, and no local variable is read after a jump. */
#include <errno.h>
#include <fcntl.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/print.h"
#include "core/version.h"
#include "io/image_formats.h"
#include "io/png_memory.h"
#include "io/png_scale.h"

/* Readers built on libpng refuse more, unless told otherwise. */
#define MAX_SIDE ((int64_t)PNG_USER_WIDTH_MAX)

/* Everything of one picture being written. */
typedef struct png_job {
    const slc_image_meta *meta;
    const double *image; /* [ny, nx], plane 0 */
    slci_png_range range;
    char description[320];
    char title[SLCI_CARD_TEXT_BYTES];
    int fd;
    int reason; /* errno of a failed write, else 0 */
    char error[128];
    png_structp png;
    png_infop info;
    png_byte *row; /* [nx] */
} png_job;

static slc_status png_check(const char *name, const slc_image_meta *meta) {
    if (meta->n_parts != 1) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: PNG has no complex images; one that keeps its imaginary part "
                        "(--complex) needs a .h5 file",
                        name);
    }
    if (meta->nx > MAX_SIDE || meta->ny > MAX_SIDE) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: %lld x %lld pixels; PNG readers take at most "
                        "%lld a side; write .fits or .h5",
                        name, (long long)meta->nx, (long long)meta->ny, (long long)MAX_SIDE);
    }
    return SLC_OK;
}

static int64_t png_bytes(const slc_image_meta *meta) {
    /* How far it will compress is not known, and noise hardly does. At worst a row has a byte for each
     * pixel and one for its filter, and deflate adds five for each of its blocks of 16 KiB or more. */
    const int64_t rows = meta->ny * (meta->nx + 1);
    return 8192 + rows + rows / 3000;
}

static void on_error(png_structp png, png_const_charp text) {
    png_job *const job = (png_job *)png_get_error_ptr(png);
    (void)snprintf(job->error, sizeof job->error, "%s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

static void write_bytes(png_structp png, png_bytep bytes, size_t n) {
    png_job *const job = (png_job *)png_get_io_ptr(png);
    while (n > 0) {
        const ssize_t written = write(job->fd, bytes, n);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            job->reason = written < 0 ? errno : EIO;
            png_error(png, "write failed");
        }
        bytes += written;
        n -= (size_t)written;
    }
}

static void flush_bytes(png_structp png) {
    (void)png;
}

static void write_palette(png_job *job) {
    uint8_t colours[256][3];
    slci_png_colours(colours);
    png_color palette[256];
    for (int k = 0; k < 256; k++) {
        palette[k] = (png_color){colours[k][0], colours[k][1], colours[k][2]};
    }
    png_set_PLTE(job->png, job->info, palette, 256);
    const png_byte alpha[1] = {0}; /* of entry 0; those not listed are opaque */
    png_set_tRNS(job->png, job->info, alpha, 1, NULL);
}

static void write_texts(png_job *job) {
    static char software[] = "Sluice " SLC_VERSION;
    png_text texts[3];
    memset(texts, 0, sizeof texts);
    int n = 0;
    if (job->title[0] != '\0') {
        texts[n].key = (png_charp) "Title";
        texts[n++].text = job->title;
    }
    texts[n].key = (png_charp) "Description";
    texts[n++].text = job->description;
    texts[n].key = (png_charp) "Software";
    texts[n++].text = software;
    for (int k = 0; k < n; k++) {
        texts[k].compression = PNG_TEXT_COMPRESSION_NONE;
    }
    png_set_text(job->png, job->info, texts, n);
}

/* False after libpng has jumped; job->error and job->reason say why. */
static bool write_picture(png_job *job) {
    if (setjmp(png_jmpbuf(job->png)) != 0) {
        return false;
    }
    png_set_write_fn(job->png, job, write_bytes, flush_bytes);
    png_set_IHDR(job->png, job->info, (png_uint_32)job->meta->nx, (png_uint_32)job->meta->ny, 8,
                 PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    write_palette(job);
    write_texts(job);
    png_write_info(job->png, job->info);
    for (int64_t j = job->meta->ny - 1; j >= 0; j--) {
        const double *const pixels = job->image + j * job->meta->nx;
        for (int64_t i = 0; i < job->meta->nx; i++) {
            job->row[i] = (png_byte)slci_png_level(&job->range, pixels[i]);
        }
        png_write_row(job->png, job->row);
    }
    png_write_end(job->png, job->info);
    return true;
}

/* What the picture shows, in words. */
static void describe(png_job *job) {
    const slc_image_meta *const meta = job->meta;
    char unit[sizeof meta->unit + 1];
    (void)snprintf(unit, sizeof unit, "%s%s", meta->unit[0] == '\0' ? "" : " ", meta->unit);
    char line[sizeof job->description];
    (void)
        slci_print(line, sizeof line,
                   "Plane 1 of %lld, %lld x %lld pixels, north up, east left. Linear from black at "
                   "%.6g%s (%g %% of pixels are below) to white at %.6g%s (%g %%); %lld pixels "
                   "without a value are transparent.",
                   (long long)slci_image_planes(meta), (long long)meta->nx, (long long)meta->ny,
                   job->range.low, unit, SLCI_PNG_LOW_PERCENT, job->range.high, unit,
                   SLCI_PNG_HIGH_PERCENT, (long long)(meta->nx * meta->ny - job->range.n_finite));
    slci_copy_ascii(meta->picture_text != NULL ? meta->picture_text : line, job->description,
                    sizeof job->description);
    slci_copy_ascii(meta->object, job->title, sizeof job->title);
}

/* Writes the picture to job->fd, which the caller has opened (less than 0: could not) and closes. */
static slc_status encode(png_job *job, const char *name) {
    slc_status status = SLC_OK;
    describe(job);
    job->row = (png_byte *)malloc((size_t)job->meta->nx);
    job->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, job, on_error, on_warning);
    if (job->png != NULL) {
        job->info = png_create_info_struct(job->png);
    }
    if (job->fd < 0) {
        status = SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write %s: %s", name, strerror(job->reason));
    } else if (job->row == NULL || job->info == NULL) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "no memory to write %s", name);
    } else if (!write_picture(job)) {
        status = SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write %s: %s", name,
                          job->reason != 0 ? strerror(job->reason) : job->error);
    }
    png_destroy_write_struct(&job->png, &job->info);
    free(job->row);
    return status;
}

static slc_status png_write(const char *temporary, const char *name, const slc_image_meta *meta,
                            const double *image, slc_log *log) {
    png_job job = {.meta = meta, .image = image};
    SLC_TRY(slci_png_find_range(image, meta->nx * meta->ny, &job.range));
    job.fd = open(temporary, O_WRONLY | O_CLOEXEC);
    job.reason = job.fd < 0 ? errno : 0;
    const slc_status status = encode(&job, name);
    if (status == SLC_OK) {
        slc_log_detail(log, "%s: %s", name, job.description);
    }
    if (job.fd >= 0) {
        (void)close(job.fd);
    }
    return status;
}

/* ---- in memory -------------------------------------------------------------------------------- */

/* Everything written to `fd`, a file in memory. */
static slc_status take_bytes(int fd, slci_png *out) {
    const off_t size = lseek(fd, 0, SEEK_END);
    uint8_t *bytes = size > 0 ? malloc((size_t)size) : NULL;
    if (bytes == NULL || pread(fd, bytes, (size_t)size, 0) != size) {
        free(bytes);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a PNG of %lld bytes", (long long)size);
    }
    out->bytes = bytes;
    out->n_bytes = size;
    return SLC_OK;
}

slc_status slci_png_encode(const slc_image_meta *meta, const double *image, slci_png *out) {
    SLC_TRY(png_check("the picture", meta));
    png_job job = {.meta = meta, .image = image};
    SLC_TRY(slci_png_find_range(image, meta->nx * meta->ny, &job.range));
    job.fd = memfd_create("sluice-png", MFD_CLOEXEC);
    job.reason = job.fd < 0 ? errno : 0;
    slc_status status = encode(&job, "a PNG in memory");
    if (status == SLC_OK) {
        status = take_bytes(job.fd, out);
        out->range = job.range;
    }
    if (job.fd >= 0) {
        (void)close(job.fd);
    }
    return status;
}

const slci_image_format slci_format_png = {"PNG", png_check, png_bytes, png_write};
