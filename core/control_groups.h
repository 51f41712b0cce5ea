/* The control groups that limit this process: its own and every group above it.
 * The process sees its group as a path in /proc/self/cgroup, one line for each hierarchy of version 1
 * and one for version 2. Internal to core.
 *
 *     slci_control_groups_visit("", "memory", apply_limit, &limits);
 */
#ifndef SLC_CORE_CONTROL_GROUPS_H
#define SLC_CORE_CONTROL_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_GROUP_PATH_BYTES 4096

/* What happens with each group. `directory` may not exist; `version` is 1 or 2. */
typedef void (*slci_group_visitor)(void *context, const char *directory, int version);

/* Visits the groups of this process in which `controller` ("memory", "cpu") may set a limit, from the
 * inside to the mount point. Every path begins with `root`: "" for the machine itself, a directory of
 * made-up files in tests. Does nothing where there are no groups. */
void slci_control_groups_visit(const char *root, const char *controller, slci_group_visitor visit,
                               void *context);

/* The first bytes of directory/name as a string; false when it cannot be read or is empty. */
bool slci_group_read_text(const char *directory, const char *name, char *text, size_t text_bytes);

/* The number at the beginning of directory/name; -1 if there is none ("max"). Too large a number is
 * the largest one. */
int64_t slci_group_read_number(const char *directory, const char *name);

#ifdef __cplusplus
}
#endif
#endif
