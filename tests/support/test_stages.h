/* A "program" of several stages under one checkpoint, which a test can stop after any number of tiles
 * and run again, each time with other tiles. Results are checked by each stage itself.
 *
 *     test_stages stages = {.device = …, .pool = …, .budget = …, .path = path, .n_stages = 3,
 *                           .bind = bind, .errors = errors};
 *     test_attempt attempt = {.seed = 1, .stop_after = 5};
 *     TEST_FAILS(test_stages_run(&stages, &attempt), SLC_ERROR_INTERRUPTED, "--resume");
 */
#ifndef SLC_TESTS_SUPPORT_TEST_STAGES_H
#define SLC_TESTS_SUPPORT_TEST_STAGES_H

#include "tests/support/test_fixture.h"
#include "tests/support/test_jobs.h"

#include "ooc/execute.h"

typedef struct test_stages {
    slc_device *device;
    slc_pool *pool;
    slc_budget *budget;
    slc_log *log;
    const char *path; /* of the checkpoint */
    int n_stages;
    int64_t granule; /* of all axes: tiles are 1 to 4 of it */
    void (*bind)(int stage, test_bound_job *out);
    void (*unbind)(test_bound_job *bound);
    int64_t (*errors)(int stage, const test_bound_job *bound);
    const slc_checkpoint_client *client; /* of all stages; may be NULL */
} test_stages;

/* One run of the program, and below what came of it. */
typedef struct test_attempt {
    uint64_t seed;      /* of the tiles */
    int64_t stop_after; /* tiles; 0: never */
    double every_seconds;
    bool resume, overwrite;
    const char *parameter;                           /* part of the fingerprint; NULL: "1" */
    void (*at_tile)(void *context, int64_t n_tiles); /* may be NULL */
    void *context;
    int64_t n_tiles; /* of all stages */
    int64_t n_errors;
    int64_t n_states;
    bool is_resumed;
} test_attempt;

slc_status test_stages_run(const test_stages *self, test_attempt *attempt);

/* Product, turn, product: n_stages may be less. */
void test_stages_bind(int stage, test_bound_job *out);
int64_t test_stages_errors(int stage, const test_bound_job *bound);

/* A device, a budget and a folder for such a program; checks at the end that nothing is held. */
typedef struct test_stages_bench {
    test_fixture fixture;
    slc_budget *budget;
    char directory[TEST_PATH_BYTES], path[TEST_PATH_BYTES], journal[TEST_PATH_BYTES];
    test_stages stages; /* of test_stages_bind */
} test_stages_bench;

void test_stages_open(void **state, test_stages_bench *out);
void test_stages_close(test_stages_bench *self);

#endif
