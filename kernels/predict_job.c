/* Predicting as a job: axes row and component, and the operands that each form has.
 *
 * Components are an ordered axis, so that they pass by in rising order for each tile of rows and the
 * sums do not depend on how they are cut. The pixels of an image are fetched once for each tile, not
 * once for each block of its rows: the flux of a tile's components is a work operand, which the tile
 * function fills before it computes. */
#include <string.h>

#include "core/checked.h"
#include "kernels/predict_internal.h"

/* Values of one granule of rows, about: few rows where there are many channels. */
#define GRANULE_VALUES 65536
#define LEAST_GRANULE_ROWS 8

/* Rows in a tile, about, which share one look at each pixel. The plan decides later; this is for the
 * estimate of how often pixels are touched. */
#define USUAL_TILE_ROWS 65536

static slc_status check_request(const slc_predict_request *request) {
    const bool is_image = request->form == SLC_PREDICT_IMAGE;
    int64_t pixels = 1;
    int64_t values = 1;
    if (request->n_rows < 0 || request->n_components < 1 || request->n_channels < 1 ||
        (request->form != SLC_PREDICT_LIST && request->n_planes < 1) ||
        (is_image && (request->ny < 1 || request->nx < 1))) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "predict: %lld rows, %lld channels, %lld components from %lld planes of "
                        "%lld x %lld pixels; at least one of each is needed, and 0 rows",
                        (long long)request->n_rows, (long long)request->n_channels,
                        (long long)request->n_components, (long long)request->n_planes,
                        (long long)request->nx, (long long)request->ny);
    }
    if (is_image && request->dtype != SLC_F32 && request->dtype != SLC_F64) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "predict: pixels of type %s, expected f4 or f8",
                        slc_dtype_name(request->dtype));
    }
    if (!slc_checked_mul(request->n_rows, request->n_channels, &values) ||
        !slc_checked_mul(values, 16, &values) ||
        (is_image && (!slc_checked_mul(request->ny, request->nx, &pixels) ||
                      !slc_checked_mul(pixels, request->n_planes, &pixels) ||
                      !slc_checked_mul(pixels, 8, &pixels)))) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "predict: the bytes of the samples or of the image do not fit 63 bits");
    }
    return SLC_OK;
}

slc_status slc_predict_choose(const slc_predict_request *request, slc_predict_setup *out) {
    SLC_TRY(check_request(request));
    int64_t rows = SLCI_PREDICT_ROWS;
    while (rows > LEAST_GRANULE_ROWS && rows * request->n_channels > GRANULE_VALUES) {
        rows /= 2;
    }
    *out = (slc_predict_setup){.request = *request, .granule_rows = rows};
    return SLC_OK;
}

/* ---- the job ---------------------------------------------------------------------------------- */

/* An operand [axis, n_columns], or [n_columns] of it where there is one. */
static slc_operand table(const char *name, slc_dtype dtype, slc_access access, int axis,
                         int64_t n_columns) {
    slc_operand operand = {.name = name, .dtype = dtype, .access = access, .rank = 2};
    operand.axes[0] = axis;
    operand.axes[1] = SLC_AXIS_FIXED;
    operand.fixed_extent[1] = n_columns;
    return operand;
}

static slc_operand image_operand(const slc_predict_request *request) {
    slc_operand operand = {.name = "image",
                           .dtype = request->dtype,
                           .access = SLC_ACCESS_IN,
                           .rank = 3,
                           .axes = {SLC_AXIS_FIXED, SLC_AXIS_FIXED, SLC_AXIS_FIXED},
                           .fixed_extent = {request->n_planes, request->ny, request->nx},
                           .is_sparse = true};
    const int64_t sharing = slc_min_i64(slc_max_i64(request->n_rows, 1), USUAL_TILE_ROWS);
    operand.touches_per_point = (double)request->n_planes / (double)sharing;
    return operand;
}

static void set_operands(const slc_predict_request *request, slc_job *job) {
    slc_operand *operands = job->operands;
    operands[SLC_PREDICT_UVW] = table("uvw", SLC_F64, SLC_ACCESS_IN, 0, 3);
    operands[SLC_PREDICT_PLACE] = table("place", SLC_F64, SLC_ACCESS_IN, 1, 3);
    operands[SLC_PREDICT_CHANNELS] =
        table("channels", SLC_F64, SLC_ACCESS_IN, SLC_AXIS_FIXED, SLC_PREDICT_CHANNEL_COLUMNS);
    operands[SLC_PREDICT_CHANNELS].fixed_extent[0] = request->n_channels;
    operands[SLC_PREDICT_VIS] = table("vis", SLC_C128, SLC_ACCESS_UPDATE, 0, request->n_channels);
    job->n_operands = SLC_PREDICT_VIS + 1;
    if (request->form == SLC_PREDICT_LIST) {
        operands[SLC_PREDICT_SHAPES] = table("shape", SLC_F64, SLC_ACCESS_IN, 1, SLC_PREDICT_SHAPE);
        job->n_operands = SLC_PREDICT_SHAPES + 1;
        return;
    }
    const bool is_image = request->form == SLC_PREDICT_IMAGE;
    operands[SLC_PREDICT_FLUX] =
        table("flux", SLC_F64, is_image ? SLC_ACCESS_WORK : SLC_ACCESS_IN, 1, request->n_planes);
    job->n_operands = SLC_PREDICT_FLUX + 1;
    if (is_image) {
        operands[SLC_PREDICT_PIXEL] =
            (slc_operand){.name = "pixel", .dtype = SLC_I64, .access = SLC_ACCESS_IN, .rank = 1};
        operands[SLC_PREDICT_PIXEL].axes[0] = 1;
        operands[SLC_PREDICT_PIXELS] = image_operand(request);
        job->n_operands = SLC_PREDICT_PIXELS + 1;
    }
}

slc_status slc_predict_job_init(const slc_predict_setup *setup, slc_device_kind device,
                                slc_job *out) {
    const slc_predict_kernel *kernel = slc_predict_kernel_get(device);
    if (kernel == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "predict on this device: this build holds no kernel for it; build with "
                        "CUDA, or choose the host device");
    }
    slc_job job = {.name = "predict",
                   .n_axes = 2,
                   .axes = {{"row", setup->request.n_rows, setup->granule_rows, SLC_AXIS_PARALLEL},
                            {"component", setup->request.n_components, SLC_PREDICT_GRANULE,
                             SLC_AXIS_ORDERED}},
                   .state = (void *)(uintptr_t)setup,
                   .prepare = kernel->prepare,
                   .tile = kernel->tile};
    set_operands(&setup->request, &job);
    *out = job;
    return SLC_OK;
}

void slc_predict_record(const slc_predict_setup *setup, slc_device_kind device,
                        slc_numerics *record) {
    static const char *const forms[] = {"image", "image", "list"}; /* streamed has the same bits */
    slc_numerics_set_text(record, "form", forms[setup->request.form]);
    slc_numerics_set_i64(record, "granule_components", SLC_PREDICT_GRANULE);
    slc_numerics_set_text(record, "kernel",
                          device == SLC_DEVICE_CUDA ? "single" : slci_predict_simd_get()->name);
}

/* ---- the view of a tile ------------------------------------------------------------------------ */

void slci_predict_view_init(const slc_predict_setup *setup, const slc_tile_arguments *arguments,
                            slci_predict_view *out) {
    const slc_predict_request *request = &setup->request;
    void *const *d_operand = arguments->d_operand;
    *out = (slci_predict_view){.tile = arguments->d_tile,
                               .uvw = d_operand[SLC_PREDICT_UVW],
                               .place = d_operand[SLC_PREDICT_PLACE],
                               .channels = d_operand[SLC_PREDICT_CHANNELS],
                               .vis = d_operand[SLC_PREDICT_VIS],
                               .n_channels = request->n_channels,
                               .n_planes = request->n_planes,
                               .plane_pixels = request->ny * request->nx,
                               .is_f32 = request->dtype == SLC_F32,
                               .jy_per_unit = request->jy_per_unit};
    if (request->form == SLC_PREDICT_LIST) {
        out->shape = d_operand[SLC_PREDICT_SHAPES];
        return;
    }
    out->flux = d_operand[SLC_PREDICT_FLUX];
    if (request->form == SLC_PREDICT_IMAGE) {
        out->pixel = d_operand[SLC_PREDICT_PIXEL];
        out->image = d_operand[SLC_PREDICT_PIXELS];
    }
}
