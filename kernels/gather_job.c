/* Gathering as a job: which dimensions are cut into tiles, and how finely.
 *
 * The list is cut always. The data's own dimension `axis` (the first one, for coordinates) is cut
 * where the data passes by, and is then a reduced axis: each tile of it adds what it holds to the
 * results, which begin as zero and get every element once. What belongs to one index, a slab across
 * all other dimensions, is cut only where it is large: every further axis makes planning slower. */
#include <math.h>
#include <string.h>

#include "core/checked.h"
#include "kernels/gather_tile.h"

/* What one granule of data has about, and from where on a slab is cut. */
#define GRANULE_BYTES (INT64_C(64) << 10)
#define SLAB_BYTES (INT64_C(1) << 20)

#define MOST_INDEX_GRANULE 1024

/* Bytes that mapped memory delivers in the time of one random access: 51 GB/s against 111·10⁶
 * accesses a second, measured on an H200, are 460; half of it, as runs seldom begin where a fetch
 * does. */
#define TOUCH_BYTES 256

static slc_status check_request(const slc_gather_request *request) {
    const int64_t element_bytes = slc_dtype_bytes(request->dtype);
    if (!slc_dtype_is_integer(request->index_dtype) || element_bytes == 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "gather: elements are %s and indices %s; expected numbers, and integers "
                        "as indices",
                        slc_dtype_name(request->dtype), slc_dtype_name(request->index_dtype));
    }
    if (request->rank < 1 || request->rank > SLC_MAX_RANK ||
        request->axis < SLC_GATHER_COORDINATES || request->axis >= request->rank) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "gather: dimension %d of data with %d; expected one of 0 to %d",
                        request->axis, request->rank, request->rank - 1);
    }
    int64_t bytes = element_bytes;
    for (int d = 0; d < request->rank; d++) {
        /* An extent of 0 counts as 1, since products of the other dimensions are formed as well. */
        if (request->shape[d] < 0 ||
            !slc_checked_mul(bytes, slc_max_i64(request->shape[d], 1), &bytes)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "gather: %lld elements in dimension %d of the data, expected 0 or more "
                            "and less than 2^63 bytes in all",
                            (long long)request->shape[d], d);
        }
    }
    return request->n_index >= 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_ARGUMENT, "gather: a list of %lld indices, expected 0 or more",
                          (long long)request->n_index);
}

/* Bytes of the dimensions [begin, end) together. */
static int64_t bytes_of(const slc_gather_request *request, int begin, int end) {
    int64_t bytes = slc_dtype_bytes(request->dtype);
    for (int d = begin; d < end; d++) {
        bytes *= request->shape[d];
    }
    return bytes;
}

/* The longest of the dimensions [begin, end); -1 where each holds one element at most. */
static int longest(const slc_gather_request *request, int begin, int end) {
    int found = -1;
    for (int d = begin; d < end; d++) {
        if (request->shape[d] > (found < 0 ? 1 : request->shape[found])) {
            found = d;
        }
    }
    return found;
}

/* Steps of `step_bytes` that make up about `wanted_bytes`. */
static int64_t granule(int64_t wanted_bytes, int64_t step_bytes, int64_t most) {
    const int64_t steps = wanted_bytes / slc_max_i64(step_bytes, 1);
    return slc_max_i64(slc_min_i64(steps, most), 1);
}

/* Cuts dimension `dim`, of which one step has `step_bytes`. Returns the bytes of one granule. */
static int64_t cut(slc_gather_setup *setup, int dim, const slc_axis *axis, int64_t wanted_bytes,
                   int64_t step_bytes) {
    slc_axis *made = &setup->axes[setup->n_axes];
    *made = *axis;
    made->extent = setup->request.shape[dim];
    made->granule = granule(wanted_bytes, step_bytes, slc_max_i64(made->extent, 1));
    setup->axis_of[dim] = setup->n_axes++;
    return made->granule * step_bytes;
}

static const slc_axis parallel_outer = {.name = "outer", .kind = SLC_AXIS_PARALLEL};
static const slc_axis parallel_inner = {.name = "inner", .kind = SLC_AXIS_PARALLEL};
static const slc_axis reduced_data = {.name = "data", .kind = SLC_AXIS_REDUCED};
static const slc_axis reduced_other = {.name = "data_2", .kind = SLC_AXIS_REDUCED};

/* Axes of a gather along one dimension. */
static void cut_slabs(slc_gather_setup *setup) {
    const slc_gather_request *request = &setup->request;
    const int axis = request->axis;
    const int64_t run_bytes = bytes_of(request, axis + 1, request->rank);
    int64_t slab_bytes = bytes_of(request, 0, axis) / slc_dtype_bytes(request->dtype) * run_bytes;
    const int inner = longest(request, axis + 1, request->rank);
    const int outer = longest(request, 0, axis);
    if (slab_bytes > SLAB_BYTES && run_bytes > GRANULE_BYTES && inner >= 0) {
        const int64_t step_bytes = run_bytes / request->shape[inner];
        setup->inner_dim = inner;
        slab_bytes =
            slab_bytes / run_bytes * cut(setup, inner, &parallel_inner, GRANULE_BYTES, step_bytes);
    }
    if (slab_bytes > SLAB_BYTES && outer >= 0) {
        setup->outer_dim = outer;
        slab_bytes =
            cut(setup, outer, &parallel_outer, SLAB_BYTES, slab_bytes / request->shape[outer]);
    }
    setup->axes[0].granule = granule(GRANULE_BYTES, slab_bytes, MOST_INDEX_GRANULE);
    if (request->form == SLC_GATHER_STREAMED) {
        (void)cut(setup, axis, &reduced_data, GRANULE_BYTES, slab_bytes);
    }
}

/* Axes of a gather by coordinates: whole data needs none but the list's. */
static void cut_points(slc_gather_setup *setup) {
    const slc_gather_request *request = &setup->request;
    setup->axes[0].granule = MOST_INDEX_GRANULE;
    if (request->form == SLC_GATHER_WHOLE) {
        return;
    }
    int64_t row_bytes = bytes_of(request, 1, request->rank);
    const int other = longest(request, 1, request->rank);
    if (row_bytes > SLAB_BYTES && other >= 0) {
        row_bytes =
            cut(setup, other, &reduced_other, GRANULE_BYTES, row_bytes / request->shape[other]);
    }
    (void)cut(setup, 0, &reduced_data, GRANULE_BYTES, row_bytes);
}

bool slci_gather_is_ordered(const slc_gather_setup *setup, slc_device_kind device) {
    return setup->request.is_ordered && setup->request.form == SLC_GATHER_WHOLE &&
           device == SLC_DEVICE_CUDA;
}

slc_status slc_gather_choose(const slc_gather_request *request, slc_gather_setup *out) {
    SLC_TRY(check_request(request));
    slc_gather_setup setup = {.request = *request, .n_axes = 1, .outer_dim = -1, .inner_dim = -1};
    setup.axes[0] =
        (slc_axis){.name = "index", .extent = request->n_index, .kind = SLC_AXIS_PARALLEL};
    for (int d = 0; d < SLC_MAX_RANK; d++) {
        setup.axis_of[d] = SLC_AXIS_FIXED;
    }
    if (request->axis == SLC_GATHER_COORDINATES) {
        cut_points(&setup);
    } else {
        cut_slabs(&setup);
    }
    *out = setup;
    return SLC_OK;
}

double slc_gather_touches(const slc_gather_setup *setup) {
    const slc_gather_request *request = &setup->request;
    if (request->axis == SLC_GATHER_COORDINATES) {
        return 1;
    }
    const int64_t run_bytes = bytes_of(request, request->axis + 1, request->rank);
    const int64_t n_runs = bytes_of(request, 0, request->axis) / slc_dtype_bytes(request->dtype);
    return (double)n_runs * (double)slc_ceil_div(run_bytes, TOUCH_BYTES);
}

/* Mapped memory is found by pages of 2 MiB, and to find the next one takes the card about 1 us: 10^7
 * elements of 64 GiB took 36 ms, of 1 GiB 9.3 ms. */
#define SWEEP_PAGE_BYTES (2 << 20)
#define SWEEP_PAGE_SECONDS 1.1e-6

double slc_gather_sweep_seconds(const slc_gather_setup *setup) {
    const double bytes = (double)bytes_of(&setup->request, 0, setup->request.rank);
    return ceil(bytes / SWEEP_PAGE_BYTES) * SWEEP_PAGE_SECONDS;
}

/* ---- tiles that are left out -------------------------------------------------------------------- */

/* The axis along which tiles of dimension d may hold no index; SLC_AXIS_FIXED where there is none. */
static int mapped_axis(const slc_gather_setup *setup, int d) {
    const slc_gather_request *request = &setup->request;
    const bool is_indexed = request->axis == SLC_GATHER_COORDINATES || request->axis == d;
    const bool has_map = request->map != NULL && request->form == SLC_GATHER_STREAMED;
    return has_map && is_indexed ? setup->axis_of[d] : SLC_AXIS_FIXED;
}

/* Every tile of the list has an index, and a tile of the data holds it: no result is left out. */
static bool touches(const void *state, const slc_tile *tile) {
    const slc_gather_setup *setup = state;
    for (int d = 0; d < setup->request.rank; d++) {
        const int a = mapped_axis(setup, d);
        if (a >= 0 && !slc_gather_map_holds(setup->request.map, d, tile->origin[a],
                                            tile->origin[a] + tile->extent[a])) {
            return false;
        }
    }
    return true;
}

/* ---- the job ---------------------------------------------------------------------------------- */

/* Dimension d of an operand, cut as the data's dimension is. */
static void set_dimension(const slc_gather_setup *setup, int d, slc_operand *operand) {
    operand->axes[d] = setup->axis_of[d];
    operand->fixed_extent[d] = setup->axis_of[d] == SLC_AXIS_FIXED ? setup->request.shape[d] : 0;
}

static slc_operand data_operand(const slc_gather_setup *setup) {
    const slc_gather_request *request = &setup->request;
    const bool is_whole = request->form == SLC_GATHER_WHOLE;
    slc_operand operand = {.name = "data",
                           .dtype = request->dtype,
                           .access = SLC_ACCESS_IN,
                           .rank = request->rank,
                           .is_sparse = is_whole};
    double steps = 1; /* of the iteration space, for one index */
    for (int d = 0; d < request->rank; d++) {
        set_dimension(setup, d, &operand);
        if (is_whole && setup->axis_of[d] != SLC_AXIS_FIXED) {
            steps *= (double)request->shape[d];
            operand.axes[d] = SLC_AXIS_FIXED;
            operand.fixed_extent[d] = request->shape[d];
        }
    }
    operand.touches_per_point = is_whole ? slc_gather_touches(setup) / steps : 0;
    return operand;
}

static slc_operand index_operand(const slc_gather_setup *setup) {
    slc_operand operand = {.name = "index",
                           .dtype = setup->request.index_dtype,
                           .access = SLC_ACCESS_IN,
                           .rank = 1};
    if (setup->request.axis == SLC_GATHER_COORDINATES) {
        operand.rank = 2;
        operand.axes[1] = SLC_AXIS_FIXED;
        operand.fixed_extent[1] = setup->request.rank;
    }
    return operand;
}

static slc_operand out_operand(const slc_gather_setup *setup) {
    const slc_gather_request *request = &setup->request;
    const bool is_whole = request->form == SLC_GATHER_WHOLE;
    slc_operand operand = {.name = "out",
                           .dtype = request->dtype,
                           .access = is_whole ? SLC_ACCESS_OUT : SLC_ACCESS_UPDATE,
                           .rank = 1};
    if (request->axis != SLC_GATHER_COORDINATES) {
        operand.rank = request->rank;
        for (int d = 0; d < request->rank; d++) {
            set_dimension(setup, d, &operand);
        }
        operand.axes[request->axis] = 0;
        operand.fixed_extent[request->axis] = 0;
    }
    return operand;
}

/* An array of the device's own with `per_index` elements for each index of a tile. */
static slc_operand work_operand(const char *name, slc_dtype dtype, int64_t per_index) {
    return (slc_operand){.name = name,
                         .dtype = dtype,
                         .access = SLC_ACCESS_WORK,
                         .rank = 2,
                         .axes = {0, SLC_AXIS_FIXED},
                         .fixed_extent = {0, per_index}};
}

slc_status slc_gather_job_init(const slc_gather_setup *setup, slc_device_kind device,
                               slc_job *out) {
    const slc_gather_kernel *kernel = slc_gather_kernel_get(device);
    if (kernel == NULL) {
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "gather on this device: this build holds no kernel for it; build with CUDA, "
            "or choose the host device");
    }
    slc_job job = {.name = "gather",
                   .n_axes = setup->n_axes,
                   .n_operands = SLC_GATHER_OUT + 1,
                   .state = (void *)(uintptr_t)setup,
                   .prepare = kernel->prepare,
                   .tile = kernel->tile,
                   .touches = setup->request.map != NULL ? touches : NULL};
    memcpy(job.axes, setup->axes, sizeof job.axes);
    job.operands[SLC_GATHER_DATA] = data_operand(setup);
    job.operands[SLC_GATHER_INDEX] = index_operand(setup);
    job.operands[SLC_GATHER_OUT] = out_operand(setup);
    if (slci_gather_is_ordered(setup, device)) {
        job.n_operands = SLC_GATHER_N_OPERANDS;
        job.operands[SLC_GATHER_PLACES] = work_operand("places", SLC_I64, 2);
        job.operands[SLC_GATHER_ORDER] = work_operand("order", SLC_U32, 2);
        job.operands[SLC_GATHER_SCRATCH] = work_operand("scratch", SLC_U8, SLCI_GATHER_SCRATCH);
    }
    *out = job;
    return SLC_OK;
}

/* ---- the view of a tile ------------------------------------------------------------------------ */

/* Elements of the dimensions [begin, end) of a layout. */
static int64_t count_of(const slc_layout *layout, int begin, int end) {
    int64_t n = 1;
    for (int d = begin; d < end; d++) {
        n *= layout->shape[d];
    }
    return n;
}

/* From one element to the next along dimension d - 1, in elements; 0 where there is no such one. */
static int64_t stride_before(const slc_layout *layout, int d) {
    return d > 0 ? layout->stride_bytes[d - 1] / slc_dtype_bytes(layout->dtype) : 0;
}

/* Levels of a gather along a dimension. A cut dimension of which a tile is all counts as not cut. */
static void view_slabs(const slc_gather_setup *setup, const slc_layout *data, const slc_layout *out,
                       slci_gather_view *view) {
    const slc_gather_request *request = &setup->request;
    const int axis = request->axis;
    int outer = setup->outer_dim;
    int inner = setup->inner_dim;
    outer = outer >= 0 && out->shape[outer] == request->shape[outer] ? -1 : outer;
    inner = inner >= 0 && out->shape[inner] == request->shape[inner] ? -1 : inner;
    const int first = outer < 0 ? 0 : outer;
    const int last = inner < 0 ? axis + 1 : inner;
    view->outer_axis = outer < 0 ? -1 : setup->axis_of[outer];
    view->inner_axis = inner < 0 ? -1 : setup->axis_of[inner];
    view->n[0] = count_of(out, 0, first);
    view->n[1] = outer < 0 ? count_of(out, 0, axis) : count_of(out, outer + 1, axis);
    view->n[2] = count_of(out, axis + 1, last);
    view->n_run =
        inner < 0 ? count_of(out, axis + 1, out->rank) : count_of(out, inner + 1, out->rank);
    const int level_end[SLCI_GATHER_LEVELS] = {first, axis, inner < 0 ? 0 : inner};
    for (int l = 0; l < SLCI_GATHER_LEVELS; l++) {
        view->out_stride[l] = stride_before(out, level_end[l]);
        view->data_stride[l] = stride_before(data, level_end[l]);
    }
    view->index_stride = stride_before(out, axis + 1);
}

void slci_gather_view_init(const slc_gather_setup *setup, const slc_tile_arguments *arguments,
                           slci_gather_view *view) {
    const slc_gather_request *request = &setup->request;
    const slc_layout *data = &arguments->layout[SLC_GATHER_DATA];
    const slc_layout *out = &arguments->layout[SLC_GATHER_OUT];
    *view = (slci_gather_view){.tile = arguments->d_tile,
                               .index = arguments->d_operand[SLC_GATHER_INDEX],
                               .data = arguments->d_operand[SLC_GATHER_DATA],
                               .out = arguments->d_operand[SLC_GATHER_OUT],
                               .element_bytes = slc_dtype_bytes(request->dtype),
                               .index_bytes = (int)slc_dtype_bytes(request->index_dtype),
                               .is_index_signed = slc_dtype_is_signed_integer(request->index_dtype),
                               .is_whole = request->form == SLC_GATHER_WHOLE,
                               .outer_axis = -1,
                               .inner_axis = -1,
                               .n = {1, 1, 1},
                               .n_run = 1,
                               .index_stride = 1};
    const bool is_points = request->axis == SLC_GATHER_COORDINATES;
    view->n_coordinates = is_points ? request->rank : 1;
    for (int c = 0; c < view->n_coordinates; c++) {
        const int d = is_points ? c : request->axis;
        /* The list's own axis is no way through the data; whole data has none along `d`. */
        view->coordinate_axis[c] = view->is_whole ? -1 : setup->axis_of[d];
        view->coordinate_extent[c] = request->shape[d];
        view->coordinate_stride[c] = stride_before(data, d + 1);
    }
    if (!is_points) {
        view_slabs(setup, data, out, view);
    }
}
