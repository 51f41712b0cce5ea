#include "tests/support/test_damage.h"

#include <hdf5.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/h5_file.h"
#include "io/h5_lookup3.h"
#include "io/h5_object_copy.h"
#include "io/h5_reason.h"

#define MOST_SECONDS 10

test_content test_content_read(const char *path) {
    test_content file = {NULL, 0};
    file.bytes = (unsigned char *)test_file_read(path, &file.n);
    return file;
}

void test_content_store(const char *path, const test_content *file) {
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(file->bytes, 1, (size_t)file->n, to), file->n);
    assert_int_equal(fclose(to), 0);
}

int64_t test_content_find(const test_content *file, const char *what, int64_t from) {
    int64_t at = from;
    while (at + 4 <= file->n && memcmp(file->bytes + at, what, 4) != 0) {
        at++;
    }
    return at + 4 <= file->n ? at : -1;
}

int64_t test_content_find_sum(const test_content *file, int64_t block) {
    for (int64_t at = block + 4; at + 4 <= file->n; at++) {
        uint32_t stored = 0;
        memcpy(&stored, file->bytes + at, sizeof stored);
        if (slci_h5_lookup3(file->bytes + block, at - block) == stored) {
            return at;
        }
    }
    return -1;
}

void test_content_put_sum(test_content *file, int64_t block, int64_t sum_at) {
    const uint32_t sum = slci_h5_lookup3(file->bytes + block, sum_at - block);
    memcpy(file->bytes + sum_at, &sum, sizeof sum);
}

void test_content_put_number(unsigned char *to, int64_t number) {
    for (int k = 0; k < 8; k++) {
        to[k] = (unsigned char)(number >> 8 * k);
    }
}

/* With the lock. */
static slc_status copy_group(hid_t file, const char *to) {
    slci_h5_output *output = NULL;
    FILE *empty = fopen(to, "wb");
    if (empty == NULL || fclose(empty) != 0) {
        return SLC_ERROR_INTERNAL;
    }
    SLC_TRY(slci_h5_output_create(to, to, &output));
    const slci_h5_object_copy_options options = {.output = output};
    slci_h5_object_copy *copy = slci_h5_object_copy_create(&options);
    const bool is_ok =
        copy != NULL && slci_h5_object_copy_target(copy, file, "/g", slci_h5_output_file(output));
    const bool is_known = is_ok || slci_h5_reason_is_input() || slci_h5_lacks_memory();
    slci_h5_object_copy_destroy(copy);
    slci_h5_output_destroy(output);
    return is_ok ? SLC_OK : is_known ? SLC_ERROR_INPUT : SLC_ERROR_INTERNAL;
}

slc_status test_damage_copy(const char *from, const char *to) {
    slci_h5_id file = 0;
    SLC_TRY(slci_h5_open(from, NULL, &file));
    slci_h5_lock();
    const slc_status status = copy_group((hid_t)file, to);
    slci_h5_unlock();
    slci_h5_close(file);
    return status;
}

bool test_damage_is_status(slc_status status) {
    return status == SLC_OK || status == SLC_ERROR_INPUT || status == SLC_ERROR_UNSUPPORTED ||
           status == SLC_ERROR_MEMORY;
}

int test_look_apart(test_look look, const void *context, const char *what) {
    int state = 0;
    (void)fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(MOST_SECONDS);
        _exit(look(context));
    }
    assert_int_equal(waitpid(child, &state, 0), child);
    if (!WIFEXITED(state) || WEXITSTATUS(state) >= TEST_LOOK_WRONG) {
        print_error("%s: %s %d\n", what, WIFEXITED(state) ? "exit" : "signal",
                    WIFEXITED(state) ? WEXITSTATUS(state) : WTERMSIG(state));
        return TEST_LOOK_WRONG;
    }
    return WEXITSTATUS(state);
}
