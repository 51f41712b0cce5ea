/* The imaging job under a sixteenth of its data's size against the same with everything resident.
 * Internal to app.
 *
 *     SLC_TRY(slci_bench_image_run(&options, &machine, &image));
 */
#ifndef SLC_APP_BENCH_IMAGE_H
#define SLC_APP_BENCH_IMAGE_H

#include "app/bench_engine.h"
#include "app/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_bench_image {
    int64_t data_bytes, vram_bytes; /* of the set as the device sees it, and the small budget */
    double pairs;                   /* visibilities × pixels */
    double small_seconds, resident_seconds; /* of the imaging pass, the best of some */
    double small_planned, resident_planned; /* what the plans of these expect it to take */
    double overlap;                         /* of the stages under the small budget */
} slci_bench_image;

/* Simulates a set in the options' folder, images it, and removes it. The machine's pool simulates;
 * the job opens a device of its own. Every status can come back. */
SLC_MUST_USE slc_status slci_bench_image_run(const slci_bench_options *options,
                                             const slci_machine *machine, slci_bench_image *out);

#ifdef __cplusplus
}
#endif
#endif
