/* What --tune has found on this card, for runs to come: which split of a launch was the fastest for
 * work of one shape. Kept in the user's cache beside the machine's rates, by the same key. No bit
 * of a result depends on it. Internal to app.
 *
 *     slci_tuning_book book;
 *     slci_tuning_book_load(&place, &book);                        // empty where nothing is kept
 *     split = slci_tuning_book_find(&book, launch, &division);     // 0: nothing is known
 *     slci_tuning_book_add(&book, launch, &division, split);
 *     SLC_TRY(slci_tuning_book_save(&place, &book));
 */
#ifndef SLC_APP_TUNING_BOOK_H
#define SLC_APP_TUNING_BOOK_H

#include "core/device.h"
#include "core/log.h"
#include "kernels/direct_tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_TUNING_ENTRIES 64

typedef struct slci_tuning_entry {
    slc_direct_launch launch;
    int64_t n_lines, n_pieces, n_slots; /* of slci_direct_division */
    int64_t split;                      /* at most n_pieces */
    bool is_new;                        /* it is not in the file yet */
} slci_tuning_entry;

/* The oldest first; where it is full, a new one takes the oldest's place. */
typedef struct slci_tuning_book {
    int n;
    slci_tuning_entry entry[SLCI_TUNING_ENTRIES];
} slci_tuning_book;

/* Where it is kept. All lent for the call. */
typedef struct slci_tuning_place {
    slc_device *device;
    const char *folder; /* of the cache; NULL: nothing is kept */
    slc_log *log;
} slci_tuning_place;

/* What is kept; a file that is damaged is as good as none, which the log is told. */
void slci_tuning_book_load(const slci_tuning_place *place, slci_tuning_book *book);

/* Adds what is new to what the file holds by now, since other runs may have written meanwhile. The
 * folder is made where it is missing. SLC_ERROR_OUTPUT; SLC_ERROR_ARGUMENT without a folder. */
SLC_MUST_USE slc_status slci_tuning_book_save(const slci_tuning_place *place,
                                              const slci_tuning_book *book);

/* The split of the entry whose shape is the nearest, lines and pieces each within an eighth; or,
 * where only the rows of an engine tile differ by more, up to fourfold, one that fills the device
 * likewise, unless the model knows a better one. 0 where there is none. */
int64_t slci_tuning_book_find(const slci_tuning_book *book, slc_direct_launch launch,
                              const slci_direct_division *division);

/* Adds a new entry, or replaces that of the same shape. */
void slci_tuning_book_add(slci_tuning_book *book, slc_direct_launch launch,
                          const slci_direct_division *division, int64_t split);

#ifdef __cplusplus
}
#endif
#endif
