/* The CUDA side of kernels/touch.h, for kernels/touch.c alone. */
#ifndef SLC_KERNELS_TOUCH_INTERNAL_H
#define SLC_KERNELS_TOUCH_INTERNAL_H

#include "kernels/touch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Launches the kernel. Without CUDA in this build: SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_touch_cuda(slc_stream *stream, const slc_touch *touch);

#ifdef __cplusplus
}
#endif
#endif
