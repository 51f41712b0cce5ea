#include "tests/support/test_support.h"

#include "core/comm.h"

static void a_group_of_one_keeps_what_it_has(void **state) {
    (void)state;
    slc_comm *comm = NULL;
    TEST_OK(slc_comm_create_single(&comm));
    assert_int_equal(slc_comm_rank(comm), 0);
    assert_int_equal(slc_comm_size(comm), 1);
    slc_fixed values[3] = {{1, 2}, {3, -4}, {UINT64_MAX, 5}};
    const slc_fixed before[3] = {{1, 2}, {3, -4}, {UINT64_MAX, 5}};
    TEST_OK(slc_comm_all_reduce_fixed(comm, values, 3));
    TEST_OK(slc_comm_broadcast(comm, 0, values, (int64_t)sizeof values));
    assert_memory_equal(values, before, sizeof values);
    slc_comm_destroy(comm);
    slc_comm_destroy(NULL);
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    slc_comm *comm = NULL;
    TEST_OK(slc_comm_create_single(&comm));
    char byte = 0;
    TEST_FAILS(slc_comm_broadcast(comm, 1, &byte, 1), SLC_ERROR_ARGUMENT, "rank 1 of a group of 1");
    TEST_FAILS(slc_comm_broadcast(comm, -1, &byte, 1), SLC_ERROR_ARGUMENT, "rank -1");
    TEST_FAILS(slc_comm_broadcast(comm, 0, &byte, -1), SLC_ERROR_ARGUMENT, "-1 bytes");
    TEST_FAILS(slc_comm_all_reduce_fixed(comm, NULL, -2), SLC_ERROR_ARGUMENT, "-2");
    slc_comm_destroy(comm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_of_one_keeps_what_it_has),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
