/* Numbers with units as people type and read them: sizes of memory, angles, frequencies, ranges.
 * Parsing is strict: the whole text must be one number in one of the accepted forms, and a refusal
 * names those forms. Neither parsing nor printing depends on the locale. Internal to
 * Sluice.
 *
 *     int64_t bytes;
 *     SLC_TRY(slci_parse_bytes("0.5G", &bytes));        // 536870912
 *     char text[SLCI_TEXT_BYTES];
 *     slci_format_bytes(bytes, text);                   // "512 MiB"
 */
#ifndef SLC_CORE_UNITS_H
#define SLC_CORE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every parser returns SLC_ERROR_ARGUMENT, with what was found and what is accepted in the message,
 * or SLC_OK; the result is set only then. Numbers are decimal, with an optional sign, fraction and
 * exponent; no blanks, no hexadecimal, no nan or inf, nothing that a double cannot hold. */
SLC_MUST_USE slc_status slci_parse_number(const char *text, double *out);

/* A whole number from `lowest` to `highest`, digits only (and a sign). */
SLC_MUST_USE slc_status slci_parse_integer(const char *text, int64_t lowest, int64_t highest,
                                           int64_t *out);
SLC_MUST_USE slc_status slci_parse_unsigned(const char *text, uint64_t *out);

/* Bytes: K M G T and KiB MiB GiB TiB are powers of 1024, kB MB GB TB of 1000; a plain whole number
 * (or one with B) is bytes. A fraction of a byte that a unit leaves is dropped. */
SLC_MUST_USE slc_status slci_parse_bytes(const char *text, int64_t *bytes);

/* An angle with its unit: deg, amin, asec, mas, uas or rad. */
SLC_MUST_USE slc_status slci_parse_angle(const char *text, double *rad);

/* A frequency above zero with its unit: Hz, kHz, MHz or GHz. */
SLC_MUST_USE slc_status slci_parse_frequency(const char *text, double *hz);

/* A time above zero with its unit: ms, s, min or h. */
SLC_MUST_USE slc_status slci_parse_seconds(const char *text, double *seconds);

/* A:B with whole numbers 0 <= A < B, 0-based and half-open. A: has *end 0, "to the end"; :B begins
 * at 0. */
SLC_MUST_USE slc_status slci_parse_index_range(const char *text, int64_t *begin, int64_t *end);

/* A:B with numbers 0 <= A < B; A: has *highest 0, "no limit". */
SLC_MUST_USE slc_status slci_parse_number_range(const char *text, double *lowest, double *highest);

/* N or NXxNY, each from 1 to SLCI_MAX_PIXELS. */
#define SLCI_MAX_PIXELS 100000000
SLC_MUST_USE slc_status slci_parse_size(const char *text, int64_t *nx, int64_t *ny);

/* Hours or degrees, minutes below 60 and seconds below 60, in units of the first: behind each stands
 * its separator, such as "hms" or "dms"; "::" has none behind the seconds. A sign may lead. False, and
 * no message, where the text has another form. */
bool slci_parse_sexagesimal(const char *text, const char *separators, double *out);

/* Right ascension (into [0, 2π)) as 04:02:27.9, 4h02m27.9s or an angle with its unit; declination
 * as -30:19:37.9, -30d19m37.9s or an angle with its unit; both as RA,DEC. */
SLC_MUST_USE slc_status slci_parse_ra(const char *text, double *rad);
SLC_MUST_USE slc_status slci_parse_dec(const char *text, double *rad);
SLC_MUST_USE slc_status slci_parse_position(const char *text, double *ra_rad, double *dec_rad);

/* The printers write at most SLCI_TEXT_BYTES characters, with the closing zero, into `text`. */
#define SLCI_TEXT_BYTES 48

/* `value` with `digits` significant digits and a point, as %g would in the C locale. */
void slci_format_number(double value, int digits, char *text);
/* With as few digits as give the same double when read back. */
void slci_format_shortest(double value, char *text);
/* "512 MiB", "1.5 GiB", "900 bytes". */
void slci_format_bytes(int64_t bytes, char *text);
/* "20asec", "1.5deg": a form that slci_parse_angle reads, with `digits` significant digits. */
void slci_format_angle(double rad, int digits, char *text);
/* As format_angle with three digits, never above the angle itself: a scale to suggest. */
void slci_format_angle_down(double rad, char *text);
/* "1.42 GHz". */
void slci_format_frequency(double hz, char *text);
/* "04:02:27.986" and "-30:19:37.88". */
void slci_format_ra(double rad, char *text);
void slci_format_dec(double rad, char *text);
/* "0.42 s", "1 min 5 s", "2 h 3 min". */
void slci_format_seconds(double seconds, char *text);

#ifdef __cplusplus
}
#endif
#endif
