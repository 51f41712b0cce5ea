/* The checkpoint of a gather. It has one stage, the engine's run. Whole data and streamed data are
 * cut along different axes, so what is left of one cannot be done as the other: the state keeps
 * which it is, and a resumed run keeps to it. Resident and mapped data are cut alike. */
#include "app/gather_job.h"
#include "core/version.h"

static int64_t kept_bytes(void *context) {
    (void)context;
    return 1;
}

static void keep(void *context, void *out) {
    const slci_gather_job *job = context;
    *(unsigned char *)out = job->result.sparse == SLC_SPARSE_STREAMED;
}

static slc_status restore(void *context, const void *data, int64_t n_bytes) {
    slci_gather_job *job = context;
    if (n_bytes != kept_bytes(context)) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "the checkpoint says in %lld bytes how the data is treated, "
                        "expected 1",
                        (long long)n_bytes);
    }
    job->is_form_fixed = true;
    job->form = *(const unsigned char *)data != 0 ? SLC_GATHER_STREAMED : SLC_GATHER_WHOLE;
    return SLC_OK;
}

/* What decides the result. The way in which it is done does not, nor does the device. */
slc_status slci_gather_begin_checkpoint(slci_gather_job *job) {
    if (job->machine.checkpoint == NULL) {
        return SLC_OK;
    }
    slc_fingerprint print = {0};
    slc_fingerprint_add_text(&print, "command", "gather");
    slc_fingerprint_add_text(&print, "version", SLC_VERSION);
    slc_fingerprint_add_text(&print, "data", job->data->identity);
    slc_fingerprint_add_text(&print, "index", job->index->identity);
    slc_fingerprint_add_i64(&print, "axis", job->result.axis);
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
