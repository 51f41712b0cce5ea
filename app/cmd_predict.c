/* `sluice predict`: the command line of the predict job. It fills in slc_predict_options, checks where
 * the results are to go before anything is computed, and prints what the run did. */
#include <stdlib.h>

#include "app/cmd_run.h"
#include "app/predict.h"
#include "core/print.h"
#include "core/units.h"
#include "io/model.h"
#include "io/uvh5_copy.h"

#define SUMMARY_BYTES 512

/* What the command line says. */
typedef struct predict_arguments {
    slc_predict_options options;
    slci_words inputs;
    slci_program *program;
    slci_run_arguments run;
} predict_arguments;

/* ---- the table ------------------------------------------------------------------------------ */

#define FIELD(member) offsetof(predict_arguments, member)

static const slci_arg predict_args[] = {
    {.help = "Predict"},
    {"model", 'm', "FILE",
     "an image in FITS or Sluice's HDF5, in Jy/pixel or in Jy/beam with a beam, or a text file of "
     "points and Gaussians as sluice simulate --sky takes",
     FIELD(options.model_path), slci_arg_text, NULL},
    {"output", 'o', "FILE", "where the set goes: the input with the model's visibilities, UVH5",
     FIELD(options.out_path), slci_arg_text, NULL},
    {"sparse", 0, "WHERE",
     "where an image lies: resident (on the device), mapped (the device reads it in host memory), "
     "streamed (nowhere: it is read for each tile of rows), or auto (default: auto, the faster of "
     "resident and mapped, streamed where neither fits)",
     FIELD(run.options.sparse), slci_arg_sparse, NULL},
};

static const char predict_usage[] =
    "usage: sluice predict --model M.fits|M.h5|list.txt INPUT.uvh5 -o OUT.uvh5 [options]\n\n"
    "Computes the visibilities that a model of the sky would give at the baselines and\n"
    "frequencies of a set, and writes them as that set. Of an image only the pixels that are not\n"
    "zero are used, and it may be larger than the device's memory. Every visibility is right to\n"
    "1e-6 of the sum of the model's absolute fluxes.\n\n"
    "  sluice predict --model model.fits in.uvh5 -o out.uvh5 --vram 512M\n";

/* ---- before the run ------------------------------------------------------------------------ */

static slc_status check_names(const predict_arguments *arguments) {
    const slc_h5_reading inputs[] = {slc_uvh5_copy_reading(arguments->options.in_path),
                                     slc_model_reading(arguments->options.model_path)};
    return slci_run_check_files(&arguments->run, inputs, 2, &arguments->options.out_path, 1);
}

static slc_status check_arguments(predict_arguments *arguments) {
    slc_predict_options *options = &arguments->options;
    if (arguments->inputs.n != 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "expected one visibility set, found %d: sluice predict --model MODEL "
                        "INPUT.uvh5 -o OUT.uvh5 (sluice predict --help lists all options)",
                        arguments->inputs.n);
    }
    options->in_path = arguments->inputs.words[0];
    if (options->model_path == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "no model is given: add --model FILE");
    }
    if (options->out_path == NULL && !arguments->run.options.dry_run) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "no output is given: add -o FILE, or --dry-run to see the plan only");
    }
    SLC_TRY(check_names(arguments));
    return slci_run_check(&arguments->run);
}

/* ---- during and after the run --------------------------------------------------------------- */

/* The last line of a run: what was computed, how, and how long it took. */
static void summarise(const slc_predict_result *result, char summary[SUMMARY_BYTES]) {
    char took[SLCI_TEXT_BYTES];
    char flux[SLCI_TEXT_BYTES];
    slci_format_seconds(result->total_seconds, took);
    slci_format_number(result->flux_jy, 4, flux);
    (void)slci_print(
        summary, SUMMARY_BYTES,
        "predicted %lld samples of %lld components (%s Jy) in %s, in %s; limited by %s",
        (long long)(result->n_rows * result->n_channels), (long long)result->n_components, flux,
        result->hands, took, slc_bottleneck_name(slc_engine_bottleneck(&result->report)));
}

static void fill_page(const predict_arguments *arguments, const slc_predict_result *result,
                      slci_page *page) {
    static const char *const names[] = {"row", "component"};
    page->command = "sluice predict";
    page->inputs = arguments->inputs.words;
    page->n_inputs = arguments->inputs.n;
    page->device_name = result->device_name;
    page->total_seconds = result->total_seconds;
    slci_page_set_memory(page, &result->memory);
    page->plan = &result->plan;
    page->report = &result->report;
    page->axis_names = names;
    page->numerics = &result->numerics;
    slci_page_add(page, "model", "%.200s", arguments->options.model_path);
    slci_page_add(page, "components", "%lld, %.6g Jy", (long long)result->n_components,
                  result->flux_jy);
    slci_page_add(page, "samples", "%lld rows of %lld channels", (long long)result->n_rows,
                  (long long)result->n_channels);
    slci_page_add(page, "written", "I in %s, as %s", result->hands, result->type_text);
    if (result->is_image) {
        slci_page_add(page, "image", "%lld x %lld pixels, %lld plane(s), %s", (long long)result->nx,
                      (long long)result->ny, (long long)result->n_planes, result->unit_text);
        slci_page_add(page, "image is", "%s", result->why);
    }
}

static slc_status deliver(void *context, slc_checkpoint *checkpoint, const void *delivered) {
    predict_arguments *arguments = context;
    const slc_predict_result *result = delivered;
    slci_program *program = arguments->program;
    slci_run_arguments *run = &arguments->run;
    char *json = NULL;
    char *plan = NULL;
    char summary[SUMMARY_BYTES];
    slc_status status = SLC_OK;
    slci_progress_finish(&program->progress);
    SLC_TRY_GOTO(done, slc_predict_stats_json(result, &json));
    fill_page(arguments, result, &run->page);
    SLC_TRY_GOTO(done, slci_run_end(run, checkpoint, json));
    if (run->options.dry_run) {
        SLC_TRY_GOTO(done, slc_predict_plan_text(result, &plan));
    } else {
        summarise(result, summary);
    }
    status = slci_run_say(program, run, plan != NULL ? plan : summary);
done:
    free(json);
    free(plan);
    return status;
}

static slc_status run_predict(slci_program *program, void *target) {
    predict_arguments *arguments = target;
    slc_predict_result result;
    SLC_TRY(check_arguments(arguments));
    SLC_TRY(slci_run_begin(program, &arguments->run));
    arguments->program = program;
    arguments->options.run = arguments->run.options;
    arguments->options.run.deliver = deliver;
    arguments->options.run.deliver_context = arguments;
    return slc_predict_run(&arguments->options, &result);
}

slc_status slci_cmd_predict(slci_program *program, int argc, char *const *argv) {
    predict_arguments *arguments = calloc(1, sizeof *arguments);
    if (arguments == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the command line");
    }
    slci_run_arguments_init(&arguments->run);
    const slci_command command = {
        .name = "sluice predict",
        .usage = predict_usage,
        .options = {predict_args, (int)(sizeof predict_args / sizeof predict_args[0]), arguments},
        .operands = &arguments->inputs,
        .run_options = slci_run_arg_table(&arguments->run),
        .run = run_predict,
    };
    const slc_status status = slci_command_run(&command, program, argc, argv);
    slci_run_arguments_release(&arguments->run);
    free(arguments);
    return status;
}
