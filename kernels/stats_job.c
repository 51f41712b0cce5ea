/* Statistics as a job: which dimensions are cut into tiles, its operands, and what a key is worth.
 *
 * All axes are reduced. Up to four dimensions are cut, the longest ones; nothing in the results
 * depends on where. Granules are some thousand elements where they can be, which makes planning quick
 * and keeps the smallest budget from meaning millions of tiles: parts of natural units that whole
 * units are made of, or, of an array of one dimension without any, which is best read in long runs,
 * any thousand. */
#include <math.h>
#include <string.h>

#include "core/checked.h"
#include "kernels/stats_tile.h"

#define GRANULE 1024

/* ---- the request -------------------------------------------------------------------------------- */

static bool is_complex(slc_dtype dtype) {
    return dtype == SLC_C32 || dtype == SLC_C64 || dtype == SLC_C128;
}

static slc_status check_parts(const slc_stats_request *request) {
    const bool has_number = slc_dtype_bytes(request->dtype) > 0 && request->dtype != SLC_FIXED128;
    bool fits = has_number && request->n_parts >= 1 && request->n_parts <= SLC_STATS_MOST_PARTS;
    for (int p = 0; fits && p < request->n_parts; p++) {
        fits = is_complex(request->dtype) == (request->parts[p] != SLC_STATS_VALUE);
    }
    return fits ? SLC_OK
                : SLC_FAIL(SLC_ERROR_ARGUMENT,
                           "statistics of %s by %d parts: expected numbers, of complex ones the "
                           "real part, the imaginary part or the absolute value, of others the "
                           "value, 1 to %d of them",
                           slc_dtype_name(request->dtype), request->n_parts, SLC_STATS_MOST_PARTS);
}

static slc_status check_request(const slc_stats_request *request) {
    SLC_TRY(check_parts(request));
    if (request->rank < 1 || request->rank > SLC_MAX_RANK) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "statistics of %d dimensions: expected 1 to %d",
                        request->rank, SLC_MAX_RANK);
    }
    int64_t bytes = slc_dtype_bytes(request->dtype);
    for (int d = 0; d < request->rank; d++) {
        /* An extent of 0 counts as 1, since products of the other dimensions are formed as well. */
        if (request->shape[d] < 0 || request->unit[d] < 0 ||
            !slc_checked_mul(bytes, slc_max_i64(request->shape[d], 1), &bytes)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "statistics: %lld elements in dimension %d, expected 0 or more and "
                            "less than 2^63 bytes in all",
                            (long long)request->shape[d], d);
        }
    }
    const bool has_digits = request->digit_bits >= (request->n_groups > 0 ? 1 : 0) &&
                            request->digit_bits <= SLC_STATS_MOST_DIGIT_BITS;
    if (!has_digits || request->n_groups < 0 || request->n_groups > SLC_STATS_MOST_GROUPS ||
        request->n_bins < 0 || request->n_bins > SLC_STATS_MOST_BINS) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "statistics with %d groups by digits of %d bits and %lld bins: at most %d, "
                        "%d and %d can be",
                        request->n_groups, request->digit_bits, (long long)request->n_bins,
                        SLC_STATS_MOST_GROUPS, SLC_STATS_MOST_DIGIT_BITS, SLC_STATS_MOST_BINS);
    }
    return SLC_OK;
}

/* The longest dimension that is not cut yet and has more than one element; -1: there is none. */
static int longest(const slc_stats_setup *setup) {
    int found = -1;
    for (int d = 0; d < setup->request.rank; d++) {
        const int64_t extent = setup->request.shape[d];
        if (setup->axis_of[d] == SLC_AXIS_FIXED && extent > 1 &&
            (found < 0 || extent > setup->request.shape[found])) {
            found = d;
        }
    }
    return found;
}

/* The largest part of `unit` that is at most `most` and of which the unit is a whole number. */
static int64_t part_of_unit(int64_t unit, int64_t most) {
    int64_t part = slc_max_i64(slc_min_i64(unit, most), 1); /* without units, one */
    while (unit % part != 0) {
        part--;
    }
    return part;
}

/* From the last dimension on, which lies closest together. */
static void choose_granules(slc_stats_setup *setup) {
    const slc_stats_request *request = &setup->request;
    int64_t most = GRANULE;
    for (int d = request->rank - 1; d >= 0; d--) {
        const int axis = setup->axis_of[d];
        const bool is_run = request->rank == 1 && request->unit[d] <= 1;
        const int64_t unit = slc_min_i64(request->unit[d], request->shape[d]);
        const int64_t granule = is_run ? GRANULE : part_of_unit(unit, most);
        if (axis != SLC_AXIS_FIXED) {
            setup->axes[axis].granule = granule;
            most /= granule;
        }
    }
}

static void choose_axes(slc_stats_setup *setup) {
    static const char *const names[SLC_MAX_RANK] = {"dim_0", "dim_1", "dim_2", "dim_3",
                                                    "dim_4", "dim_5", "dim_6", "dim_7"};
    const slc_stats_request *request = &setup->request;
    int n_cut = 0;
    for (int d = longest(setup); d >= 0 && n_cut < SLC_MAX_AXES; d = longest(setup)) {
        setup->axis_of[d] = 0;
        n_cut++;
    }
    if (n_cut == 0) {
        setup->axis_of[0] = 0;
    }
    for (int d = 0; d < request->rank; d++) {
        if (setup->axis_of[d] != SLC_AXIS_FIXED) {
            setup->axes[setup->n_axes] = (slc_axis){.name = names[d],
                                                    .extent = request->shape[d],
                                                    .granule = 1,
                                                    .kind = SLC_AXIS_REDUCED};
            setup->axis_of[d] = setup->n_axes++;
        }
    }
    choose_granules(setup);
}

slc_status slc_stats_choose(const slc_stats_request *request, slc_stats_setup *out) {
    SLC_TRY(check_request(request));
    slc_stats_setup setup = {.request = *request, .step = {.has_moments = true}};
    for (int d = 0; d < SLC_MAX_RANK; d++) {
        setup.axis_of[d] = SLC_AXIS_FIXED;
    }
    choose_axes(&setup);
    setup.data = setup.n_operands++;
    setup.edges = request->n_bins > 0 ? setup.n_operands++ : -1;
    setup.sums = setup.n_operands++;
    setup.digits = request->n_groups > 0 ? setup.n_operands++ : -1;
    setup.bins = request->n_bins > 0 ? setup.n_operands++ : -1;
    setup.work = setup.n_operands++;
    *out = setup;
    return SLC_OK;
}

/* ---- the job ------------------------------------------------------------------------------------ */

/* An array that no axis cuts, of up to two dimensions. */
static slc_operand whole_operand(const char *name, slc_dtype dtype, slc_access access, int64_t n,
                                 int64_t n_inner) {
    slc_operand operand = {.name = name, .dtype = dtype, .access = access, .rank = 2};
    operand.axes[0] = SLC_AXIS_FIXED;
    operand.axes[1] = SLC_AXIS_FIXED;
    operand.fixed_extent[0] = n;
    operand.fixed_extent[1] = n_inner;
    if (n_inner == 0) {
        operand.rank = 1;
        operand.fixed_extent[1] = 0;
    }
    return operand;
}

static slc_operand data_operand(const slc_stats_setup *setup) {
    const slc_stats_request *request = &setup->request;
    slc_operand operand = {.name = "data",
                           .dtype = request->dtype,
                           .access = SLC_ACCESS_IN,
                           .rank = request->rank};
    for (int d = 0; d < request->rank; d++) {
        operand.axes[d] = setup->axis_of[d];
        operand.fixed_extent[d] = setup->axis_of[d] == SLC_AXIS_FIXED ? request->shape[d] : 0;
    }
    return operand;
}

slc_status slc_stats_job_init(const slc_stats_setup *setup, slc_device_kind device, int n_threads,
                              slc_job *out) {
    const slc_stats_request *request = &setup->request;
    const slc_stats_kernel *kernel = slc_stats_kernel_get(device);
    if (kernel == NULL) {
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "statistics on this device: this build holds no kernel for it; build with CUDA, or "
            "choose the host device");
    }
    slc_job job = {.name = "stats",
                   .n_axes = setup->n_axes,
                   .n_operands = setup->n_operands,
                   .state = (void *)(uintptr_t)setup,
                   .prepare = kernel->prepare,
                   .tile = kernel->tile};
    memcpy(job.axes, setup->axes, sizeof job.axes);
    job.operands[setup->data] = data_operand(setup);
    job.operands[setup->sums] =
        whole_operand("sums", SLC_U64, SLC_ACCESS_UPDATE, request->n_parts, SLC_STATS_WORDS);
    if (setup->digits >= 0) {
        job.operands[setup->digits] = whole_operand("digits", SLC_U64, SLC_ACCESS_UPDATE,
                                                    request->n_groups, slc_stats_n_digits(request));
    }
    if (setup->bins >= 0) {
        job.operands[setup->edges] =
            whole_operand("edges", SLC_F64, SLC_ACCESS_IN, request->n_bins + 1, 0);
        job.operands[setup->bins] =
            whole_operand("bins", SLC_U64, SLC_ACCESS_UPDATE, request->n_bins + 2, 0);
    }
    job.operands[setup->work] =
        whole_operand("work", SLC_U8, SLC_ACCESS_WORK,
                      slc_max_i64(kernel->work_bytes(setup, n_threads), 1), 0);
    *out = job;
    return SLC_OK;
}

void slci_stats_view_init(const slc_stats_setup *setup, const slc_tile_arguments *arguments,
                          slci_stats_view *out) {
    const slc_stats_request *request = &setup->request;
    const slc_layout *data = &arguments->layout[setup->data];
    *out = (slci_stats_view){.tile = arguments->d_tile,
                             .data = arguments->d_operand[setup->data],
                             .sums = arguments->d_operand[setup->sums],
                             .work = arguments->d_operand[setup->work],
                             .dtype = request->dtype,
                             .rank = request->rank,
                             .n_parts = request->n_parts,
                             .n_bins = request->n_bins,
                             .step = setup->step};
    if (setup->digits >= 0) {
        out->digits = arguments->d_operand[setup->digits];
    }
    if (setup->bins >= 0) {
        out->edges = arguments->d_operand[setup->edges];
        out->bins = arguments->d_operand[setup->bins];
    }
    for (int d = 0; d < request->rank; d++) {
        out->shape[d] = request->shape[d];
        out->full[d] = data->shape[d];
        out->axis_of[d] = setup->axis_of[d];
    }
    memcpy(out->parts, request->parts, sizeof out->parts);
}

/* ---- keys --------------------------------------------------------------------------------------- */

slc_stats_form slc_stats_form_of(slc_dtype dtype, slc_stats_part part) {
    if (slc_dtype_is_integer(dtype)) {
        return slc_dtype_is_signed_integer(dtype) ? SLC_STATS_SIGNED : SLC_STATS_UNSIGNED;
    }
    return dtype == SLC_F64 || dtype == SLC_C128 || part == SLC_STATS_ABS ? SLC_STATS_F64
                                                                          : SLC_STATS_F32;
}

int slc_stats_key_bits(slc_dtype dtype, slc_stats_part part) {
    switch (slc_stats_form_of(dtype, part)) {
    case SLC_STATS_F32:
        return 32;
    case SLC_STATS_F64:
        return 64;
    default:
        return 8 * (int)slc_dtype_bytes(dtype);
    }
}

uint64_t slc_stats_key_whole(slc_dtype dtype, uint64_t key) {
    return key + slci_stats_bias(dtype);
}

double slc_stats_key_value(slc_dtype dtype, slc_stats_part part, uint64_t key) {
    const uint32_t f32_sign = 0x80000000u;
    const uint64_t f64_sign = 0x8000000000000000u;
    const uint32_t single = (uint32_t)key;
    const uint32_t f32_bits = (single & f32_sign) != 0 ? single ^ f32_sign : ~single;
    const uint64_t f64_bits = (key & f64_sign) != 0 ? key ^ f64_sign : ~key;
    float f32 = 0;
    double f64 = 0;
    memcpy(&f32, &f32_bits, sizeof f32);
    memcpy(&f64, &f64_bits, sizeof f64);
    switch (slc_stats_form_of(dtype, part)) {
    case SLC_STATS_SIGNED:
        return (double)(int64_t)slc_stats_key_whole(dtype, key);
    case SLC_STATS_UNSIGNED:
        return (double)slc_stats_key_whole(dtype, key);
    case SLC_STATS_F32:
        return (double)f32;
    default:
        return f64;
    }
}
