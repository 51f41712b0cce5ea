/* How much memory this process may use, and what processor it runs on.
 *
 * A container's limit is that of its control group or of any group above it, and the smallest
 * counts. The process sees its group as a path in /proc/self/cgroup; inside a container that path is
 * often the host's and does not exist below the mount point, so the walk upwards simply skips what
 * cannot be read and always ends at the mount point itself, which then is the container's group:
 *
 *     /sys/fs/cgroup/a/b/memory.max    ->  /sys/fs/cgroup/a/memory.max  ->  /sys/fs/cgroup/memory.max
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/host_memory.h"

#define PATH_BYTES 4096
#define TEXT_BYTES 16384 /* /proc/meminfo takes 1.5 kB, one processor's paragraph 2 kB */

/* Where the two generations of control groups keep the same three numbers. */
typedef struct group_files {
    const char *mount;
    const char *limit;
    const char *usage;
    const char *reclaimable; /* the line of memory.stat: file pages that go when asked */
} group_files;

static const group_files version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                      "memory.usage_in_bytes", "total_inactive_file"};
static const group_files version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                      "inactive_file"};

/* The first bytes of a file as a string; false when it cannot be read. */
static bool read_text(const char *path, char *text, size_t text_bytes) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    size_t used = 0;
    while (used + 1 < text_bytes) {
        const ssize_t got = read(file, text + used, text_bytes - 1 - used);
        if (got <= 0) {
            break;
        }
        used += (size_t)got;
    }
    text[used] = '\0';
    (void)close(file);
    return used > 0;
}

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

/* The number a file holds; -1 if it holds none ("max"). Too large a number is the largest one. */
static int64_t read_number(const char *directory, const char *name) {
    char path[PATH_BYTES];
    char text[64];
    const int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    if (length < 0 || length >= (int)sizeof path || !read_text(path, text, sizeof text) ||
        isdigit((unsigned char)text[0]) == 0) {
        return -1;
    }
    return (int64_t)strtoll(text, NULL, 10);
}

static void apply_group(const char *directory, const group_files *files, slci_host_limits *out) {
    const int64_t limit = read_number(directory, files->limit);
    if (limit < 0) {
        return;
    }
    out->total_bytes = slc_min_i64(out->total_bytes, limit);
    const int64_t usage = slc_max_i64(read_number(directory, files->usage), 0);
    char path[PATH_BYTES];
    char text[TEXT_BYTES];
    int64_t reclaimable = 0;
    const int length = snprintf(path, sizeof path, "%s/memory.stat", directory);
    if (length > 0 && length < (int)sizeof path && read_text(path, text, sizeof text)) {
        reclaimable = slc_max_i64(find_number(text, files->reclaimable), 0);
    }
    const int64_t kept = slc_max_i64(usage - slc_min_i64(usage, reclaimable), 0);
    out->free_bytes = slc_min_i64(out->free_bytes, slc_max_i64(limit - kept, 0));
}

/* Applies the limits of the group at `path` (up to a newline) and of all groups above it. */
static void apply_groups(const char *root, const char *path, const group_files *files,
                         slci_host_limits *out) {
    char directory[PATH_BYTES];
    int path_length = (int)strcspn(path, "\n");
    char group[PATH_BYTES];
    (void)snprintf(group, sizeof group, "%.*s", path_length, path);
    if (strstr(group, "/..") != NULL) {
        path_length = 0; /* the process's group lies outside of what is mounted here */
    }
    while (path_length > 0 && path[path_length - 1] == '/') {
        path_length--;
    }
    for (;;) {
        const int length = snprintf(directory, sizeof directory, "%s%s%.*s", root, files->mount,
                                    path_length, path);
        if (length > 0 && length < (int)sizeof directory) {
            apply_group(directory, files, out);
        }
        if (path_length == 0) {
            return;
        }
        while (path_length > 0 && path[--path_length] != '/') {
        }
    }
}

/* Whether the comma-separated list of controllers from `begin` to `end` names memory. */
static bool names_memory(const char *begin, const char *end) {
    while (begin < end) {
        const char *comma = memchr(begin, ',', (size_t)(end - begin));
        const char *stop = comma == NULL ? end : comma;
        if (stop - begin == 6 && strncmp(begin, "memory", 6) == 0) {
            return true;
        }
        begin = stop + 1;
    }
    return false;
}

/* Each line of /proc/self/cgroup is "number:controllers:path"; version 2 has number 0 and no
 * controllers. */
static void apply_control_groups(const char *root, slci_host_limits *out) {
    char path[PATH_BYTES];
    char text[TEXT_BYTES];
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!read_text(path, text, sizeof text)) {
        return;
    }
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        const char *first = strchr(line, ':');
        const char *second = first == NULL ? NULL : strchr(first + 1, ':');
        if (second != NULL && (end == NULL || second < end)) {
            if (second == first + 1 && line[0] == '0') {
                apply_groups(root, second + 1, &version_2, out);
            } else if (names_memory(first + 1, second)) {
                apply_groups(root, second + 1, &version_1, out);
            }
        }
        line = end == NULL ? NULL : end + 1;
    }
}

static void read_processor(const char *root, slci_host_limits *out) {
    char path[PATH_BYTES];
    char text[TEXT_BYTES];
    (void)snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    const char *name = read_text(path, text, sizeof text) ? find_line(text, "model name") : NULL;
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
    char path[PATH_BYTES];
    char text[TEXT_BYTES];
    int64_t total_kib = -1;
    int64_t free_kib = -1;
    (void)snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (read_text(path, text, sizeof text)) {
        total_kib = find_number(text, "MemTotal");
        free_kib = find_number(text, "MemAvailable");
    }
    if (total_kib < 0 || total_kib > INT64_MAX / 1024) {
        return SLC_FAIL(SLC_ERROR_DEVICE,
                        "%s does not say how much memory there is (no MemTotal in it)", path);
    }
    slci_host_limits found = {.total_bytes = total_kib * 1024, .free_bytes = total_kib * 1024};
    if (free_kib >= 0 && free_kib < total_kib) {
        found.free_bytes = free_kib * 1024;
    }
    apply_control_groups(root, &found);
    read_processor(root, &found);
    *out = found;
    return SLC_OK;
}
