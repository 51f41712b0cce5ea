/* What the files of the devices share and nobody else sees.
 * Each implementation is one file behind the table in core/device.h; these are the few functions
 * that cannot go through it. */
#ifndef SLC_CORE_DEVICE_INTERNAL_H
#define SLC_CORE_DEVICE_INTERNAL_H

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Largest argument of slc_stream_call; it travels inside the command. */
#define SLCI_CALL_BYTES 1024

/* Opens card `index`. Only there when CUDA was built in: core/device.c alone calls it.
 * SLC_ERROR_DEVICE with the reason in words, SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_device_create_cuda(int index, slc_pool *pool, slc_log *log,
                                                slc_device **out);

/* That card `index` is there, of a sufficient driver: SLC_ERROR_DEVICE with the reason in words. Only
 * there when CUDA was built in. */
SLC_MUST_USE slc_status slci_cuda_find_card(int index);

/* Whether there is a card or at least a driver for one, so that computing on the CPU is not what the
 * user expects. Only there when CUDA was built in. */
bool slci_cuda_is_expected(void);

/* The stream or device that a checking device wraps; the argument itself for any other. */
slc_stream *slci_check_inner_stream(slc_stream *stream);
slc_device *slci_check_inner_device(slc_device *device);

#ifdef __cplusplus
}
#endif
#endif
