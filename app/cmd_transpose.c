/* `sluice transpose`: the command line of the job that gives an array another order of
 * dimensions. */
#include "app/cmd_array.h"
#include "app/cmd_rewrite.h"

#define FIELD(member) offsetof(slci_rewrite_arguments, member)

static const slci_arg transpose_args[] = {
    {.help = "Transpose"},
    {"axes", 0, "LIST",
     "the data's dimensions in their new order, such as 2,0,1; below 0 from the last one (default: "
     "all of them reversed)",
     FIELD(options), slci_arg_axes, NULL},
    {"output", 'o', "FILE:/DATASET", "where the result goes, alone in its file", FIELD(out),
     slci_arg_dataset, NULL},
    {"chunk", 0, "SHAPE",
     "elements of a chunk in each dimension of the result, such as 64,64,128, or none (default: "
     "the data's chunks in the new order)",
     FIELD(options.form), slci_arg_chunk, NULL},
    {"filter", 0, "FILTER",
     SLCI_FILTER_HELP "has it where HDF5 itself writes that, else deflate:4 (default: input)",
     FIELD(options.form), slci_arg_filter, NULL},
};

static const char transpose_usage[] =
    "usage: sluice transpose IN.h5:/DATA[SLICE] -o OUT.h5:/DATA [--axes LIST] [options]\n\n"
    "Writes an array with its dimensions in another order, as numpy.transpose. Neither the array\n"
    "nor the result need fit into memory, and no chunk is read more than twice where any plan\n"
    "does that.\n\n"
    "  sluice transpose in.h5:/data -o out.h5:/data --axes 2,0,1 --chunk 64,64,64 --vram 256M\n";

static slc_status check_axes(slci_rewrite_arguments *arguments) {
    arguments->options.is_reversed = arguments->options.n_axes == 0;
    return SLC_OK;
}

slc_status slci_cmd_transpose(slci_program *program, int argc, char *const *argv) {
    const slci_rewrite_command command = {
        .name = "sluice transpose",
        .done = "transposed",
        .usage = transpose_usage,
        .args = transpose_args,
        .n_args = (int)(sizeof transpose_args / sizeof transpose_args[0]),
        .check = check_axes,
    };
    return slci_rewrite_command_run(&command, program, argc, argv);
}
