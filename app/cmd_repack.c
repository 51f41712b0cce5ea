/* `sluice repack`: the command line of the job that stores an array otherwise. */
#include "app/cmd_array.h"
#include "app/cmd_rewrite.h"

#define FIELD(member) offsetof(slci_rewrite_arguments, member)

static const slci_arg repack_args[] = {
    {.help = "Repack"},
    {"output", 'o', "FILE:/DATASET", "where the result goes, alone in its file", FIELD(out),
     slci_arg_dataset, NULL},
    {"chunk", 0, "SHAPE",
     "elements of a chunk in each dimension, such as 64,64,128, or none (default: as the data "
     "has it)",
     FIELD(options.form), slci_arg_chunk, NULL},
    {"filter", 0, "FILTER",
     SLCI_FILTER_HELP "has it where HDF5 itself writes that, else deflate:4 (default: input)",
     FIELD(options.form), slci_arg_filter, NULL},
    {"dtype", 0, "TYPE",
     "type of the elements, as numpy writes it: i1 to i8, u1 to u8, f2, f4, f8, c4 (half "
     "precision), c8 or c16, or as a word, such as float32; > before it for big-endian (default: "
     "the data's, as it is stored)",
     FIELD(options), slci_arg_dtype, NULL},
    {"rest", 0, NULL,
     "what else is in the data's group goes to the result's, as it is stored, and so do the "
     "group's attributes (default: only what describes the data)",
     FIELD(options.copies_rest), NULL, NULL},
    {"saturate", 0, NULL,
     "values that an integer type cannot hold become the nearest that it can, NaN 0 (default: the "
     "first of them is named, and nothing is written)",
     FIELD(options.saturates), NULL, NULL},
};

static const char repack_usage[] =
    "usage: sluice repack IN.h5:/DATA[SLICE] -o OUT.h5:/DATA [options]\n\n"
    "Writes an array, or a slice of one, in other chunks, by another filter or as another type.\n"
    "Neither need fit into memory.\n\n"
    "  sluice repack in.h5:/data -o out.h5:/data --chunk 1,1024,1024 --filter zstd:3\n";

slc_status slci_cmd_repack(slci_program *program, int argc, char *const *argv) {
    const slci_rewrite_command command = {
        .name = "sluice repack",
        .done = "repacked",
        .usage = repack_usage,
        .args = repack_args,
        .n_args = (int)(sizeof repack_args / sizeof repack_args[0]),
    };
    return slci_rewrite_command_run(&command, program, argc, argv);
}
