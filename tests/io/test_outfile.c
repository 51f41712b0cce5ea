/* Output files: names of every kind, places that cannot be written, files that are in the way, disks
 * that are full. After each failure the folder must be as it was. */
#include <sys/stat.h>
#include <unistd.h>

#include "io/outfile.h"
#include "tests/support/test_child.h"

static int make(void **state) {
    (void)test_place_create(state, "dirty.fits");
    return 0;
}

static void put_text(const char *path, const char *text) {
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_text(const char *path, const char *text) {
    char found[256] = "";
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_string_equal(found, text);
}

static void makes_files_of_any_name(void **state) {
    const test_place *self = *state;
    static const char *const names[] = {
        "plain.fits",
        "two words.fits",
        "it's \"quoted\".h5",
        "[brackets](x)+1.fits",
        "\xc3\xa4\xe2\x98\x83.png",
        "no_extension",
        ".hidden",
        "-dash.h5",
    };
    for (int64_t k = 0; k < TEST_COUNT(names); k++) {
        char path[TEST_PATH_BYTES];
        test_join(self->directory, names[k], path);
        slc_outfile out;
        TEST_OK(slc_outfile_check(path, false, 100));
        assert_int_equal(test_directory_count(self->directory), k);
        TEST_OK(slc_outfile_begin(path, false, &out));
        assert_string_not_equal(out.temporary_path, path);
        put_text(out.temporary_path, names[k]);
        assert_int_not_equal(access(path, F_OK), 0);
        TEST_OK(slc_outfile_commit(&out));
        assert_string_equal(out.temporary_path, "");
        expect_text(path, names[k]);
        assert_int_equal(test_directory_count(self->directory), k + 1);
        slc_outfile_abandon(&out);
        expect_text(path, names[k]);
    }
}

static void keeps_the_extension_of_long_names(void **state) {
    const test_place *self = *state;
    char name[300];
    char path[TEST_PATH_BYTES];
    /* 125 letters of two bytes and ".fits": the longest name that a file may have. */
    for (int k = 0; k < 125; k++) {
        memcpy(name + 2 * k, "\xc3\xa4", 2);
    }
    memcpy(name + 250, ".fits", 6);
    test_join(self->directory, name, path);
    slc_outfile out;
    TEST_OK(slc_outfile_begin(path, false, &out));
    const size_t n = strlen(out.temporary_path);
    assert_string_equal(out.temporary_path + n - 5, ".fits");
    TEST_OK(slc_outfile_commit(&out));
    assert_int_equal(access(path, F_OK), 0);
    memcpy(name + 250, ".fitsx", 7);
    test_join(self->directory, name, path);
    TEST_FAILS(slc_outfile_check(path, false, 0), SLC_ERROR_OUTPUT, "too long");
}

static void keeps_existing_files(void **state) {
    const test_place *self = *state;
    slc_outfile out;
    put_text(self->path, "old");
    TEST_FAILS(slc_outfile_check(self->path, false, 0), SLC_ERROR_OUTPUT, "--overwrite");
    TEST_FAILS(slc_outfile_begin(self->path, false, &out), SLC_ERROR_OUTPUT, "exists");
    slc_outfile_abandon(&out);
    TEST_OK(slc_outfile_begin(self->path, true, &out));
    put_text(out.temporary_path, "given up");
    slc_outfile_abandon(&out);
    expect_text(self->path, "old");
    TEST_OK(slc_outfile_begin(self->path, true, &out));
    put_text(out.temporary_path, "new");
    TEST_OK(slc_outfile_commit(&out));
    expect_text(self->path, "new");
    assert_int_equal(test_directory_count(self->directory), 1);
}

static void notices_a_file_that_appears_meanwhile(void **state) {
    const test_place *self = *state;
    slc_outfile out;
    TEST_OK(slc_outfile_begin(self->path, false, &out));
    put_text(out.temporary_path, "ours");
    put_text(self->path, "theirs");
    TEST_FAILS(slc_outfile_commit(&out), SLC_ERROR_OUTPUT, "appeared");
    expect_text(self->path, "theirs");
    assert_int_equal(test_directory_count(self->directory), 1);
}

/* The second of three names is taken meanwhile: the first file goes again, the third never comes. */
static void several_files_come_together_or_not_at_all(void **state) {
    const test_place *self = *state;
    static const char *const names[] = {"a.h5", "b.h5", "c.h5"};
    enum { N = 3 };
    slc_outfile files[N];
    for (int taken = 0; taken < 2; taken++) {
        char path[N][TEST_PATH_BYTES];
        for (int k = 0; k < N; k++) {
            test_join(self->directory, names[k], path[k]);
            TEST_OK(slc_outfile_begin(path[k], false, &files[k]));
            put_text(files[k].temporary_path, names[k]);
        }
        if (taken == 0) {
            put_text(path[1], "theirs");
            TEST_FAILS(slc_outfile_commit_all(files, N), SLC_ERROR_OUTPUT, "b.h5 has appeared");
            expect_text(path[1], "theirs");
            assert_int_equal(test_directory_count(self->directory), 1);
            assert_int_equal(unlink(path[1]), 0);
        } else {
            TEST_OK(slc_outfile_commit_all(files, N));
            expect_text(path[2], names[2]);
            assert_int_equal(test_directory_count(self->directory), N);
        }
    }
}

static void two_runs_do_not_meet(void **state) {
    const test_place *self = *state;
    slc_outfile first;
    slc_outfile second;
    TEST_OK(slc_outfile_begin(self->path, true, &first));
    TEST_OK(slc_outfile_begin(self->path, true, &second));
    assert_string_not_equal(first.temporary_path, second.temporary_path);
    slc_outfile_abandon(&first);
    slc_outfile_abandon(&second);
    assert_int_equal(test_directory_count(self->directory), 0);
}

static void follows_links(void **state) {
    const test_place *self = *state;
    char target[TEST_PATH_BYTES];
    char link_path[TEST_PATH_BYTES];
    char folder[TEST_PATH_BYTES];
    struct stat info;
    slc_outfile out;
    test_join(self->directory, "elsewhere", folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    test_join(folder, "real.fits", target);
    test_join(self->directory, "link.fits", link_path);
    put_text(target, "old");
    assert_int_equal(symlink("elsewhere/real.fits", link_path), 0);
    TEST_FAILS(slc_outfile_check(link_path, false, 0), SLC_ERROR_OUTPUT, "real.fits exists");
    TEST_OK(slc_outfile_begin(link_path, true, &out));
    assert_int_equal(test_directory_count(folder), 2);
    put_text(out.temporary_path, "new");
    TEST_OK(slc_outfile_commit(&out));
    assert_int_equal(lstat(link_path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    expect_text(target, "new");
    assert_int_equal(unlink(target), 0);
    TEST_FAILS(slc_outfile_check(link_path, true, 0), SLC_ERROR_OUTPUT, "target");
}

static void refuses_what_is_no_file(void **state) {
    const test_place *self = *state;
    char path[TEST_PATH_BYTES];
    TEST_FAILS(slc_outfile_check("", true, 0), SLC_ERROR_OUTPUT, "empty name");
    TEST_FAILS(slc_outfile_check(self->directory, true, 0), SLC_ERROR_OUTPUT, "a folder");
    TEST_FAILS(slc_outfile_check("/dev/null", true, 0), SLC_ERROR_OUTPUT, "a device");
    test_join(self->directory, "new/", path);
    TEST_FAILS(slc_outfile_check(path, true, 0), SLC_ERROR_OUTPUT, "names a folder");
    test_join(self->directory, "pipe", path);
    assert_int_equal(mkfifo(path, 0666), 0);
    TEST_FAILS(slc_outfile_check(path, true, 0), SLC_ERROR_OUTPUT, "a pipe");
    test_join(self->directory, "missing/dirty.fits", path);
    TEST_FAILS(slc_outfile_check(path, true, 0), SLC_ERROR_OUTPUT, "make it first");
    test_join(self->directory, "file", path);
    put_text(path, "x");
    test_join(self->directory, "file/dirty.fits", path);
    TEST_FAILS(slc_outfile_check(path, true, 0), SLC_ERROR_OUTPUT, "not a folder");
    char long_path[SLC_PATH_BYTES + 10];
    memset(long_path, 'a', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    TEST_FAILS(slc_outfile_check(long_path, true, 0), SLC_ERROR_OUTPUT, "bytes");
    assert_int_equal(test_directory_count(self->directory), 2);
}

static void asks_for_room(void **state) {
    const test_place *self = *state;
    char path[TEST_PATH_BYTES];
    test_join(self->directory, "huge.fits", path);
    TEST_OK(slc_outfile_check(path, false, 0));
    TEST_FAILS(slc_outfile_check(path, false, INT64_MAX / 2), SLC_ERROR_OUTPUT,
               "needs 4611686018427387903 bytes");
    assert_int_equal(test_directory_count(self->directory), 0);
}

static slc_status check_limited(void *path) {
    test_limit_file_size(1000);
    return slc_outfile_check((const char *)path, false, 1001);
}

/* An output error with these words in a child; skipped where the child could not set its stage. */
static void expect_in_child(test_child_body body, void *context, const char *words) {
    const slc_failure found = test_child_run(body, context);
    if (found.status == TEST_CHILD_SKIPPED) {
        TEST_SKIP("rights cannot be given up, or no file system be mounted, here");
    }
    test_child_expect(&found, SLC_ERROR_OUTPUT, words);
}

static void knows_the_limit_on_files(void **state) {
    test_place *self = *state;
    expect_in_child(check_limited, self->path, "at most 1000");
}

static slc_status check_as_nobody(void *path) {
    return test_become_nobody() ? slc_outfile_check((const char *)path, true, 0)
                                : TEST_CHILD_SKIPPED;
}

/* Access modes do not bind root, so the check runs as somebody else. */
static void sees_a_read_only_folder(void **state) {
    test_place *self = *state;
    assert_int_equal(chmod(self->directory, 0555), 0);
    if (geteuid() == 0) {
        expect_in_child(check_as_nobody, self->path, "Permission denied");
    } else {
        TEST_FAILS(slc_outfile_check(self->path, true, 0), SLC_ERROR_OUTPUT, "Permission denied");
    }
    assert_int_equal(test_directory_count(self->directory), 0);
}

static slc_status check_on_small_disk(void *directory) {
    char path[TEST_PATH_BYTES];
    if (!test_mount_small((const char *)directory, 1 << 20)) {
        return TEST_CHILD_SKIPPED;
    }
    test_join((const char *)directory, "dirty.fits", path);
    SLC_TRY(slc_outfile_check(path, false, 1 << 19));
    return slc_outfile_check(path, false, (1 << 20) + 1);
}

static void sees_a_full_disk(void **state) {
    test_place *self = *state;
    expect_in_child(check_on_small_disk, self->directory, "has 1048576 free");
}

/* Who hid the old file hides the new one, also while it is written. */
static void keeps_the_mode_of_what_it_replaces(void **state) {
    const test_place *self = *state;
    static const mode_t modes[] = {0600, 0640, 0664, 0400};
    for (int64_t k = 0; k < TEST_COUNT(modes); k++) {
        slc_outfile out;
        struct stat info;
        put_text(self->path, "old");
        assert_int_equal(chmod(self->path, modes[k]), 0);
        TEST_OK(slc_outfile_begin(self->path, true, &out));
        assert_int_equal(stat(out.temporary_path, &info), 0);
        assert_int_equal(info.st_mode & 0077 & ~modes[k], 0);
        /* Writers may make the file anew. */
        assert_int_equal(unlink(out.temporary_path), 0);
        put_text(out.temporary_path, "new");
        TEST_OK(slc_outfile_commit(&out));
        assert_int_equal(stat(self->path, &info), 0);
        assert_int_equal(info.st_mode & 0777, modes[k]);
        expect_text(self->path, "new");
        assert_int_equal(unlink(self->path), 0);
    }
}

/* As in /tmp: nobody replaces what belongs to another, and that is known before any work. */
static void sees_a_file_of_another_user(void **state) {
    test_place *self = *state;
    if (geteuid() != 0) {
        TEST_SKIP("only root can make a file that belongs to another user");
    }
    assert_int_equal(chmod(self->directory, 01777), 0);
    put_text(self->path, "old");
    assert_int_equal(chmod(self->path, 0666), 0);
    TEST_OK(slc_outfile_check(self->path, true, 0));
    expect_in_child(check_as_nobody, self->path, "belongs to another user");
    assert_int_equal(chown(self->path, 65534, 65534), 0);
    const slc_failure own = test_child_run(check_as_nobody, self->path);
    assert_int_equal(own.status, SLC_OK);
    assert_int_equal(test_directory_count(self->directory), 1);
}

/* Two files of 0.6 MiB each on 1 MiB, and one more elsewhere, which does not count. */
static slc_status check_room_on_small_disk(void *directory) {
    enum { SHARE = 600 << 10 };
    char first[TEST_PATH_BYTES];
    char second[TEST_PATH_BYTES];
    if (!test_mount_small((const char *)directory, 1 << 20)) {
        return TEST_CHILD_SKIPPED;
    }
    test_join((const char *)directory, "a.fits", first);
    test_join((const char *)directory, "b.fits", second);
    const slc_outfile_need apart[] = {{first, SHARE}, {"/dev/shm/c.fits", SHARE}, {second, 1000}};
    const slc_outfile_need together[] = {{first, SHARE}, {"/dev/shm/c.fits", 0}, {second, SHARE}};
    SLC_TRY(slc_outfile_check(first, false, SHARE));
    SLC_TRY(slc_outfile_check(second, false, SHARE));
    SLC_TRY(slc_outfile_check_room(apart, 3));
    return slc_outfile_check_room(together, 3);
}

static void sees_that_all_do_not_fit_together(void **state) {
    test_place *self = *state;
    expect_in_child(check_room_on_small_disk, self->directory, "need 1228800 bytes together");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(makes_files_of_any_name),
        CASE(keeps_the_extension_of_long_names),
        CASE(keeps_existing_files),
        CASE(notices_a_file_that_appears_meanwhile),
        CASE(several_files_come_together_or_not_at_all),
        CASE(two_runs_do_not_meet),
        CASE(follows_links),
        CASE(refuses_what_is_no_file),
        CASE(asks_for_room),
        CASE(knows_the_limit_on_files),
        CASE(sees_a_read_only_folder),
        CASE(sees_a_full_disk),
        CASE(keeps_the_mode_of_what_it_replaces),
        CASE(sees_a_file_of_another_user),
        CASE(sees_that_all_do_not_fit_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
