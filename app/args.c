/* The command line, read from tables.
 *
 * Each word is one of: `--` (all that follow are operands), `--name` or `--name=value`, a group of
 * one letter with its value (`-o x`, `-ox`) or of flags (`-qv`), or an operand. A value is the next
 * word whatever it begins with, so that `--vram -1` is refused as a size and not as an option; only
 * a value that is free text may not look like an option of ours. */
#include "app/args.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/spelling.h"

#define NAME_BYTES 32
#define HELP_COLUMN 28
#define HELP_WIDTH 88

/* One pass over the words. */
typedef struct arg_reader {
    const char *command;
    const slci_arg_table *tables;
    int n_tables;
    int argc;
    char *const *argv;
    int at;          /* the next word */
    bool has_output; /* an only one */
} arg_reader;

/* A row and the struct that it fills. */
typedef struct found_arg {
    const slci_arg *arg;
    void *field;
} found_arg;

slc_status slci_arg_text(const char *text, void *field) {
    if (*text == '\0') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "the value is empty");
    }
    *(const char **)field = text;
    return SLC_OK;
}

slc_status slci_arg_word(const char *text, void *field) {
    if (*text == '\0') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "the value is empty");
    }
    slci_words *words = field;
    words->words[words->n++] = text;
    return SLC_OK;
}

/* The row with this name (of `length` characters) or, without one, this letter. */
static found_arg find(const arg_reader *reader, const char *name, size_t length, char letter) {
    for (int t = 0; t < reader->n_tables; t++) {
        const slci_arg_table *table = &reader->tables[t];
        for (int i = 0; i < table->n_args; i++) {
            const slci_arg *arg = &table->args[i];
            const bool has_name = name != NULL && arg->name != NULL &&
                                  strlen(arg->name) == length &&
                                  memcmp(arg->name, name, length) == 0;
            if (has_name || (letter != '\0' && arg->letter == letter)) {
                return (found_arg){arg, (char *)table->target + arg->offset};
            }
        }
    }
    return (found_arg){NULL, NULL};
}

/* The option that the user most likely meant: the nearest within two changes and fewer than half of the
 * word's letters, or the first that begins as the word does; NULL if none is near. */
static const char *nearest(const arg_reader *reader, const char *name, size_t length) {
    const char *best = NULL;
    int best_distance = 3;
    const char *completed = NULL;
    for (int t = 0; t < reader->n_tables; t++) {
        for (int i = 0; i < reader->tables[t].n_args; i++) {
            const char *candidate = reader->tables[t].args[i].name;
            if (candidate == NULL) {
                continue;
            }
            const int changes = slci_spelling_distance(name, length, candidate);
            if (changes < best_distance && 2 * changes < (int)length) {
                best = candidate;
                best_distance = changes;
            }
            if (completed == NULL && length >= 2 && strncmp(candidate, name, length) == 0) {
                completed = candidate;
            }
        }
    }
    return best_distance <= 1 || completed == NULL ? best : completed;
}

static slc_status fail_unknown(const arg_reader *reader, const char *word, const char *name,
                               size_t length) {
    const char *meant = nearest(reader, name, length);
    const int word_length = (int)(name - word) + (int)length;
    if (meant != NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "there is no option %.*s; did you mean --%s? (%s --help lists all)",
                        word_length < 80 ? word_length : 80, word, meant, reader->command);
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT, "there is no option %.*s; %s --help lists all",
                    word_length < 80 ? word_length : 80, word, reader->command);
}

/* Whether a word is one of our long options: then it is no value for free text. */
static bool is_own_option(const arg_reader *reader, const char *word) {
    return strncmp(word, "--", 2) == 0 &&
           (word[2] == '\0' || find(reader, word + 2, strcspn(word + 2, "="), '\0').arg != NULL);
}

static bool is_free_text(const slci_arg *arg) {
    return arg->parse == slci_arg_text || arg->parse == slci_arg_word;
}

/* Whether the option says where the one result goes. */
static bool is_only_output(const slci_arg *arg) {
    return arg->letter == 'o' && arg->parse != slci_arg_word;
}

/* Gives the option its value: `attached`, or the next word where that is NULL. `spelling` is how the
 * user wrote the option. */
static slc_status take_value(arg_reader *reader, const found_arg *found, const char *spelling,
                             const char *attached) {
    const slci_arg *arg = found->arg;
    const char *value = attached;
    if (value == NULL) {
        if (reader->at >= reader->argc) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s needs a value: %s", spelling, arg->value);
        }
        value = reader->argv[reader->at++];
        if (is_free_text(arg) && is_own_option(reader, value)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "%s needs a value (%s), found the option %.80s behind it", spelling,
                            arg->value, value);
        }
    }
    if (is_only_output(arg) && reader->has_output) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s was given twice, the second time with '%.80s'; %s writes one result",
                        spelling, value, reader->command);
    }
    reader->has_output = reader->has_output || is_only_output(arg);
    slc_status status = arg->parse(value, found->field);
    if (status == SLC_OK && arg->second != NULL && attached == NULL && reader->at < reader->argc) {
        const char *next = reader->argv[reader->at];
        const bool is_number = *next != '\0' && next[strspn(next, "0123456789")] == '\0' &&
                               value[strspn(value, "0123456789")] == '\0';
        if (is_number) {
            reader->at++;
            status = arg->second(next, found->field);
        }
    }
    return status == SLC_OK ? SLC_OK : slc_status_prefix(status, "%s", spelling);
}

static slc_status read_long(arg_reader *reader, const char *word) {
    const char *name = word + 2;
    const size_t length = strcspn(name, "=");
    const found_arg found = find(reader, name, length, '\0');
    if (found.arg == NULL) {
        return fail_unknown(reader, word, name, length);
    }
    const char *attached = name[length] == '=' ? name + length + 1 : NULL;
    char spelling[NAME_BYTES + 3] = "--";
    (void)strncat(spelling, found.arg->name, NAME_BYTES);
    if (found.arg->parse != NULL) {
        return take_value(reader, &found, spelling, attached);
    }
    if (attached != NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s takes no value, found '%.80s'", spelling, attached);
    }
    *(bool *)found.field = true;
    return SLC_OK;
}

static slc_status read_letters(arg_reader *reader, const char *word) {
    for (const char *at = word + 1; *at != '\0'; at++) {
        const found_arg found = find(reader, NULL, 0, *at);
        if (found.arg == NULL) {
            return fail_unknown(reader, word, word + 1, strlen(word + 1));
        }
        if (found.arg->parse != NULL) {
            const char spelling[] = {'-', *at, '\0'};
            return take_value(reader, &found, spelling, at[1] == '\0' ? NULL : at + 1);
        }
        *(bool *)found.field = true;
    }
    return SLC_OK;
}

slc_status slci_args_parse(const char *command, const slci_arg_table *tables, int n_tables,
                           int argc, char *const *argv, slci_words *operands) {
    arg_reader reader = {
        .command = command, .tables = tables, .n_tables = n_tables, .argc = argc, .argv = argv};
    bool is_past_options = false;
    while (reader.at < argc) {
        const char *word = argv[reader.at++];
        if (is_past_options || word[0] != '-' || word[1] == '\0') {
            if (*word == '\0') {
                return SLC_FAIL(SLC_ERROR_ARGUMENT, "an empty word is no file name");
            }
            operands->words[operands->n++] = word;
        } else if (strcmp(word, "--") == 0) {
            is_past_options = true;
        } else if (word[1] == '-') {
            SLC_TRY(read_long(&reader, word));
        } else {
            SLC_TRY(read_letters(&reader, word));
        }
    }
    return SLC_OK;
}

/* Prints `text` from column HELP_COLUMN on, wrapped between words; the cursor stands at `column`. */
static void print_wrapped(FILE *out, const char *text, int column) {
    if (column >= HELP_COLUMN) {
        (void)fputc('\n', out);
        column = 0;
    }
    while (*text != '\0') {
        (void)fprintf(out, "%*s", HELP_COLUMN - column, "");
        size_t taken = strlen(text);
        if (taken > HELP_WIDTH - HELP_COLUMN) {
            taken = HELP_WIDTH - HELP_COLUMN;
            while (taken > 0 && text[taken] != ' ') {
                taken--;
            }
            taken = taken == 0 ? strcspn(text, " ") : taken;
        }
        (void)fprintf(out, "%.*s\n", (int)taken, text);
        text += taken;
        text += strspn(text, " ");
        column = 0;
    }
}

void slci_args_help(FILE *out, const slci_arg_table *tables, int n_tables) {
    for (int t = 0; t < n_tables; t++) {
        for (int i = 0; i < tables[t].n_args; i++) {
            const slci_arg *arg = &tables[t].args[i];
            if (arg->help == NULL) {
                continue;
            }
            if (arg->name == NULL) {
                (void)fprintf(out, "\n%s:\n", arg->help);
                continue;
            }
            int column = arg->letter != '\0' ? fprintf(out, "  -%c, --%s", arg->letter, arg->name)
                                             : fprintf(out, "  --%s", arg->name);
            if (arg->value != NULL) {
                column += fprintf(out, " %s", arg->value);
            }
            /* Two blanks at least between an option and its text. */
            print_wrapped(out, arg->help, column + 2 > HELP_COLUMN ? HELP_COLUMN : column);
        }
    }
}
