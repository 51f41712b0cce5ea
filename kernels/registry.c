/* Which kernels this build holds: the one place in kernels/ that knows whether CUDA is built in. */
#include <stddef.h>

#include "kernels/direct.h"
#include "kernels/direct_internal.h"

#if defined(SLC_HAVE_CUDA) && SLC_HAVE_CUDA
extern const slc_direct_kernel slci_direct_cuda;
static const slc_direct_kernel *const cuda_kernel = &slci_direct_cuda;
#else
static const slc_direct_kernel *const cuda_kernel = NULL;
#endif

const slc_direct_kernel *slc_direct_kernel_get(slc_device_kind device) {
    return device == SLC_DEVICE_CUDA ? cuda_kernel : &slci_direct_host;
}
