#include "core/thread_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The shortest that Linux knows. A scheduler of tiles is done with one in less. */
#define SHORT_NS 100000

/* What the system calls of Linux take (sched_setattr(2)), in their first version; the C library has
 * them only of late. */
typedef struct thread_attributes {
    uint32_t bytes, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns; /* of ordinary threads: the slice is runtime_ns */
} thread_attributes;

static bool get_attributes(thread_attributes *out) {
    *out = (thread_attributes){.bytes = (uint32_t)sizeof *out};
    return syscall(SYS_sched_getattr, 0, out, sizeof *out, 0) == 0;
}

static bool set_slice(thread_attributes *attributes, uint64_t ns) {
    attributes->runtime_ns = ns;
    return syscall(SYS_sched_setattr, 0, attributes, 0) == 0;
}

/* An older Linux says that slices are 0 long; a thread that somebody has made another than an ordinary
 * one is left as it is. */
slci_thread_slice slci_thread_slice_shorten(void) {
    thread_attributes attributes;
    slci_thread_slice before = {0};
    if (get_attributes(&attributes) && attributes.policy == SCHED_OTHER &&
        attributes.runtime_ns > SHORT_NS) {
        before.ns = attributes.runtime_ns;
        before.is_changed = set_slice(&attributes, SHORT_NS);
    }
    return before;
}

void slci_thread_slice_restore(const slci_thread_slice *before) {
    thread_attributes attributes;
    if (before->is_changed && get_attributes(&attributes)) {
        (void)set_slice(&attributes, before->ns);
    }
}
