/* `sluice gather`: the command line of the gather job. It fills in slc_gather_options, checks where the
 * results are to go before anything is computed, and prints what the run did. */
#include <stdlib.h>

#include "app/cmd_array.h"
#include "app/cmd_run.h"
#include "app/dataset_name.h"
#include "app/gather.h"
#include "app/run_stats.h"
#include "core/print.h"
#include "core/units.h"

#define SUMMARY_BYTES 512

/* --axis, and whether it was there. */
typedef struct given_axis {
    int axis;
    bool is_given;
} given_axis;

/* What the command line says. */
typedef struct gather_arguments {
    slc_gather_options options;
    slci_words inputs;
    slci_dataset_name data, index, out;
    given_axis axis;
    slci_program *program;
    slci_run_arguments run;
} gather_arguments;

/* ---- the values of single options --------------------------------------------------------- */

static slc_status parse_axis(const char *text, void *field) {
    int64_t axis = 0;
    SLC_TRY(slci_parse_integer(text, -SLC_MAX_RANK, SLC_MAX_RANK - 1, &axis));
    *(given_axis *)field = (given_axis){.axis = (int)axis, .is_given = true};
    return SLC_OK;
}

/* ---- the table ------------------------------------------------------------------------------ */

#define FIELD(member) offsetof(gather_arguments, member)

static const slci_arg gather_args[] = {
    {.help = "Gather"},
    {"index", 0, "FILE:/DATASET", "the list: integers, of any rank, in any order, from 0",
     FIELD(index), slci_arg_dataset, NULL},
    {"output", 'o', "FILE:/DATASET", "where the result goes, alone in its file", FIELD(out),
     slci_arg_dataset, NULL},
    {"axis", 0, "N", "dimension that is indexed; -1 is the last one, and so on (default: 0)",
     FIELD(axis), parse_axis, NULL},
    {"coordinates", 0, NULL,
     "the list's last dimension holds full coordinates, one for each dimension of the data",
     FIELD(options.is_coordinates), NULL, NULL},
    {"chunk", 0, "SHAPE",
     "elements of a chunk in each dimension of the result, such as 64,64,128, or none (default: "
     "none, or with --filter as many whole rows as make 2 MiB)",
     FIELD(options.form), slci_arg_chunk, NULL},
    {"filter", 0, "FILTER",
     SLCI_FILTER_HELP "has it where HDF5 itself writes that, else deflate:4 (default: input, with "
                      "--chunk)",
     FIELD(options.form), slci_arg_filter, NULL},
    {"sparse", 0, "WHERE",
     "resident (the data is kept on the device), mapped (the device reads it in host memory), "
     "streamed (it passes by), or auto (default: auto, the fastest of what fits)",
     FIELD(run.options.sparse), slci_arg_sparse, NULL},
};

static const char gather_usage[] =
    "usage: sluice gather IN.h5:/DATA[SLICE] --index IDX.h5:/I -o OUT.h5:/V [options]\n\n"
    "Takes elements of an array by a list of indices, along one dimension (as numpy.take) or by\n"
    "full coordinates. Neither the array nor the list nor the result need fit into memory. Every\n"
    "index is checked before anything is written.\n\n"
    "  sluice gather in.h5:/data --index i.h5:/i -o out.h5:/v --axis 1 --vram 256M\n";

/* ---- before the run ------------------------------------------------------------------------ */

static slc_status check_names(const gather_arguments *arguments) {
    const char *data = arguments->data.dataset;
    const char *index = arguments->index.dataset;
    const slc_h5_reading inputs[] = {{.path = arguments->data.path, .names = &data, .n_names = 1},
                                     {.path = arguments->index.path,
                                      .names = &index,
                                      .n_names = 1}};
    const char *output = arguments->out.path[0] != '\0' ? arguments->out.path : NULL;
    return slci_run_check_files(&arguments->run, inputs, 2, &output, 1);
}

static slc_status check_arguments(gather_arguments *arguments) {
    if (arguments->inputs.n != 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "expected one array, found %d: sluice gather IN:/DATA --index IDX:/I -o "
                        "OUT:/V (sluice gather --help lists all options)",
                        arguments->inputs.n);
    }
    SLC_TRY(slci_dataset_name_parse_slice(arguments->inputs.words[0], &arguments->data));
    if (arguments->index.path[0] == '\0') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "no list is given: add --index FILE:/DATASET");
    }
    if (arguments->out.path[0] == '\0' && !arguments->run.options.dry_run) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "no output is given: add -o FILE:/DATASET, or "
                                            "--dry-run to see the plan only");
    }
    if (arguments->options.is_coordinates && arguments->axis.is_given) {
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "--axis %d: with --coordinates every dimension is indexed; leave one of both "
            "options out",
            arguments->axis.axis);
    }
    SLC_TRY(check_names(arguments));
    return slci_run_check(&arguments->run);
}

/* ---- during and after the run --------------------------------------------------------------- */

/* The last line of a run: what was taken, how, and how long it took. */
static void summarise(const slc_gather_result *result, char summary[SUMMARY_BYTES]) {
    char bytes[SLCI_TEXT_BYTES];
    char stored[SLCI_STORED_BYTES];
    char took[SLCI_TEXT_BYTES];
    slci_format_stored(&result->stored, slc_layout_bytes(&result->out), stored);
    slci_format_bytes(slc_layout_bytes(&result->out), bytes);
    slci_format_seconds(result->total_seconds, took);
    (void)slci_print(
        summary, SUMMARY_BYTES,
        "gathered %lld indices of %s, %lld elements of %s%s, in %s; data %s, limited by "
        "%s",
        (long long)result->n_index, bytes, (long long)slc_layout_count(&result->out),
        slc_dtype_name(result->out.dtype), stored, took, slc_sparse_choice_name(result->sparse),
        slc_bottleneck_name(slc_engine_bottleneck(&result->report)));
}

static void fill_page(const gather_arguments *arguments, const slc_gather_result *result,
                      const char *const *names, slci_page *page) {
    page->command = "sluice gather";
    page->inputs = arguments->inputs.words;
    page->n_inputs = arguments->inputs.n;
    page->device_name = result->device_name;
    page->total_seconds = result->total_seconds;
    slci_page_set_memory(page, &result->memory);
    page->plan = &result->plan;
    page->report = &result->report;
    page->axis_names = names;
    slci_page_add(page, "list", "%s:%s", arguments->index.path, arguments->index.dataset);
    if (arguments->out.path[0] != '\0') {
        slci_page_add(page, "output", "%s:%s", arguments->out.path, arguments->out.dataset);
    }
    slci_page_add(page, "indices", "%lld", (long long)result->n_index);
    slci_page_add(page, "elements", "%lld of %s", (long long)slc_layout_count(&result->out),
                  slc_dtype_name(result->out.dtype));
    slci_page_add(page, "data", "%s", result->why);
}

static slc_status deliver(void *context, slc_checkpoint *checkpoint, const void *delivered) {
    gather_arguments *arguments = context;
    const slc_gather_result *result = delivered;
    slci_program *program = arguments->program;
    slci_run_arguments *run = &arguments->run;
    const slci_axis_names axes = slci_stats_axis_names(result->axis_names);
    char *json = NULL;
    char *plan = NULL;
    char summary[SUMMARY_BYTES];
    slc_status status = SLC_OK;
    slci_progress_finish(&program->progress);
    SLC_TRY_GOTO(done, slc_gather_stats_json(result, &json));
    fill_page(arguments, result, axes.name, &run->page);
    SLC_TRY_GOTO(done, slci_run_end(run, checkpoint, json));
    if (run->options.dry_run) {
        SLC_TRY_GOTO(done, slc_gather_plan_text(result, &plan));
    } else {
        summarise(result, summary);
    }
    status = slci_run_say(program, run, plan != NULL ? plan : summary);
done:
    free(json);
    free(plan);
    return status;
}

static slc_status run_gather(slci_program *program, void *target) {
    gather_arguments *arguments = target;
    slc_gather_options *options = &arguments->options;
    slc_gather_result result;
    SLC_TRY(check_arguments(arguments));
    SLC_TRY(slci_run_begin(program, &arguments->run));
    arguments->program = program;
    options->run = arguments->run.options;
    options->run.deliver = deliver;
    options->run.deliver_context = arguments;
    options->axis = arguments->axis.axis;
    options->data_path = arguments->data.path;
    options->data = arguments->data.dataset;
    options->data_slice = arguments->data.slice;
    options->index_path = arguments->index.path;
    options->index = arguments->index.dataset;
    options->out_path = arguments->out.path;
    options->out = arguments->out.dataset;
    return slc_gather_run(options, &result);
}

slc_status slci_cmd_gather(slci_program *program, int argc, char *const *argv) {
    gather_arguments *arguments = calloc(1, sizeof *arguments);
    if (arguments == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the command line");
    }
    slci_run_arguments_init(&arguments->run);
    const slci_command command = {
        .name = "sluice gather",
        .usage = gather_usage,
        .options = {gather_args, (int)(sizeof gather_args / sizeof gather_args[0]), arguments},
        .operands = &arguments->inputs,
        .run_options = slci_run_arg_table(&arguments->run),
        .run = run_gather,
    };
    const slc_status status = slci_command_run(&command, program, argc, argv);
    slci_run_arguments_release(&arguments->run);
    free(arguments);
    return status;
}
