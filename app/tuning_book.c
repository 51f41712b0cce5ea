/* The cache's file has a line for each entry:
 *
 *     product lines 256 pieces 49 slots 132 split 12
 *
 * Budgets that follow what is free now differ a little from run to run, and with them the rows of a
 * tile, so a shape near enough is taken for the same. A split for more pieces than there are is
 * cut.
 *
 * The rate at which the survey was read differs more, whether the file is in the page cache or not, and
 * the rows of a tile with it, by a factor of three. They are the pieces of a line on CUDA, and the
 * lines on the host. What was found then stands for how often each place of the device is filled, and
 * is taken as long as the model does not think that another split is clearly better. */
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

/* Shapes whose lines or pieces differ by more are strangers, ... */
#define NEAR 0.125

/* ... but for what the rows of a tile decide, which may be so many times as much. */
#define MOST_ROWS_RATIO 4.0

/* The model is about as far from the best member of the tuned set, so it can judge no finer. */
#define MODEL_ERROR 0.05

static const char *const words[] = {" lines ", " pieces ", " slots ", " split "};
enum { N_WORDS = 4 };

/* ---- entries ----------------------------------------------------------------------------------
 * */

static bool is_same_shape(const slci_tuning_entry *a, const slci_tuning_entry *b) {
    return a->launch == b->launch && a->n_lines == b->n_lines && a->n_pieces == b->n_pieces &&
           a->n_slots == b->n_slots;
}

/* In the place of the same shape or, in a full book, of the oldest. */
static void add_entry(slci_tuning_book *book, const slci_tuning_entry *added) {
    int at = 0;
    while (at < book->n && !is_same_shape(&book->entry[at], added)) {
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
    book->entry[book->n++] = *added;
}

void slci_tuning_book_add(slci_tuning_book *book, slc_direct_launch launch,
                          const slci_direct_division *division, int64_t split) {
    const slci_tuning_entry added = {.launch = launch,
                                     .n_lines = division->n_lines,
                                     .n_pieces = division->n_pieces,
                                     .n_slots = division->n_slots,
                                     .split = split,
                                     .is_new = true};
    add_entry(book, &added);
}

static double difference(int64_t a, int64_t b) {
    return fabs((double)a - (double)b) / (double)slc_max_i64(slc_max_i64(a, b), 1);
}

/* The entry's split for this shape; 0: they are strangers. `distance` is how much they differ. */
static int64_t split_for(const slci_tuning_entry *entry, const slci_direct_division *division,
                         double *distance) {
    const double lines = difference(entry->n_lines, division->n_lines);
    const double pieces = difference(entry->n_pieces, division->n_pieces);
    *distance = lines + pieces;
    if (lines <= NEAR && pieces <= NEAR) {
        return slc_min_i64(entry->split, division->n_pieces);
    }
    const bool is_host = entry->launch == SLC_DIRECT_LAUNCH_HOST;
    const double of_rows = is_host ? lines : pieces;
    const double of_picture = is_host ? pieces : lines;
    if (of_picture > NEAR || of_rows > 1.0 - 1.0 / MOST_ROWS_RATIO) {
        return 0;
    }
    const double n_blocks = (double)entry->split * (double)entry->n_lines;
    const int64_t alike = llround(n_blocks / (double)division->n_lines);
    const int64_t split = slc_max_i64(1, slc_min_i64(alike, division->n_pieces));
    const int64_t chosen = slci_direct_split_choose(division);
    const double best = slci_direct_split_time(division, chosen);
    return slci_direct_split_time(division, split) <= (1.0 + MODEL_ERROR) * best ? split : 0;
}

int64_t slci_tuning_book_find(const slci_tuning_book *book, slc_direct_launch launch,
                              const slci_direct_division *division) {
    double nearest = INFINITY;
    int64_t found = 0;
    for (int i = 0; i < book->n; i++) {
        const slci_tuning_entry *entry = &book->entry[i];
        double distance = 0.0;
        if (entry->launch == launch && entry->n_slots == division->n_slots) {
            const int64_t split = split_for(entry, division, &distance);
            if (split > 0 && distance < nearest) {
                nearest = distance;
                found = split;
            }
        }
    }
    return found;
}

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
            *entry = (slci_tuning_entry){.launch = (slc_direct_launch)k,
                                         .n_lines = numbers[0],
                                         .n_pieces = numbers[1],
                                         .n_slots = numbers[2],
                                         .split = numbers[3]};
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

static slci_cache_state read_book(const slci_cache_file *file, slci_tuning_book *book) {
    char text[FILE_BYTES];
    slci_cache_state state = slci_cache_file_read(file, text, sizeof text);
    if (state == SLCI_CACHE_WHOLE && !parse_book(text, book)) {
        state = SLCI_CACHE_DAMAGED;
    }
    if (state != SLCI_CACHE_WHOLE) {
        book->n = 0;
    }
    return state;
}

static slc_status write_book(const slci_cache_file *file, const slci_tuning_book *book) {
    char text[FILE_BYTES] = "";
    for (int i = 0; i < book->n; i++) {
        const slci_tuning_entry *entry = &book->entry[i];
        const size_t used = strlen(text);
        (void)slci_print(text + used, sizeof text - used,
                         "%s lines %lld pieces %lld slots %lld split %lld\n",
                         slci_direct_launch_name(entry->launch), (long long)entry->n_lines,
                         (long long)entry->n_pieces, (long long)entry->n_slots,
                         (long long)entry->split);
    }
    return slci_cache_file_write(file, text);
}

void slci_tuning_book_load(const slci_tuning_place *place, slci_tuning_book *book) {
    slci_cache_file file;
    book->n = 0;
    if (place->folder == NULL ||
        slci_cache_file_name(place->device, "tuning", FORMAT, place->folder, &file) != SLC_OK) {
        return;
    }
    if (read_book(&file, book) == SLCI_CACHE_DAMAGED) {
        slc_log_note(place->log,
                     "%s is damaged: what --tune found on this machine is not used; --tune again "
                     "replaces it",
                     file.path);
    }
}

slc_status slci_tuning_book_save(const slci_tuning_place *place, const slci_tuning_book *book) {
    slci_cache_file file;
    slci_tuning_book kept = {.n = 0};
    if (place->folder == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "there is no folder to keep it in: set HOME");
    }
    SLC_TRY(slci_cache_file_name(place->device, "tuning", FORMAT, place->folder, &file));
    const int lock = slci_cache_file_lock(&file);
    (void)read_book(&file, &kept); /* what cannot be read is replaced */
    for (int i = 0; i < book->n; i++) {
        if (book->entry[i].is_new) {
            add_entry(&kept, &book->entry[i]);
        }
    }
    const slc_status status = write_book(&file, &kept);
    if (lock < 0 && status == SLC_OK) {
        slc_log_note(place->log,
                     "%s: another run keeps it locked; what that one finds may replace this",
                     file.path);
    }
    slci_cache_file_unlock(lock);
    return status;
}
