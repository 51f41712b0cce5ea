/* The checkpoint of a gather. It has one stage, the engine's run. Whole data and streamed data are
 * cut along different axes, so what is left of one cannot be done as the other: the state keeps
 * which it is, and a resumed run keeps to it. Resident and mapped data are cut alike. */
#include "app/gather_job.h"
#include "core/version.h"

static unsigned char keep(const void *context) {
    const slci_gather_job *job = context;
    return job->result.sparse == SLC_SPARSE_STREAMED;
}

static slc_status restore(void *context, int64_t n_bytes, unsigned char is_streamed) {
    slci_gather_job *job = context;
    if (n_bytes != 1) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "the checkpoint says in %lld bytes how the data is treated, "
                        "expected 1",
                        (long long)n_bytes);
    }
    job->is_form_fixed = true;
    job->form = is_streamed != 0 ? SLC_GATHER_STREAMED : SLC_GATHER_WHOLE;
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
    job->kept = (slci_kept_byte){.job = job, .save = keep, .load = restore};
    const slc_checkpoint_client client = slci_kept_byte_client(&job->kept);
    return slci_machine_begin_checkpoint(&job->machine, &print, &client, &job->result.is_resumed);
}
