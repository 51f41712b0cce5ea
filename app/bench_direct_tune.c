/* Shapes of work that differ in how many kernel tiles and how many runs of samples they have, since
 * that is what the model goes by. Each is one engine tile. */
#include "app/bench_direct_tune.h"

#include <string.h>

#include "app/bench_direct_field.h"
#include "app/direct_tune.h"
#include "core/checked.h"
#include "core/print.h"
#include "core/units.h"

/* Of the fastest of the tuned set. */
#define GOAL 0.95

typedef struct shape {
    slci_bench_field field;
    double epsilon;
    int64_t size, n; /* pixels of a side; visibilities */
    bool may_multiply;
} shape;

static const shape card_shapes[] = {
    {{"VLA-A L band", SLCI_BENCH_VLA_A}, 1e-6, 2048, 200000, true},
    {{"VLA-A L band", SLCI_BENCH_VLA_A}, 1e-6, 2048, 20000, true},
    {{"VLA-A L band", SLCI_BENCH_VLA_A}, 1e-6, 512, 1000000, true},
    {{"VLA-A L band", SLCI_BENCH_VLA_A}, 1e-6, 1536, 100000, true},
    {{"VLA-A L band to 1e-3", SLCI_BENCH_VLA_A}, 1e-3, 2048, 200000, true},
    {{"SKA-low 5 degrees", SLCI_BENCH_SKA_LOW}, 1e-6, 2048, 50000, true},
    {{"MWA 34 degrees", SLCI_BENCH_MWA(34.0)}, 1e-6, 1024, 50000, true},
    {{"VLA-A L band, sines", SLCI_BENCH_VLA_A}, 1e-6, 512, 200000, false},
    {{"VLA-A L band, sines", SLCI_BENCH_VLA_A}, 1e-6, 1024, 40000, false},
};

static const shape host_shapes[] = {
    {{"VLA-A L band", SLCI_BENCH_VLA_A}, 1e-6, 1024, 4096, true},
    {{"VLA-A L band", SLCI_BENCH_VLA_A}, 1e-6, 256, 65536, true},
    {{"VLA-A L band", SLCI_BENCH_VLA_A}, 1e-6, 64, 262144, true},
    {{"SKA-low 5 degrees", SLCI_BENCH_SKA_LOW}, 1e-6, 512, 16384, true},
    {{"MWA 34 degrees", SLCI_BENCH_MWA(34.0)}, 1e-6, 512, 8192, true},
};

/* Less of the same with --quick. */
#define QUICK_SHARE 4

/* ---- figures -----------------------------------------------------------------------------------
 * */

/* Every member, as far as there is room. */
static void say_members(const slci_direct_trial *trial, double pairs, double unit,
                        slci_bench_figure *figure) {
    for (int i = 0; i < trial->n; i++) {
        const size_t used = strlen(figure->note);
        char rate[SLCI_TEXT_BYTES];
        slci_format_number(pairs / trial->tried[i].seconds / unit, 3, rate);
        (void)slci_print(figure->note + used, sizeof figure->note - used, "%s%lld: %s",
                         i == 0 ? "by split " : ", ", (long long)trial->tried[i].split, rate);
    }
}

static void add_trial(const shape *of, int64_t n, double pairs, bool is_card,
                      const slci_direct_trial *trial, slci_bench_result *result) {
    const double unit = is_card ? 1e12 : 1e9;
    const slci_direct_try *model = &trial->tried[trial->model];
    const slci_direct_try *best = &trial->tried[trial->best];
    slci_bench_figure figure = {.measured = pairs / model->seconds / unit,
                                .limit = pairs / best->seconds / unit,
                                .goal = GOAL};
    (void)slci_print(figure.unit, sizeof figure.unit, is_card ? "Tpairs/s" : "Gpairs/s");
    (void)slci_print(figure.what, sizeof figure.what, "%s, %lld^2, %.2g vis.", of->field.name,
                     (long long)of->size, (double)n);
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "%s: split %lld; best of %d: %lld",
                     slci_direct_launch_name(trial->launch), (long long)model->split, trial->n,
                     (long long)best->split);
    say_members(trial, pairs, unit, &figure);
    slci_bench_add(result, &figure);
}

/* ---- shapes ------------------------------------------------------------------------------------
 * */

static slc_status try_shape(const slci_bench_options *options, const slci_machine *machine,
                            const shape *of, slci_bench_result *result) {
    const bool is_card = machine->device->kind == SLC_DEVICE_CUDA;
    const int64_t n = options->is_quick ? of->n / QUICK_SHARE : of->n;
    const slci_bench_field_request wanted = {.machine = machine,
                                             .field = &of->field,
                                             .size = of->size,
                                             .n = n};
    slci_bench_field_data data;
    slc_direct_setup setup;
    slc_direct_summary summary;
    slci_direct_trials trials;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slci_bench_field_make(&wanted, &data));
    SLC_TRY_GOTO(done, slci_bench_field_choose(&data, of->epsilon, of->may_multiply, &setup));
    slc_direct_summarise(&setup, &summary);
    const int64_t full_extent[] = {slc_round_up(n, setup.granule_rows),
                                   slc_round_up(of->size, setup.tile_pixels),
                                   slc_round_up(of->size, setup.tile_pixels)};
    const slci_direct_tune_request request = {.machine = machine,
                                              .setup = &setup,
                                              .summary = &summary,
                                              .survey = &data.survey,
                                              .n_rows = n,
                                              .full_extent = full_extent,
                                              .run = &options->run};
    SLC_TRY_GOTO(done, slci_direct_tune(&request, &trials));
    for (int i = 0; i < trials.n; i++) {
        add_trial(of, n, (double)n * (double)summary.finite_pixels, is_card, &trials.trial[i],
                  result);
    }
done:
    slci_bench_field_free(&data);
    return slci_bench_or_omit(result, status, of->field.name);
}

slc_status slci_bench_direct_tune(const slci_bench_options *options, slci_bench_result *out) {
    slci_bench_result result = {.n_figures = 0};
    slci_machine machine = {0};
    slc_run_options run = options->run;
    slc_status status = SLC_OK;
    run.probes = false; /* nothing is planned */
    SLC_TRY_GOTO(done, slci_machine_open(&run, &machine));
    SLC_TRY_GOTO(done, slc_direct_card_get(machine.device, &machine.card));
    const bool is_card = machine.device->kind == SLC_DEVICE_CUDA;
    const shape *shapes = is_card ? card_shapes : host_shapes;
    const size_t n_shapes = is_card ? sizeof card_shapes / sizeof card_shapes[0]
                                    : sizeof host_shapes / sizeof host_shapes[0];
    memcpy(result.device_name, machine.limits.name, sizeof result.device_name);
    memcpy(result.software, machine.limits.software, sizeof result.software);
    result.n_threads = slc_pool_size(machine.pool);
    for (size_t i = 0; i < n_shapes; i++) {
        SLC_TRY_GOTO(done, try_shape(options, &machine, &shapes[i], &result));
    }
    *out = result;
done:
    slci_machine_close(&machine);
    return status;
}
