/* How much memory and how many processors this process may use, and which processor it runs on.
 *
 * A container's limit is that of its control group or of any group above it, and the smallest counts;
 * core/control_groups.c finds the groups, here is what their files say. */
#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/checked.h"
#include "core/control_groups.h"
#include "core/host_memory.h"

#define TEXT_BYTES 16384 /* /proc/meminfo takes 1.5 kB, one processor's paragraph 2 kB */

/* ---- memory ---------------------------------------------------------------------------------- */

/* The text after `key` at the beginning of a line, and after blanks and a colon; NULL if absent. */
static const char *find_line(const char *text, const char *key) {
    const size_t key_length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, key, key_length) == 0 && strchr(" \t:", line[key_length]) != NULL &&
            line[key_length] != '\0') {
            return line + key_length + strspn(line + key_length, " \t:");
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return NULL;
}

/* The number after `key`; -1 if there is none. */
static int64_t find_number(const char *text, const char *key) {
    const char *value = find_line(text, key);
    if (value == NULL || isdigit((unsigned char)*value) == 0) {
        return -1;
    }
    return (int64_t)strtoll(value, NULL, 10);
}

/* Where the two generations of control groups keep the same three numbers. */
typedef struct group_files {
    const char *limit;
    const char *usage;
    const char *reclaimable; /* the line of memory.stat: file pages that go when asked */
} group_files;

static void apply_memory(void *context, const char *directory, int version) {
    static const group_files versions[] = {
        [1] = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
        [2] = {"memory.max", "memory.current", "inactive_file"},
    };
    const group_files *files = &versions[version];
    slci_host_limits *out = context;
    const int64_t limit = slci_group_read_number(directory, files->limit);
    if (limit < 0) {
        return;
    }
    out->total_bytes = slc_min_i64(out->total_bytes, limit);
    const int64_t usage = slc_max_i64(slci_group_read_number(directory, files->usage), 0);
    char text[TEXT_BYTES];
    int64_t reclaimable = 0;
    if (slci_group_read_text(directory, "memory.stat", text, sizeof text)) {
        reclaimable = slc_max_i64(find_number(text, files->reclaimable), 0);
    }
    const int64_t kept = slc_max_i64(usage - slc_min_i64(usage, reclaimable), 0);
    out->free_bytes = slc_min_i64(out->free_bytes, slc_max_i64(limit - kept, 0));
}

static void read_processor(const char *root, slci_host_limits *out) {
    char text[TEXT_BYTES];
    const char *name = slci_group_read_text(root, "proc/cpuinfo", text, sizeof text)
                           ? find_line(text, "model name")
                           : NULL;
    struct utsname system;
    if (name != NULL && *name != '\0' && *name != '\n') {
        (void)snprintf(out->processor, sizeof out->processor, "%.*s", (int)strcspn(name, "\n"),
                       name);
    } else if (uname(&system) == 0) {
        /* Some architectures state no model; the machine's kind is better than nothing. */
        (void)snprintf(out->processor, sizeof out->processor, "%.32s processor", system.machine);
    } else {
        (void)snprintf(out->processor, sizeof out->processor, "processor");
    }
}

slc_status slci_host_limits_read(const char *root, slci_host_limits *out) {
    char text[TEXT_BYTES];
    int64_t total_kib = -1;
    int64_t free_kib = -1;
    errno = 0;
    if (slci_group_read_text(root, "proc/meminfo", text, sizeof text)) {
        total_kib = find_number(text, "MemTotal");
        free_kib = find_number(text, "MemAvailable");
    } else if (errno != 0) {
        return SLC_FAIL(SLC_ERROR_DEVICE,
                        "%s/proc/meminfo, which says how much memory there is, cannot be read: %s",
                        root, strerror(errno));
    }
    if (total_kib < 0 || total_kib > INT64_MAX / 1024) {
        return SLC_FAIL(SLC_ERROR_DEVICE,
                        "%s/proc/meminfo does not say how much memory there is (no MemTotal in it)",
                        root);
    }
    slci_host_limits found = {.total_bytes = total_kib * 1024, .free_bytes = total_kib * 1024};
    if (free_kib >= 0 && free_kib < total_kib) {
        found.free_bytes = free_kib * 1024;
    }
    slci_control_groups_visit(root, "memory", apply_memory, &found);
    read_processor(root, &found);
    *out = found;
    return SLC_OK;
}

/* ---- processors ------------------------------------------------------------------------------ */

/* The quota of one group, `quota` us in each `period` us, as a limit on a number of processors. */
static void apply_quota(void *context, const char *directory, int version) {
    int64_t *n_cpus = context;
    int64_t quota = -1;
    int64_t period = -1;
    if (version == 1) {
        quota = slci_group_read_number(directory, "cpu.cfs_quota_us");
        period = slci_group_read_number(directory, "cpu.cfs_period_us");
    } else {
        char text[64];
        char *end = NULL;
        /* "max 100000" has no number in front: no quota. */
        if (slci_group_read_text(directory, "cpu.max", text, sizeof text) &&
            isdigit((unsigned char)text[0]) != 0) {
            quota = (int64_t)strtoll(text, &end, 10);
            period = (int64_t)strtoll(end, NULL, 10);
        }
    }
    if (quota > 0 && period > 0) {
        *n_cpus = slc_min_i64(*n_cpus, slc_max_i64(slc_ceil_div(quota, period), 1));
    }
}

int slci_host_cpus(const char *root) {
    /* The mask's size is the kernel's, not glibc's 1,024 bits: grow until it takes it. */
    int64_t n_cpus = 1;
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
    n_cpus = slc_max_i64(n_cpus, 1);
    slci_control_groups_visit(root, "cpu", apply_quota, &n_cpus);
    return (int)n_cpus;
}
