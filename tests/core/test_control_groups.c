/* The walk through the control groups of a made-up machine. */
#include "tests/support/test_support.h"

#include "core/control_groups.h"

/* Appends " version:directory" without the root. */
typedef struct walk {
    const char *root;
    char text[1024];
} walk;

static void note(void *context, const char *directory, int version) {
    walk *self = context;
    const size_t used = strlen(self->text);
    (void)snprintf(self->text + used, sizeof self->text - used, " %d:%s", version,
                   directory + strlen(self->root));
}

/* The groups visited for a controller when /proc/self/cgroup holds `lines`. */
static void expect(const char *lines, const char *controller, const char *visited) {
    char root[TEST_PATH_BYTES];
    walk self = {.root = root};
    test_directory_create(root);
    test_write_below(root, "proc/self/cgroup", lines);
    slci_control_groups_visit(root, controller, note, &self);
    test_directory_remove(root);
    assert_string_equal(self.text, visited);
}

static void every_group_up_to_the_mount_point(void **state) {
    (void)state;
    expect("0::/a/b\n", "memory", " 2:/sys/fs/cgroup/a/b 2:/sys/fs/cgroup/a 2:/sys/fs/cgroup");
    expect("0::/\n", "memory", " 2:/sys/fs/cgroup");
    expect("0::/a/", "cpu", " 2:/sys/fs/cgroup/a 2:/sys/fs/cgroup");
}

static void version_1_has_a_mount_for_each_controller(void **state) {
    (void)state;
    static const char lines[] = "12:cpu,cpuacct:/x\n5:hugetlb,memory:/y\n1:name=memory:/z\n0::/s\n";
    expect(lines, "memory",
           " 1:/sys/fs/cgroup/memory/y 1:/sys/fs/cgroup/memory 2:/sys/fs/cgroup/s "
           "2:/sys/fs/cgroup");
    expect(lines, "cpu",
           " 1:/sys/fs/cgroup/cpu/x 1:/sys/fs/cgroup/cpu 2:/sys/fs/cgroup/s 2:/sys/fs/cgroup");
    expect("3:memory:/y\n", "cpu", "");
}

static void what_lies_outside_counts_as_the_mount_point(void **state) {
    (void)state;
    expect("0::/../../elsewhere\n", "memory", " 2:/sys/fs/cgroup");
    expect("no colons\n::\n", "memory", "");
}

static void numbers_of_files(void **state) {
    (void)state;
    char root[TEST_PATH_BYTES];
    char text[8];
    test_directory_create(root);
    test_write_below(root, "limit", "512000\n");
    test_write_below(root, "none", "max\n");
    test_write_below(root, "huge", "99999999999999999999\n");
    test_write_below(root, "long", "0123456789");
    assert_int_equal(slci_group_read_number(root, "limit"), 512000);
    assert_int_equal(slci_group_read_number(root, "none"), -1);
    assert_int_equal(slci_group_read_number(root, "huge"), INT64_MAX);
    assert_int_equal(slci_group_read_number(root, "absent"), -1);
    assert_true(slci_group_read_text(root, "long", text, sizeof text));
    assert_string_equal(text, "0123456");
    assert_false(slci_group_read_text(root, "absent", text, sizeof text));
    test_directory_remove(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_group_up_to_the_mount_point),
        cmocka_unit_test(version_1_has_a_mount_for_each_controller),
        cmocka_unit_test(what_lies_outside_counts_as_the_mount_point),
        cmocka_unit_test(numbers_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
