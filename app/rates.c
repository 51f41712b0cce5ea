/* The cache is one file for each machine, since a home folder may be shared by many:
 *
 *     sluice 0.1.0 rates 1
 *     device NVIDIA H200, 150754820096 bytes
 *     software CUDA 13.0, driver 13.0
 *     processor Intel(R) Xeon(R) Platinum 8480+
 *     threads 16
 *     memory 128 GiB
 *     tier_bytes_per_s 28000000000
 *     ...
 *     end
 *
 * All lines above the numbers are the key; its hash is in the file's name, and the key itself is
 * compared letter for letter. The last line tells a whole file from a cut one. */
#include "app/rates.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fnv.h"
#include "core/host_memory.h"
#include "core/print.h"
#include "core/units.h"
#include "core/version.h"
#include "io/outfile.h"
#include "kernels/touch.h"
#include "ooc/probe.h"

/* Raised when what is measured, or how, changes. */
#define FORMAT 1

#define KEY_BYTES 1024
#define FILE_BYTES 4096
#define GIB (INT64_C(1) << 30)

/* Rates outside of these were not measured on any machine. */
#define LEAST_RATE 1e3
#define MOST_RATE 1e16
#define LEAST_STEP 1e-8
#define MOST_STEP 10.0

static const char last_line[] = "end\n";

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

/* ---- the key ---------------------------------------------------------------------------------- */

static slc_status make_key(slc_device *device, char key[KEY_BYTES]) {
    slc_device_limits limits;
    slci_host_limits host;
    SLC_TRY(slc_device_get_limits(device, &limits));
    SLC_TRY(slci_host_limits_read("", &host));
    const bool is_cuda = device->kind == SLC_DEVICE_CUDA;
    /* The host's memory to the next GiB: the kernel keeps a little that differs from start to start. */
    (void)slci_print(key, KEY_BYTES,
                     "sluice %s rates %d\n"
                     "device %s, %lld bytes\n"
                     "software %s\n"
                     "processor %s\n"
                     "threads %d\n"
                     "memory %lld GiB\n",
                     SLC_VERSION, FORMAT, limits.name,
                     is_cuda ? (long long)limits.total_bytes : 0LL, limits.software, host.processor,
                     slc_pool_size(device->pool), (long long)((host.total_bytes + GIB - 1) / GIB));
    return SLC_OK;
}

static slc_status path_of_key(const char *key, const char *folder, char *path, size_t path_bytes) {
    const int length = snprintf(path, path_bytes, "%s/rates-%016llx.txt", folder,
                                (unsigned long long)slci_fnv_add(SLCI_FNV_BEGIN, key, strlen(key)));
    if (length < 0 || (size_t)length >= path_bytes) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%.80s...: the name of the folder is too long", folder);
    }
    return SLC_OK;
}

slc_status slci_rates_path(slc_device *device, const char *folder, char *path, size_t path_bytes) {
    char key[KEY_BYTES];
    SLC_TRY(make_key(device, key));
    return path_of_key(key, folder, path, path_bytes);
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

static bool parse(char *text, const char *key, slc_rates *rates) {
    slc_rates found = *rates;
    if (strncmp(text, key, strlen(key)) != 0) {
        return false;
    }
    text += strlen(key);
    for (size_t f = 0; f < N_FIELDS; f++) {
        if (!parse_field(&text, f, &found)) {
            return false;
        }
    }
    if (strcmp(text, last_line) != 0) {
        return false;
    }
    *rates = found;
    return true;
}

/* False where there is no such file, or it is not what was written. */
static bool read_cache(const char *path, const char *key, slc_rates *rates) {
    char text[FILE_BYTES];
    /* Not blocking: it may be a pipe, which nobody writes to. */
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    if (fd < 0) {
        return false;
    }
    FILE *file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? fdopen(fd, "r") : NULL;
    if (file == NULL) {
        (void)close(fd);
        return false;
    }
    const size_t length = fread(text, 1, sizeof text - 1, file);
    const bool is_whole = feof(file) != 0 && ferror(file) == 0;
    (void)fclose(file);
    text[length] = '\0';
    return is_whole && strlen(text) == length && parse(text, key, rates);
}

static slc_status write_file(const char *path, const char *key, slc_rates *rates) {
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write to %s: %s", path, strerror(errno));
    }
    bool is_written = fputs(key, file) >= 0;
    for (size_t f = 0; f < N_FIELDS; f++) {
        char value[SLCI_TEXT_BYTES];
        slci_format_shortest(*field_of(rates, f), value);
        is_written = is_written && fprintf(file, "%s %s\n", fields[f].name, value) > 0;
    }
    is_written = is_written && fputs(last_line, file) >= 0;
    if (fclose(file) != 0 || !is_written) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write to %s", path);
    }
    return SLC_OK;
}

/* Makes the folder and the one above it, as ~/.cache may be missing for a new user. */
static slc_status make_folder(const char *folder) {
    char above[SLC_PATH_BYTES];
    const char *slash = strrchr(folder, '/');
    const int length = slash == NULL ? 0 : (int)(slash - folder);
    if (length > 0 && length < SLC_PATH_BYTES) {
        (void)snprintf(above, sizeof above, "%.*s", length, folder);
        (void)mkdir(above, 0700); /* whether it worked, the next one shows */
    }
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot make %s: %s", folder, strerror(errno));
    }
    return SLC_OK;
}

static slc_status write_cache(const slci_rates_request *request, const char *path, const char *key,
                              slc_rates *rates) {
    slc_outfile file = {.temporary_path = ""};
    slc_status status = SLC_OK;
    SLC_TRY(make_folder(request->folder));
    SLC_TRY_GOTO(done, slc_outfile_begin(path, true, &file));
    SLC_TRY_GOTO(done, write_file(file.temporary_path, key, rates));
    SLC_TRY_GOTO(done, slc_outfile_commit(&file));
done:
    slc_outfile_abandon(&file);
    return status;
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

/* The path of the cache's file; "" where nothing can be kept. */
static void find_cache(const slci_rates_request *request, const char *key, char *path) {
    path[0] = '\0';
    if (request->folder == NULL) {
        slc_log_detail(request->log, "there is no folder to keep measured rates in");
    } else if (path_of_key(key, request->folder, path, SLC_PATH_BYTES) != SLC_OK) {
        slc_log_detail(request->log, "measured rates are not kept: %s", slc_status_message());
        path[0] = '\0';
    }
}

static slc_status measure(const slci_rates_request *request, const char *path, const char *key,
                          slc_rates *rates) {
    slc_budget *budget = NULL;
    SLC_TRY(slc_budget_create(request->vram_bytes, request->ram_bytes, &budget));
    const slc_probe_options options = {.device = request->device, .budget = budget, .touch = touch};
    bool is_complete = false;
    const slc_status status = slc_probe_run(&options, rates, &is_complete);
    slc_budget_destroy(budget);
    SLC_TRY(status);
    say_rates(request->log, "measured", rates);
    if (!is_complete) {
        slc_log_detail(request->log, "the budget was too small for rates worth keeping");
    } else if (path[0] != '\0' && write_cache(request, path, key, rates) != SLC_OK) {
        slc_log_detail(request->log, "measured rates are not kept: %s", slc_status_message());
    }
    return SLC_OK;
}

slc_rates slci_rates_get(const slci_rates_request *request) {
    slc_rates rates = slc_rates_default(request->device->kind);
    char key[KEY_BYTES];
    char path[SLC_PATH_BYTES] = "";
    slc_status status = make_key(request->device, key);
    if (status == SLC_OK) {
        find_cache(request, key, path);
        if (path[0] != '\0' && read_cache(path, key, &rates)) {
            say_rates(request->log, "measured before", &rates);
            return rates;
        }
        status = measure(request, path, key, &rates);
    }
    if (status != SLC_OK) {
        slc_log_note(request->log, "this machine's rates could not be measured, assumed ones: %s",
                     slc_status_message());
    }
    return rates;
}
