/* What a card's tensor cores give at most, by the maker's own library: one large product of matrices in
 * half precision with sums in single precision. `sluice bench direct` holds the product kernel against
 * it. The library is looked for when this is called, so that nothing of Sluice links to it.
 *
 *     SLC_TRY(slci_cublas_rate_measure(&request, &rate));
 *     if (rate.multiply_adds_per_s == 0) { ... rate.why_not ... }
 */
#ifndef SLC_KERNELS_CUBLAS_RATE_H
#define SLC_KERNELS_CUBLAS_RATE_H

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The product is of two square matrices of this many rows: large enough for the card to be full. */
#define SLCI_CUBLAS_RATE_ROWS 8192

/* Device memory for both and for the product, in half precision, which the caller lends. What the
 * library takes for itself (some 100 MB) comes on top. */
#define SLCI_CUBLAS_RATE_BYTES (INT64_C(3) * 2 * SLCI_CUBLAS_RATE_ROWS * SLCI_CUBLAS_RATE_ROWS)

typedef struct slci_cublas_rate_request {
    slc_device *device;
    slc_stream *stream;
    void *d_memory; /* [SLCI_CUBLAS_RATE_BYTES] */
} slci_cublas_rate_request;

typedef struct slci_cublas_rate {
    double multiply_adds_per_s; /* 0: there is no such library */
    char library[32];           /* "libcublas.so.13" */
    char why_not[160];
} slci_cublas_rate;

/* The best of some runs. SLC_ERROR_DEVICE where the library is there and fails, and on devices other
 * than cards. */
SLC_MUST_USE slc_status slci_cublas_rate_measure(const slci_cublas_rate_request *request,
                                                 slci_cublas_rate *out);

#ifdef __cplusplus
}
#endif
#endif
