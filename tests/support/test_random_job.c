#include "tests/support/test_random_job.h"

#include "core/checked.h"

static const char *const axis_names[] = {"a", "b", "c", "d"};
static const char *const input_names[] = {"in0", "in1", "in2", "in3"};

static slc_status do_nothing(void *state, const slc_tile_arguments *arguments) {
    (void)state;
    (void)arguments;
    return SLC_OK;
}

/* Rows below the tile's last one, as a triangular solve needs them: no axis and halo says so. */
static slc_box rows_so_far(const void *state, const slc_tile *tile) {
    (void)state;
    return slc_box_1d(0, tile->origin[0] + tile->extent[0]);
}

static void add_dimension(slc_operand *operand, int axis, int64_t fixed_extent) {
    operand->axes[operand->rank] = axis;
    operand->fixed_extent[operand->rank] = fixed_extent;
    operand->rank++;
}

/* An input with some of the axes, in any order. */
static slc_operand random_input(uint64_t *random, const slc_job *job, int number,
                                const test_random_job_options *options) {
    static const slc_dtype dtypes[] = {SLC_U8, SLC_F32, SLC_C64};
    slc_operand operand = {.name = input_names[number],
                           .dtype = dtypes[test_random_below(random, 3)],
                           .access = SLC_ACCESS_IN};
    const int first = (int)test_random_below(random, job->n_axes);
    for (int i = 0; i < job->n_axes; i++) {
        if (test_random_below(random, 2) == 0) {
            continue;
        }
        const int d = operand.rank;
        add_dimension(&operand, (first + i) % job->n_axes, 0);
        operand.per_step[d] = test_random_below(random, 3);
        if (test_random_below(random, 3) == 0) {
            operand.halo[d] = test_random_below(random, options->has_wide_halos ? 40 : 4);
        }
    }
    if (test_random_below(random, 3) == 0) {
        add_dimension(&operand, SLC_AXIS_FIXED, test_random_below(random, 70));
    }
    if (options->has_footprints && test_random_below(random, 3) == 0) {
        operand.rank = 1;
        operand.axes[0] = 0;
        operand.halo[0] = operand.per_step[0] = 0;
        operand.footprint = rows_so_far;
    }
    if (options->has_sparse && test_random_below(random, 3) == 0) {
        operand.is_sparse = true;
        operand.touches_per_point = test_random_between(random, 0, 3);
        operand.footprint = NULL;
        memset(operand.halo, 0, sizeof operand.halo);
    }
    return operand;
}

slc_job test_random_job(uint64_t *random, const test_random_job_options *options) {
    slc_job job = {.name = "random", .tile = do_nothing};
    job.n_axes = 1 + (int)test_random_below(random, options->most_axes);
    for (int a = 0; a < job.n_axes; a++) {
        const int64_t extent = test_random_below(random, job.n_axes > 2 ? 14 : 40);
        job.axes[a] = (slc_axis){axis_names[a], extent, 1 + test_random_below(random, 4),
                                 (slc_axis_kind)test_random_below(random, 3)};
    }
    const int n_inputs = 1 + (int)test_random_below(random, 4);
    for (int i = 0; i < n_inputs; i++) {
        job.operands[job.n_operands++] = random_input(random, &job, i, options);
    }
    /* A result has every axis that it has to have, and the work some memory. */
    slc_operand out = {.name = "out",
                       .dtype = SLC_F32,
                       .access =
                           test_random_below(random, 2) == 0 ? SLC_ACCESS_OUT : SLC_ACCESS_UPDATE};
    for (int a = 0; a < job.n_axes; a++) {
        if (job.axes[a].kind == SLC_AXIS_PARALLEL ||
            (job.axes[a].kind == SLC_AXIS_REDUCED && out.access == SLC_ACCESS_OUT)) {
            add_dimension(&out, a, 0);
        }
    }
    if (test_random_below(random, 3) > 0) {
        job.operands[job.n_operands++] = out;
    }
    slc_operand work = {.name = "work", .dtype = SLC_U8, .access = SLC_ACCESS_WORK};
    add_dimension(&work, 0, 0);
    job.operands[job.n_operands++] = work;
    return job;
}

static double random_rate(uint64_t *random) {
    return 1e6 * (double)(1ll << test_random_below(random, 12));
}

slc_plan_request test_random_request(uint64_t *random, const slc_job *job) {
    slc_plan_request request = {.device_budget_bytes = 1ll << 40,
                                .host_budget_bytes = 1ll << 40,
                                .allocation_unit_bytes = 1 + test_random_below(random, 2) * 4095,
                                .seconds_per_point = 1e-9 * (double)test_random_below(random, 100),
                                .rates = {.disk_bytes_per_s = random_rate(random),
                                          .read_bytes_per_s = random_rate(random),
                                          .tier_bytes_per_s = random_rate(random) * 20,
                                          .h2d_bytes_per_s = random_rate(random) * 20,
                                          .d2h_bytes_per_s = random_rate(random) * 20,
                                          .write_bytes_per_s = random_rate(random),
                                          .device_touches_per_s = random_rate(random) * 100,
                                          .mapped_touches_per_s = random_rate(random),
                                          .step_seconds = 1e-6},
                                .unit_is_kept = test_random_below(random, 2) == 0,
                                .reads_in_place = test_random_below(random, 2) == 0};
    const bool has_region = test_random_below(random, 2) == 0;
    for (int a = 0; a < job->n_axes; a++) {
        const slc_axis *axis = &job->axes[a];
        request.unit[a] = test_random_below(random, 9);
        if (has_region) {
            const int64_t n = slc_ceil_div(axis->extent, axis->granule);
            const int64_t begin = test_random_below(random, n + 1);
            const int64_t end = begin + test_random_below(random, n - begin + 1);
            request.region.rank = job->n_axes;
            request.region.origin[a] = slc_min_i64(begin * axis->granule, axis->extent);
            request.region.extent[a] =
                slc_min_i64(end * axis->granule, axis->extent) - request.region.origin[a];
        }
    }
    return request;
}
