/* Results of jobs on arrays. Encoding takes memory for the chunks under way, which the planner does not
 * know: it is reserved before anything is planned, so the plan has what is left. */
#include "app/array_output.h"

#include <string.h>

#include "app/disk_room.h"
#include "core/checked.h"

/* Chunks under way may take this part of what is left of --ram, where fewer of them work too. */
#define MEMORY_SHARE 4

/* What is not worth another plan. */
#define LITTLE_BYTES (INT64_C(1) << 20)

/* ---- what is asked for ------------------------------------------------------------------------ */

static bool is_chunked(const slc_h5_array_output *file) {
    return file->layout.rank > 0 && file->chunk[0] > 0;
}

static slc_status settle_chunks(slc_h5_array_output *file, const slc_array_form *form) {
    const slc_layout *layout = &file->layout;
    if (form->n_chunk != 0 && form->n_chunk != layout->rank) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "--chunk names %d dimensions, but the result has %d of them", form->n_chunk,
                        layout->rank);
    }
    if (form->is_contiguous) {
        memset(file->chunk, 0, sizeof file->chunk);
    }
    for (int d = 0; d < layout->rank; d++) {
        const int64_t wanted = form->n_chunk != 0 ? form->chunk[d] : file->chunk[d];
        const int64_t most = slc_max_i64(layout->shape[d], 1);
        file->chunk[d] = slc_min_i64(wanted, most);
        if (form->n_chunk != 0 && wanted > most) {
            slc_log_note(file->log,
                         "--chunk: %lld elements were asked for along dimension %d of the result, "
                         "which has %lld: its chunks have as many",
                         (long long)wanted, d, (long long)layout->shape[d]);
        }
    }
    return SLC_OK;
}

slc_status slci_array_output_settle(slci_array_output *self, const slc_array_form *form) {
    slc_h5_array_output *file = &self->file;
    SLC_TRY(settle_chunks(file, form));
    const bool is_wanted = form->filters && form->filter.kind != SLC_H5_FILTER_NONE;
    if (is_wanted && form->is_contiguous && form->filter.kind != SLC_H5_FILTER_AS_INPUT) {
        char text[SLC_H5_FILTER_BYTES];
        slc_h5_filter_print(&form->filter, text);
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "--filter %s and --chunk none contradict each other: only chunks are "
                        "filtered",
                        text);
    }
    file->filter = form->filters && !form->is_contiguous ? form->filter
                   : is_chunked(file) ? (slc_h5_filter){.kind = SLC_H5_FILTER_AS_INPUT}
                                      : (slc_h5_filter){.kind = SLC_H5_FILTER_NONE};
    return slc_h5_array_settle(file);
}

/* ---- memory ----------------------------------------------------------------------------------- */

static int64_t bytes_with(const slci_array_output *self, int64_t memory_bytes) {
    slc_h5_array_output file = self->file;
    file.memory_bytes = memory_bytes;
    return slc_h5_array_output_bytes(&file);
}

/* What all threads need at least. */
static int64_t bytes_with_all(const slci_array_output *self) {
    const int64_t usual = bytes_with(self, 0);
    int64_t low = 1;
    int64_t high = usual;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        slc_h5_array_output file = self->file;
        file.memory_bytes = middle;
        if (slc_h5_array_output_encoders(&file) == slc_pool_size(self->file.pool)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static int64_t least_bytes(const slci_array_output *self) {
    return bytes_with(self, 1);
}

void slci_array_output_hold(slci_array_output *self, slci_machine *machine) {
    self->file.pool = machine->pool;
    const int64_t usual = bytes_with(self, 0);
    if (usual == 0) {
        return;
    }
    const int64_t left = slc_max_i64(slci_machine_left_bytes(machine), 1);
    const int64_t share = slc_max_i64(left / MEMORY_SHARE, 1);
    /* All threads are worth more than a share. */
    const int64_t all = bytes_with_all(self);
    const int64_t wanted = all > share && all <= left / 2 ? all : share;
    self->file.memory_bytes = slc_min_i64(usual, wanted);
    const int64_t bytes = bytes_with(self, self->file.memory_bytes);
    self->held_bytes = slci_machine_hold(machine, bytes, "encoding chunks") ? bytes : 0;
}

int64_t slci_array_output_spare(const slci_array_output *self) {
    return slc_max_i64(self->held_bytes - least_bytes(self), 0);
}

/* Gives back half of what may be spared; false where that is nothing. */
static bool shrink(slci_array_output *self, slci_machine *machine) {
    const int64_t spare = slci_array_output_spare(self);
    if (spare == 0) {
        return false;
    }
    self->file.memory_bytes = self->held_bytes - (spare > LITTLE_BYTES ? spare / 2 : spare);
    const int64_t bytes = bytes_with(self, self->file.memory_bytes);
    slc_budget_release(machine->budget, SLC_SPACE_HOST, self->held_bytes - bytes);
    self->held_bytes = bytes;
    return true;
}

slc_status slci_array_output_plan(slci_array_output *self, slci_machine *machine,
                                  slci_array_planner plan, void *job) {
    slc_status status = plan(job);
    while (status == SLC_ERROR_NO_PLAN && shrink(self, machine)) {
        status = plan(job);
    }
    return status;
}

/* ---- disk ------------------------------------------------------------------------------------- */

slc_status slci_array_output_check_room(const slci_array_output *self, const slc_run_options *run,
                                        slci_array_between between) {
    const slc_h5_array_output *file = &self->file;
    const int64_t bytes = slc_h5_array_is_filtered(file) ? 0 : slc_layout_bytes(&file->layout);
    const slc_outfile_need outputs[] = {{file->path, bytes}, {file->path, between.bytes}};
    slci_disk_need need = {.outputs = outputs, .n_outputs = between.is_on_disk ? 2 : 1};
    if (!slc_checked_add(bytes, between.bytes, &need.journal_bytes)) {
        need.journal_bytes = INT64_MAX;
    }
    return slci_check_room(run, &need);
}

/* ---- what is told of it ----------------------------------------------------------------------- */

double slci_array_output_rate(const slci_array_output *self, const slci_machine *machine) {
    const double written = machine->rates.write_bytes_per_s;
    const double encoded = slc_h5_filter_bytes_per_s(&self->file.filter);
    const double all = encoded * slc_h5_array_output_encoders(&self->file);
    return encoded > 0 && (written <= 0 || all < written) ? all : written;
}

void slci_array_output_add_to(const slci_array_output *self, slc_fingerprint *print) {
    char filter[SLC_H5_FILTER_BYTES];
    slc_h5_filter_print(&self->file.filter, filter);
    for (int d = 0; d < self->file.layout.rank; d++) {
        slc_fingerprint_add_i64(print, "chunk", self->file.chunk[d]);
    }
    slc_fingerprint_add_text(print, "filter", filter);
    slc_fingerprint_add_i64(print, "big-endian", self->file.is_big_endian);
    slc_fingerprint_add_i64(print, "rest", self->file.copies_rest);
    slc_fingerprint_add_text(print, "output type", slc_dtype_name(self->file.layout.dtype));
    slc_fingerprint_add_text(print, "output dataset", self->file.dataset);
}

slc_array_stored slci_array_output_stored(const slci_array_output *self, const slc_sink *sink) {
    slc_array_stored stored = {.filter = self->file.filter};
    memcpy(stored.chunk, self->file.chunk, sizeof stored.chunk);
    stored.n_encoders = slc_h5_array_output_encoders(&self->file);
    stored.n_threads = self->file.pool != NULL ? slc_pool_size(self->file.pool) : 1;
    if (sink != NULL) {
        const slc_h5_array_written written = slc_h5_array_get_written(sink);
        stored.bytes = written.stored_bytes;
        stored.n_chunks = written.n_encoded + written.n_taken_back;
        stored.n_taken_back = written.n_taken_back;
        stored.n_cut = written.n_cut;
        stored.n_put_away = written.n_put_away;
    }
    return stored;
}

void slci_stats_stored(slci_json *json, const slc_array_stored *stored, int64_t bytes) {
    char filter[SLC_H5_FILTER_BYTES];
    slc_h5_filter_print(&stored->filter, filter);
    slci_json_open(json, "output", '{');
    slci_json_text(json, "filter", filter);
    slci_json_i64(json, "stored_bytes", stored->bytes);
    slci_json_f64(json, "ratio", stored->bytes > 0 ? (double)bytes / (double)stored->bytes : 0);
    slci_json_i64(json, "encoders", stored->n_encoders);
    slci_json_i64(json, "chunks_encoded", stored->n_chunks);
    slci_json_i64(json, "chunks_taken_back", stored->n_taken_back);
    slci_json_i64(json, "chunks_in_parts", stored->n_cut);
    slci_json_i64(json, "chunks_put_away", stored->n_put_away);
    slci_json_close(json, '}');
}

void slci_stats_filter_line(FILE *out, const slc_array_stored *stored) {
    char filter[SLC_H5_FILTER_BYTES];
    slc_h5_filter_print(&stored->filter, filter);
    if (stored->filter.kind != SLC_H5_FILTER_NONE || stored->filter.has_checksum) {
        (void)fprintf(out, "  %-22s %s\n", "its chunks are", filter);
    }
    if (stored->n_encoders > 0) {
        (void)fprintf(out, "  %-22s %d of %d threads%s\n", "encoded by", stored->n_encoders,
                      stored->n_threads,
                      stored->n_encoders < stored->n_threads ? ", since --ram has no room for more"
                                                             : "");
    }
}
