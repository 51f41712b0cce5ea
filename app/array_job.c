/* A dataset or a slice of one, seen by a job. What the planner asks about the slice's dimensions is
 * answered by those of the dataset that they are of. */
#include "app/array_job.h"

#include "core/checked.h"

slc_status slci_array_open_as(const slc_array_name *name, const slc_source_view *as, slc_log *log,
                              slci_array *out) {
    const slc_h5_array_options options = {.path = name->path, .dataset = name->dataset, .log = log};
    slci_array array = {0};
    SLC_TRY(slc_h5_array_open(&options, &array.file));
    array.source = array.file;
    slc_status status =
        slc_slice_resolve(&name->slice, array.file->name, &array.file->fields[0], &array.view);
    if (status == SLC_OK && (name->slice.n_parts > 0 || as != NULL)) {
        slc_source_view view = as != NULL ? *as : (slc_source_view){0};
        view.slice = name->slice;
        status = slc_source_slice(array.file, &view, &array.source);
    }
    if (status != SLC_OK) {
        slc_source_destroy(array.file);
        return status;
    }
    *out = array;
    return SLC_OK;
}

slc_status slci_array_open(const slc_array_name *name, slc_log *log, slci_array *out) {
    return slci_array_open_as(name, NULL, log, out);
}

void slci_array_close(slci_array *array) {
    if (array->source != array->file) {
        slc_source_destroy(array->source);
    }
    slc_source_destroy(array->file);
    if (array->budget != NULL) {
        slc_budget_release(array->budget, SLC_SPACE_HOST, array->cache_bytes);
    }
    *array = (slci_array){0};
}

static int64_t slice_bytes(const slc_source *source, int n_threads) {
    return n_threads * slc_source_slice_bytes(source);
}

void slci_array_hold(const slci_array *array, slci_machine *machine) {
    slci_machine_hold_readers(machine, array->file, slc_h5_array_reader_bytes, "reading chunks");
    if (array->source != array->file) {
        slci_machine_hold_readers(machine, array->source, slice_bytes, "slices");
    }
}

slc_status slci_array_set_cache(slci_array *array, const slci_machine *machine, int64_t bytes) {
    array->budget = machine->budget;
    slc_budget_release(array->budget, SLC_SPACE_HOST, array->cache_bytes);
    array->cache_bytes = 0;
    SLC_TRY(slc_budget_reserve(array->budget, SLC_SPACE_HOST, bytes, "decoded chunks"));
    array->cache_bytes = bytes;
    return slc_h5_array_set_cache(array->file, bytes);
}

int64_t slci_array_unit(const slci_array *array, int d) {
    const int64_t n = array->source->fields[0].shape[d];
    /* The first unit of a slice may be cut short, so the one behind it counts where there is one. */
    const int64_t first = n > 0 ? slc_source_next_unit(array->source, d, 0) : 1;
    const int64_t second = first < n ? slc_source_next_unit(array->source, d, first) - first : 0;
    const int64_t unit = slc_max_i64(first, second);
    return unit > 1 ? unit : 0;
}

double slci_array_stored_share(const slci_array *array) {
    const int64_t bytes = slc_layout_bytes(&array->file->fields[0]);
    return bytes > 0 ? (double)slc_h5_array_stored_bytes(array->file) / (double)bytes : 1;
}

slc_h5_array_origin slci_array_origin(const slci_array *array, int d) {
    const int dim = array->view.dim[d];
    return (slc_h5_array_origin){.dim = dim + 1,
                                 .first = array->view.first[dim],
                                 .step = array->view.step[dim]};
}

int64_t slci_array_row_bytes(const slci_array *array, int d) {
    return slc_h5_array_row_bytes(array->file, array->view.dim[d]);
}
