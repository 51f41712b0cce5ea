#include "core/array.h"

#include <stdlib.h>

static slc_space space_of(slc_array_kind kind) {
    return kind == SLC_ARRAY_DEVICE ? SLC_SPACE_DEVICE : SLC_SPACE_HOST;
}

int64_t slc_array_bytes(const slc_layout *layout) {
    return slc_layout_bytes(layout);
}

/* Fills in the addresses of an array whose kind, layout and device are set. */
static slc_status allocate(slc_array *array, int64_t bytes) {
    switch (array->kind) {
    case SLC_ARRAY_DEVICE:
        return slc_device_allocate(array->device, bytes, &array->d_data);
    case SLC_ARRAY_PINNED:
        SLC_TRY(slc_pinned_allocate(array->device, bytes, &array->pinned));
        array->host = array->pinned.host;
        return SLC_OK;
    case SLC_ARRAY_MAPPED:
        SLC_TRY(slc_mapped_allocate(array->device, bytes, &array->mapped));
        array->host = array->mapped.host;
        array->d_data = array->mapped.device_alias;
        return SLC_OK;
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT, "array: unknown kind %d", (int)array->kind);
}

slc_status slc_array_create(slc_device *device, slc_budget *budget, slc_array_kind kind,
                            const slc_layout *layout, slc_array **out) {
    if (!slc_layout_is_contiguous(layout) || layout->offset_bytes != 0 ||
        slc_layout_count(layout) < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "array: the layout must be dense, start at 0 and hold an element");
    }
    const int64_t bytes = slc_array_bytes(layout);
    slc_array *array = calloc(1, sizeof *array);
    if (array == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "array: no memory for its description");
    }
    array->kind = kind;
    array->layout = *layout;
    array->device = device;
    slc_status status = SLC_OK;
    if (budget != NULL) {
        SLC_TRY_GOTO(failed, slc_budget_reserve(budget, space_of(kind), bytes, "array"));
        array->budget = budget;
    }
    SLC_TRY_GOTO(failed, allocate(array, bytes));
    *out = array;
    return SLC_OK;
failed:
    if (array->budget != NULL) {
        slc_budget_release(budget, space_of(kind), bytes);
    }
    free(array);
    return status;
}

void slc_array_destroy(slc_array *array) {
    if (array == NULL) {
        return;
    }
    switch (array->kind) {
    case SLC_ARRAY_DEVICE:
        slc_device_release(array->device, array->d_data);
        break;
    case SLC_ARRAY_PINNED:
        slc_pinned_release(array->device, &array->pinned);
        break;
    case SLC_ARRAY_MAPPED:
        slc_mapped_release(array->device, &array->mapped);
        break;
    }
    if (array->budget != NULL) {
        slc_budget_release(array->budget, space_of(array->kind), slc_array_bytes(&array->layout));
    }
    free(array);
}
