/* Calls that fail on purpose: the N-th call of one kind that the library makes, once.
 * Only for programs that cmake/SluiceTests.cmake links with tests/support/wrap/test_calls.c, where the
 * calls are listed; what HDF5, cfitsio and the like call inside themselves is not touched.
 *
 *     test_fault_arm(TEST_FAULT_MEMORY, 3);
 *     const slc_status status = slc_image_run(&options, &result);
 *     const int64_t n_calls = test_fault_disarm();              // n_calls < 3: it was never reached
 */
#ifndef SLC_TESTS_SUPPORT_TEST_FAULTS_H
#define SLC_TESTS_SUPPORT_TEST_FAULTS_H

#include "tests/support/test_support.h"

typedef enum test_fault {
    TEST_FAULT_NONE,
    TEST_FAULT_MEMORY,      /* the heap, and what libraries make for us */
    TEST_FAULT_SLAB,        /* memory of the host device */
    TEST_FAULT_THREAD,      /* starting one */
    TEST_FAULT_OPEN_INPUT,  /* open(2) of anything but an output: no descriptor is left */
    TEST_FAULT_OPEN_OUTPUT, /* open(2) in the folder of the outputs */
    TEST_FAULT_OPEN_DATA,   /* HDF5 opening a file or a dataset */
    TEST_FAULT_READ,        /* HDF5 reading a dataset */
    TEST_FAULT_DECODE,      /* undoing filters, for who reads */
    TEST_FAULT_COMPARE,  /* undoing filters while a dataset is opened, to see whether it is right */
    TEST_FAULT_ARCHIVE,  /* libzip */
    TEST_FAULT_WRITE,    /* write(2) and its kin: the disk is full */
    TEST_FAULT_H5_WRITE, /* HDF5 making files, datasets and attributes */
    TEST_FAULT_FITS,     /* cfitsio */
    TEST_FAULT_SYNC,
    TEST_FAULT_RENAME,
    TEST_FAULT_KINDS,
    TEST_FAULT_UNLINK = TEST_FAULT_KINDS /* never fails; test_fault_kill_at counts it */
} test_fault;

/* "memory", for messages. */
const char *test_fault_name(test_fault kind);

/* Files below this folder (lent) are outputs. */
void test_fault_set_outputs(const char *folder);

/* From now on calls of `kind` are counted, and the n-th fails. */
void test_fault_arm(test_fault kind, int64_t n);

/* The process dies by SIGKILL before its n-th call that secures a file or its name, gives a name or
 * takes it away: of the kinds SYNC, RENAME and UNLINK. */
void test_fault_kill_at(int64_t n);

/* No call fails any more. Returns how many there were. */
int64_t test_fault_disarm(void);

#endif
