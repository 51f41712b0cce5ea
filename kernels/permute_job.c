/* The order of dimensions as a job. What there is to choose is how finely each is cut: tiles should be
 * able to end where the input's units end and where the output's do, so granules divide both; and the
 * smallest tile should still be a patch of some size on both sides, so the dimensions that are fastest
 * in input and output have granules of more than one element. */
#include "kernels/permute_job.h"

#include <string.h>

#include "core/checked.h"
#include "kernels/copy_through.h"

/* Edge of the smallest patch, in elements: 64 times 64 elements of 16 bytes are 64 KiB. Where the
 * fastest dimension is the same one on both sides, the patch is a row of them. */
#define EDGE 64
#define ROW 4096

/* Bytes read and written a second, about: four threads of a server, and an H200's strided copies. */
#define HOST_BYTES_PER_S 10e9
#define CUDA_BYTES_PER_S 2e12

static slc_status check_request(const slc_permute_request *request) {
    if (request->rank < 1 || request->rank > SLC_MAX_RANK) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "permute: %d dimensions, expected 1 to %d",
                        request->rank, SLC_MAX_RANK);
    }
    unsigned seen = 0;
    for (int d = 0; d < request->rank; d++) {
        const int from = request->order[d];
        if (from < 0 || from >= request->rank || (seen >> from & 1u) != 0) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "permute: dimension %d of %d stands at place %d of the order; expected "
                            "each of 0 to %d once",
                            from, request->rank, d, request->rank - 1);
        }
        seen |= 1u << from;
    }
    slc_layout layout;
    return slc_layout_dense(request->dtype, request->rank, request->shape, &layout);
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int64_t largest_divisor(int64_t n, int64_t most) {
    int64_t divisor = slc_min_i64(n, most);
    while (n % divisor != 0) {
        divisor--;
    }
    return divisor;
}

/* A unit that holds the whole dimension asks for nothing. */
static int64_t effective(int64_t unit, int64_t extent) {
    return unit < extent ? unit : 0;
}

/* Of the output's dimension d. */
static int64_t granule_of(const slc_permute_request *request, int d) {
    const int rank = request->rank;
    const int from = request->order[d];
    const int64_t extent = slc_max_i64(request->shape[from], 1);
    const int64_t unit = common_divisor(effective(request->in_unit[from], extent),
                                        effective(request->out_unit[d], extent));
    const bool is_out_row = d == rank - 1;
    const bool is_in_row = from == rank - 1;
    const int64_t most = is_out_row && is_in_row ? ROW : is_out_row || is_in_row ? EDGE : 1;
    return unit > 0 ? largest_divisor(unit, most) : slc_min_i64(most, extent);
}

/* Marks the dimensions to be cut, by the output's count: the longest ones, the slower of equals. */
static void choose_cut(const slc_permute_request *request, bool is_cut[SLC_MAX_RANK]) {
    for (int n = 0; n < slc_min_i64(request->rank, SLC_MAX_AXES); n++) {
        int longest = -1;
        for (int d = 0; d < request->rank; d++) {
            if (!is_cut[d] && (longest < 0 || request->shape[request->order[d]] >
                                                  request->shape[request->order[longest]])) {
                longest = d;
            }
        }
        /* One of one element has nothing to cut, but a job has an axis at least. */
        is_cut[longest] = n == 0 || request->shape[request->order[longest]] > 1;
        if (!is_cut[longest]) {
            return;
        }
    }
}

slc_status slc_permute_choose(const slc_permute_request *request, slc_permute_setup *out) {
    static const char *const names[SLC_MAX_RANK] = {"dim_0", "dim_1", "dim_2", "dim_3",
                                                    "dim_4", "dim_5", "dim_6", "dim_7"};
    SLC_TRY(check_request(request));
    slc_permute_setup setup = {.request = *request};
    bool is_cut[SLC_MAX_RANK] = {false};
    choose_cut(request, is_cut);
    for (int d = 0; d < request->rank; d++) {
        setup.axis_of[d] = SLC_AXIS_FIXED;
        if (is_cut[d]) {
            setup.axis_of[d] = setup.n_axes;
            setup.axes[setup.n_axes++] = (slc_axis){.name = names[d],
                                                    .extent = request->shape[request->order[d]],
                                                    .granule = granule_of(request, d),
                                                    .kind = SLC_AXIS_PARALLEL};
        }
    }
    *out = setup;
    return SLC_OK;
}

double slc_permute_seconds(const slc_permute_setup *setup, slc_device_kind device) {
    const double bytes = 2 * (double)slc_dtype_bytes(setup->request.dtype);
    return bytes / (device == SLC_DEVICE_CUDA ? CUDA_BYTES_PER_S : HOST_BYTES_PER_S);
}

/* Edge tiles are copied with what lies behind them in their buffers: one shape for every tile is what
 * lets the engine record the sequence. */
static slc_status permute_tile(void *state, const slc_tile_arguments *arguments) {
    const slc_permute_setup *setup = state;
    const slc_layout *to = &arguments->layout[SLC_PERMUTE_OUT];
    const slc_layout from =
        slc_layout_permute(&arguments->layout[SLC_PERMUTE_IN], setup->request.order);
    void *d_out = arguments->d_operand[SLC_PERMUTE_OUT];
    const void *d_in = arguments->d_operand[SLC_PERMUTE_IN];
    if (slc_layout_is_contiguous(&from)) {
        return slci_copy_through_enqueue(arguments->stream, d_out, d_in, slc_layout_bytes(to));
    }
    return slc_stream_copy_strided(arguments->stream, d_out, to, d_in, &from, SLC_COPY_ON_DEVICE);
}

slc_job slc_permute_job(const slc_permute_setup *setup) {
    const slc_permute_request *request = &setup->request;
    slc_operand in = {.name = "in",
                      .dtype = request->dtype,
                      .access = SLC_ACCESS_IN,
                      .rank = request->rank};
    slc_operand out = {.name = "out",
                       .dtype = request->dtype,
                       .access = SLC_ACCESS_OUT,
                       .rank = request->rank};
    for (int d = 0; d < request->rank; d++) {
        const int from = request->order[d];
        const int axis = setup->axis_of[d];
        const int64_t extent = axis == SLC_AXIS_FIXED ? request->shape[from] : 0;
        out.axes[d] = in.axes[from] = axis;
        out.fixed_extent[d] = in.fixed_extent[from] = extent;
    }
    slc_job job = {.name = "permute",
                   .n_axes = setup->n_axes,
                   .n_operands = SLC_PERMUTE_N_OPERANDS,
                   .state = (void *)(uintptr_t)setup,
                   .tile = permute_tile};
    memcpy(job.axes, setup->axes, sizeof job.axes);
    job.operands[SLC_PERMUTE_IN] = in;
    job.operands[SLC_PERMUTE_OUT] = out;
    return job;
}
