/* The walk from a process's control group up to the mount point.
 *
 * Inside a container the path in /proc/self/cgroup is often the host's and does not exist below the
 * mount point, so whoever visits simply skips what cannot be read, and the walk always ends at the
 * mount point itself, which then is the container's group:
 *
 *     /sys/fs/cgroup/a/b/memory.max    ->  /sys/fs/cgroup/a/memory.max  ->  /sys/fs/cgroup/memory.max
 *
 * Version 1 mounts each controller beside the others (/sys/fs/cgroup/memory), version 2 all in one. */
#include "core/control_groups.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOUNT "/sys/fs/cgroup"
#define TEXT_BYTES 16384 /* a line for each of some twenty hierarchies */

bool slci_group_read_text(const char *directory, const char *name, char *text, size_t text_bytes) {
    char path[SLCI_GROUP_PATH_BYTES];
    const int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    if (length < 0 || length >= (int)sizeof path) {
        return false;
    }
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

int64_t slci_group_read_number(const char *directory, const char *name) {
    char text[64];
    if (!slci_group_read_text(directory, name, text, sizeof text) || text[0] < '0' ||
        text[0] > '9') {
        return -1;
    }
    return (int64_t)strtoll(text, NULL, 10);
}

/* One walk: the group at `path` (up to a newline) below `mount`, and all groups above it. */
typedef struct walk {
    const char *root, *mount, *path;
    int version;
    slci_group_visitor visit;
    void *context;
} walk;

static void visit_upwards(const walk *way) {
    char directory[SLCI_GROUP_PATH_BYTES];
    char group[SLCI_GROUP_PATH_BYTES];
    int path_length = (int)strcspn(way->path, "\n");
    (void)snprintf(group, sizeof group, "%.*s", path_length, way->path);
    if (strstr(group, "/..") != NULL) {
        path_length = 0; /* the process's group lies outside of what is mounted here */
    }
    while (path_length > 0 && way->path[path_length - 1] == '/') {
        path_length--;
    }
    for (;;) {
        const int length = snprintf(directory, sizeof directory, "%s%s%.*s", way->root, way->mount,
                                    path_length, way->path);
        if (length > 0 && length < (int)sizeof directory) {
            way->visit(way->context, directory, way->version);
        }
        if (path_length == 0) {
            return;
        }
        while (path_length > 0 && way->path[--path_length] != '/') {
        }
    }
}

/* Whether the comma-separated list of controllers from `begin` to `end` holds `name`. */
static bool list_holds(const char *begin, const char *end, const char *name) {
    const size_t name_length = strlen(name);
    while (begin < end) {
        const char *comma = memchr(begin, ',', (size_t)(end - begin));
        const char *stop = comma == NULL ? end : comma;
        if ((size_t)(stop - begin) == name_length && strncmp(begin, name, name_length) == 0) {
            return true;
        }
        begin = stop + 1;
    }
    return false;
}

void slci_control_groups_visit(const char *root, const char *controller, slci_group_visitor visit,
                               void *context) {
    char mount[64];
    char text[TEXT_BYTES];
    walk way = {.root = root, .visit = visit, .context = context};
    if (!slci_group_read_text(root, "proc/self/cgroup", text, sizeof text)) {
        return;
    }
    /* Each line is "number:controllers:path"; version 2 has number 0 and no controllers. */
    (void)snprintf(mount, sizeof mount, MOUNT "/%s", controller);
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        const char *first = strchr(line, ':');
        const char *second = first == NULL ? NULL : strchr(first + 1, ':');
        if (second != NULL && (end == NULL || second < end)) {
            way.path = second + 1;
            if (second == first + 1 && line[0] == '0') {
                way.mount = MOUNT;
                way.version = 2;
                visit_upwards(&way);
            } else if (list_holds(first + 1, second, controller)) {
                way.mount = mount;
                way.version = 1;
                visit_upwards(&way);
            }
        }
        line = end == NULL ? NULL : end + 1;
    }
}
