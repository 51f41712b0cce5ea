/* A step that is wrong has no speed: each makes its picture once, the picture is looked at, and only
 * then the step is timed, unless that first time took so long that it counts by itself. */
#include "app/cmd_ladder.h"

#include <stdlib.h>

#define N_REPEATS 5

/* A first run that took so long is not repeated. */
#define LONG_SECONDS 0.5

/* A card's step makes 1.4 · 10^11 pairs, from most of a second down to a few milliseconds; the
 * processor's 10^9. */
typedef struct extents {
    int size, n;
} extents;

static const extents card_extents[] = {{2048, 32768}, {1024, 16384}};
static const extents host_extents[] = {{512, 4096}, {512, 128}};

static slc_status take_memory(slci_climb *self) {
    const slci_machine *machine = self->request.machine;
    const bool is_card = machine->device->kind == SLC_DEVICE_CUDA;
    const extents chosen = (is_card ? card_extents : host_extents)[self->request.is_quick ? 1 : 0];
    const ladder_problem outline = {.n = chosen.n, .size = chosen.size};
    const ladder_bytes own = self->steps->bytes(&outline, self->n_threads);
    const int64_t host_bytes = own.host + ladder_problem_bytes(chosen.n, chosen.size);
    SLC_TRY(slc_budget_reserve(machine->budget, SLC_SPACE_DEVICE, own.device, "ladder"));
    self->card_bytes = own.device;
    SLC_TRY(slc_budget_reserve(machine->budget, SLC_SPACE_HOST, host_bytes, "ladder"));
    self->host_bytes = host_bytes;
    self->image = malloc(sizeof *self->image * (size_t)chosen.size * (size_t)chosen.size);
    if (self->image == NULL || !ladder_problem_create(chosen.n, chosen.size, &self->problem)) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a picture of %d x %d pixels", chosen.size,
                        chosen.size);
    }
    return SLC_OK;
}

slc_status slci_climb_begin(const slci_climb_request *request, slci_climb *out) {
    const slci_machine *machine = request->machine;
    const bool is_card = machine->device->kind == SLC_DEVICE_CUDA;
    *out = (slci_climb){.request = *request,
                        .steps = is_card ? ladder_get_cuda() : ladder_get_host(),
                        .n_threads = slc_pool_size(machine->pool)};
    const char *failure = out->steps->choose(request->cuda_index);
    if (failure != NULL) {
        return SLC_FAIL(SLC_ERROR_DEVICE, "device %d: %s", request->cuda_index, failure);
    }
    SLC_TRY(take_memory(out));
    ladder_reference_make(&out->problem, &out->reference);
    return SLC_OK;
}

void slci_climb_end(slci_climb *climb) {
    if (climb->request.machine != NULL) {
        slc_budget *budget = climb->request.machine->budget;
        slc_budget_release(budget, SLC_SPACE_DEVICE, climb->card_bytes);
        slc_budget_release(budget, SLC_SPACE_HOST, climb->host_bytes);
    }
    ladder_problem_destroy(&climb->problem);
    free(climb->image);
    *climb = (slci_climb){.image = NULL};
}

static slc_status run_step(slci_climb *self, const ladder_step *step, int repeats,
                           ladder_run *run) {
    const char *failure =
        step->run(step, &self->problem, self->n_threads, repeats, self->image, run);
    if (failure != NULL) {
        return SLC_FAIL(SLC_ERROR_DEVICE, "ladder, %s: %s", step->name, failure);
    }
    return SLC_OK;
}

slc_status slci_climb_step(slci_climb *climb, const ladder_step *step, slci_rung *out) {
    ladder_run run = {0};
    SLC_TRY(run_step(climb, step, 1, &run));
    const double error = ladder_error(&climb->reference, climb->image);
    const double tolerance = ladder_tolerance(&climb->problem, step->precision);
    if (!(error <= tolerance)) {
        return SLC_FAIL(SLC_ERROR_INTERNAL,
                        "ladder, %s: off by %.3g of the largest value that a pixel could have, at "
                        "most %.3g was expected",
                        step->name, error, tolerance);
    }
    if (run.seconds < LONG_SECONDS) {
        SLC_TRY(run_step(climb, step, N_REPEATS, &run));
    }
    const double pairs =
        (double)climb->problem.size * (double)climb->problem.size * (double)climb->problem.n;
    *out = (slci_rung){.step = step,
                       .pairs_per_s = pairs / run.seconds,
                       .error = error,
                       .tolerance = tolerance,
                       .run = run};
    return SLC_OK;
}

slc_status slci_climb_limit(const slci_climb *climb, int limit, double *pairs_per_s) {
    const ladder_limit *one = &climb->steps->limits[limit];
    const char *failure = one->measure(climb->n_threads, pairs_per_s);
    if (failure != NULL) {
        return SLC_FAIL(SLC_ERROR_DEVICE, "ladder, %s: %s", one->name, failure);
    }
    return SLC_OK;
}
