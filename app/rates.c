/* The cache's file has a line "NAME VALUE" for each rate, in the order of `fields`.
 *
 * What a small budget gives is flattered by caches and differs from time to time, so it is worth
 * nothing to other budgets; those of about its size find it in a file of their own, and plan alike. */
#include "app/rates.h"

#include <stdio.h>
#include <string.h>

#include "app/cache_file.h"
#include "core/print.h"
#include "core/units.h"
#include "kernels/touch.h"
#include "ooc/probe.h"

/* Raised when what is measured, or how, changes. */
#define FORMAT 1

#define FILE_BYTES 4096

/* Rates outside of these were not measured on any machine. */
#define LEAST_RATE 1e3
#define MOST_RATE 1e16
#define LEAST_STEP 1e-8
#define MOST_STEP 10.0

typedef struct field {
    const char *name;
    size_t offset;
    double least, most;
} field;

/* What the probe measures. Files and sinks are not among it. */
static const field fields[] = {
    {"read_bytes_per_s", offsetof(slc_rates, read_bytes_per_s), LEAST_RATE, MOST_RATE},
    {"tier_bytes_per_s", offsetof(slc_rates, tier_bytes_per_s), LEAST_RATE, MOST_RATE},
    {"h2d_bytes_per_s", offsetof(slc_rates, h2d_bytes_per_s), LEAST_RATE, MOST_RATE},
    {"d2h_bytes_per_s", offsetof(slc_rates, d2h_bytes_per_s), LEAST_RATE, MOST_RATE},
    {"device_touches_per_s", offsetof(slc_rates, device_touches_per_s), LEAST_RATE, MOST_RATE},
    {"mapped_touches_per_s", offsetof(slc_rates, mapped_touches_per_s), LEAST_RATE, MOST_RATE},
    {"step_seconds", offsetof(slc_rates, step_seconds), LEAST_STEP, MOST_STEP},
};
#define N_FIELDS (sizeof fields / sizeof fields[0])

static double *field_of(slc_rates *rates, size_t f) {
    return (double *)((char *)rates + fields[f].offset);
}

static bool is_any_other(slc_rates *a, slc_rates *b) {
    bool is_other = false;
    for (size_t f = 0; f < N_FIELDS; f++) {
        is_other = is_other || *field_of(a, f) != *field_of(b, f);
    }
    return is_other;
}

/* ---- the file --------------------------------------------------------------------------------- */

/* One line "NAME VALUE\n" of a field; `text` is moved past it. */
static bool parse_field(char **text, size_t f, slc_rates *rates) {
    const size_t name_length = strlen(fields[f].name);
    char *newline = strchr(*text, '\n');
    if (newline == NULL || strncmp(*text, fields[f].name, name_length) != 0 ||
        (*text)[name_length] != ' ') {
        return false;
    }
    *newline = '\0';
    double value = 0;
    if (slci_parse_number(*text + name_length + 1, &value) != SLC_OK ||
        !(value >= fields[f].least && value <= fields[f].most)) {
        return false;
    }
    *field_of(rates, f) = value;
    *text = newline + 1;
    return true;
}

static bool parse(char *text, slc_rates *rates) {
    slc_rates found = *rates;
    for (size_t f = 0; f < N_FIELDS; f++) {
        if (!parse_field(&text, f, &found)) {
            return false;
        }
    }
    if (text[0] != '\0') {
        return false;
    }
    *rates = found;
    return true;
}

/* False where there is no such file, or it is not what was written. */
static bool read_cache(const slci_cache_file *file, slc_rates *rates) {
    char text[FILE_BYTES];
    return slci_cache_file_read(file, text, sizeof text) == SLCI_CACHE_WHOLE && parse(text, rates);
}

static slc_status write_cache(const slci_cache_file *file, slc_rates *rates) {
    char text[FILE_BYTES] = "";
    for (size_t f = 0; f < N_FIELDS; f++) {
        const size_t used = strlen(text);
        char value[SLCI_TEXT_BYTES];
        slci_format_shortest(*field_of(rates, f), value);
        (void)slci_print(text + used, sizeof text - used, "%s %s\n", fields[f].name, value);
    }
    return slci_cache_file_write(file, text);
}

/* ---- cached or measured ------------------------------------------------------------------------ */

static slc_status touch(slc_stream *stream, const slc_probe_touches *touches) {
    const slc_touch work = {.d_data = touches->d_data,
                            .n_elements = touches->n_elements,
                            .first = touches->first,
                            .n_touches = touches->n_touches,
                            .d_sum = touches->d_sum};
    return slc_touch_enqueue(stream, &work);
}

static void say_rates(slc_log *log, const char *how, const slc_rates *rates) {
    slc_log_detail(log,
                   "rates %s: to the device %.3g GB/s, back %.3g, in RAM %.3g; random reads %.3g "
                   "M/s, mapped %.3g; %.3g us a tile",
                   how, 1e-9 * rates->h2d_bytes_per_s, 1e-9 * rates->d2h_bytes_per_s,
                   1e-9 * rates->tier_bytes_per_s, 1e-6 * rates->device_touches_per_s,
                   1e-6 * rates->mapped_touches_per_s, 1e6 * rates->step_seconds);
}

/* Where measurements are kept. */
typedef struct rate_places {
    slci_cache_file whole; /* for all budgets, by one that was large enough */
    slci_cache_file small; /* for budgets of about this size */
} rate_places;

static int floor_log2(int64_t value) {
    int bits = 0;
    while (value >> (bits + 1) > 0) {
        bits++;
    }
    return bits;
}

/* False where nothing can be kept. */
static bool find_places(const slci_rates_request *request, rate_places *out) {
    char kind[32];
    if (request->folder == NULL) {
        slc_log_detail(request->log, "there is no folder to keep measured rates in");
        return false;
    }
    (void)slci_print(kind, sizeof kind, "rates-%d-%d", floor_log2(request->vram_bytes),
                     floor_log2(request->ram_bytes));
    if (slci_cache_file_name(request->device, "rates", FORMAT, request->folder, &out->whole) !=
            SLC_OK ||
        slci_cache_file_name(request->device, kind, FORMAT, request->folder, &out->small) !=
            SLC_OK) {
        slc_log_detail(request->log, "measured rates are not kept: %s", slc_status_message());
        return false;
    }
    return true;
}

/* `places` are NULL where nothing can be kept. */
static slc_status measure(const slci_rates_request *request, const rate_places *places,
                          slc_rates *rates) {
    slc_rates assumed = *rates;
    slc_budget *budget = NULL;
    SLC_TRY(slc_budget_create(request->vram_bytes, request->ram_bytes, &budget));
    const slc_probe_options options = {.device = request->device, .budget = budget, .touch = touch};
    bool is_complete = false;
    const slc_status status = slc_probe_run(&options, rates, &is_complete);
    slc_budget_destroy(budget);
    SLC_TRY(status);
    if (!is_any_other(rates, &assumed)) {
        slc_log_detail(request->log, "the budget is too small for measuring rates");
        return SLC_OK;
    }
    say_rates(request->log, "measured", rates);
    if (places != NULL &&
        write_cache(is_complete ? &places->whole : &places->small, rates) != SLC_OK) {
        slc_log_detail(request->log, "measured rates are not kept: %s", slc_status_message());
    }
    return SLC_OK;
}

slc_rates slci_rates_get(const slci_rates_request *request) {
    slc_rates rates = slc_rates_default(request->device->kind);
    rate_places places;
    const bool has_places = find_places(request, &places);
    if (has_places && (read_cache(&places.whole, &rates) || read_cache(&places.small, &rates))) {
        say_rates(request->log, "measured before", &rates);
        return rates;
    }
    if (measure(request, has_places ? &places : NULL, &rates) != SLC_OK) {
        slc_log_note(request->log, "this machine's rates could not be measured, assumed ones: %s",
                     slc_status_message());
    }
    return rates;
}
