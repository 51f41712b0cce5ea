/* Which file a name stands for, folders, and writing at a place. */
#include "tests/support/test_support.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"

static void a_stamp_tells_files_apart(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char a[TEST_PATH_BYTES];
    char b[TEST_PATH_BYTES];
    slci_file_stamp before;
    slci_file_stamp now;
    test_directory_create(directory);
    test_join(directory, "a", a);
    test_join(directory, "b", b);
    test_write_below(directory, "a", "same");
    test_write_below(directory, "b", "same");
    TEST_OK(slci_file_stamp_get(a, &before));
    assert_int_equal(before.bytes, 4);
    assert_true(slci_file_stamp_find(a, &now));
    assert_true(slci_file_stamp_equal(&before, &now));
    assert_true(slci_file_stamp_find(b, &now));
    assert_false(slci_file_stamp_equal(&before, &now));
    assert_int_equal(rename(a, b), 0); /* the name is no part of it */
    assert_true(slci_file_stamp_find(b, &now));
    assert_true(slci_file_stamp_equal(&before, &now));
    test_write_below(directory, "b", "longer");
    assert_true(slci_file_stamp_find(b, &now));
    assert_false(slci_file_stamp_equal(&before, &now));
    assert_false(slci_file_stamp_find(a, &now));
    assert_false(slci_file_stamp_find(directory, &now));
    TEST_FAILS(slci_file_stamp_get(a, &now), SLC_ERROR_INPUT, "cannot be opened");
    TEST_FAILS(slci_file_stamp_get(directory, &now), SLC_ERROR_INPUT, "a folder");
    test_write_below(directory, "a", "");
    TEST_FAILS(slci_file_stamp_get(a, &now), SLC_ERROR_INPUT, "empty");
    test_directory_remove(directory);
}

static void the_folder_of_a_name(void **state) {
    (void)state;
    static const struct {
        const char *path, *folder;
    } cases[] = {{"a", "."},     {"/a", "/"}, {"b/a", "b"},
                 {"/b/a", "/b"}, {"b/", "b"}, {"../a", ".."}};
    char folder[8];
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        assert_true(slci_folder_of(cases[k].path, folder, sizeof folder));
        assert_string_equal(folder, cases[k].folder);
    }
    assert_true(slci_folder_of("1234567/a", folder, sizeof folder));
    assert_false(slci_folder_of("12345678/a", folder, sizeof folder));
}

static void a_folder_is_synced_where_it_is_there(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    test_directory_create(directory);
    test_join(directory, "none/a", path);
    assert_int_equal(slci_folder_sync(directory), 0);
    assert_int_equal(slci_folder_sync("a"), 0);
    errno = 0;
    assert_int_equal(slci_folder_sync(path), -1);
    assert_int_equal(errno, ENOENT);
    test_directory_remove(directory);
}

static void bytes_are_written_and_read_at_their_place(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    int64_t n = 0;
    test_directory_create(directory);
    test_write_below(directory, "a", "0123456789");
    test_join(directory, "a", path);
    const int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(slci_write_at(fd, "xyz", 3, 8), 0);
    assert_int_equal(slci_write_at(fd, "", 0, 100), 0);
    assert_int_equal(close(fd), 0);
    char *bytes = test_file_read(path, &n);
    assert_int_equal(n, 11);
    assert_memory_equal(bytes, "01234567xyz", 11);
    free(bytes);
    const int read_only = open(path, O_RDONLY);
    char read[4] = "....";
    assert_int_equal(slci_read_at(read_only, read, 3, 6), 3);
    assert_memory_equal(read, "67x.", 4);
    assert_int_equal(slci_read_at(read_only, read, 4, 9), 2);
    assert_memory_equal(read, "yzx.", 4);
    assert_int_equal(slci_read_at(read_only, read, 4, 11), 0);
    assert_int_equal(slci_read_at(-1, read, 1, 0), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(slci_write_at(read_only, "x", 1, 0), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(close(read_only), 0);
    test_directory_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_written_and_read_at_their_place),
        cmocka_unit_test(a_stamp_tells_files_apart),
        cmocka_unit_test(the_folder_of_a_name),
        cmocka_unit_test(a_folder_is_synced_where_it_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
