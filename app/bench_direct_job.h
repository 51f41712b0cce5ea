/* The whole imaging job over a simulated set that is as long as its kernel takes some seconds for.
 * Internal to app.
 *
 *     SLC_TRY(slci_direct_job_time(&request, &result));
 */
#ifndef SLC_APP_BENCH_DIRECT_JOB_H
#define SLC_APP_BENCH_DIRECT_JOB_H

#include "app/bench_engine.h"
#include "app/image.h"
#include "app/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_direct_job_request {
    const slci_bench_options *options; /* n_visibilities: the set's length; 0: see above */
    const slci_machine *machine;
    int64_t n_pixels;              /* of a side */
    double freq_hz;                /* of the VLA in its smallest configuration */
    double kernel_rate, sine_rate; /* pairs a second of the kernels alone */
    double seconds;                /* of the kernel */
    int n_runs;                    /* the best counts, as of the kernels alone */
} slci_direct_job_request;

typedef struct slci_direct_job_result {
    slc_image_result image;
    int64_t vram_bytes;
    bool is_sine; /* all its tiles are the sine kernel's, by that job's own choice */
} slci_direct_job_result;

/* Every status can come back; no file stays. */
SLC_MUST_USE slc_status slci_direct_job_time(const slci_direct_job_request *request,
                                             slci_direct_job_result *out);

#ifdef __cplusplus
}
#endif
#endif
