/* The set is as large as makes the pass last about a second on a fast card of its kind; a sixteenth of
 * it is room for a few tiles. A card with a product kernel gets more to do, in a field so narrow that
 * all of it is products. */
#include "app/bench_image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/simulate.h"
#include "kernels/direct.h"

static const slci_bench_set of_products = {.n_rows = 10000000,
                                           .n_channels = 4,
                                           .n_pixels = 768,
                                           .freq_hz = 49e9};
static const slci_bench_set of_sines = {.n_rows = 2000000, .n_channels = 4, .n_pixels = 512};
static const slci_bench_set of_processors = {.n_rows = 200000, .n_channels = 16, .n_pixels = 96};

/* What a row takes on the device: uvw, and of each channel a visibility and its weight. */
#define ROW_BYTES (INT64_C(3) * 8)
#define SAMPLE_BYTES (8 + 4)
#define VRAM_SHARE 16

slc_status slci_bench_set_make(const slci_bench_options *options, const slci_machine *machine,
                               slci_bench_set *set) {
    SLC_TRY(slci_bench_folder_make(options->folder, &set->folder));
    (void)snprintf(set->path, sizeof set->path, "%s/set.uvh5", set->folder.path);
    slc_simulate_options simulate = {.path = set->path,
                                     .n_rows = set->n_rows,
                                     .n_channels = set->n_channels,
                                     .freq_hz = set->freq_hz,
                                     .n_polarisations = 1,
                                     .pool = machine->pool,
                                     .cancel = options->run.cancel};
    SLC_TRY(slc_simulate_resolve(&simulate));
    SLC_TRY(slc_simulate_run(&simulate));
    set->image = calloc((size_t)(set->n_pixels * set->n_pixels), sizeof *set->image);
    return set->image != NULL ? SLC_OK : SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the image");
}

void slci_bench_set_remove(slci_bench_set *set) {
    free(set->image);
    if (set->path[0] != '\0') {
        (void)unlink(set->path);
    }
    slci_bench_folder_remove(&set->folder);
}

slc_status slci_bench_set_image(const slci_bench_options *options, const slci_bench_set *set,
                                int64_t vram_bytes, slc_image_result *result) {
    const char *const inputs[] = {set->path};
    slc_image_options image;
    slc_image_options_init(&image);
    image.inputs = inputs;
    image.n_inputs = 1;
    image.image = set->image;
    image.nx = set->n_pixels;
    image.ny = set->n_pixels;
    image.run = options->run;
    image.run.vram_bytes = vram_bytes;
    image.run.log = NULL; /* what it notes is known here */
    return slc_image_run(&image, result);
}

static slc_status run_both(const slci_bench_options *options, const slci_bench_set *set,
                           slci_bench_image *out) {
    slci_bench_image best = {.small_seconds = INFINITY, .resident_seconds = INFINITY};
    best.data_bytes = set->n_rows * (ROW_BYTES + set->n_channels * SAMPLE_BYTES);
    best.vram_bytes = best.data_bytes / VRAM_SHARE;
    best.pairs = (double)set->n_rows * (double)set->n_channels * (double)set->n_pixels *
                 (double)set->n_pixels;
    for (int i = 0; i < (options->is_quick ? 1 : 3); i++) {
        slc_image_result result;
        SLC_TRY(slci_bench_set_image(options, set, best.vram_bytes, &result));
        if (result.report.seconds_total < best.small_seconds) {
            best.small_seconds = result.report.seconds_total;
            best.small_planned = result.plan.seconds_total;
            best.overlap = slc_engine_overlap(&result.report);
        }
        SLC_TRY(slci_bench_set_image(options, set, options->run.vram_bytes, &result));
        if (result.report.seconds_total < best.resident_seconds) {
            best.resident_seconds = result.report.seconds_total;
            best.resident_planned = result.plan.seconds_total;
        }
    }
    *out = best;
    return SLC_OK;
}

slc_status slci_bench_image_run(const slci_bench_options *options, const slci_machine *machine,
                                slci_bench_image *out) {
    slc_direct_card card;
    SLC_TRY(slc_direct_card_get(machine->device, &card));
    slci_bench_set set = machine->device->kind != SLC_DEVICE_CUDA ? of_processors
                         : card.unit != SLC_DIRECT_UNIT_NONE      ? of_products
                                                                  : of_sines;
    slc_status status = slci_bench_set_make(options, machine, &set);
    if (status == SLC_OK) {
        status = run_both(options, &set, out);
    }
    slci_bench_set_remove(&set);
    return status;
}
