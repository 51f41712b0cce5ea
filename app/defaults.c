/* Budgets and threads that the user did not state.
 *
 * The quota of processors is that of the process's control group or of any group above it, whichever
 * is smallest. As with memory, the group's path inside a container may not exist below the mount
 * point; what cannot be read is skipped, and the walk ends at the mount point itself. */
#include "app/defaults.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/host_memory.h"

#define PATH_BYTES 4096

/* Leaves a tenth for everybody else, and for what changes between this look and the allocation. */
static int64_t most_of(int64_t free_bytes) {
    return free_bytes / 10 * 9;
}

/* Opens the device that would compute, only to ask what it is and how much it has free. It has no
 * log: the run will open it again, and then say what it has to say. */
static slc_status look_at_device(slc_device_choice choice, int cuda_index, slc_device_kind *kind,
                                 int64_t *free_bytes) {
    slc_pool *pool = NULL;
    slc_device *device = NULL;
    slc_device_limits limits;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slc_pool_create(1, &pool));
    const slc_device_options options = {.choice = choice, .cuda_index = cuda_index, .pool = pool};
    SLC_TRY_GOTO(done, slc_device_create(&options, &device));
    SLC_TRY_GOTO(done, slc_device_get_limits(device, &limits));
    *kind = device->kind;
    *free_bytes = limits.free_bytes;
done:
    slc_device_destroy(device);
    slc_pool_destroy(pool);
    return status;
}

slc_status slci_default_budgets(slc_device_choice choice, int cuda_index, slci_budgets *budgets) {
    const bool wants_vram = budgets->vram_bytes == SLCI_BUDGET_UNSET;
    const bool wants_ram = budgets->ram_bytes == SLCI_BUDGET_UNSET;
    if (!wants_vram && !wants_ram) {
        return SLC_OK;
    }
    slci_host_limits host;
    SLC_TRY(slci_host_limits_read("", &host));
    slc_device_kind kind = SLC_DEVICE_HOST;
    int64_t device_free = 0;
    if (choice != SLC_CHOOSE_HOST) {
        SLC_TRY(look_at_device(choice, cuda_index, &kind, &device_free));
    }
    const int64_t host_share = most_of(host.free_bytes);
    if (kind == SLC_DEVICE_CUDA) {
        budgets->vram_bytes = wants_vram ? most_of(device_free) : budgets->vram_bytes;
        budgets->ram_bytes = wants_ram ? host_share : budgets->ram_bytes;
    } else if (wants_vram && wants_ram) {
        budgets->vram_bytes = host_share / 2;
        budgets->ram_bytes = host_share - host_share / 2;
    } else if (wants_vram) {
        budgets->vram_bytes = slc_max_i64(host_share - budgets->ram_bytes, host_share / 4);
    } else {
        /* A generous --vram is a limit, not a wish: few plans use all of it. So the other budget
         * never shrinks to nothing. */
        budgets->ram_bytes = slc_max_i64(host_share - budgets->vram_bytes, host_share / 4);
    }
    return SLC_OK;
}

/* Up to two numbers at the beginning of a file; how many there were. "max" is none. */
static int read_numbers(const char *directory, const char *name, long long numbers[2]) {
    char path[PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    const int n = fscanf(file, "%lld %lld", &numbers[0], &numbers[1]);
    (void)fclose(file);
    return n < 0 ? 0 : n;
}

/* Processors that a quota of `quota` us in each `period` us amounts to, as a limit on `most`. */
static int64_t apply_quota(int64_t most, long long quota, long long period) {
    if (quota <= 0 || period <= 0) {
        return most;
    }
    return slc_min_i64(most, slc_max_i64(slc_ceil_div(quota, period), 1));
}

/* The limit that the group in `directory` sets, in either generation's files. */
static int64_t apply_group(const char *directory, int64_t most) {
    long long numbers[2] = {0, 0};
    if (read_numbers(directory, "cpu.max", numbers) == 2) {
        return apply_quota(most, numbers[0], numbers[1]);
    }
    long long quota[2] = {0, 0};
    if (read_numbers(directory, "cpu.cfs_quota_us", quota) == 1 &&
        read_numbers(directory, "cpu.cfs_period_us", numbers) == 1) {
        return apply_quota(most, quota[0], numbers[0]);
    }
    return most;
}

/* The group `group` below `mount`, and all above it. */
static int64_t apply_groups(const char *root, const char *mount, char *group, int64_t most) {
    char directory[PATH_BYTES];
    for (;;) {
        const int length = snprintf(directory, sizeof directory, "%s%s%s", root, mount, group);
        if (length > 0 && length < (int)sizeof directory) {
            most = apply_group(directory, most);
        }
        char *slash = strrchr(group, '/');
        if (slash == NULL) {
            return most;
        }
        *slash = '\0';
    }
}

/* Whether a comma-separated list holds "cpu". */
static bool names_cpu(const char *list) {
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, "cpu", 3) == 0 && (at[3] == '\0' || at[3] == ',')) {
            return true;
        }
    }
    return false;
}

/* Each line of /proc/self/cgroup is "number:controllers:path"; version 2 names no controllers. */
static int64_t apply_control_groups(const char *root, int64_t most) {
    char path[PATH_BYTES];
    char line[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return most;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL) {
            continue;
        }
        *group++ = '\0';
        controllers++;
        if (strstr(group, "/..") != NULL || strcmp(group, "/") == 0) {
            *group = '\0'; /* outside of what is mounted here, or the mount point itself */
        }
        if (*controllers == '\0') {
            most = apply_groups(root, "/sys/fs/cgroup", group, most);
        } else if (names_cpu(controllers)) {
            most = apply_groups(root, "/sys/fs/cgroup/cpu", group, most);
        }
    }
    (void)fclose(file);
    return most;
}

int slci_default_threads(const char *root) {
    /* The mask's size is the kernel's, not glibc's 1,024 bits: grow until it takes it. */
    int n_cpus = 1;
    for (int n_bits = CPU_SETSIZE; n_bits <= 1 << 20; n_bits *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)n_bits);
        if (set == NULL) {
            break;
        }
        const bool is_read = sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)n_bits), set) == 0;
        n_cpus = is_read ? CPU_COUNT_S(CPU_ALLOC_SIZE((size_t)n_bits), set) : n_cpus;
        CPU_FREE(set);
        if (is_read) {
            break;
        }
    }
    return (int)apply_control_groups(root, slc_max_i64(n_cpus, 1));
}
