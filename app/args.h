/* A small parser for command lines, driven by a table that also makes the help text.
 * A table row is one option: its names, what its value looks like, what it does, where its value goes
 * and the function that reads it. `--name value`, `--name=value`, `-o value` and `-ovalue` are
 * understood, `--` ends the options, and everything else is an operand. Internal to app.
 *
 *     static const slci_arg args[] = {
 *         {.name = "vram", .value = "SIZE", .help = "device memory to use",
 *          .offset = offsetof(my_options, vram_bytes), .parse = parse_bytes},
 *         {.name = "psf", ...}};
 *     slci_arg_table tables[] = {{args, 2, &my_options}};
 *     SLC_TRY(slci_args_parse("sluice image", tables, 1, argc, argv, &inputs));
 */
#ifndef SLC_APP_ARGS_H
#define SLC_APP_ARGS_H

#include <stddef.h>
#include <stdio.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads one value into `field`. SLC_ERROR_ARGUMENT with what was found and what is accepted; the
 * option's name is put before it by the parser. */
typedef slc_status (*slci_arg_parse)(const char *text, void *field);

/* One row. A row without a name begins a group of the help text, `help` is its heading. */
typedef struct slci_arg {
    const char *name;      /* without the two dashes */
    char letter;           /* 'o' for -o; 0: none */
    const char *value;     /* "ANGLE"; NULL: the option is a flag and sets a bool */
    const char *help;      /* with the default; wrapped to the terminal; NULL: not listed */
    size_t offset;         /* of the value in the table's target */
    slci_arg_parse parse;  /* NULL for a flag */
    slci_arg_parse second; /* reads one more word if that is digits only; usually NULL */
} slci_arg;

/* Rows and the struct that they fill. Several commands share rows by sharing a table. */
typedef struct slci_arg_table {
    const slci_arg *args;
    int n_args;
    void *target;
} slci_arg_table;

/* Words collected from the command line, lent from argv: operands, or an option that may be given
 * several times. The caller owns the array, at least argc long. */
typedef struct slci_words {
    const char **words;
    int n;
} slci_words;

/* A value that is taken as it is: `field` is a const char *. An empty one is refused. */
SLC_MUST_USE slc_status slci_arg_text(const char *text, void *field);

/* One more word: `field` is a slci_words. An empty one is refused. */
SLC_MUST_USE slc_status slci_arg_word(const char *text, void *field);

/* Reads argv[0 … argc-1] (no program name). An option given twice keeps its last value,
 * but for -o where it is no list: a result that nobody writes would be missed late.
 * SLC_ERROR_ARGUMENT for that, an option that is unknown (naming the nearest), a value that is
 * missing, not wanted or refused. `command` is named in the message that says how to get help. */
SLC_MUST_USE slc_status slci_args_parse(const char *command, const slci_arg_table *tables,
                                        int n_tables, int argc, char *const *argv,
                                        slci_words *operands);

/* Prints the rows of all tables to `out`, group by group. */
void slci_args_help(FILE *out, const slci_arg_table *tables, int n_tables);

#ifdef __cplusplus
}
#endif
#endif
