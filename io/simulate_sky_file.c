/* The sky from a text file.
 *
 *     # ra          dec           flux [major  minor  angle [index]]
 *     19:59:28.36   +40:44:02.1   1.5
 *     299.9         40.8deg       0.2   90     45     30     -0.7
 *     l=0.01 m=-0.005 flux=0.5 major=2amin minor=60asec pa=30 index=-0.7
 *     reference_hz=1.4e9
 *
 * ra: degrees, or hours as h:m:s; dec: degrees, or d:m:s. Flux in Jy. major and minor: full widths at
 * half maximum, arcseconds. angle (pa): north through east, degrees. Any angle but those with
 * colons may have a unit: deg, amin, asec, mas, uas, rad. reference_hz stands on a line of its own:
 * the frequency to which fluxes with an index belong; without it, the first channel's. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/constants.h"
#include "core/sky.h"
#include "core/units.h"
#include "io/simulate.h"

/* A line has at most seven words; more are counted and refused. */
#define MAX_WORDS 8

/* Half a million components, each of which every sample of every row would have to be summed over. */
#define MAX_FILE_BYTES ((int64_t)64 << 20)

/* What some editors begin a UTF-8 file with: an invisible character, and no part of the first word. */
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

/* Of a word in a message. */
#define SHOWN "%.60s"

typedef struct sky_reader {
    const char *path;
    int64_t line;
    double ra_rad, dec_rad;
    int64_t capacity;
    slc_sky sky;
} sky_reader;

/* Everything of a file's failure begins with where it is. */
#define FAIL_LINE(reader, format, ...)                                                   \
    SLC_FAIL(SLC_ERROR_INPUT, "%s:%" PRId64 ": " format, (reader)->path, (reader)->line, \
             __VA_ARGS__)

static slc_status parse_number(const sky_reader *reader, const char *what, const char *text,
                               double *out) {
    if (slci_parse_number(text, out) != SLC_OK) {
        return FAIL_LINE(reader, "%s is '" SHOWN "', expected a number such as 1.5 or 2e-3", what,
                         text);
    }
    return SLC_OK;
}

static slc_status parse_angle(const sky_reader *reader, const char *what, const char *text,
                              double bare_rad, double *out_rad) {
    double value = 0.0;
    if (slci_parse_number(text, &value) == SLC_OK) {
        *out_rad = value * bare_rad;
        return SLC_OK;
    }
    if (slci_parse_angle(text, out_rad) != SLC_OK) {
        return FAIL_LINE(reader,
                         "%s is '" SHOWN "', expected a number, alone or with deg, amin, asec, "
                         "mas, uas or rad",
                         what, text);
    }
    return SLC_OK;
}

static slc_status parse_position(const sky_reader *reader, const char *ra_text,
                                 const char *dec_text, slc_sky_component *component) {
    double ra = 0.0;
    double dec = 0.0;
    if (strchr(ra_text, ':') == NULL) {
        SLC_TRY(parse_angle(reader, "the right ascension", ra_text, SLC_DEGREE_RAD, &ra));
    } else if (strchr("+-", ra_text[0]) == NULL && slci_parse_sexagesimal(ra_text, "::", &ra) &&
               ra < 24.0) {
        ra *= 15.0 * SLC_DEGREE_RAD;
    } else {
        return FAIL_LINE(reader,
                         "the right ascension is '" SHOWN
                         "', expected h:m:s such as 19:59:28.36, or "
                         "degrees",
                         ra_text);
    }
    if (strchr(dec_text, ':') == NULL) {
        SLC_TRY(parse_angle(reader, "the declination", dec_text, SLC_DEGREE_RAD, &dec));
    } else if (slci_parse_sexagesimal(dec_text, "::", &dec)) {
        dec *= SLC_DEGREE_RAD;
    } else {
        return FAIL_LINE(reader,
                         "the declination is '" SHOWN "', expected d:m:s such as -40:44:02.1, or "
                         "degrees",
                         dec_text);
    }
    if (!(fabs(dec) <= SLC_PI / 2.0) || !(fabs(ra) <= SLC_TWO_PI)) {
        return FAIL_LINE(reader, "there is no place on the sky at " SHOWN " " SHOWN, ra_text,
                         dec_text);
    }
    if (!slci_sky_to_cosines(reader->ra_rad, reader->dec_rad, ra, dec, &component->l,
                             &component->m)) {
        return FAIL_LINE(reader,
                         "the source at " SHOWN " " SHOWN
                         " lies 90 degrees or more from the phase centre",
                         ra_text, dec_text);
    }
    return SLC_OK;
}

static slc_status check_component(const sky_reader *reader, const slc_sky_component *component) {
    if (!(component->l * component->l + component->m * component->m < 1.0)) {
        return FAIL_LINE(reader,
                         "l = %g, m = %g is at or beyond the horizon: l² + m² must be below 1",
                         component->l, component->m);
    }
    if (!(component->minor_rad >= 0.0 && component->major_rad >= component->minor_rad)) {
        return FAIL_LINE(reader, "the axes are %g and %g arcseconds, expected major >= minor >= 0",
                         component->major_rad / SLC_ARCSECOND_RAD,
                         component->minor_rad / SLC_ARCSECOND_RAD);
    }
    return SLC_OK;
}

/* ra dec flux [major minor angle [index]] */
static slc_status parse_columns(const sky_reader *reader, char *const *words, int n_words,
                                slc_sky_component *component) {
    if (n_words != 3 && n_words != 6 && n_words != 7) {
        return FAIL_LINE(
            reader,
            "there are %d words, expected 'ra dec flux [major minor angle [index]]': 3, 6 "
            "or 7; or l=... m=... flux=...",
            n_words);
    }
    SLC_TRY(parse_position(reader, words[0], words[1], component));
    SLC_TRY(parse_number(reader, "the flux", words[2], &component->flux_jy));
    if (n_words >= 6) {
        SLC_TRY(parse_angle(reader, "the major axis", words[3], SLC_ARCSECOND_RAD,
                            &component->major_rad));
        SLC_TRY(parse_angle(reader, "the minor axis", words[4], SLC_ARCSECOND_RAD,
                            &component->minor_rad));
        SLC_TRY(parse_angle(reader, "the angle", words[5], SLC_DEGREE_RAD, &component->angle_rad));
    }
    if (n_words == 7) {
        SLC_TRY(parse_number(reader, "the index", words[6], &component->spectral_index));
    }
    return SLC_OK;
}

/* l=... m=... flux=... [major=... minor=... pa=... index=...] in any order */
static slc_status parse_pairs(const sky_reader *reader, char *const *words, int n_words,
                              slc_sky_component *component) {
    enum { KEY_L, KEY_M, KEY_FLUX, KEY_MAJOR, KEY_MINOR, KEY_PA, KEY_INDEX, N_KEYS };
    static const char *const names[N_KEYS] = {"l=",     "m=",  "flux=", "major=",
                                              "minor=", "pa=", "index="};
    double *const fields[N_KEYS] = {&component->l,
                                    &component->m,
                                    &component->flux_jy,
                                    &component->major_rad,
                                    &component->minor_rad,
                                    &component->angle_rad,
                                    &component->spectral_index};
    static const double bare_rad[N_KEYS] = {[KEY_MAJOR] = SLC_ARCSECOND_RAD,
                                            [KEY_MINOR] = SLC_ARCSECOND_RAD,
                                            [KEY_PA] = SLC_DEGREE_RAD}; /* 0: a plain number */
    bool has[N_KEYS] = {false};
    for (int w = 0; w < n_words; w++) {
        int key = 0;
        while (key < N_KEYS && strncmp(words[w], names[key], strlen(names[key])) != 0) {
            key++;
        }
        if (key == N_KEYS || has[key]) {
            return FAIL_LINE(reader,
                             "'" SHOWN
                             "' %s; expected l= m= flux= major= minor= pa= index=, each once",
                             words[w], key == N_KEYS ? "is not known" : "comes twice");
        }
        has[key] = true;
        const char *value = words[w] + strlen(names[key]);
        SLC_TRY(bare_rad[key] > 0.0
                    ? parse_angle(reader, names[key], value, bare_rad[key], fields[key])
                    : parse_number(reader, names[key], value, fields[key]));
    }
    if (!has[KEY_L] || !has[KEY_M] || !has[KEY_FLUX] || has[KEY_MAJOR] != has[KEY_MINOR]) {
        return FAIL_LINE(reader, "%s",
                         "l=, m= and flux= are needed, and major= and minor= go together");
    }
    return SLC_OK;
}

static slc_status keep_component(sky_reader *reader, const slc_sky_component *component) {
    slc_sky *sky = &reader->sky;
    if (sky->n_components == reader->capacity) {
        int64_t capacity = 64;
        int64_t bytes = 0;
        if ((reader->capacity > 0 && !slc_checked_mul(reader->capacity, 2, &capacity)) ||
            !slc_checked_mul(capacity, (int64_t)sizeof *component, &bytes)) {
            return FAIL_LINE(reader, "%s", "too many components");
        }
        slc_sky_component *larger = realloc(sky->components, (size_t)bytes);
        if (larger == NULL) {
            return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for %" PRId64 " components",
                            reader->path, capacity);
        }
        sky->components = larger;
        reader->capacity = capacity;
    }
    sky->components[sky->n_components] = *component;
    sky->n_components++;
    return SLC_OK;
}

static slc_status parse_line(sky_reader *reader, char *text) {
    static const char reference[] = "reference_hz=";
    char *words[MAX_WORDS];
    int n_words = 0;
    char *rest = NULL;
    if (reader->line == 1 && strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
        text += strlen(BYTE_ORDER_MARK);
    }
    text[strcspn(text, "#")] = '\0';
    for (char *word = strtok_r(text, " \t\r\n", &rest); word != NULL;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        if (n_words == MAX_WORDS) {
            return FAIL_LINE(reader, "there are more than %d words, expected at most 7", MAX_WORDS);
        }
        words[n_words++] = word;
    }
    if (n_words == 0) {
        return SLC_OK;
    }
    if (n_words == 1 && strncmp(words[0], reference, strlen(reference)) == 0) {
        SLC_TRY(parse_number(reader, reference, words[0] + strlen(reference),
                             &reader->sky.reference_hz));
        return reader->sky.reference_hz > 0.0
                   ? SLC_OK
                   : FAIL_LINE(reader, "'" SHOWN "' is not above 0", words[0]);
    }
    slc_sky_component component = {0};
    SLC_TRY(strchr(words[0], '=') != NULL ? parse_pairs(reader, words, n_words, &component)
                                          : parse_columns(reader, words, n_words, &component));
    SLC_TRY(check_component(reader, &component));
    return keep_component(reader, &component);
}

static slc_status read_lines(sky_reader *reader, FILE *file) {
    char *text = NULL;
    size_t capacity = 0;
    slc_status status = SLC_OK;
    for (;;) {
        reader->line++;
        errno = 0;
        const ssize_t length = getline(&text, &capacity, file);
        if (length < 0) {
            if (ferror(file) || errno == ENOMEM) {
                status = SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be read: %s", reader->path,
                                  strerror(errno));
            }
            break;
        }
        if (strlen(text) != (size_t)length) {
            status = FAIL_LINE(reader, "%s", "there is a zero byte: this is not a text file");
            break;
        }
        SLC_TRY_GOTO(done, parse_line(reader, text));
    }
    if (status == SLC_OK && reader->sky.n_components == 0) {
        status = SLC_FAIL(SLC_ERROR_INPUT,
                          "%s: there is no component in it; for noise alone give one of flux 0",
                          reader->path);
    }
done:
    free(text);
    return status;
}

/* Opens an ordinary file of a size that a list of sources can have. A device may never end, and a pipe
 * may never begin: opening one must not wait for its writer. */
static slc_status open_file(const char *path, FILE **out) {
    struct stat info;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &info) != 0) {
        const int reason = errno;
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be opened: %s", path, strerror(reason));
    }
    slc_status status = SLC_OK;
    if (!S_ISREG(info.st_mode)) {
        status = SLC_FAIL(SLC_ERROR_INPUT, "%s: is not a file%s; a sky is read from a text file",
                          path, S_ISDIR(info.st_mode) ? " but a folder" : "");
    } else if (info.st_size > MAX_FILE_BYTES) {
        status = SLC_FAIL(SLC_ERROR_INPUT,
                          "%s: is %" PRId64 " bytes long, expected a text file of at most %" PRId64,
                          path, (int64_t)info.st_size, MAX_FILE_BYTES);
    } else {
        *out = fdopen(descriptor, "r");
        if (*out != NULL) {
            return SLC_OK;
        }
        status = SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to read it", path);
    }
    (void)close(descriptor);
    return status;
}

slc_status slc_sky_read(const char *path, double ra_rad, double dec_rad, slc_sky *out) {
    sky_reader reader = {.path = path, .ra_rad = ra_rad, .dec_rad = dec_rad};
    FILE *file = NULL;
    SLC_TRY(open_file(path, &file));
    const slc_status status = read_lines(&reader, file);
    (void)fclose(file);
    if (status != SLC_OK) {
        slc_sky_destroy(&reader.sky);
        return status;
    }
    *out = reader.sky;
    return SLC_OK;
}
