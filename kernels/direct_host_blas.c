/* The buffers of OpenBLAS, had before a run instead of during it.
 *
 * OpenBLAS takes a buffer for each thread that is inside a product, on that thread's first one, and
 * keeps it for later calls. Where the system refuses the memory it asks again, for ever: a run would
 * hang without a word. So the system is asked first, with a mapping as OpenBLAS makes it, and then
 * OpenBLAS is made to take as many buffers as threads will multiply at once. Nothing of a buffer is
 * touched, so this takes addresses (`ulimit -v`, and memory where the system promises no more than it
 * has), not RAM. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/checked.h"
#include "kernels/direct_internal.h"

/* BUFFER_SIZE of OpenBLAS's common_x86_64.h and common_arm64.h, 32 << 22, and what its second way to
 * ask, malloc, and the tables of the pages take beside it. */
#define BUFFER_BYTES (INT64_C(130) << 20)

/* What else takes addresses, for the number that a message names: for each thread a stack of 8 MiB and
 * an arena of malloc, and a run has as many threads again for reading and a few of its own; and the
 * program with its libraries (76 MiB). */
#define THREAD_BYTES (INT64_C(72) << 20)
#define FEW_THREADS 4
#define PROGRAM_BYTES (INT64_C(128) << 20)

/* OpenBLAS's own, which no header declares. Weak, as a build of it may hide them: then the system is
 * asked, but nothing taken. */
extern void *blas_memory_alloc(int purpose) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

/* How many threads OpenBLAS starts of its own unless the environment says otherwise. */
extern int openblas_get_num_procs(void);

/* How many buffers OpenBLAS has: it keeps them for the whole process, and so does this count. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_held;

static bool can_map(int64_t bytes) {
    void *at =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED && munmap(at, (size_t)bytes) == 0;
}

static slc_status refuse(int n_threads) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return SLC_FAIL(SLC_ERROR_MEMORY,
                        "OpenBLAS needs %lld bytes for each of %d threads, and the system gives no "
                        "more; fewer --threads need less",
                        (long long)BUFFER_BYTES, n_threads);
    }
    const int64_t n_own = (int64_t)openblas_get_num_procs() - 1;
    const int64_t enough = (n_threads + n_own) * BUFFER_BYTES +
                           (2 * (int64_t)n_threads + FEW_THREADS + n_own) * THREAD_BYTES +
                           PROGRAM_BYTES;
    return SLC_FAIL(SLC_ERROR_MEMORY,
                    "addresses are limited to %lld KiB (ulimit -v), too few for OpenBLAS, which "
                    "needs %lld KiB for each of %d threads; ulimit -v %lld is enough, and fewer "
                    "--threads and OPENBLAS_NUM_THREADS=1 in the environment need less",
                    (long long)(limit.rlim_cur / 1024), (long long)(BUFFER_BYTES / 1024), n_threads,
                    (long long)(enough / 1024));
}

/* buffers: room for n_threads. *n: how many there are, for giving them back. */
static slc_status take(int n_threads, void **buffers, int *n) {
    for (*n = 0; *n < n_threads; (*n)++) {
        if (*n >= n_held && !can_map(BUFFER_BYTES)) {
            return refuse(n_threads);
        }
        buffers[*n] = blas_memory_alloc(0);
        if (buffers[*n] == NULL) {
            return refuse(n_threads);
        }
    }
    return SLC_OK;
}

slc_status slci_direct_blas_reserve(int n_threads) {
    if (blas_memory_alloc == NULL || blas_memory_free == NULL) {
        return can_map(n_threads * BUFFER_BYTES) ? SLC_OK : refuse(n_threads);
    }
    void **buffers = calloc((size_t)n_threads, sizeof *buffers);
    if (buffers == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a list of %d threads", n_threads);
    }
    int n = 0;
    pthread_mutex_lock(&lock);
    const slc_status status = take(n_threads, buffers, &n);
    n_held = n > n_held ? n : n_held;
    for (int i = 0; i < n; i++) {
        blas_memory_free(buffers[i]);
    }
    pthread_mutex_unlock(&lock);
    free(buffers);
    return status;
}
