/* The run of `sluice transpose` and `sluice repack`: checks where the result is to go before anything
 * is read, and prints what the run did. */
#include "app/cmd_rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "app/cmd_array.h"
#include "app/run_stats.h"
#include "core/print.h"
#include "core/units.h"

#define SUMMARY_BYTES 512

/* ---- the values of single options --------------------------------------------------------- */

slc_status slci_arg_axes(const char *text, void *field) {
    slc_rewrite_options *options = field;
    int64_t axes[SLC_MAX_RANK];
    const slci_integer_list list = {-SLC_MAX_RANK, SLC_MAX_RANK - 1,
                                    "dimension; expected each one once, such as 2,0,1", axes,
                                    &options->n_axes};
    SLC_TRY(slci_integer_list_parse(text, &list));
    for (int d = 0; d < options->n_axes; d++) {
        options->axes[d] = (int)axes[d];
    }
    return SLC_OK;
}

/* As numpy writes them: a letter and the bytes of an element, a byte order before them; or in words.
 * Bits instead of bytes are refused, since i8 and c8 would mean two things. */
slc_status slci_arg_dtype(const char *text, void *field) {
    static const struct {
        const char *name, *word;
        slc_dtype dtype;
    } types[] = {{"i1", "int8", SLC_I8},       {"i2", "int16", SLC_I16},
                 {"i4", "int32", SLC_I32},     {"i8", "int64", SLC_I64},
                 {"u1", "uint8", SLC_U8},      {"u2", "uint16", SLC_U16},
                 {"u4", "uint32", SLC_U32},    {"u8", "uint64", SLC_U64},
                 {"f2", "float16", SLC_F16},   {"f4", "float32", SLC_F32},
                 {"f8", "float64", SLC_F64},   {"c4", "complex32", SLC_C32},
                 {"c8", "complex64", SLC_C64}, {"c16", "complex128", SLC_C128}};
    slc_rewrite_options *options = field;
    const char *name = text + (text[0] == '<' || text[0] == '>' ? 1 : 0);
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        if (strcmp(name, types[k].name) == 0 || strcmp(name, types[k].word) == 0) {
            options->converts = true;
            options->dtype = types[k].dtype;
            options->is_big_endian = text[0] == '>';
            return SLC_OK;
        }
    }
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        const char *bits = types[k].word + strcspn(types[k].word, "0123456789");
        if (name[0] == types[k].name[0] && strcmp(name + 1, bits) == 0) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "'%.40s' is no type: behind the letter stand bytes, not bits; did you "
                            "mean %s (or %s)?",
                            text, types[k].name, types[k].word);
        }
    }
    return SLC_FAIL(
        SLC_ERROR_ARGUMENT,
        "'%.40s' is no type: expected i1 i2 i4 i8, u1 u2 u4 u8, f2 f4 f8, c4 c8 or c16, as numpy "
        "writes them, or int8 to int64, uint8 to uint64, float16 to float64 or complex32 to "
        "complex128; < or > before it for the byte order",
        text);
}

/* ---- before the run ------------------------------------------------------------------------ */

static slc_status check_arguments(const slci_rewrite_command *command,
                                  slci_rewrite_arguments *arguments) {
    if (arguments->inputs.n != 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "expected one array, found %d: %s IN:/DATA -o OUT:/DATA (%s --help lists "
                        "all options)",
                        arguments->inputs.n, command->name, command->name);
    }
    SLC_TRY(slci_dataset_name_parse_slice(arguments->inputs.words[0], &arguments->data));
    if (arguments->out.path[0] == '\0' && !arguments->run.options.dry_run) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "no output is given: add -o FILE:/DATASET, or "
                                            "--dry-run to see the plan only");
    }
    if (command->check != NULL) {
        SLC_TRY(command->check(arguments));
    }
    const char *dataset = arguments->data.dataset;
    const slc_h5_reading input = {.path = arguments->data.path,
                                  .names = &dataset,
                                  .n_names = 1,
                                  .reads_rest = arguments->options.copies_rest};
    const char *output = arguments->out.path[0] != '\0' ? arguments->out.path : NULL;
    SLC_TRY(slci_run_check_files(&arguments->run, &input, 1, &output, 1));
    return slci_run_check(&arguments->run);
}

/* ---- during and after the run --------------------------------------------------------------- */

static void summarise(const slci_rewrite_arguments *arguments, const slc_rewrite_result *result,
                      char summary[SUMMARY_BYTES]) {
    char bytes[SLCI_TEXT_BYTES];
    char stored[SLCI_STORED_BYTES];
    char took[SLCI_TEXT_BYTES];
    slci_format_bytes(slc_layout_bytes(&result->out), bytes);
    slci_format_stored(&result->stored, slc_layout_bytes(&result->out), stored);
    slci_format_seconds(result->total_seconds, took);
    (void)slci_print(summary, SUMMARY_BYTES,
                     "%s %lld elements of %s, %s%s, in %s; passes %d, limited by %s",
                     arguments->done, (long long)slc_layout_count(&result->out),
                     slc_dtype_name(result->out.dtype), bytes, stored, took, result->n_passes,
                     slc_bottleneck_name(slc_engine_bottleneck(&result->report)));
}

static void fill_page(const slci_rewrite_arguments *arguments, const slc_rewrite_result *result,
                      const char *const *names, slci_page *page) {
    const int last = result->n_passes > 1 ? 1 : 0;
    page->command = arguments->command;
    page->inputs = arguments->inputs.words;
    page->n_inputs = arguments->inputs.n;
    page->device_name = result->device_name;
    page->total_seconds = result->total_seconds;
    slci_page_set_memory(page, &result->memory);
    page->plan = &result->pass[last].plan;
    page->report = &result->pass[last].report;
    page->axis_names = names;
    if (arguments->out.path[0] != '\0') {
        slci_page_add(page, "output", "%s:%s", arguments->out.path, arguments->out.dataset);
    }
    slci_page_add(page, "elements", "%lld of %s", (long long)slc_layout_count(&result->out),
                  slc_dtype_name(result->out.dtype));
    slci_page_add(page, "passes", "%d, %s%s", result->n_passes, result->why,
                  last > 0 ? "; plan and times are the second one's" : "");
}

/* The command and what its line says: what slci_command_run hands back. */
typedef struct rewrite_target {
    slci_rewrite_arguments arguments; /* first: the options' target */
    const slci_rewrite_command *command;
    slci_program *program;
} rewrite_target;

static slc_status deliver(void *context, slc_checkpoint *checkpoint, const void *delivered) {
    rewrite_target *self = context;
    slci_rewrite_arguments *arguments = &self->arguments;
    slci_program *program = self->program;
    const slc_rewrite_result *result = delivered;
    slci_run_arguments *run = &arguments->run;
    const slci_axis_names axes = slci_stats_axis_names(result->axis_names);
    char *json = NULL;
    char *plan = NULL;
    char summary[SUMMARY_BYTES];
    slc_status status = SLC_OK;
    slci_progress_finish(&program->progress);
    SLC_TRY_GOTO(done, slc_rewrite_stats_json(result, &json));
    fill_page(arguments, result, axes.name, &run->page);
    SLC_TRY_GOTO(done, slci_run_end(run, checkpoint, json));
    if (run->options.dry_run) {
        SLC_TRY_GOTO(done, slc_rewrite_plan_text(result, &plan));
    } else {
        summarise(arguments, result, summary);
    }
    status = slci_run_say(program, run, plan != NULL ? plan : summary);
done:
    free(json);
    free(plan);
    return status;
}

static slc_status run_rewrite(slci_program *program, void *target) {
    rewrite_target *self = target;
    slci_rewrite_arguments *arguments = &self->arguments;
    slc_rewrite_options *options = &arguments->options;
    slc_rewrite_result *result = calloc(1, sizeof *result);
    if (result == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the result");
    }
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, check_arguments(self->command, arguments));
    SLC_TRY_GOTO(done, slci_run_begin(program, &arguments->run));
    self->program = program;
    options->run = arguments->run.options;
    options->run.deliver = deliver;
    options->run.deliver_context = self;
    options->in = (slc_array_name){.path = arguments->data.path,
                                   .dataset = arguments->data.dataset,
                                   .slice = arguments->data.slice};
    options->out_path = arguments->out.path;
    options->out = arguments->out.dataset;
    status = slc_rewrite_run(options, result);
done:
    free(result);
    return status;
}

slc_status slci_rewrite_command_run(const slci_rewrite_command *command, slci_program *program,
                                    int argc, char *const *argv) {
    rewrite_target *target = calloc(1, sizeof *target);
    if (target == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the command line");
    }
    target->command = command;
    target->arguments.command = command->name;
    target->arguments.done = command->done;
    slci_run_arguments_init(&target->arguments.run);
    const slci_command made = {
        .name = command->name,
        .usage = command->usage,
        .options = {command->args, command->n_args, target},
        .operands = &target->arguments.inputs,
        .run_options = slci_run_arg_table(&target->arguments.run),
        .run = run_rewrite,
    };
    const slc_status status = slci_command_run(&made, program, argc, argv);
    slci_run_arguments_release(&target->arguments.run);
    free(target);
    return status;
}
