/* The kernels that gather, for kernels/registry.c. */
#ifndef SLC_KERNELS_GATHER_INTERNAL_H
#define SLC_KERNELS_GATHER_INTERNAL_H

#include "kernels/gather_kernel.h"

extern const slc_gather_kernel slci_gather_host;

#endif
