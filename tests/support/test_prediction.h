/* A simulated set to predict for, and a run of the predict job on the host device.
 *
 *     static void works(void **state) {
 *         test_prediction *self = *state;          // made by test_prediction_create
 *         self->options.model_path = self->sky;
 *         TEST_OK(test_prediction_run(self));
 *     }
 */
#ifndef SLC_TESTS_SUPPORT_TEST_PREDICTION_H
#define SLC_TESTS_SUPPORT_TEST_PREDICTION_H

#include "app/predict.h"
#include "io/image_file.h"
#include "tests/support/test_near.h"

/* The set, and Σ|I| of the sky in it. */
#define TEST_PREDICTION_RA 1.0
#define TEST_PREDICTION_DEC 0.6
#define TEST_PREDICTION_ROWS 2500
#define TEST_PREDICTION_CHANNELS 3
#define TEST_PREDICTION_FREQ_HZ 1.4e9
#define TEST_PREDICTION_WIDTH_HZ 20e6
#define TEST_PREDICTION_SKY_JY 3.1

/* A picture about the set's phase centre: pixels on a side, and radians of one, so many that signs of w
 * show. */
#define TEST_PREDICTION_SIZE 64
#define TEST_PREDICTION_SCALE 1e-3

typedef struct test_prediction {
    char directory[TEST_PATH_BYTES];
    char sim[TEST_PATH_BYTES], sky[TEST_PATH_BYTES]; /* the set, and its sky as a list */
    char model[TEST_PATH_BYTES];                     /* not made */
    char out[TEST_PATH_BYTES];
    slc_predict_options options; /* sim with model to out */
    slc_predict_result result;
    int n_notes; /* of the last run: notes and warnings */
    char notes[1024];
    slc_log log;
} test_prediction;

/* Setup and teardown of a test. */
int test_prediction_create(void **state);
int test_prediction_destroy(void **state);

slc_status test_prediction_run(test_prediction *self);

/* The description of such a picture, its planes about the set's channels, in Jy/pixel. */
slc_image_meta test_prediction_meta(int64_t n_planes);

#endif
