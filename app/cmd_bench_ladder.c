/* Limits, which no step can pass, are measured in the same run, before the steps. */
#include "app/cmd_bench_ladder.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/bar_chart.h"
#include "app/cmd_file.h"
#include "app/cmd_ladder.h"
#include "app/json.h"
#include "core/print.h"
#include "core/units.h"
#include "core/version.h"
#include "io/png_memory.h"

#define MOST_STEPS 16
#define MOST_LIMITS 8

typedef struct climb {
    const slci_ladder_request *request;
    slci_machine machine;
    slci_climb own;
    const ladder *steps;
    const ladder_problem *problem;
    slci_rung rungs[MOST_STEPS];
    double limits[MOST_LIMITS]; /* pairs a second */
} climb;

/* ---- measuring -------------------------------------------------------------------------------- */

static slc_status tell(const climb *self, int done) {
    const int total = self->steps->n_limits + self->steps->n_steps;
    return slci_run_tell(&self->request->run, "climbing", "", done, total);
}

static slc_status measure(climb *self) {
    const ladder *steps = self->steps;
    for (int i = 0; i < steps->n_limits; i++) {
        SLC_TRY(tell(self, i));
        SLC_TRY(slci_climb_limit(&self->own, i, &self->limits[i]));
    }
    for (int i = 0; i < steps->n_steps; i++) {
        SLC_TRY(tell(self, steps->n_limits + i));
        SLC_TRY(slci_climb_step(&self->own, steps->steps[i], &self->rungs[i]));
    }
    return SLC_OK;
}

/* ---- as a table ------------------------------------------------------------------------------- */

/* How often as fast as the step before. */
static double ratio(const climb *self, int i) {
    return self->rungs[i].pairs_per_s / self->rungs[i > 0 ? i - 1 : 0].pairs_per_s;
}

static void print_rung(const climb *self, int i) {
    const slci_rung *one = &self->rungs[i];
    char rate[SLCI_TEXT_BYTES], before[SLCI_TEXT_BYTES], first[SLCI_TEXT_BYTES];
    char error[SLCI_TEXT_BYTES], share[SLCI_TEXT_BYTES] = "", occupancy[SLCI_TEXT_BYTES] = "";
    slci_format_number(one->pairs_per_s, 3, rate);
    slci_format_number(ratio(self, i), 3, before);
    slci_format_number(one->pairs_per_s / self->rungs[0].pairs_per_s, 3, first);
    slci_format_number(one->error, 2, error);
    const int limit = one->step->limit;
    if (limit >= 0) {
        slci_format_number(100 * one->pairs_per_s / self->limits[limit], 3, share);
    }
    if (one->run.occupancy > 0) {
        slci_format_number(100 * one->run.occupancy, 3, occupancy);
    }
    (void)printf("%4d  %-20s %9s %8s %8s %9s %6s %6s  %s\n", i + 1, one->step->name, rate, before,
                 first, error, occupancy, share, limit < 0 ? "" : self->steps->limits[limit].name);
}

static void print_table(const climb *self) {
    (void)printf("%s, software: %s, %d threads\n", self->machine.limits.name,
                 self->machine.limits.software, self->own.n_threads);
    (void)printf("%d x %d pixels, %d visibilities\n\n", self->problem->size, self->problem->size,
                 self->problem->n);
    (void)printf("%4s  %-20s %9s %8s %8s %9s %6s %6s  %s\n", "step", "what", "pairs/s", "x before",
                 "x first", "error", "occ. %", "of %", "limit");
    for (int i = 0; i < self->steps->n_steps; i++) {
        print_rung(self, i);
    }
    (void)printf("\n");
    for (int i = 0; i < self->steps->n_limits; i++) {
        char rate[SLCI_TEXT_BYTES];
        slci_format_number(self->limits[i], 3, rate);
        (void)printf("limit %-26s %9s\n", self->steps->limits[i].name, rate);
    }
}

/* ---- as JSON ---------------------------------------------------------------------------------- */

static void write_rung(const climb *self, int i, slci_json *json) {
    const slci_rung *one = &self->rungs[i];
    slci_json_open(json, NULL, '{');
    slci_json_i64(json, "step", i + 1);
    slci_json_text(json, "name", one->step->name);
    slci_json_text(json, "change", one->step->change);
    slci_json_f64(json, "pairs_per_second", one->pairs_per_s);
    slci_json_f64(json, "ratio_before", ratio(self, i));
    slci_json_f64(json, "ratio_first", one->pairs_per_s / self->rungs[0].pairs_per_s);
    slci_json_f64(json, "error", one->error);
    slci_json_f64(json, "error_bound", one->tolerance);
    if (one->step->limit >= 0) {
        slci_json_text(json, "limit_is", self->steps->limits[one->step->limit].name);
        slci_json_f64(json, "share", one->pairs_per_s / self->limits[one->step->limit]);
    }
    if (one->run.threads > 0) {
        slci_json_i64(json, "registers", one->run.registers);
        slci_json_i64(json, "block_threads", one->run.threads);
        slci_json_i64(json, "shared_bytes", one->run.shared_bytes);
        slci_json_f64(json, "occupancy", one->run.occupancy);
    }
    slci_json_close(json, '}');
}

static void print_json(const climb *self) {
    slci_json json = {.file = stdout};
    slci_json_open(&json, NULL, '{');
    slci_json_text(&json, "version", SLC_VERSION);
    slci_json_text(&json, "device", self->machine.limits.name);
    slci_json_text(&json, "software", self->machine.limits.software);
    slci_json_i64(&json, "threads", self->own.n_threads);
    slci_json_i64(&json, "size", self->problem->size);
    slci_json_i64(&json, "visibilities", self->problem->n);
    slci_json_open(&json, "limits", '{');
    for (int i = 0; i < self->steps->n_limits; i++) {
        slci_json_f64(&json, self->steps->limits[i].name, self->limits[i]);
    }
    slci_json_close(&json, '}');
    slci_json_open(&json, "steps", '[');
    for (int i = 0; i < self->steps->n_steps; i++) {
        write_rung(self, i, &json);
    }
    slci_json_close(&json, ']');
    slci_json_close(&json, '}');
}

/* ---- as a chart ------------------------------------------------------------------------------- */

static slc_status encode(const climb *self, slci_png *out) {
    slci_bar bars[MOST_STEPS];
    for (int i = 0; i < self->steps->n_steps; i++) {
        (void)slci_print(bars[i].name, sizeof bars[i].name, "%2d %s", i + 1,
                         self->rungs[i].step->name);
        bars[i].value = self->rungs[i].pairs_per_s;
    }
    slci_bar_picture picture;
    SLC_TRY(slci_bar_chart_draw(bars, self->steps->n_steps, &picture));
    char text[320];
    (void)slci_print(text, sizeof text,
                     "Pairs of one visibility and one pixel a second, step by step, on %s; %d x %d "
                     "pixels, %d visibilities.",
                     self->machine.limits.name, self->problem->size, self->problem->size,
                     self->problem->n);
    const slc_image_meta meta = {
        .nx = picture.nx, .ny = picture.ny, .n_planes = 1, .n_parts = 1, .picture_text = text};
    const slc_status status = slci_png_encode(&meta, picture.pixels, out);
    free(picture.pixels);
    return status;
}

static void write_bytes(FILE *out, const void *context) {
    const slci_png *png = context;
    (void)fwrite(png->bytes, 1, (size_t)png->n_bytes, out);
}

static slci_side_file chart_file(const climb *self) {
    return (slci_side_file){.option = "--chart",
                            .path = self->request->chart_path,
                            .cancel = self->request->run.cancel};
}

/* Whether there could be a chart, before anything is measured: a single pixel of it is made. */
static slc_status check_chart(const climb *self) {
    const slci_side_file file = chart_file(self);
    SLC_TRY(slci_side_file_check(&file));
    const double pixel = SLCI_BAR_PAPER;
    const slc_image_meta meta = {.nx = 1, .ny = 1, .n_planes = 1, .n_parts = 1};
    slci_png png;
    SLC_TRY(slci_png_encode(&meta, &pixel, &png));
    free(png.bytes);
    return SLC_OK;
}

static slc_status write_chart(const climb *self) {
    slci_png png;
    SLC_TRY(encode(self, &png));
    const slci_side_file file = chart_file(self);
    const slc_status status = slci_side_file_write(&file, write_bytes, &png);
    free(png.bytes);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------ */

static slc_status begin(climb *self) {
    const slc_run_options *run = &self->request->run;
    if (self->request->chart_path != NULL) {
        SLC_TRY(check_chart(self));
    }
    SLC_TRY(slci_machine_open(run, &self->machine));
    const slci_climb_request request = {.machine = &self->machine,
                                        .cuda_index = run->cuda_index,
                                        .is_quick = self->request->is_quick};
    SLC_TRY(slci_climb_begin(&request, &self->own));
    self->steps = self->own.steps;
    self->problem = &self->own.problem;
    assert(self->steps->n_steps <= MOST_STEPS && self->steps->n_limits <= MOST_LIMITS);
    return SLC_OK;
}

static void end(climb *self) {
    slci_climb_end(&self->own);
    slci_machine_close(&self->machine);
}

slc_status slci_bench_ladder(slci_program *program, const slci_ladder_request *request) {
    slc_status status = SLC_OK;
    climb self = {.request = request};
    SLC_TRY_GOTO(done, begin(&self));
    SLC_TRY_GOTO(done, measure(&self));
    slci_progress_finish(&program->progress);
    if (request->is_json) {
        print_json(&self);
    } else {
        print_table(&self);
    }
    if (request->chart_path != NULL) {
        SLC_TRY_GOTO(done, write_chart(&self));
    }
done:
    end(&self);
    return status;
}
