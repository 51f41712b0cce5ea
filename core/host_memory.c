#include "core/host_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/checked.h"

#define SMALL_PAGE_BYTES 4096
#define HUGE_PAGE_BYTES (2 << 20)

/* Touching is bound by the kernel zeroing pages: pieces of this size keep all threads busy and cost
 * nothing to hand out. */
#define TOUCH_PIECE_BYTES (16 << 20)

static int64_t page_bytes_for(int64_t bytes) {
    return bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : SMALL_PAGE_BYTES;
}

int64_t slci_host_mapped_bytes(int64_t bytes) {
    return slc_round_up(bytes, page_bytes_for(bytes));
}

slc_status slci_host_check_size(int64_t bytes) {
    slci_host_limits limits;
    SLC_TRY(slci_host_limits_read("", &limits));
    if (bytes > limits.total_bytes) {
        return SLC_FAIL(SLC_ERROR_MEMORY,
                        "%lld bytes of host memory asked for; this machine or container has %lld",
                        (long long)bytes, (long long)limits.total_bytes);
    }
    return SLC_OK;
}

int64_t slci_host_cache_bytes(void) {
    return slc_max_i64(sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
}

slc_status slci_host_map(int64_t bytes, void **out) {
    SLC_TRY(slci_host_check_size(bytes));
    const int64_t alignment = page_bytes_for(bytes);
    const int64_t wanted = slci_host_mapped_bytes(bytes);
    /* The system aligns to small pages only, so a huge page more is mapped and the ends cut off. */
    const int64_t extra = alignment == HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : 0;
    char *const base = mmap(NULL, (size_t)(wanted + extra), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "cannot map %lld bytes of host memory: %s",
                        (long long)wanted, strerror(errno));
    }
    char *host = base;
    if (extra > 0) {
        const int64_t head =
            (HUGE_PAGE_BYTES - (int64_t)((uintptr_t)base % HUGE_PAGE_BYTES)) % HUGE_PAGE_BYTES;
        host = base + head;
        if (head > 0) {
            (void)munmap(base, (size_t)head);
        }
        if (extra > head) {
            (void)munmap(host + wanted, (size_t)(extra - head));
        }
        /* Advice only: without huge pages everything works, a little slower. */
        (void)madvise(host, (size_t)wanted, MADV_HUGEPAGE);
    }
    *out = host;
    return SLC_OK;
}

void slci_host_unmap(void *host, int64_t bytes) {
    if (host != NULL) {
        (void)munmap(host, (size_t)slci_host_mapped_bytes(bytes));
    }
}

typedef struct touch_range {
    volatile char *host;
    int64_t bytes;
} touch_range;

static slc_status touch_piece(void *context, int64_t index, int worker) {
    (void)worker;
    const touch_range *range = context;
    const int64_t begin = index * TOUCH_PIECE_BYTES;
    const int64_t end = slc_min_i64(begin + TOUCH_PIECE_BYTES, range->bytes);
    for (int64_t i = begin; i < end; i += SMALL_PAGE_BYTES) {
        range->host[i] = 0;
    }
    return SLC_OK;
}

slc_status slci_host_touch(slc_pool *pool, void *host, int64_t bytes) {
    touch_range range = {.host = host, .bytes = slci_host_mapped_bytes(bytes)};
    return slc_pool_for(pool, slc_ceil_div(range.bytes, TOUCH_PIECE_BYTES), touch_piece, &range);
}
