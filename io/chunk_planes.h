/* The loops that turn planes of bits into planes of bytes, and planes of bytes into elements, once for
 * each instruction set. All give the same bytes. Internal to io/chunk_*.c.
 *
 *     const slci_chunk_planes *planes = slci_chunk_planes_get();
 *     planes->from_bits(bits, n, element_bytes, bytes);
 *     planes->to_elements(bytes, n, element_bytes, elements, n);
 *     planes->settle();                        before another thread looks at them
 */
#ifndef SLC_IO_CHUNK_PLANES_H
#define SLC_IO_CHUNK_PLANES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `n` elements of `element_bytes`, element_bytes * n bytes each way; `in` and `out` do not overlap. */
typedef struct slci_chunk_planes {
    const char *name;
    bool (*is_supported)(void); /* by this processor */
    /* n is a multiple of 8. Byte b · n + k · n/8 + g, bit j goes to byte b · n + 8 g + j, bit k. */
    void (*from_bits)(const unsigned char *in, int64_t n, int64_t element_bytes,
                      unsigned char *out);
    /* Of planes of n bytes, the first `count` elements: byte b · n + k goes to byte
     * k · element_bytes + b. Stores may pass the caches by. */
    void (*to_elements)(const unsigned char *in, int64_t n, int64_t element_bytes,
                        unsigned char *out, int64_t count);
    /* What this thread has stored so becomes visible to others before whatever it stores next. */
    void (*settle)(void);
} slci_chunk_planes;

extern const slci_chunk_planes slci_chunk_planes_avx2;
extern const slci_chunk_planes slci_chunk_planes_plain;

/* The fastest that this processor supports. */
const slci_chunk_planes *slci_chunk_planes_get(void);

#ifdef __cplusplus
}
#endif
#endif
