/* The checksum of HDF5's newer structures. Internal to io/h5_*.c.
 *
 *     is_sound = slci_h5_lookup3(block, n - 4) == stored;
 */
#ifndef SLC_IO_H5_LOOKUP3_H
#define SLC_IO_H5_LOOKUP3_H

#include <stdint.h>

/* Of bytes [n], from the initial value 0 that HDF5 uses. */
uint32_t slci_h5_lookup3(const unsigned char *bytes, int64_t n);

#endif
