/* Direct imaging as a job: axes row, y and x, and the operands in the order of SLC_DIRECT_…. */
#include "core/checked.h"
#include "kernels/direct.h"

static slc_operand input(const char *name, slc_dtype dtype, int axis, int64_t n_columns) {
    slc_operand operand = {.name = name, .dtype = dtype, .access = SLC_ACCESS_IN, .rank = 1};
    operand.axes[0] = axis;
    if (axis != SLC_AXIS_FIXED) {
        operand.rank = 2;
        operand.axes[1] = SLC_AXIS_FIXED;
        operand.fixed_extent[1] = n_columns;
    } else {
        operand.fixed_extent[0] = n_columns;
    }
    return operand;
}

/* What each polarisation has of its own. */
static void add_pol(const slc_direct_setup *setup, int pol, slc_job *job) {
    static const char *const names[SLC_DIRECT_MOST_POLS][3] = {{"vis", "weight", "image"},
                                                               {"vis 2", "weight 2", "image 2"},
                                                               {"vis 3", "weight 3", "image 3"},
                                                               {"vis 4", "weight 4", "image 4"}};
    job->operands[slc_direct_operand(SLC_DIRECT_VIS, pol)] =
        input(names[pol][0], SLC_C64, 0, setup->n_channels);
    job->operands[slc_direct_operand(SLC_DIRECT_WEIGHT, pol)] =
        input(names[pol][1], SLC_F32, 0, setup->n_channels);
    slc_operand *image = &job->operands[slc_direct_operand(SLC_DIRECT_IMAGE, pol)];
    *image = (slc_operand){.name = names[pol][2],
                           .dtype = SLC_FIXED128,
                           .access = SLC_ACCESS_UPDATE,
                           .rank = 3};
    image->axes[0] = 1;
    image->axes[1] = 2;
    image->axes[2] = SLC_AXIS_FIXED;
    image->fixed_extent[2] = setup->n_parts;
}

slc_status slc_direct_job_init(const slc_direct_setup *setup, slc_device_kind device, int n_threads,
                               int64_t n_rows, slc_job *out) {
    const slc_direct_kernel *kernel = slc_direct_kernel_get(device);
    if (kernel == NULL) {
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "direct imaging on this device: this build holds no kernel for it; build with "
            "CUDA, or choose the host device");
    }
    if (n_threads < 1 || n_rows < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "direct imaging: %d threads and %lld rows; at least 1 and 0 are needed",
                        n_threads, (long long)n_rows);
    }
    slc_job job = {.name = "image",
                   .n_axes = 3,
                   .n_operands = SLC_DIRECT_N_OPERANDS + 3 * (setup->n_pols - 1),
                   .state = (void *)(uintptr_t)setup,
                   .prepare = kernel->prepare,
                   .tile = kernel->tile};
    job.axes[0] = (slc_axis){"row", n_rows, setup->granule_rows, SLC_AXIS_REDUCED};
    job.axes[1] = (slc_axis){"y", setup->geometry.ny, setup->tile_pixels, SLC_AXIS_PARALLEL};
    job.axes[2] = (slc_axis){"x", setup->geometry.nx, setup->tile_pixels, SLC_AXIS_PARALLEL};
    job.operands[SLC_DIRECT_UVW] = input("uvw", SLC_F64, 0, 3);
    job.operands[SLC_DIRECT_CHANNELS] =
        input("channels", SLC_F64, SLC_AXIS_FIXED, setup->n_channels);
    for (int p = 0; p < setup->n_pols; p++) {
        add_pol(setup, p, &job);
    }
    slc_operand *work = &job.operands[SLC_DIRECT_WORK];
    *work = (slc_operand){.name = "work", .dtype = SLC_U8, .access = SLC_ACCESS_WORK, .rank = 1};
    work->axes[0] = SLC_AXIS_FIXED;
    work->fixed_extent[0] = slc_max_i64(1, kernel->work_bytes(setup, n_threads));
    *out = job;
    return SLC_OK;
}
