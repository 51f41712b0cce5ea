/* One pass or two, and with which tiles.
 *
 * Input and output are each stored in units: chunks where these are filtered, which are decoded and
 * encoded whole, and otherwise runs of a page in the order in which the file holds them. One pass
 * is best where a tile that fits holds whole units of both sides:
 *
 *     input in rows            output in columns, in the input's terms      tile of both
 *       ┌──────────┐             ┌──┬──┬──┬──┐                                ┌──────────┐
 *       ├──────────┤             │  │  │  │  │                                │          │
 *       ├──────────┤             │  │  │  │  │                                │          │
 *       └──────────┘             └──┴──┴──┴──┘                                └──────────┘
 *
 * Where only a smaller one fits, units of one side are shared by many tiles. Then the first pass goes
 * by the input's units alone and puts the array down, turned, in a store that can be read and
 * written anywhere, and the second pass goes by the output's. */
#include <string.h>

#include "app/rewrite_job.h"
#include "core/checked.h"
#include "core/print.h"

/* The shortest run that is read or written at no loss, a page of a file. */
#define RUN_BYTES 4096

/* A chunk of the input is read at most this often, if there is a way. */
#define MOST_READS 2

/* ---- units ------------------------------------------------------------------------------------ */

/* Runs of a page at least in an array stored in `chunk`s (zeros: in one piece): whole in the last
 * dimensions until together they make a page. */
static void run_units(const slc_layout *layout, const int64_t *chunk, int64_t *unit) {
    int64_t bytes = slc_dtype_bytes(layout->dtype);
    for (int d = layout->rank - 1; d >= 0; d--) {
        const int64_t whole = chunk[d] > 0 ? chunk[d] : slc_max_i64(layout->shape[d], 1);
        unit[d] = slc_min_i64(whole, slc_ceil_div(RUN_BYTES, bytes));
        if (!slc_checked_mul(bytes, unit[d], &bytes)) {
            bytes = RUN_BYTES;
        }
    }
}

static bool is_encoded(const slci_rewrite_job *job) {
    return slc_h5_array_is_filtered(&job->output.file);
}

static void set_units(slci_rewrite_job *job) {
    if (job->result.in.rank == 0) {
        return;
    }
    if (slc_h5_array_row_bytes(job->data.file, 0) > 0) {
        memcpy(job->in_unit, job->result.in_chunk, sizeof job->in_unit);
    } else {
        run_units(&job->in, job->result.in_chunk, job->in_unit);
    }
    if (is_encoded(job)) {
        memcpy(job->out_unit, job->output.file.chunk, sizeof job->out_unit);
    } else {
        run_units(&job->out, job->output.file.chunk, job->out_unit);
    }
}

/* Tiles that share the unit of one dimension that most tiles share. */
static int64_t most_sharing(int64_t unit, int64_t tile, int64_t extent) {
    unit = slc_min_i64(unit, extent);
    if (unit <= 1 || tile >= extent || tile % unit == 0) {
        return 1;
    }
    if (unit % tile == 0 || unit == extent) {
        return slc_ceil_div(unit, tile);
    }
    return tile >= unit ? 2 : slc_ceil_div(unit, tile) + 1;
}

/* The same of a unit of the whole array: of the input by its dimensions, or of the output. */
static int64_t most_tiles(const slc_permute_setup *setup, const slc_plan *plan, bool is_input) {
    const slc_permute_request *request = &setup->request;
    int64_t product = 1;
    for (int d = 0; d < request->rank; d++) {
        const int from = request->order[d];
        const int axis = setup->axis_of[d];
        const int64_t unit = is_input ? request->in_unit[from] : request->out_unit[d];
        const int64_t sharing =
            axis < 0 ? 1 : most_sharing(unit, plan->tile[axis], request->shape[from]);
        if (!slc_checked_mul(product, sharing, &product)) {
            return INT64_MAX;
        }
    }
    return product;
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What tiles are best a multiple of: of both sides' units, where there are both. */
static int64_t common_unit(int64_t a, int64_t b, int64_t extent) {
    int64_t both = 0;
    a = slc_max_i64(a, 1);
    b = slc_max_i64(b, 1);
    if (a >= extent || b >= extent || !slc_checked_mul(a / common_divisor(a, b), b, &both)) {
        return extent;
    }
    return slc_min_i64(both, extent);
}

/* ---- one pass --------------------------------------------------------------------------------- */

typedef struct pass_request {
    slc_permute_request permute;
    double stored_share;
    int64_t host_bytes; /* that are not there for the pass */
    double write_rate;  /* 0: that of the machine */
} pass_request;

/* Rows of chunks that are kept decoded where there is room: that of the tiles under way, and the next,
 * into which some of them may reach. */
#define MOST_KEPT_ROWS 2

/* The dimension of the output that an axis is of. */
static int dim_of_axis(const slci_rewrite_pass *pass, int axis) {
    int d = 0;
    while (pass->setup.axis_of[d] != axis) {
        d++;
    }
    return d;
}

/* The input's chunks along an axis. */
static int64_t unit_of_axis(const slci_rewrite_pass *pass, int axis) {
    const slc_permute_request *request = &pass->setup.request;
    return slc_max_i64(request->in_unit[request->order[dim_of_axis(pass, axis)]], 1);
}

/* Rows of chunks that a tile reaches into along its outermost loop, at most. */
static int64_t rows_of_tile(const slci_rewrite_pass *pass, const slc_plan *plan) {
    const int64_t unit = unit_of_axis(pass, plan->order[0]);
    const int64_t tile = plan->tile[plan->order[0]];
    return unit % tile == 0 || tile % unit == 0 ? slc_ceil_div(tile, unit) : tile / unit + 2;
}

/* Whether a plan makes do with so many rows along the loop of the pass that is outermost now; another
 * loop would need other rows. */
static bool fits_rows(const slci_rewrite_pass *pass, const slc_plan *plan, int64_t n_rows) {
    return plan->order[0] == pass->plan.order[0] && rows_of_tile(pass, plan) <= n_rows;
}

/* Plans with so many rows kept, with tiles of one row where larger ones would need more of them. */
static slc_status plan_with_rows(const slci_rewrite_pass *pass, slc_plan_request *request,
                                 int64_t n_rows, slc_plan *plan) {
    const int outer = pass->plan.order[0];
    request->unit_is_kept = true;
    SLC_TRY(slc_plan_make(&pass->job, request, plan));
    if (plan->order[0] != outer || fits_rows(pass, plan, n_rows)) {
        return SLC_OK;
    }
    request->force_tile[outer] = slc_min_i64(unit_of_axis(pass, outer), plan->tile[outer]);
    return slc_plan_make(&pass->job, request, plan);
}

/* Plans again with the chunks of a row or two kept decoded, where that keeps them from being decoded
 * more often than is allowed. */
static slc_status plan_with_cache(const slci_rewrite_job *job, slci_rewrite_pass *pass) {
    const slc_plan_request *first = &pass->execution.request;
    const int64_t left = first->host_budget_bytes - pass->plan.smallest_host_bytes;
    const int from = pass->setup.request.order[dim_of_axis(pass, pass->plan.order[0])];
    const int64_t row_bytes = slci_array_row_bytes(&job->data, from);
    for (int64_t n_rows = row_bytes > 0 ? MOST_KEPT_ROWS : 0; n_rows > 0; n_rows--) {
        slc_plan_request request = *first;
        slc_plan plan;
        if (row_bytes > left / n_rows) {
            continue;
        }
        request.host_budget_bytes -= n_rows * row_bytes;
        SLC_TRY(plan_with_rows(pass, &request, n_rows, &plan));
        if (fits_rows(pass, &plan, n_rows)) {
            pass->execution.request = request;
            pass->plan = plan;
            pass->cache_bytes = n_rows * row_bytes;
            pass->cache_rows = n_rows;
            pass->most_reads = 1;
            return SLC_OK;
        }
    }
    return SLC_OK;
}

static slc_status plan_pass(const slci_rewrite_job *job, const pass_request *asked,
                            slci_rewrite_pass *pass) {
    const slc_permute_request *permute = &asked->permute;
    *pass = (slci_rewrite_pass){.most_reads = 1, .most_writes = 1};
    SLC_TRY(slc_permute_choose(permute, &pass->setup));
    pass->job = slc_permute_job(&pass->setup);
    pass->execution = slci_machine_execution(&job->options->run, &job->machine);
    slc_plan_request *request = &pass->execution.request;
    request->host_budget_bytes -= asked->host_bytes;
    request->stored_share[SLC_PERMUTE_IN] = asked->stored_share;
    if (asked->write_rate > 0) {
        request->rates.write_bytes_per_s = asked->write_rate;
    }
    request->seconds_per_point = slc_permute_seconds(&pass->setup, job->machine.device->kind);
    for (int d = 0; d < permute->rank; d++) {
        const int from = permute->order[d];
        const int axis = pass->setup.axis_of[d];
        if (axis >= 0) {
            request->unit[axis] =
                common_unit(permute->in_unit[from], permute->out_unit[d], permute->shape[from]);
        }
    }
    SLC_TRY(slc_plan_make(&pass->job, request, &pass->plan));
    pass->most_reads = most_tiles(&pass->setup, &pass->plan, true);
    pass->most_writes = most_tiles(&pass->setup, &pass->plan, false);
    return SLC_OK;
}

static void set_permute(const slc_layout *in, const int *order, slc_permute_request *out) {
    *out = (slc_permute_request){.dtype = in->dtype, .rank = in->rank};
    memcpy(out->shape, in->shape, sizeof out->shape);
    for (int d = 0; d < in->rank; d++) {
        out->order[d] = order != NULL ? order[d] : d;
    }
}

static bool is_filtered(const slci_rewrite_job *job) {
    return job->in.rank > 0 && slc_h5_array_row_bytes(job->data.file, 0) > 0;
}

static slc_status plan_direct(const slci_rewrite_job *job, slci_rewrite_pass *pass) {
    pass_request asked = {.stored_share = slci_array_stored_share(&job->data),
                          .write_rate = slci_array_output_rate(&job->output, &job->machine)};
    set_permute(&job->in, job->order, &asked.permute);
    memcpy(asked.permute.in_unit, job->in_unit, sizeof asked.permute.in_unit);
    memcpy(asked.permute.out_unit, job->out_unit, sizeof asked.permute.out_unit);
    return plan_pass(job, &asked, pass);
}

/* ---- two passes ------------------------------------------------------------------------------- */

/* What both passes' tiles have in common is moved at once, in and out of the store; from this size on
 * its own cost does not show. */
#define COMMON_BYTES (INT64_C(1) << 20)

/* Axes of a pass that are not to be made longer. */
typedef struct widening {
    bool is_done[SLC_REWRITE_PASSES][SLC_MAX_AXES];
} widening;

static int64_t common_bytes(const slc_layout *layout, const slci_rewrite_pass *passes) {
    int64_t bytes = slc_dtype_bytes(layout->dtype);
    for (int a = 0; a < passes[0].setup.n_axes; a++) {
        const int64_t tile = slc_min_i64(passes[0].plan.tile[a], passes[1].plan.tile[a]);
        bytes *= slc_min_i64(tile, slc_max_i64(passes[0].setup.axes[a].extent, 1));
    }
    return bytes;
}

/* The pass and axis that limit the common part most: the other pass's tile is longer there. */
static bool find_narrow(const slci_rewrite_pass *passes, const widening *tried, int *pass,
                        int *axis) {
    double most = 1;
    for (int p = 0; p < SLC_REWRITE_PASSES; p++) {
        for (int a = 0; a < passes[p].setup.n_axes; a++) {
            const double ratio =
                (double)passes[1 - p].plan.tile[a] / (double)passes[p].plan.tile[a];
            if (!tried->is_done[p][a] && ratio > most) {
                most = ratio;
                *pass = p;
                *axis = a;
            }
        }
    }
    return most > 1;
}

/* Tiles of twice the length along one axis, where two slots of them fit. */
static bool widen(slci_rewrite_pass *pass, int axis) {
    slc_plan_request request = pass->execution.request;
    slc_plan plan;
    memcpy(request.force_tile, pass->plan.tile, sizeof request.force_tile);
    const int64_t extent = pass->job.axes[axis].extent;
    if (pass->plan.tile[axis] >= extent) {
        return false;
    }
    request.force_tile[axis] = slc_min_i64(2 * pass->plan.tile[axis], extent);
    if (slc_plan_make(&pass->job, &request, &plan) != SLC_OK || plan.n_slots < 2 ||
        plan.tile[axis] <= pass->plan.tile[axis] ||
        (pass->cache_rows > 0 && !fits_rows(pass, &plan, pass->cache_rows))) {
        return false;
    }
    pass->execution.request = request;
    pass->plan = plan;
    return true;
}

/* Of plans that are as fast by the bytes they move, the planner takes the one of smaller tiles; what
 * tiles of two passes have in common needs larger ones. */
static void widen_passes(const slci_rewrite_job *job, slci_rewrite_pass *passes) {
    widening tried = {.is_done = {{false}}};
    int pass = 0;
    int axis = 0;
    while (common_bytes(&job->out, passes) < COMMON_BYTES &&
           find_narrow(passes, &tried, &pass, &axis)) {
        tried.is_done[pass][axis] = !widen(&passes[pass], axis);
    }
    for (int p = 0; p < SLC_REWRITE_PASSES; p++) {
        passes[p].most_reads =
            passes[p].cache_bytes > 0 ? 1 : most_tiles(&passes[p].setup, &passes[p].plan, true);
        passes[p].most_writes = most_tiles(&passes[p].setup, &passes[p].plan, false);
    }
}

/* Both passes, `host_bytes` of host memory being the store's. */
static slc_status plan_two(slci_rewrite_job *job, int64_t host_bytes, slci_rewrite_pass *passes) {
    pass_request first = {.stored_share = slci_array_stored_share(&job->data),
                          .host_bytes = host_bytes};
    pass_request second = {.stored_share = 1,
                           .host_bytes = host_bytes,
                           .write_rate = slci_array_output_rate(&job->output, &job->machine)};
    set_permute(&job->in, job->order, &first.permute);
    set_permute(&job->out, NULL, &second.permute);
    memcpy(first.permute.in_unit, job->in_unit, sizeof first.permute.in_unit);
    memcpy(second.permute.out_unit, job->out_unit, sizeof second.permute.out_unit);
    SLC_TRY(plan_pass(job, &first, &passes[0]));
    if (is_filtered(job) && passes[0].most_reads > 1) {
        SLC_TRY(plan_with_cache(job, &passes[0]));
    }
    SLC_TRY(plan_pass(job, &second, &passes[1]));
    passes[0].job.state = &passes[0].setup;
    widen_passes(job, passes);
    return SLC_OK;
}

/* Blocks of the store in a file are what tiles of both passes have in common, so that each tile moves
 * whole blocks or long runs of them, and take no more than `most_bytes`. */
static void choose_blocks(slci_rewrite_job *job, const slci_rewrite_pass *passes,
                          int64_t most_bytes) {
    const int rank = job->out.rank;
    for (int d = 0; d < rank; d++) {
        job->block[d] = slc_max_i64(job->out.shape[d], 1);
        for (int p = 0; p < SLC_REWRITE_PASSES; p++) {
            const int axis = passes[p].setup.axis_of[d];
            const int64_t tile = axis < 0 ? job->block[d] : passes[p].plan.tile[axis];
            job->block[d] = slc_min_i64(job->block[d], tile);
        }
    }
    /* The slowest dimension that is left is halved, which leaves the runs in a block long. */
    for (int d = 0; d < rank;) {
        const slc_spill_options spill = slci_rewrite_spill(job);
        if (slc_spill_thread_bytes(&spill) <= most_bytes) {
            return;
        }
        if (job->block[d] > 1) {
            job->block[d] = slc_ceil_div(job->block[d], 2);
        } else {
            d++;
        }
    }
}

/* Of host memory, for the pieces of blocks that are moved. */
#define BLOCKS_SHARE 8

/* The store in memory where both passes fit beside it, else in a file. */
static slc_status plan_indirect(slci_rewrite_job *job, slci_rewrite_pass *passes) {
    job->store = SLC_REWRITE_MEMORY;
    const slc_status status = plan_two(job, slc_layout_bytes(&job->out), passes);
    if (status != SLC_ERROR_NO_PLAN) {
        return status;
    }
    const int64_t host_bytes =
        slc_max_i64(slci_machine_left_bytes(&job->machine), 0) / BLOCKS_SHARE;
    const int64_t each = host_bytes / (slc_pool_size(job->machine.pool) + 1);
    job->store = SLC_REWRITE_FILE;
    SLC_TRY(plan_two(job, host_bytes, passes));
    choose_blocks(job, passes, each);
    return SLC_OK;
}

/* ---- the decision ----------------------------------------------------------------------------- */

static slc_status refuse(const slci_rewrite_job *job, const slc_plan *plan) {
    const slci_least least = {.device_bytes = plan->smallest_device_bytes,
                              .ram_bytes =
                                  slci_machine_ram_for(&job->machine, plan->smallest_host_bytes),
                              .whole_device_bytes = plan->whole_device_bytes,
                              .whole_ram_bytes =
                                  slci_machine_ram_for(&job->machine, plan->whole_host_bytes)};
    return slci_machine_refuse(&job->machine, &least);
}

/* Whether one pass is as good as it gets, or two cannot be worth it. */
static bool is_whole(const slci_rewrite_pass *pass) {
    return pass->most_reads <= 1 && pass->most_writes <= 1;
}

/* A chunk that is to be encoded and comes in parts waits in a file, written and read once for each. */
#define WAITING_MOVES 2

/* What the planner does not know: a unit of the output that tiles share is written as often. */
static double pass_seconds(const slci_rewrite_job *job, const slci_rewrite_pass *pass) {
    const double moves = is_encoded(job) ? WAITING_MOVES : 1;
    const double once = (double)pass->plan.bytes_written / job->machine.rates.write_bytes_per_s;
    return pass->plan.seconds_total + (double)(pass->most_writes - 1) * moves * once;
}

/* Whether two passes are to be preferred to a single one that cuts units. */
static bool is_two_better(const slci_rewrite_job *job, const slci_rewrite_pass *direct,
                          const slci_rewrite_pass *passes) {
    const bool reads_too_often = is_filtered(job) && direct->most_reads > MOST_READS;
    const double two = pass_seconds(job, &passes[0]) + pass_seconds(job, &passes[1]);
    return (reads_too_often && passes[0].most_reads < direct->most_reads) ||
           two < pass_seconds(job, direct);
}

static slc_status take_direct(slci_rewrite_job *job, slci_rewrite_pass *direct) {
    if (is_filtered(job) && direct->most_reads > 1) {
        SLC_TRY(plan_with_cache(job, direct));
    }
    job->n_passes = 1;
    job->store = SLC_REWRITE_DIRECT;
    job->pass[0] = *direct;
    job->pass[0].job.state = &job->pass[0].setup;
    return SLC_OK;
}

static void take_two(slci_rewrite_job *job, const slci_rewrite_pass *passes) {
    job->n_passes = 2;
    for (int p = 0; p < 2; p++) {
        job->pass[p] = passes[p];
        job->pass[p].job.state = &job->pass[p].setup;
    }
}

static void explain(slci_rewrite_job *job, const char *why) {
    (void)slci_print(job->result.why, sizeof job->result.why, "%s", why);
}

slc_status slci_rewrite_plan(slci_rewrite_job *job) {
    slci_rewrite_pass direct;
    slci_rewrite_pass passes[SLC_REWRITE_PASSES];
    set_units(job);
    const slc_status status = plan_direct(job, &direct);
    if (status == SLC_ERROR_NO_PLAN) {
        return refuse(job, &direct.plan);
    }
    SLC_TRY(status);
    const bool may_be_direct = !job->is_form_fixed || job->n_fixed == 1;
    const bool may_be_two = !job->is_form_fixed || job->n_fixed == 2;
    if (may_be_direct && (is_whole(&direct) || !may_be_two)) {
        explain(job,
                is_whole(&direct) ? "tiles hold whole chunks of both sides" : "as it was begun");
        return take_direct(job, &direct);
    }
    const slc_status two = plan_indirect(job, passes);
    if (two == SLC_OK && (!may_be_direct || is_two_better(job, &direct, passes))) {
        explain(job, may_be_direct ? "no tile that fits holds whole chunks of both sides"
                                   : "as it was begun");
        take_two(job, passes);
        return SLC_OK;
    }
    if (!may_be_direct || (two != SLC_OK && two != SLC_ERROR_NO_PLAN)) {
        return two;
    }
    explain(job, two == SLC_OK ? "expected to be faster than two, though tiles cut chunks"
                               : "there is no room for a second one, though tiles cut chunks");
    return take_direct(job, &direct);
}

void slci_rewrite_take(slci_rewrite_job *job) {
    slc_rewrite_result *result = &job->result;
    const bool is_empty = slc_layout_count(&job->out) == 0;
    int64_t pass_bytes = 0;
    result->n_passes = is_empty ? 0 : job->n_passes;
    result->store = is_empty ? SLC_REWRITE_DIRECT : job->store;
    result->store_bytes = result->store == SLC_REWRITE_DIRECT ? 0 : slc_layout_bytes(&job->out);
    for (int p = 0; p < job->n_passes; p++) {
        slci_rewrite_pass *pass = &job->pass[p];
        if (is_empty) {
            slci_plan_nothing(&pass->plan);
        }
        result->pass[p].plan = pass->plan;
        result->pass[p].most_reads = pass->most_reads;
        result->pass[p].most_writes = pass->most_writes;
        pass_bytes = slc_max_i64(pass_bytes, pass->plan.host_peak_bytes + pass->cache_bytes);
    }
    const slc_plan *plan = &job->pass[0].plan;
    const int64_t held = slci_machine_held_bytes(&job->machine) - job->data.cache_bytes;
    const int64_t store_bytes = result->store == SLC_REWRITE_MEMORY ? result->store_bytes
                                : result->store == SLC_REWRITE_FILE ? slci_rewrite_spill_bytes(job)
                                                                    : 0;
    result->memory.host_planned_bytes = held + pass_bytes + store_bytes;
    result->memory.smallest_ram_bytes =
        slci_machine_ram_for(&job->machine, plan->smallest_host_bytes - job->data.cache_bytes -
                                                slci_array_output_spare(&job->output));
    for (int a = 0; a < job->pass[0].job.n_axes; a++) {
        (void)slci_print(result->axis_names[a], sizeof result->axis_names[a], "%s",
                         job->pass[0].job.axes[a].name);
    }
}
