/* Slices of arrays: their text, and what they are of an array of a given shape. */
#include "core/slice.h"

#include <ctype.h>
#include <string.h>

#include "core/checked.h"
#include "core/print.h"
#include "core/units.h"

#define PART_BYTES 72
#define SHAPE_BYTES 192

/* ---- the text --------------------------------------------------------------------------------- */

static slc_status parse_bound(const char *text, const char *part, int64_t *out) {
    if (slci_parse_integer(text, -INT64_MAX, INT64_MAX, out) == SLC_OK) {
        return SLC_OK;
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT,
                    "'%.40s' in a slice: expected an index, BEGIN:END, BEGIN:END:STEP or ..., with "
                    "whole numbers",
                    part);
}

/* "BEGIN:END:STEP", each of which may be left out; `part` has no blanks around it. */
static slc_status parse_range(const char *part, slc_slice_part *out) {
    char copy[PART_BYTES];
    char *field[3] = {copy, NULL, NULL};
    int n_fields = 1;
    (void)slci_print(copy, sizeof copy, "%s", part);
    for (char *at = copy; *at != '\0'; at++) {
        if (*at == ':' && n_fields < 3) {
            *at = '\0';
            field[n_fields++] = at + 1;
        }
    }
    *out = (slc_slice_part){.kind = SLC_SLICE_RANGE, .step = 1};
    out->has_begin = field[0][0] != '\0';
    out->has_end = field[1][0] != '\0';
    if (out->has_begin) {
        SLC_TRY(parse_bound(field[0], part, &out->begin));
    }
    if (out->has_end) {
        SLC_TRY(parse_bound(field[1], part, &out->end));
    }
    if (field[2] != NULL && field[2][0] != '\0') {
        SLC_TRY(parse_bound(field[2], part, &out->step));
    }
    return out->step != 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.40s' in a slice: a step of 0 goes nowhere", part);
}

static slc_status parse_part(const char *part, slc_slice_part *out) {
    if (strcmp(part, "...") == 0) {
        *out = (slc_slice_part){.kind = SLC_SLICE_REST};
        return SLC_OK;
    }
    if (strchr(part, ':') != NULL) {
        return parse_range(part, out);
    }
    *out = (slc_slice_part){.kind = SLC_SLICE_INDEX, .has_begin = true};
    return parse_bound(part, part, &out->begin);
}

/* Copies [begin, end) without the blanks around it. */
static slc_status copy_part(const char *begin, const char *end, char out[PART_BYTES]) {
    while (begin < end && isspace((unsigned char)*begin)) {
        begin++;
    }
    while (end > begin && isspace((unsigned char)end[-1])) {
        end--;
    }
    if (end - begin >= PART_BYTES) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.40s' in a slice is too long", begin);
    }
    (void)slci_print(out, PART_BYTES, "%.*s", (int)(end - begin), begin);
    return SLC_OK;
}

slc_status slc_slice_parse(const char *text, slc_slice *out) {
    const size_t length = strlen(text);
    slc_slice slice = {0};
    int n_rest = 0;
    if (length < 2 || text[0] != '[' || text[length - 1] != ']') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' is no slice: expected brackets around it, such as [10:20, 3]",
                        text);
    }
    const char *const end = text + length - 1;
    for (const char *at = text + 1; at <= end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma != NULL ? comma : end;
        char part[PART_BYTES];
        SLC_TRY(copy_part(at, stop, part));
        if (slice.n_parts == SLC_SLICE_PARTS) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s': a slice has %d parts at most", text,
                            SLC_SLICE_PARTS);
        }
        slc_slice_part *made = &slice.part[slice.n_parts++];
        SLC_TRY(parse_part(part, made));
        n_rest += made->kind == SLC_SLICE_REST;
        at = stop + 1;
    }
    if (n_rest > 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s': ... can stand once in a slice", text);
    }
    *out = slice;
    return SLC_OK;
}

/* ---- of an array ------------------------------------------------------------------------------ */

/* "12 x 7". */
static const char *shape_text(const slc_layout *layout, char text[SHAPE_BYTES]) {
    size_t used = (size_t)slci_print(text, SHAPE_BYTES, "%s", layout->rank == 0 ? "one value" : "");
    for (int d = 0; d < layout->rank; d++) {
        used += (size_t)slci_print(text + used, SHAPE_BYTES - used, "%s%lld", d > 0 ? " x " : "",
                                   (long long)layout->shape[d]);
    }
    return text;
}

/* An index or a bound as Python takes it: from the end where negative, and cut off at both ends. */
static int64_t clamp_bound(int64_t value, int64_t n, int64_t lowest, int64_t highest) {
    const int64_t from_begin = value < 0 ? value + n : value;
    return slc_max_i64(slc_min_i64(from_begin, highest), lowest);
}

static void resolve_range(const slc_slice_part *part, int64_t n, int d, slc_slice_view *view) {
    const int64_t step = part->step == 0 ? 1 : part->step;
    const bool is_down = step < 0;
    const int64_t lowest = is_down ? -1 : 0;
    const int64_t highest = is_down ? n - 1 : n;
    const int64_t begin = part->has_begin ? clamp_bound(part->begin, n, lowest, highest)
                          : is_down       ? highest
                                          : lowest;
    const int64_t end = part->has_end ? clamp_bound(part->end, n, lowest, highest)
                        : is_down     ? lowest
                                      : highest;
    const int64_t length = is_down ? begin - end : end - begin;
    view->first[d] = begin;
    view->count[d] = length > 0 ? slc_ceil_div(length, is_down ? -step : step) : 0;
    /* One element or none has no next one, and then a huge step means nothing. */
    view->step[d] = view->count[d] > 1 ? step : 1;
}

static slc_status resolve_part(const slc_slice_part *part, const char *name,
                               const slc_layout *layout, int d, slc_slice_view *view) {
    const int64_t n = layout->shape[d];
    if (part->kind == SLC_SLICE_RANGE) {
        resolve_range(part, n, d, view);
        view->dim[view->rank++] = d;
        return SLC_OK;
    }
    if (part->begin < -n || part->begin >= n) {
        char shape[SHAPE_BYTES];
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "%s: index %lld in dimension %d of a slice: the dimension has %lld elements "
            "(the shape is %s)",
            name, (long long)part->begin, d, (long long)n, shape_text(layout, shape));
    }
    view->first[d] = part->begin < 0 ? part->begin + n : part->begin;
    view->count[d] = 1;
    view->step[d] = 1;
    return SLC_OK;
}

slc_status slc_slice_resolve(const slc_slice *slice, const char *name, const slc_layout *layout,
                             slc_slice_view *out) {
    static const slc_slice_part whole = {.kind = SLC_SLICE_RANGE, .step = 1};
    slc_slice_view view = {.inner_rank = layout->rank};
    int n_named = 0;
    for (int p = 0; p < slice->n_parts; p++) {
        n_named += slice->part[p].kind != SLC_SLICE_REST;
    }
    if (n_named > layout->rank) {
        char shape[SHAPE_BYTES];
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: a slice of %d dimensions: the data has %d (the shape is %s)", name,
                        n_named, layout->rank, shape_text(layout, shape));
    }
    int d = 0;
    for (int p = 0; p < slice->n_parts; p++) {
        const slc_slice_part *part = &slice->part[p];
        if (part->kind != SLC_SLICE_REST) {
            SLC_TRY(resolve_part(part, name, layout, d++, &view));
            continue;
        }
        for (int k = n_named; k < layout->rank; k++) {
            SLC_TRY(resolve_part(&whole, name, layout, d++, &view));
        }
    }
    while (d < layout->rank) {
        SLC_TRY(resolve_part(&whole, name, layout, d++, &view));
    }
    *out = view;
    return SLC_OK;
}
