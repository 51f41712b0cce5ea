#include "core/comm.h"

#include <stdlib.h>

int slc_comm_rank(const slc_comm *comm) {
    return comm->ops->rank(comm);
}

int slc_comm_size(const slc_comm *comm) {
    return comm->ops->size(comm);
}

slc_status slc_comm_broadcast(slc_comm *comm, int root, void *data, int64_t bytes) {
    if (root < 0 || root >= slc_comm_size(comm) || bytes < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "broadcast: %lld bytes from rank %d of a group of %d",
                        (long long)bytes, root, slc_comm_size(comm));
    }
    return comm->ops->broadcast(comm, root, data, bytes);
}

slc_status slc_comm_all_reduce_fixed(slc_comm *comm, slc_fixed *values, int64_t n) {
    if (n < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "all-reduce: %lld values", (long long)n);
    }
    return comm->ops->all_reduce_fixed(comm, values, n);
}

void slc_comm_destroy(slc_comm *comm) {
    if (comm != NULL) {
        comm->ops->destroy(comm);
    }
}

/* --- a group of one: every sum and every broadcast is what the caller already holds --- */

static int single_rank(const slc_comm *comm) {
    (void)comm;
    return 0;
}

static int single_size(const slc_comm *comm) {
    (void)comm;
    return 1;
}

static slc_status single_broadcast(slc_comm *comm, int root, void *data, int64_t bytes) {
    (void)comm;
    (void)root;
    (void)data;
    (void)bytes;
    return SLC_OK;
}

static slc_status single_all_reduce_fixed(slc_comm *comm, slc_fixed *values, int64_t n) {
    (void)comm;
    (void)values;
    (void)n;
    return SLC_OK;
}

static void single_destroy(slc_comm *comm) {
    free(comm);
}

static const slc_comm_ops single_ops = {
    .rank = single_rank,
    .size = single_size,
    .broadcast = single_broadcast,
    .all_reduce_fixed = single_all_reduce_fixed,
    .destroy = single_destroy,
};

slc_status slc_comm_create_single(slc_comm **out) {
    slc_comm *comm = calloc(1, sizeof *comm);
    if (comm == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "comm: no memory for a group of one");
    }
    comm->ops = &single_ops;
    *out = comm;
    return SLC_OK;
}
