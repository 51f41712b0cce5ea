/* A simulated set of visibilities and the imaging job on it: under a sixteenth of its data's size
 * against the same with everything resident, or once. Internal to app.
 *
 *     SLC_TRY(slci_bench_image_run(&options, &machine, &image));
 */
#ifndef SLC_APP_BENCH_IMAGE_H
#define SLC_APP_BENCH_IMAGE_H

#include "app/bench_engine.h"
#include "app/bench_folder.h"
#include "app/image.h"
#include "app/machine.h"
#include "io/outfile.h"

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

/* A simulated set, and room for its picture. The caller says how large they are. */
typedef struct slci_bench_set {
    int64_t n_rows, n_channels, n_pixels;
    double freq_hz; /* of the first channel; 0: the array's own */
    slci_bench_folder folder;
    char path[SLC_PATH_BYTES + 16];
    double *image; /* [n_pixels, n_pixels], thrown away */
} slci_bench_set;

/* What is made is removed by slci_bench_set_remove either way. The machine's pool simulates. */
SLC_MUST_USE slc_status slci_bench_set_make(const slci_bench_options *options,
                                            const slci_machine *machine, slci_bench_set *set);
void slci_bench_set_remove(slci_bench_set *set);

/* Images it; the job opens a device of its own. Every status can come back. */
SLC_MUST_USE slc_status slci_bench_set_image(const slci_bench_options *options,
                                             const slci_bench_set *set, int64_t vram_bytes,
                                             slc_image_result *result);

#ifdef __cplusplus
}
#endif
#endif
