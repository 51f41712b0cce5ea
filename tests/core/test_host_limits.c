#include "tests/support/test_support.h"

#include <sched.h>
#include <sys/mman.h>

#include "core/host_memory.h"

enum { KIB = 1024 };

/* A machine made of files: a directory that stands for "/". */
typedef struct machine {
    char root[TEST_PATH_BYTES];
} machine;

/* 1000 KiB of memory, 600 of them available, on a processor with a name. */
static void machine_create(machine *self) {
    test_directory_create(self->root);
    test_write_below(self->root, "proc/meminfo",
                     "MemTotal:           1000 kB\nMemFree:             100 kB\n"
                     "MemAvailable:        600 kB\n");
    test_write_below(
        self->root, "proc/cpuinfo",
        "processor\t: 0\nmodel\t\t: 17\nmodel name\t: Test Processor 9000\nstepping: 1\n");
}

static slci_host_limits machine_read(const machine *self) {
    slci_host_limits limits;
    TEST_OK(slci_host_limits_read(self->root, &limits));
    return limits;
}

static void expect_kib(const machine *self, int64_t total_kib, int64_t free_kib) {
    const slci_host_limits limits = machine_read(self);
    assert_int_equal(limits.total_bytes, total_kib * KIB);
    assert_int_equal(limits.free_bytes, free_kib * KIB);
}

static void without_groups_the_machine_counts(void **state) {
    (void)state;
    machine self;
    machine_create(&self);
    expect_kib(&self, 1000, 600);
    assert_string_equal(machine_read(&self).processor, "Test Processor 9000");
    test_write_below(self.root, "proc/cpuinfo", "processor\t: 0\nCPU part\t: 0xd40\n");
    assert_non_null(strstr(machine_read(&self).processor, "processor"));
    test_directory_remove(self.root);
}

static void version_2_limits_count_on_every_level(void **state) {
    (void)state;
    machine self;
    machine_create(&self);
    test_write_below(self.root, "proc/self/cgroup", "0::/a/b\n");
    test_write_below(self.root, "sys/fs/cgroup/a/b/memory.max", "max\n");
    test_write_below(self.root, "sys/fs/cgroup/a/b/memory.current", "1024\n");
    expect_kib(&self, 1000, 600);

    test_write_below(self.root, "sys/fs/cgroup/a/memory.max", "512000\n");     /* 500 KiB */
    test_write_below(self.root, "sys/fs/cgroup/a/memory.current", "307200\n"); /* 300 KiB */
    test_write_below(self.root, "sys/fs/cgroup/a/memory.stat",
                     "anon 204800\ninactive_anon 99\ninactive_file 51200\nactive_file 5\n");
    expect_kib(&self, 500, 250); /* 50 of the 300 are file pages that go when asked */

    test_write_below(self.root, "sys/fs/cgroup/a/b/memory.max", "102400\n"); /* 100 KiB, 1 used */
    expect_kib(&self, 100, 99);
    test_directory_remove(self.root);
}

static void version_1_limits_count(void **state) {
    (void)state;
    machine self;
    machine_create(&self);
    test_write_below(self.root, "proc/self/cgroup",
                     "12:cpu,cpuacct:/x\n5:hugetlb,memory:/docker/1f\n0::/system\n");
    /* As inside a container: the path is the host's, only the mount point itself is there. */
    test_write_below(self.root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "204800\n");
    test_write_below(self.root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "307200\n");
    expect_kib(&self, 200, 0); /* more used than allowed is nothing free, not less */

    test_write_below(self.root, "sys/fs/cgroup/memory/memory.limit_in_bytes",
                     "9223372036854771712\n");
    expect_kib(&self, 1000, 600);
    test_directory_remove(self.root);
}

static void paths_out_of_the_mount_are_not_followed(void **state) {
    (void)state;
    machine self;
    machine_create(&self);
    test_write_below(self.root, "proc/self/cgroup", "0::/../../elsewhere\n");
    test_write_below(self.root, "sys/elsewhere/memory.max", "1024\n");
    test_write_below(self.root, "sys/fs/cgroup/memory.max", "409600\n");
    expect_kib(&self, 400, 400);
    test_directory_remove(self.root);
}

static void a_machine_that_says_nothing_is_an_error(void **state) {
    (void)state;
    machine self;
    test_directory_create(self.root);
    slci_host_limits limits;
    TEST_FAILS(slci_host_limits_read(self.root, &limits), SLC_ERROR_DEVICE,
               "/proc/meminfo, which says how much memory there is, cannot be read: No such file");
    test_write_below(self.root, "proc/meminfo", "MemTotal: lots\n");
    TEST_FAILS(slci_host_limits_read(self.root, &limits), SLC_ERROR_DEVICE, "no MemTotal in it");
    test_directory_remove(self.root);
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
    machine self;
    test_directory_create(self.root);
    assert_int_equal(slci_host_cpus(self.root), mask_size());
    test_directory_remove(self.root);
    assert_true(slci_host_cpus("") >= 1);
    assert_true(slci_host_cpus("") <= mask_size());
}

static void the_smallest_quota_on_the_way_up_counts(void **state) {
    (void)state;
    machine self;
    test_directory_create(self.root);
    test_write_below(self.root, "proc/self/cgroup", "0::/a/b\n");
    test_write_below(self.root, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_int_equal(slci_host_cpus(self.root), mask_size());
    test_write_below(self.root, "sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    assert_int_equal(slci_host_cpus(self.root), smaller(mask_size(), 2));
    test_write_below(self.root, "sys/fs/cgroup/a/b/cpu.max", "20000 100000\n");
    assert_int_equal(slci_host_cpus(self.root), 1);
    test_directory_remove(self.root);
}

static void a_container_sees_its_quota_at_the_mount_point(void **state) {
    (void)state;
    machine self;
    test_directory_create(self.root);
    test_write_below(self.root, "proc/self/cgroup", "0::/docker/not/here\n");
    test_write_below(self.root, "sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_int_equal(slci_host_cpus(self.root), 1);
    test_write_below(self.root, "proc/self/cgroup", "0::/../..\n");
    assert_int_equal(slci_host_cpus(self.root), 1);
    test_directory_remove(self.root);
}

static void version_one_has_its_own_files(void **state) {
    (void)state;
    machine self;
    test_directory_create(self.root);
    test_write_below(self.root, "proc/self/cgroup", "5:memory:/x\n3:cpuacct,cpu:/job\n0::/\n");
    test_write_below(self.root, "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    test_write_below(self.root, "sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    assert_int_equal(slci_host_cpus(self.root), mask_size());
    test_write_below(self.root, "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "90000\n");
    assert_int_equal(slci_host_cpus(self.root), 1);
    test_directory_remove(self.root);
}

static void this_machine_has_limits(void **state) {
    (void)state;
    slci_host_limits limits;
    TEST_OK(slci_host_limits_read("", &limits));
    assert_true(limits.total_bytes > 0);
    assert_true(limits.free_bytes > 0 && limits.free_bytes <= limits.total_bytes);
    assert_true(limits.processor[0] != '\0');
    TEST_FAILS(slci_host_check_size(INT64_MAX), SLC_ERROR_MEMORY, "machine");
}

static void mappings_are_aligned_zeroed_and_touched(void **state) {
    (void)state;
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(2, &pool));
    const int64_t sizes[] = {1, 4096, 4097, (2 << 20) - 1, 2 << 20, (34 << 20) + 5};
    for (int64_t i = 0; i < TEST_COUNT(sizes); i++) {
        void *host = NULL;
        TEST_OK(slci_host_map(sizes[i], &host));
        const int64_t page = sizes[i] < 2 << 20 ? 4096 : 2 << 20;
        assert_int_equal((uintptr_t)host % (uintptr_t)page, 0);
        assert_true(slci_host_mapped_bytes(sizes[i]) >= sizes[i]);
        assert_int_equal(slci_host_mapped_bytes(sizes[i]) % page, 0);
        TEST_OK(slci_host_touch(pool, host, sizes[i]));
        const int64_t n_pages = slci_host_mapped_bytes(sizes[i]) / 4096;
        unsigned char *resident = test_allocate(n_pages);
        assert_int_equal(mincore(host, (size_t)n_pages * 4096, resident), 0);
        for (int64_t p = 0; p < n_pages; p++) {
            assert_true((resident[p] & 1) != 0);
        }
        free(resident);
        assert_int_equal(((char *)host)[sizes[i] - 1], 0);
        slci_host_unmap(host, sizes[i]);
    }
    void *host = NULL;
    TEST_FAILS(slci_host_map(INT64_MAX, &host), SLC_ERROR_MEMORY, "memory");
    assert_null(host);
    slci_host_unmap(NULL, 7);
    slc_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_groups_the_machine_counts),
        cmocka_unit_test(version_2_limits_count_on_every_level),
        cmocka_unit_test(version_1_limits_count),
        cmocka_unit_test(paths_out_of_the_mount_are_not_followed),
        cmocka_unit_test(a_machine_that_says_nothing_is_an_error),
        cmocka_unit_test(without_groups_the_mask_counts),
        cmocka_unit_test(the_smallest_quota_on_the_way_up_counts),
        cmocka_unit_test(a_container_sees_its_quota_at_the_mount_point),
        cmocka_unit_test(version_one_has_its_own_files),
        cmocka_unit_test(this_machine_has_limits),
        cmocka_unit_test(mappings_are_aligned_zeroed_and_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
