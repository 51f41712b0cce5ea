/* Plain visibility sets: u, v, w in wavelengths, visibilities, perhaps weights and flags, as columns.
 * The same rows whether the columns lie in an HDF5 file (read run by run) or in memory (an .npz).
 *
 *     SLC_TRY(slci_plain_check(plain, options));       // after the columns are filled in
 */
#ifndef SLC_IO_VIS_PLAIN_H
#define SLC_IO_VIS_PLAIN_H

#include "io/h5_data.h"
#include "io/vis_part.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SLCI_PLAIN_U,
    SLCI_PLAIN_V,
    SLCI_PLAIN_W,
    SLCI_PLAIN_VIS,
    SLCI_PLAIN_WEIGHT,
    SLCI_PLAIN_FLAGS,
    SLCI_PLAIN_COLUMNS
};

/* A dataset (.set.id not 0) or memory (not NULL), never both; neither: there is no such column. */
typedef struct slci_plain_column {
    slci_h5_dataset set;   /* shape, type and texts are filled in for memory too */
    unsigned char *memory; /* dense, C order, owned */
    bool keeps_row;        /* HDF5's cache has room for a row of its chunks */
} slci_plain_column;

typedef struct slci_plain {
    slci_vis_part base;
    slci_h5_id file; /* 0: none */
    slci_plain_column columns[SLCI_PLAIN_COLUMNS];
    double sign;    /* of the exponent in the image sum for which the set was made */
    double freq_hz; /* 0: not known */
    const slci_vis_selection *selection;
    int64_t block_rows;
    char ignored[512]; /* the file's other members, "freq, weights", for a warning */
} slci_plain;

/* Makes an empty plain part; on success the caller fills in columns and then calls check, which
 * refuses shapes and types that contradict each other and completes the header. */
SLC_MUST_USE slc_status slci_plain_create(const char *path, const char *format, slci_plain **out);

SLC_MUST_USE slc_status slci_plain_check(slci_plain *plain, const slc_vis_options *options);
void slci_plain_destroy(slci_plain *plain);

/* How the members of a file are called, and which column each fills. Visibilities have two names;
 * where a file has both, the first of this table is taken. */
typedef struct slci_plain_member {
    const char *name;
    int column;
} slci_plain_member;

#define SLCI_PLAIN_MEMBERS 7
extern const slci_plain_member slci_plain_members[SLCI_PLAIN_MEMBERS];

/* Notes a member of the file that fills no column. */
void slci_plain_ignore(slci_plain *plain, const char *name);

/* The same, for any member of the file, but only if its name is none of the table's. */
void slci_plain_ignore_unknown(slci_plain *plain, const char *name);

#ifdef __cplusplus
}
#endif
#endif
