/* Host memory in whole pages for copies, and what this machine (or container) has of memory and
 * processors. Internal to Sluice: the devices make their pinned and mapped memory from it, and the
 * program its default budgets and number of threads.
 *
 *     slci_host_limits limits;
 *     SLC_TRY(slci_host_limits_read("", &limits));      // limits.free_bytes
 */
#ifndef SLC_CORE_HOST_MEMORY_H
#define SLC_CORE_HOST_MEMORY_H

#include <stdint.h>

#include "core/pool.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_host_limits {
    int64_t total_bytes; /* RAM, or the control group's limit where that is less */
    int64_t free_bytes;  /* what can still be had of it without swapping */
    char processor[128]; /* "AMD EPYC 9654 96-Core Processor" */
} slci_host_limits;

/* Reads /proc and the control groups of this process. Every path begins with `root`: "" for the
 * machine itself, a directory of made-up files in tests. SLC_ERROR_DEVICE when nothing there tells
 * how much memory there is. */
SLC_MUST_USE slc_status slci_host_limits_read(const char *root, slci_host_limits *out);

/* The processors this process may use: its affinity mask, within the quota of its control group and
 * of those above it, rounded up. At least 1. `root` as above (the mask is the process's own). */
int slci_host_cpus(const char *root);

/* Bytes of the last cache that processors share; 0: the system does not say. */
int64_t slci_host_cache_bytes(void);

/* Maps at least `bytes` >= 1 of zeroed memory, with huge pages where the system grants them; whole
 * 2 MiB pages and aligned to them from that size on. Nothing is touched. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_host_map(int64_t bytes, void **out);

/* Gives back what slci_host_map made with the same `bytes`. */
void slci_host_unmap(void *host, int64_t bytes);

/* The mapping's real size: `bytes` in whole pages. `bytes` was mapped, so it fits. */
int64_t slci_host_mapped_bytes(int64_t bytes);

/* Writes to every page of a fresh mapping on all threads of the pool: registering untouched memory
 * would fault it in on one. Never call it from a task of the pool. */
SLC_MUST_USE slc_status slci_host_touch(slc_pool *pool, void *host, int64_t bytes);

/* SLC_ERROR_MEMORY when `bytes` is more than this machine could ever give: better a refusal now than
 * a process killed when the pages are touched. */
SLC_MUST_USE slc_status slci_host_check_size(int64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
