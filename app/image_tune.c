/* What does not touch a bit of the image: how the work of its kernels is divided. It is measured
 * over one tile of the plan, alone on the device, before anything else is there. */
#include "app/image_tune.h"

#include "app/direct_tune.h"
#include "app/image_job.h"
#include "core/print.h"

void slci_image_format_split(const slc_image_launch *launch, char text[SLCI_IMAGE_SPLIT_BYTES]) {
    const char *how = launch->is_tuned ? "tuned on this machine" : "by the model";
    if (launch->launch == SLC_DIRECT_LAUNCH_HOST) {
        (void)slci_print(text, SLCI_IMAGE_SPLIT_BYTES, "split %lld, %s", (long long)launch->split,
                         how);
    } else {
        (void)slci_print(text, SLCI_IMAGE_SPLIT_BYTES, "%s kernel: split %lld, %s",
                         slci_direct_launch_name(launch->launch), (long long)launch->split, how);
    }
}

static slci_tuning_place place_of(const slci_image_job *job) {
    const slc_run_options *run = &job->options->run;
    return (slci_tuning_place){.device = job->machine.device,
                               .folder = run->cache_folder,
                               .log = run->log};
}

void slci_image_load_tuning(slci_image_job *job) {
    if (job->options->run.probes) {
        const slci_tuning_place place = place_of(job);
        slci_tuning_book_load(&place, &job->book);
    }
}

/* Into the book and, of what the plan says, the launches of that shape. */
static void keep(slci_image_job *job, const slci_direct_trial *trial) {
    const int64_t split = slci_direct_trial_split(trial);
    slc_image_tuning *tuning = &job->result.tuning;
    slci_tuning_book_add(&job->book, trial->launch, &trial->division, split);
    for (int i = 0; i < tuning->n; i++) {
        if (tuning->launch[i].launch == trial->launch) {
            tuning->launch[i].split = split;
            tuning->launch[i].is_tuned = true;
        }
    }
    slc_log_note(
        job->options->run.log,
        "tuned the %s kernel's work: split %lld of %d tried, at %.3g s a tile; the model's "
        "%lld reaches %.3g %% of the best",
        slci_direct_launch_name(trial->launch), (long long)split, trial->n,
        trial->tried[trial->best].seconds, (long long)trial->tried[trial->model].split,
        100.0 * slci_direct_trial_share(trial));
}

slc_status slci_image_tune(slci_image_job *job) {
    const slc_run_options *run = &job->options->run;
    const slci_pass *pass = &job->pass; /* the image's of the last plane; all are alike */
    /* Further polarisations are divided like the first. */
    const slc_direct_setup setup = slc_direct_pol_setup(&pass->setup, 0);
    const slci_direct_tune_request request = {.machine = &job->machine,
                                              .setup = &setup,
                                              .summary = &pass->summary,
                                              .survey = &pass->request.survey,
                                              .n_rows = pass->request.n_rows,
                                              .full_extent = pass->plan.tile,
                                              .run = run};
    slci_direct_trials trials;
    const slc_status status = slci_direct_tune(&request, &trials);
    if (status == SLC_ERROR_MEMORY) {
        slc_log_warning(run->log, "not tuned, the model's choice is taken: %s",
                        slc_status_message());
        return SLC_OK;
    }
    SLC_TRY(status);
    for (int i = 0; i < trials.n; i++) {
        keep(job, &trials.trial[i]);
    }
    const slci_tuning_place place = place_of(job);
    if (slci_tuning_book_save(&place, &job->book) != SLC_OK) {
        slc_log_warning(run->log, "what was tuned serves this run alone: %s", slc_status_message());
    }
    return SLC_OK;
}
