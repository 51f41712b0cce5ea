/* Which kernels this build holds: the one place in kernels/ that knows whether CUDA is built in. */
#include <stddef.h>

#include "kernels/direct.h"
#include "kernels/direct_internal.h"
#include "kernels/gather_internal.h"
#include "kernels/gather_kernel.h"
#include "kernels/predict_internal.h"
#include "kernels/predict_kernel.h"
#include "kernels/stats_internal.h"
#include "kernels/stats_kernel.h"

#if defined(SLC_HAVE_CUDA) && SLC_HAVE_CUDA
extern const slc_direct_kernel slci_direct_cuda;
static const slc_direct_kernel *const cuda_kernel = &slci_direct_cuda;
extern const slc_gather_kernel slci_gather_cuda;
static const slc_gather_kernel *const gather_cuda_kernel = &slci_gather_cuda;
extern const slc_predict_kernel slci_predict_cuda;
static const slc_predict_kernel *const predict_cuda_kernel = &slci_predict_cuda;
extern const slc_stats_kernel slci_stats_cuda;
static const slc_stats_kernel *const stats_cuda_kernel = &slci_stats_cuda;
#else
static const slc_direct_kernel *const cuda_kernel = NULL;
static const slc_gather_kernel *const gather_cuda_kernel = NULL;
static const slc_predict_kernel *const predict_cuda_kernel = NULL;
static const slc_stats_kernel *const stats_cuda_kernel = NULL;
#endif

const slc_direct_kernel *slc_direct_kernel_get(slc_device_kind device) {
    return device == SLC_DEVICE_CUDA ? cuda_kernel : &slci_direct_host;
}

const slc_gather_kernel *slc_gather_kernel_get(slc_device_kind device) {
    return device == SLC_DEVICE_CUDA ? gather_cuda_kernel : &slci_gather_host;
}

const slc_predict_kernel *slc_predict_kernel_get(slc_device_kind device) {
    return device == SLC_DEVICE_CUDA ? predict_cuda_kernel : &slci_predict_host;
}

const slc_stats_kernel *slc_stats_kernel_get(slc_device_kind device) {
    return device == SLC_DEVICE_CUDA ? stats_cuda_kernel : &slci_stats_host;
}
