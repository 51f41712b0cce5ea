/* Decoded chunks that are kept: what is held, what makes room for what, and threads that come to a
 * chunk while another one decodes it. */
#include "io/h5_chunk_window.h"

#include <pthread.h>
#include <time.h>

#include "tests/support/test_support.h"

enum { CHUNK_BYTES = 256, N_ELEMENTS = 32, N_THREADS = 4 };

static slci_chunk_window *window_of(int64_t n_chunks) {
    slci_chunk_window *window = NULL;
    TEST_OK(slci_chunk_window_create(CHUNK_BYTES, n_chunks * CHUNK_BYTES, &window));
    assert_non_null(window);
    return window;
}

/* Takes a chunk that nobody has, and fills it with bytes that tell which it is. */
static slci_window_loan fill(slci_chunk_window *window, int64_t chunk) {
    slci_window_loan loan = {.slot = -1};
    assert_int_equal(slci_chunk_window_take(window, chunk, N_ELEMENTS, &loan), SLCI_WINDOW_TO_FILL);
    test_fill(loan.data, CHUNK_BYTES, (uint64_t)chunk);
    slci_chunk_window_filled(window, &loan, true);
    return loan;
}

static bool is_chunk(const slci_window_loan *loan, int64_t chunk) {
    unsigned char wanted[CHUNK_BYTES];
    test_fill(wanted, CHUNK_BYTES, (uint64_t)chunk);
    return memcmp(loan->data, wanted, CHUNK_BYTES) == 0;
}

/* Whether it is held, with the bytes of that chunk; reads `n_used` elements of it. */
static bool read_held(slci_chunk_window *window, int64_t chunk, int64_t n_used) {
    slci_window_loan loan;
    if (slci_chunk_window_take(window, chunk, N_ELEMENTS, &loan) != SLCI_WINDOW_HELD) {
        return false;
    }
    const bool is_right = is_chunk(&loan, chunk);
    slci_chunk_window_return(window, &loan, n_used);
    return is_right;
}

/* ---- one thread -------------------------------------------------------------------------------- */

static void no_chunk_fits(void **state) {
    static const int64_t bytes[] = {-1, 0, CHUNK_BYTES - 1};
    (void)state;
    for (int64_t k = 0; k < TEST_COUNT(bytes); k++) {
        slci_chunk_window *window = (void *)state;
        TEST_OK(slci_chunk_window_create(CHUNK_BYTES, bytes[k], &window));
        assert_null(window);
    }
    slci_chunk_window_destroy(NULL);
}

static void what_was_filled_is_held(void **state) {
    slci_chunk_window *window = window_of(3);
    (void)state;
    for (int64_t chunk = 0; chunk < 9; chunk += 3) { /* all in one chain */
        const slci_window_loan loan = fill(window, chunk);
        slci_chunk_window_return(window, &loan, 1);
    }
    for (int64_t chunk = 0; chunk < 9; chunk += 3) {
        assert_true(read_held(window, chunk, 1));
    }
    slci_chunk_window_destroy(window);
}

static void slots_in_use_are_no_room(void **state) {
    slci_chunk_window *window = window_of(2);
    slci_window_loan other = {.slot = -7};
    (void)state;
    const slci_window_loan a = fill(window, 10);
    const slci_window_loan b = fill(window, 11);
    assert_int_equal(slci_chunk_window_take(window, 12, N_ELEMENTS, &other), SLCI_WINDOW_NO_ROOM);
    assert_int_equal(other.slot, -7);
    assert_true(read_held(window, 10, 1)); /* which others use too */
    slci_chunk_window_return(window, &b, 1);
    const slci_window_loan c = fill(window, 12);
    assert_true(is_chunk(&a, 10) && is_chunk(&c, 12));
    slci_chunk_window_return(window, &c, 1);
    slci_chunk_window_return(window, &a, 1);
    slci_chunk_window_destroy(window);
}

/* Whichever of three it is. */
static void a_chunk_read_to_its_end_makes_room(void **state) {
    (void)state;
    for (int64_t ended = 0; ended < 3; ended++) {
        slci_chunk_window *window = window_of(3);
        for (int64_t chunk = 0; chunk < 3; chunk++) {
            const slci_window_loan loan = fill(window, chunk);
            slci_chunk_window_return(window, &loan, N_ELEMENTS / 2);
        }
        assert_true(read_held(window, ended, N_ELEMENTS / 2));
        const slci_window_loan more = fill(window, 3);
        slci_chunk_window_return(window, &more, 1);
        for (int64_t chunk = 0; chunk < 4; chunk++) {
            if (chunk != ended) {
                assert_true(read_held(window, chunk, 1));
            }
        }
        slci_chunk_window_destroy(window);
    }
}

/* Nobody gets it, its slot is free, and the next one who wants the chunk may try. */
static void what_could_not_be_filled_is_gone(void **state) {
    slci_chunk_window *window = window_of(1);
    slci_window_loan loan;
    (void)state;
    for (int64_t chunk = 5; chunk < 7; chunk++) {
        assert_int_equal(slci_chunk_window_take(window, chunk, N_ELEMENTS, &loan),
                         SLCI_WINDOW_TO_FILL);
        slci_chunk_window_filled(window, &loan, false);
    }
    loan = fill(window, 6);
    slci_chunk_window_return(window, &loan, 1);
    assert_true(read_held(window, 6, 1));
    slci_chunk_window_destroy(window);
}

/* ---- several ----------------------------------------------------------------------------------- */

typedef struct reader {
    slci_chunk_window *window;
    pthread_t thread;
    bool has_filled, has_right;
} reader;

static void *read_chunk_5(void *argument) {
    reader *self = argument;
    slci_window_loan loan;
    const slci_window_answer answer = slci_chunk_window_take(self->window, 5, N_ELEMENTS, &loan);
    if (answer == SLCI_WINDOW_TO_FILL) {
        self->has_filled = true;
        test_fill(loan.data, CHUNK_BYTES, 5);
        slci_chunk_window_filled(self->window, &loan, true);
    }
    if (answer != SLCI_WINDOW_NO_ROOM) {
        self->has_right = is_chunk(&loan, 5);
        slci_chunk_window_return(self->window, &loan, 1);
    }
    return NULL;
}

/* Threads come to a chunk that is being decoded, and then it is good or not: how many of them decode it
 * themselves. The window has room for that chunk alone: who did not wait would be sent away. */
static int decode_before(bool is_good) {
    const struct timespec while_they_come = {.tv_nsec = 20000000};
    slci_chunk_window *window = window_of(1);
    reader readers[N_THREADS] = {{NULL}};
    slci_window_loan loan;
    int n_filled = 0;
    assert_int_equal(slci_chunk_window_take(window, 5, N_ELEMENTS, &loan), SLCI_WINDOW_TO_FILL);
    for (int k = 0; k < N_THREADS; k++) {
        readers[k].window = window;
        assert_int_equal(pthread_create(&readers[k].thread, NULL, read_chunk_5, &readers[k]), 0);
    }
    (void)nanosleep(&while_they_come, NULL);
    test_fill(loan.data, CHUNK_BYTES, is_good ? 5 : 6);
    slci_chunk_window_filled(window, &loan, is_good);
    if (is_good) {
        slci_chunk_window_return(window, &loan, 1);
    }
    for (int k = 0; k < N_THREADS; k++) {
        assert_int_equal(pthread_join(readers[k].thread, NULL), 0);
        assert_true(readers[k].has_right);
        n_filled += readers[k].has_filled ? 1 : 0;
    }
    slci_chunk_window_destroy(window);
    return n_filled;
}

static void a_chunk_under_way_is_waited_for(void **state) {
    (void)state;
    assert_int_equal(decode_before(true), 0);
}

static void one_of_those_who_wait_tries_again(void **state) {
    (void)state;
    assert_int_equal(decode_before(false), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_chunk_fits),
        cmocka_unit_test(what_was_filled_is_held),
        cmocka_unit_test(slots_in_use_are_no_room),
        cmocka_unit_test(a_chunk_read_to_its_end_makes_room),
        cmocka_unit_test(what_could_not_be_filled_is_gone),
        cmocka_unit_test(a_chunk_under_way_is_waited_for),
        cmocka_unit_test(one_of_those_who_wait_tries_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
