/* Images one set of visibilities under a budget of memory: image INPUT.uvh5 OUTPUT.fits */
#include <sluice.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: image INPUT.uvh5 OUTPUT.fits\n");
        return 2;
    }
    const char *const inputs[] = {argv[1]};
    const char *const outputs[] = {argv[2]};
    slc_image_options options;
    slc_image_options_init(&options);
    options.inputs = inputs;
    options.n_inputs = 1;
    options.outputs = outputs;
    options.n_outputs = 1;
    options.run.vram_bytes = 64 << 20; /* budgets have no default: zero is zero */
    options.run.ram_bytes = 512 << 20;

    slc_image_result result;
    const slc_status status = slc_image_run(&options, &result);
    if (status != SLC_OK) {
        fprintf(stderr, "image: %s\n", slc_status_message());
        return slc_status_exit_code(status);
    }
    printf("peak %.6g %s, rms %.3g, from %lld visibilities on %s\n", result.peak, result.meta.unit,
           result.rms, (long long)result.n_used, result.device_name);
    return 0;
}
