/* The cache's file has a line for each entry:
 *
 *     product lines 256 pieces 49 slots 132 split 12
 *
 * Budgets that follow what is free now differ a little from run to run, and with them the rows of a
 * tile, so a shape near enough is taken for the same. A split for more pieces than there are is
 * cut. */
#include "app/tuning_book.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cache_file.h"
#include "core/checked.h"
#include "core/print.h"
#include "core/units.h"

/* Raised when what is tuned, or what an entry means, changes. */
#define FORMAT 1

/* An entry has at most four numbers of 19 digits and 50 letters. */
#define LINE_BYTES 160
#define FILE_BYTES (SLCI_CACHE_KEY_BYTES + SLCI_TUNING_ENTRIES * LINE_BYTES)

/* Numbers up to this are counts of lines, pieces or slots. */
#define MOST_COUNT INT64_C(1000000000000000)

/* Shapes whose lines or pieces differ by more are strangers. */
#define NEAR 0.125

static const char *const words[] = {" lines ", " pieces ", " slots ", " split "};
enum { N_WORDS = 4 };

/* ---- the file ---------------------------------------------------------------------------------
 * */

/* The numbers of a line behind its launch's name, without the newline. */
static bool parse_numbers(char *text, int64_t numbers[N_WORDS]) {
    for (int i = 0; i < N_WORDS; i++) {
        const size_t length = strlen(words[i]);
        if (strncmp(text, words[i], length) != 0) {
            return false;
        }
        text += length;
        char *const end = i + 1 < N_WORDS ? strstr(text, words[i + 1]) : text + strlen(text);
        if (end == NULL) {
            return false;
        }
        const char after = *end;
        *end = '\0';
        const bool is_number = slci_parse_integer(text, 1, MOST_COUNT, &numbers[i]) == SLC_OK;
        *end = after;
        if (!is_number) {
            return false;
        }
        text = end;
    }
    return true;
}

static bool parse_entry(char *line, slci_tuning_entry *entry) {
    for (int k = 0; k < SLC_DIRECT_N_LAUNCHES; k++) {
        const char *name = slci_direct_launch_name((slc_direct_launch)k);
        int64_t numbers[N_WORDS];
        if (strncmp(line, name, strlen(name)) == 0 && parse_numbers(line + strlen(name), numbers)) {
            *entry = (slci_tuning_entry){(slc_direct_launch)k, numbers[0], numbers[1], numbers[2],
                                         numbers[3]};
            return entry->split <= entry->n_pieces;
        }
    }
    return false;
}

static bool parse_book(char *text, slci_tuning_book *book) {
    book->n = 0;
    while (text[0] != '\0') {
        char *newline = strchr(text, '\n');
        if (newline == NULL || book->n == SLCI_TUNING_ENTRIES) {
            return false;
        }
        *newline = '\0';
        if (!parse_entry(text, &book->entry[book->n])) {
            return false;
        }
        book->n++;
        text = newline + 1;
    }
    return true;
}

void slci_tuning_book_load(const slci_tuning_place *place, slci_tuning_book *book) {
    slci_cache_file file;
    char text[FILE_BYTES];
    book->n = 0;
    if (place->folder == NULL ||
        slci_cache_file_name(place->device, "tuning", FORMAT, place->folder, &file) != SLC_OK) {
        return;
    }
    const slci_cache_state state = slci_cache_file_read(&file, text, sizeof text);
    if (state == SLCI_CACHE_DAMAGED || (state == SLCI_CACHE_WHOLE && !parse_book(text, book))) {
        slc_log_note(place->log,
                     "%s is damaged: what --tune found on this machine is not used; --tune again "
                     "replaces it",
                     file.path);
        book->n = 0;
    }
}

slc_status slci_tuning_book_save(const slci_tuning_place *place, const slci_tuning_book *book) {
    slci_cache_file file;
    char text[FILE_BYTES] = "";
    if (place->folder == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "there is no folder to keep it in: set HOME");
    }
    SLC_TRY(slci_cache_file_name(place->device, "tuning", FORMAT, place->folder, &file));
    for (int i = 0; i < book->n; i++) {
        const slci_tuning_entry *entry = &book->entry[i];
        const size_t used = strlen(text);
        (void)slci_print(text + used, sizeof text - used,
                         "%s lines %lld pieces %lld slots %lld split %lld\n",
                         slci_direct_launch_name(entry->launch), (long long)entry->n_lines,
                         (long long)entry->n_pieces, (long long)entry->n_slots,
                         (long long)entry->split);
    }
    return slci_cache_file_write(&file, text);
}

/* ---- entries ----------------------------------------------------------------------------------
 * */

static double difference(int64_t a, int64_t b) {
    return fabs((double)a - (double)b) / (double)slc_max_i64(slc_max_i64(a, b), 1);
}

int64_t slci_tuning_book_find(const slci_tuning_book *book, slc_direct_launch launch,
                              const slci_direct_division *division) {
    double nearest = INFINITY;
    int64_t split = 0;
    for (int i = 0; i < book->n; i++) {
        const slci_tuning_entry *entry = &book->entry[i];
        const double lines = difference(entry->n_lines, division->n_lines);
        const double pieces = difference(entry->n_pieces, division->n_pieces);
        if (entry->launch == launch && entry->n_slots == division->n_slots && lines <= NEAR &&
            pieces <= NEAR && lines + pieces < nearest) {
            nearest = lines + pieces;
            split = slc_min_i64(entry->split, division->n_pieces);
        }
    }
    return split;
}

void slci_tuning_book_add(slci_tuning_book *book, slc_direct_launch launch,
                          const slci_direct_division *division, int64_t split) {
    const slci_tuning_entry added = {launch, division->n_lines, division->n_pieces,
                                     division->n_slots, split};
    int at = 0;
    while (at < book->n &&
           !(book->entry[at].launch == launch && book->entry[at].n_lines == added.n_lines &&
             book->entry[at].n_pieces == added.n_pieces &&
             book->entry[at].n_slots == added.n_slots)) {
        at++;
    }
    if (at == SLCI_TUNING_ENTRIES) {
        at = 0;
    }
    if (at < book->n) {
        memmove(&book->entry[at], &book->entry[at + 1],
                (size_t)(book->n - at - 1) * sizeof book->entry[0]);
        book->n--;
    }
    book->entry[book->n++] = added;
}
