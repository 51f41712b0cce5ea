#include "tests/support/test_guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Pages for n bytes between two that nobody may touch. Returns the bytes between them. */
static int64_t map(int64_t n, test_guard *out) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    const int64_t middle = (n + page - 1) / page * page;
    out->mapped_bytes = middle + 2 * page;
    out->mapped =
        mmap(NULL, (size_t)out->mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    out->bytes = (unsigned char *)out->mapped + page;
    if (out->mapped == MAP_FAILED ||
        (middle > 0 && mprotect(out->bytes, (size_t)middle, PROT_READ | PROT_WRITE) != 0)) {
        perror("no guarded memory");
        abort();
    }
    return middle;
}

void test_guard_open(int64_t n, test_guard *out) {
    const int64_t middle = map(n, out);
    out->bytes += middle - n;
}

void test_guard_open_low(int64_t n, test_guard *out) {
    (void)map(n, out);
}

void test_guard_close(test_guard *guard) {
    (void)munmap(guard->mapped, (size_t)guard->mapped_bytes);
}
