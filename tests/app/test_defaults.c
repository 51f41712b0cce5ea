/* Budgets and threads that the user did not state. */
#include "support/test_support.h"

#include <sched.h>
#include <sys/stat.h>

#include "app/defaults.h"
#include "core/host_memory.h"

/* Writes a file below the made-up root, making its folders. */
static void put(const char *root, const char *path, const char *text) {
    char full[TEST_PATH_BYTES];
    test_join(root, path, full);
    for (char *at = full + strlen(root) + 1; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            (void)mkdir(full, 0755);
            *at = '/';
        }
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The number of processors in the mask of this process. */
static int mask_size(void) {
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return CPU_COUNT(&set);
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static void without_groups_the_mask_counts(void **state) {
    (void)state;
    char root[TEST_PATH_BYTES];
    test_directory_create(root);
    assert_int_equal(slci_default_threads(root), mask_size());
    test_directory_remove(root);
    assert_true(slci_default_threads("") >= 1);
    assert_true(slci_default_threads("") <= mask_size());
}

static void the_smallest_quota_on_the_way_up_counts(void **state) {
    (void)state;
    char root[TEST_PATH_BYTES];
    test_directory_create(root);
    put(root, "proc/self/cgroup", "0::/a/b\n");
    put(root, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_int_equal(slci_default_threads(root), mask_size());
    put(root, "sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    assert_int_equal(slci_default_threads(root), smaller(mask_size(), 2));
    put(root, "sys/fs/cgroup/a/b/cpu.max", "20000 100000\n");
    assert_int_equal(slci_default_threads(root), 1);
    test_directory_remove(root);
}

static void a_container_sees_its_quota_at_the_mount_point(void **state) {
    (void)state;
    char root[TEST_PATH_BYTES];
    test_directory_create(root);
    put(root, "proc/self/cgroup", "0::/docker/not/here\n");
    put(root, "sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_int_equal(slci_default_threads(root), 1);
    put(root, "proc/self/cgroup", "0::/../..\n");
    assert_int_equal(slci_default_threads(root), 1);
    test_directory_remove(root);
}

static void version_one_has_its_own_files(void **state) {
    (void)state;
    char root[TEST_PATH_BYTES];
    test_directory_create(root);
    put(root, "proc/self/cgroup", "5:memory:/x\n3:cpuacct,cpu:/job\n0::/\n");
    put(root, "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    put(root, "sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    assert_int_equal(slci_default_threads(root), mask_size());
    put(root, "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "90000\n");
    assert_int_equal(slci_default_threads(root), 1);
    test_directory_remove(root);
}

static void what_is_stated_is_kept(void **state) {
    (void)state;
    slci_budgets budgets = {.vram_bytes = 0, .ram_bytes = 5};
    TEST_OK(slci_default_budgets(SLC_CHOOSE_HOST, 0, &budgets));
    assert_int_equal(budgets.vram_bytes, 0);
    assert_int_equal(budgets.ram_bytes, 5);
}

/* Memory in use changes from one look to the next, so sums are compared loosely. */
static void the_host_device_shares_the_host(void **state) {
    (void)state;
    slci_host_limits host;
    TEST_OK(slci_host_limits_read("", &host));
    slci_budgets both = {SLCI_BUDGET_UNSET, SLCI_BUDGET_UNSET};
    TEST_OK(slci_default_budgets(SLC_CHOOSE_HOST, 0, &both));
    assert_true(both.vram_bytes > 0 && both.ram_bytes > 0);
    assert_true(both.vram_bytes + both.ram_bytes <= host.total_bytes / 10 * 9);
    slci_budgets rest = {.vram_bytes = 1 << 20, .ram_bytes = SLCI_BUDGET_UNSET};
    TEST_OK(slci_default_budgets(SLC_CHOOSE_HOST, 0, &rest));
    assert_int_equal(rest.vram_bytes, 1 << 20);
    assert_true(rest.ram_bytes > both.ram_bytes);
    slci_budgets too_much = {.vram_bytes = SLCI_BUDGET_UNSET, .ram_bytes = INT64_MAX};
    TEST_OK(slci_default_budgets(SLC_CHOOSE_HOST, 0, &too_much));
    assert_true(too_much.vram_bytes > both.vram_bytes / 4);
    assert_true(too_much.vram_bytes < both.vram_bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_groups_the_mask_counts),
        cmocka_unit_test(the_smallest_quota_on_the_way_up_counts),
        cmocka_unit_test(a_container_sees_its_quota_at_the_mount_point),
        cmocka_unit_test(version_one_has_its_own_files),
        cmocka_unit_test(what_is_stated_is_kept),
        cmocka_unit_test(the_host_device_shares_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
