/* Why HDF5 failed, and on whose side. Every call of HDF5 forgets why the one before failed, closing
 * too, so a reason is put aside meanwhile; and where something is copied from one file to another,
 * HDF5 does not say which of the two was to blame. Internal to io/h5_*.c and io/uvh5*.c; all with the
 * lock.
 *
 *     const bool is_ok = H5Aread(from, type, value) >= 0;
 *     slci_h5_reason_blame(is_ok, from, "attribute 'units'");
 *     const hid_t reason = slci_h5_reason_keep(is_ok);
 *     (void)H5Aclose(from);
 *     slci_h5_reason_restore(reason);
 */
#ifndef SLC_IO_H5_REASON_H
#define SLC_IO_H5_REASON_H

#include <hdf5.h>
#include <stdbool.h>

/* Room for one with names in it. */
#define SLCI_H5_REASON_BYTES 1024

/* Puts the reason aside where something has failed, and has it stand again. */
hid_t slci_h5_reason_keep(bool is_ok);
void slci_h5_reason_restore(hid_t reason);

/* Where something has failed: notes that the file of `object`, which is read, is to blame, as "FILE:
 * WHAT of OBJECT cannot be copied: " and HDF5's words. Nothing is noted for want of memory, nor where
 * it is already. */
void slci_h5_reason_blame(bool is_ok, hid_t object, const char *what);

/* Where a write has failed: notes that the input is not to blame. */
void slci_h5_reason_blame_output(bool is_ok);

/* Leaves a reason for a failure that Sluice has found itself: in the file of `object`, as "FILE:
 * OBJECT: WHY"; that the file cannot be looked into, so that nothing is known of what it holds, with
 * what an errno that is not 0 says; or for want of memory. */
void slci_h5_reason_push(hid_t object, const char *why);
void slci_h5_reason_push_out_of_reach(hid_t object, const char *why, int error);
void slci_h5_reason_push_no_memory(const char *why);

/* Whether the input is to blame for the last failure, in words of ours that name its file; and whether
 * that is all that is known of it. */
bool slci_h5_reason_is_input(void);
bool slci_h5_reason_is_out_of_reach(void);

#endif
