/* The checkpoint of a rewriting. Its passes are the checkpoint's stages, so a resumed run keeps to
 * their number; where the array is between them is free. */
#include "app/rewrite_job.h"
#include "core/version.h"

static int64_t kept_bytes(void *context) {
    (void)context;
    return 1;
}

static void keep(void *context, void *out) {
    const slci_rewrite_job *job = context;
    *(unsigned char *)out = (unsigned char)job->n_passes;
}

static slc_status restore(void *context, const void *data, int64_t n_bytes) {
    slci_rewrite_job *job = context;
    const int n_passes = n_bytes == kept_bytes(context) ? *(const unsigned char *)data : 0;
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
    const slc_checkpoint_client client = {.context = job,
                                          .bytes = kept_bytes,
                                          .save = keep,
                                          .load = restore};
    const slc_status status = slc_checkpoint_begin(job->machine.checkpoint, &print, &client);
    slc_fingerprint_destroy(&print);
    job->result.is_resumed = slc_checkpoint_is_resumed(job->machine.checkpoint);
    return status;
}
