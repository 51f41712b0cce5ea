/* Planes for any processor: what the compiler makes of vectors of 16 bytes without being told more; and
 * the choice among all. */
#include "io/chunk_planes_cached.h"

#include "io/chunk_planes_body.h"

static bool is_supported(void) {
    return true;
}

const slci_chunk_planes slci_chunk_planes_plain = {.name = "plain",
                                                   .is_supported = is_supported,
                                                   .from_bits = from_bits,
                                                   .to_elements = to_elements,
                                                   .settle = settle};

const slci_chunk_planes *slci_chunk_planes_get(void) {
    return slci_chunk_planes_avx2.is_supported() ? &slci_chunk_planes_avx2
                                                 : &slci_chunk_planes_plain;
}
