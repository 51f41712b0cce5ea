/* What a run is bound to, against what its job wants. */
#include "ooc/engine_internal.h"

/* What operand `o` is bound to; NULL where that is nothing. */
static const slc_layout *bound_layout(const slc_job *job, const slc_binding *binding, int o) {
    if (job->operands[o].access == SLC_ACCESS_IN) {
        const bool has_field = binding->source != NULL && binding->field >= 0 &&
                               binding->field < binding->source->n_fields;
        return has_field ? &binding->source->fields[binding->field] : NULL;
    }
    return binding->sink != NULL ? &binding->sink->layout : NULL;
}

/* Buffers are sized by the operand and filled by the source: a difference would be written past their
 * end. */
static slc_status check_layout(const slc_job *job, int o, const slc_layout *bound) {
    slc_layout full;
    SLC_TRY(slc_job_full_layout(job, o, &full));
    if (bound->dtype != full.dtype || bound->rank != full.rank) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "job %s: operand %s is %s of rank %d and bound to %s of rank %d", job->name,
                        job->operands[o].name, slc_dtype_name(full.dtype), full.rank,
                        slc_dtype_name(bound->dtype), bound->rank);
    }
    for (int d = 0; d < full.rank; d++) {
        if (bound->shape[d] != full.shape[d]) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "job %s: dimension %d of operand %s has %lld elements and is bound to "
                            "%lld",
                            job->name, d, job->operands[o].name, (long long)full.shape[d],
                            (long long)bound->shape[d]);
        }
    }
    return SLC_OK;
}

slc_status slci_bindings_check(const slc_job *job, const slc_engine_options *options) {
    for (int o = 0; o < job->n_operands; o++) {
        if (job->operands[o].access == SLC_ACCESS_WORK) {
            continue;
        }
        const slc_layout *bound = bound_layout(job, &options->bindings[o], o);
        if (bound == NULL) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "job %s: operand %s is bound to nothing", job->name,
                            job->operands[o].name);
        }
        SLC_TRY(check_layout(job, o, bound));
    }
    return SLC_OK;
}
