/* Whether there is a card. What the runtime says before there is any device is turned into words for
 * whoever sits there. */
#include "core/device_cuda.h"
#include "core/device_internal.h"

slc_status slci_cuda_find_card(int index) {
    int n_cards = 0;
    const cudaError_t error = cudaGetDeviceCount(&n_cards);
    if (error == cudaErrorNoDevice || (error == cudaSuccess && n_cards == 0)) {
        (void)cudaGetLastError();
        return SLC_FAIL(SLC_ERROR_DEVICE, "CUDA finds no card in this machine");
    }
    if (error == cudaErrorInsufficientDriver) {
        int driver = 0;
        int runtime = 0;
        (void)cudaGetLastError();
        (void)cudaDriverGetVersion(&driver);
        (void)cudaRuntimeGetVersion(&runtime);
        if (driver == 0) {
            return SLC_FAIL(SLC_ERROR_DEVICE, "no NVIDIA driver is installed or loaded");
        }
        return SLC_FAIL(SLC_ERROR_DEVICE,
                        "the NVIDIA driver supports CUDA %d.%d and this Sluice was built with "
                        "%d.%d; install a newer driver",
                        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    }
    SLC_TRY(slc_cuda_status(error, "cudaGetDeviceCount"));
    if (index < 0 || index >= n_cards) {
        return SLC_FAIL(SLC_ERROR_DEVICE, "card %d asked for, and there %s %d, numbered from 0",
                        index, n_cards == 1 ? "is" : "are", n_cards);
    }
    return SLC_OK;
}

bool slci_cuda_is_expected(void) {
    int n_cards = 0;
    int driver = 0;
    const cudaError_t error = cudaGetDeviceCount(&n_cards);
    (void)cudaDriverGetVersion(&driver);
    (void)cudaGetLastError();
    return driver > 0 && error != cudaErrorNoDevice && (error != cudaSuccess || n_cards > 0);
}
