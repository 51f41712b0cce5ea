#include "tests/support/test_prediction.h"

#include "io/simulate.h"

static const char sky_text[] = "reference_hz=1.41e9\n"
                               "l=0.01 m=-0.013 flux=1.5\n"
                               "l=-0.02 m=0.009 flux=0.5 major=40 minor=15 pa=40 index=-0.7\n"
                               "l=0.002 m=0.025 flux=-0.2 index=0.5\n"
                               "l=-0.015 m=-0.021 flux=0.9 major=10 minor=10\n";

static void keep_note(void *context, slc_log_level level, const char *text) {
    test_prediction *self = context;
    const size_t used = strlen(self->notes);
    (void)level;
    self->n_notes++;
    (void)snprintf(self->notes + used, sizeof self->notes - used, "%s\n", text);
}

static void simulate(const test_prediction *self) {
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(2, &pool));
    const slc_simulate_options options = {.path = self->sim,
                                          .array = "meerkat",
                                          .sky_path = self->sky,
                                          .n_rows = TEST_PREDICTION_ROWS,
                                          .n_channels = TEST_PREDICTION_CHANNELS,
                                          .freq_hz = TEST_PREDICTION_FREQ_HZ,
                                          .channel_width_hz = TEST_PREDICTION_WIDTH_HZ,
                                          .ra_rad = TEST_PREDICTION_RA,
                                          .dec_rad = TEST_PREDICTION_DEC,
                                          .has_position = true,
                                          .pool = pool};
    TEST_OK(slc_simulate_run(&options));
    slc_pool_destroy(pool);
}

int test_prediction_create(void **state) {
    test_prediction *self = test_allocate(sizeof *self);
    memset(self, 0, sizeof *self);
    test_directory_create(self->directory);
    test_join(self->directory, "sim.uvh5", self->sim);
    test_join(self->directory, "sky.txt", self->sky);
    test_join(self->directory, "model.h5", self->model);
    test_join(self->directory, "out.uvh5", self->out);
    test_write_below(self->directory, "sky.txt", sky_text);
    simulate(self);
    slc_log_init(&self->log, SLC_LOG_NOTE, keep_note, self);
    self->options = (slc_predict_options){.model_path = self->model,
                                          .in_path = self->sim,
                                          .out_path = self->out,
                                          .run = {.vram_bytes = INT64_C(64) << 20,
                                                  .ram_bytes = INT64_C(256) << 20,
                                                  .device = SLC_CHOOSE_HOST,
                                                  .n_threads = 2,
                                                  .overwrite = true,
                                                  .log = &self->log}};
    *state = self;
    return 0;
}

int test_prediction_destroy(void **state) {
    test_prediction *self = *state;
    slc_log_destroy(&self->log);
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

slc_status test_prediction_run(test_prediction *self) {
    self->n_notes = 0;
    self->notes[0] = '\0';
    return slc_predict_run(&self->options, &self->result);
}

slc_image_meta test_prediction_meta(int64_t n_planes) {
    return (slc_image_meta){.nx = TEST_PREDICTION_SIZE,
                            .ny = TEST_PREDICTION_SIZE,
                            .n_planes = n_planes,
                            .n_parts = 1,
                            .scale_rad = TEST_PREDICTION_SCALE,
                            .reference_x = TEST_PREDICTION_SIZE / 2,
                            .reference_y = TEST_PREDICTION_SIZE / 2,
                            .ra_rad = TEST_PREDICTION_RA,
                            .dec_rad = TEST_PREDICTION_DEC,
                            .frame = "ICRS",
                            .stokes = 1,
                            .has_position = true,
                            .has_frequency = true,
                            .freq_hz = TEST_PREDICTION_FREQ_HZ,
                            .width_hz = TEST_PREDICTION_WIDTH_HZ,
                            .freq_step_hz = TEST_PREDICTION_WIDTH_HZ,
                            .unit = "Jy/pixel"};
}
