/* The checkpoint of a rewriting. Its passes are the checkpoint's stages, so a resumed run keeps to
 * their number; where the array is between them is free. */
#include "app/rewrite_job.h"
#include "core/version.h"

static unsigned char keep(const void *context) {
    const slci_rewrite_job *job = context;
    return (unsigned char)job->n_passes;
}

static slc_status restore(void *context, int64_t n_bytes, unsigned char n_passes) {
    slci_rewrite_job *job = context;
    if (n_passes < 1 || n_passes > SLC_REWRITE_PASSES) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "the checkpoint says in %lld bytes that there are %d passes, expected 1 "
                        "byte and 1 or 2",
                        (long long)n_bytes, n_passes);
    }
    job->is_form_fixed = true;
    job->n_fixed = n_passes;
    return SLC_OK;
}

/* What decides the result, and how it is stored. */
slc_status slci_rewrite_begin_checkpoint(slci_rewrite_job *job) {
    if (job->machine.checkpoint == NULL) {
        return SLC_OK;
    }
    slc_fingerprint print = {0};
    slc_fingerprint_add_text(&print, "command", "rewrite");
    slc_fingerprint_add_text(&print, "version", SLC_VERSION);
    slc_fingerprint_add_text(&print, "data", job->data.source->identity);
    for (int d = 0; d < job->result.out.rank; d++) {
        slc_fingerprint_add_i64(&print, "axis", job->result.order[d]);
    }
    slci_array_output_add_to(&job->output, &print);
    job->kept = (slci_kept_byte){.job = job, .save = keep, .load = restore};
    const slc_checkpoint_client client = slci_kept_byte_client(&job->kept);
    return slci_machine_begin_checkpoint(&job->machine, &print, &client, &job->result.is_resumed);
}
