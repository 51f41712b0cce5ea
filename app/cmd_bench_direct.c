/* The ladder's last step is a matrix product; the one before it is where tutorials end: a sine and a
 * cosine a pair. What each is held against is its limit, which the processor's sines have none of. */
#include "app/cmd_bench_direct.h"

#include "app/bench_direct.h"
#include "app/bench_direct_tune.h"
#include "app/cmd_ladder.h"

static slc_status measure_limit(const slci_climb *climb, const ladder_step *step,
                                slci_bench_rate *out) {
    if (step->limit < 0) {
        *out = (slci_bench_rate){.name = ""};
        return SLC_OK;
    }
    out->name = climb->steps->limits[step->limit].name;
    return slci_climb_limit(climb, step->limit, &out->pairs_per_s);
}

static slc_status measure_peers(const slci_bench_options *options, const slci_machine *machine,
                                slci_bench_peers *out) {
    const slci_climb_request request = {.machine = machine,
                                        .cuda_index = options->run.cuda_index,
                                        .is_quick = options->is_quick};
    slc_status status = SLC_OK;
    slci_climb climb;
    slci_rung rung = {.pairs_per_s = 0};
    slci_bench_peers peers;
    SLC_TRY_GOTO(done, slci_climb_begin(&request, &climb));
    const ladder_step *const product = climb.steps->steps[climb.steps->n_steps - 1];
    const ladder_step *const before = climb.steps->steps[climb.steps->n_steps - 2];
    SLC_TRY_GOTO(done, measure_limit(&climb, product, &peers.product));
    SLC_TRY_GOTO(done, measure_limit(&climb, before, &peers.sine));
    SLC_TRY_GOTO(done, slci_climb_step(&climb, before, &rung));
    peers.step = (slci_bench_rate){.name = before->name, .pairs_per_s = rung.pairs_per_s};
    *out = peers;
done:
    slci_climb_end(&climb);
    return status;
}

slc_status slci_cmd_bench_direct(const slci_bench_options *options, slci_bench_result *out) {
    return options->tunes ? slci_bench_direct_tune(options, out)
                          : slci_bench_direct(options, measure_peers, out);
}
