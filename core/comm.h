/* How several devices or processes work on one job: the contract that NCCL and MPI will implement.
 * Today there is one implementation, a group of one. Integer reduction is enough because image
 * accumulators are integers (core/fixed.h), so the result does not depend on the group's size.
 * Nothing in Sluice uses it yet; the engine will, when a run is spread over several cards or machines.
 *
 *     SLC_TRY(slc_comm_all_reduce_fixed(comm, accumulators, n));   // in place, exact
 */
#ifndef SLC_CORE_COMM_H
#define SLC_CORE_COMM_H

#include <stdint.h>

#include "core/fixed.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_comm slc_comm;

typedef struct slc_comm_ops {
    int (*rank)(const slc_comm *comm);
    int (*size)(const slc_comm *comm);
    slc_status (*broadcast)(slc_comm *comm, int root, void *data, int64_t bytes);
    slc_status (*all_reduce_fixed)(slc_comm *comm, slc_fixed *values, int64_t n);
    void (*destroy)(slc_comm *comm);
} slc_comm_ops;

/* First member of every implementation. */
struct slc_comm {
    const slc_comm_ops *ops;
};

/* A group of one: rank 0 of 1, everything is already where it should be. SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_comm_create_single(slc_comm **out);
SLC_API void slc_comm_destroy(slc_comm *comm);

SLC_API int slc_comm_rank(const slc_comm *comm);
SLC_API int slc_comm_size(const slc_comm *comm);

/* `data` (host, `bytes`) of rank `root` to everyone. */
SLC_API SLC_MUST_USE slc_status slc_comm_broadcast(slc_comm *comm, int root, void *data,
                                                   int64_t bytes);

/* The exact sum of everyone's values (host, [n]) to everyone, in place. */
SLC_API SLC_MUST_USE slc_status slc_comm_all_reduce_fixed(slc_comm *comm, slc_fixed *values,
                                                          int64_t n);

#ifdef __cplusplus
}
#endif
#endif
