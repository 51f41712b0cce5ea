/* Objects of one HDF5 file for another: groups with all below them, datasets, named types, with their
 * attributes. HDF5's own H5Ocopy takes over what stands in the file unseen, and crashes on a damaged
 * one; here everything is opened, looked at, and made anew, but for chunks, whose bytes are copied as
 * they are stored. Internal to io/h5_*.c and io/uvh5*.c; all with the lock.
 *
 *     const slci_h5_object_copy_options options = {.output = output};
 *     slci_h5_object_copy *copy = slci_h5_object_copy_create(&options);
 *     is_ok = slci_h5_object_copy_note(copy, from_group, to_group) &&
 *             slci_h5_object_copy_link(copy, from_group, "beside", to_group);
 *     slci_h5_object_copy_destroy(copy);
 *
 * Links by name stay what they are. An object that comes a second time, under another name or below
 * itself, is a second name of its copy. References between objects are addresses in their file:
 * those in elements lead nowhere in the copy, attributes of references do not come at all. A dataset's
 * type that has a name of its own is a nameless one in the copy, and a virtual one stays virtual.
 */
#ifndef SLC_IO_H5_OBJECT_COPY_H
#define SLC_IO_H5_OBJECT_COPY_H

#include <hdf5.h>
#include <stdbool.h>

#include "core/log.h"
#include "io/h5_output.h"

typedef struct slci_h5_object_copy slci_h5_object_copy;

typedef struct slci_h5_object_copy_options {
    const slci_h5_output *output; /* lent: what the copies go to */
    slc_log *log;                 /* what does not come along is said there; may be NULL */
    bool follows_external;        /* what external links lead to is copied instead of them */
} slci_h5_object_copy_options;

/* NULL: no memory. */
slci_h5_object_copy *slci_h5_object_copy_create(const slci_h5_object_copy_options *options);
void slci_h5_object_copy_destroy(slci_h5_object_copy *copy); /* takes NULL */

/* `to` is what `from` becomes, made by the caller. False for want of memory or where HDF5 fails. */
bool slci_h5_object_copy_note(slci_h5_object_copy *copy, hid_t from, hid_t to);

/* One link of an open group into another one, under the same name, with what it leads to if it is a
 * hard link. False where that fails: io/h5_reason.h says why. A name that is there already is left
 * alone. */
bool slci_h5_object_copy_link(slci_h5_object_copy *copy, hid_t from, const char *name, hid_t to);

/* The object that a link of any kind leads to. */
bool slci_h5_object_copy_target(slci_h5_object_copy *copy, hid_t from, const char *name, hid_t to);

#endif
