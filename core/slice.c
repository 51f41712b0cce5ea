/* Slices of arrays: their text, and what they are of an array of a given shape. */
#include "core/slice.h"

#include <ctype.h>
#include <string.h>

#include "core/checked.h"
#include "core/print.h"
#include "core/units.h"

/* More digits than any number has that fits. */
#define NUMBER_BYTES 72
#define SHAPE_BYTES 192

/* ---- the text --------------------------------------------------------------------------------- */

/* A text that is read from `text` on, the opening bracket included, up to the one that closes. */
typedef struct slice_reader {
    const char *text;
    const char *at, *end;
} slice_reader;

/* The number of a character, from 1; those of UTF-8 have several bytes. */
static int character_number(const char *text, const char *at) {
    int n = 1;
    for (const char *c = text; c < at; c++) {
        n += ((unsigned char)c[1] & 0xC0) != 0x80;
    }
    return n;
}

/* Bytes of the character that begins at `at`. */
static int character_bytes(const char *at) {
    int n = 1;
    while (((unsigned char)at[n] & 0xC0) == 0x80) {
        n++;
    }
    return n;
}

static slc_status fail_at(const slice_reader *self, const char *at, const char *what) {
    return SLC_FAIL(SLC_ERROR_ARGUMENT, "slice '%.80s': character %d, '%.*s': %s", self->text,
                    character_number(self->text, at), character_bytes(at), at, what);
}

static void skip_blanks(slice_reader *self) {
    while (self->at < self->end && isspace((unsigned char)*self->at)) {
        self->at++;
    }
}

/* A whole number, if one begins here. */
static slc_status read_number(slice_reader *self, bool *has, int64_t *out) {
    char number[NUMBER_BYTES];
    const char *begin = self->at;
    const char *digits = begin + (*begin == '-' || *begin == '+');
    const char *after = digits;
    while (isdigit((unsigned char)*after)) {
        after++;
    }
    *has = after > begin;
    if (!*has) {
        return SLC_OK;
    }
    if (after == digits) {
        return fail_at(self, after, "expected a digit behind the sign");
    }
    const bool fits = after - begin < NUMBER_BYTES;
    (void)slci_print(number, sizeof number, "%.*s", fits ? (int)(after - begin) : 0, begin);
    if (!fits || slci_parse_integer(number, INT64_MIN, INT64_MAX, out) != SLC_OK) {
        return fail_at(self, begin, "the number that begins here does not fit 64 bits");
    }
    self->at = after;
    skip_blanks(self);
    return SLC_OK;
}

/* Behind the first number of "BEGIN:END:STEP", each of which may be left out. */
static slc_status read_range(slice_reader *self, slc_slice_part *out) {
    bool has_step = false;
    out->kind = SLC_SLICE_RANGE;
    out->step = 1;
    self->at++;
    skip_blanks(self);
    SLC_TRY(read_number(self, &out->has_end, &out->end));
    if (*self->at != ':') {
        return SLC_OK;
    }
    self->at++;
    skip_blanks(self);
    const char *begin = self->at;
    SLC_TRY(read_number(self, &has_step, &out->step));
    out->step = slc_max_i64(out->step, -INT64_MAX); /* which it is no longer than: no array is */
    return out->step != 0 ? SLC_OK : fail_at(self, begin, "a step of 0 goes nowhere");
}

static slc_status read_part(slice_reader *self, slc_slice_part *out) {
    static const char expected[] = "expected an index, BEGIN:END, BEGIN:END:STEP or ...";
    *out = (slc_slice_part){.kind = SLC_SLICE_INDEX};
    skip_blanks(self);
    const char *begin = self->at;
    if (strncmp(begin, "...", 3) == 0) {
        out->kind = SLC_SLICE_REST;
        self->at += 3;
    } else {
        SLC_TRY(read_number(self, &out->has_begin, &out->begin));
    }
    if (*self->at == ':' && out->kind != SLC_SLICE_REST) {
        SLC_TRY(read_range(self, out));
    } else if (out->kind == SLC_SLICE_INDEX && !out->has_begin) {
        return fail_at(self, begin, expected);
    }
    skip_blanks(self);
    if (*self->at == ',' || self->at == self->end) {
        return SLC_OK;
    }
    return fail_at(self, self->at,
                   *self->at == ':' ? "a part has two colons at most, and ... none"
                                    : "expected a comma, a colon between whole numbers, or ]");
}

/* That there are brackets around it. */
static slc_status check_brackets(const char *text) {
    const size_t length = strlen(text);
    if (text[0] != '[') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' is no slice: expected brackets around it, such as [10:20, 3]",
                        text);
    }
    return text[length - 1] == ']'
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_ARGUMENT,
                          "slice '%.80s': expected ] as the last character, number %d", text,
                          character_number(text, text + length));
}

slc_status slc_slice_parse(const char *text, slc_slice *out) {
    slc_slice slice = {0};
    int n_rest = 0;
    SLC_TRY(check_brackets(text));
    slice_reader reader = {text, text + 1, text + strlen(text) - 1};
    for (bool has_more = true; has_more;) {
        const char *begin = reader.at;
        if (slice.n_parts == SLC_SLICE_PARTS) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "slice '%.80s': it has more than %d parts", text,
                            SLC_SLICE_PARTS);
        }
        slc_slice_part *made = &slice.part[slice.n_parts++];
        SLC_TRY(read_part(&reader, made));
        n_rest += made->kind == SLC_SLICE_REST;
        if (n_rest > 1) {
            return fail_at(&reader, begin + strspn(begin, " \t"), "... can stand once");
        }
        has_more = reader.at < reader.end;
        reader.at += has_more;
        /* A comma may stand behind the last part, as in Python. */
        skip_blanks(&reader);
        has_more = has_more && reader.at < reader.end;
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
