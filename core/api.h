/* Marks what the shared library exports; everything else is hidden.
 * Every public header includes this one, and nothing but it decides about visibility. */
#ifndef SLC_CORE_API_H
#define SLC_CORE_API_H

#if defined(__GNUC__)
#define SLC_API __attribute__((visibility("default")))
#define SLC_MUST_USE __attribute__((warn_unused_result))
#define SLC_PRINTF(format_index, first_argument) \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define SLC_API
#define SLC_MUST_USE
#define SLC_PRINTF(format_index, first_argument)
#endif

/* Functions that kernels on the device share with the host are inline and carry this mark. */
#if defined(__CUDACC__)
#define SLC_HOST_DEVICE __host__ __device__
#else
#define SLC_HOST_DEVICE
#endif

#endif
