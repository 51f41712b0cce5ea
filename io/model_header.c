/* What the keywords of a model image say: projection, frame, unit, frequencies. What Sluice cannot
 * place or weigh exactly is refused, never guessed: another projection than SIN about the tangent
 * point, a rotated pole, other units than Jy/pixel and Jy/beam, another Stokes parameter than I. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/constants.h"
#include "io/model_file.h"
#include "io/vis.h"

/* Angles in a header have 15 digits or fewer. */
#define POLE_TOLERANCE_DEG 1e-9

static const char *indexed(char out[16], const char *name, int axis) {
    (void)snprintf(out, 16, "%s%d", name, axis);
    return out;
}

static slc_status need_real(slci_model_file *file, const char *name, double *out) {
    double value = (double)NAN;
    if (!file->ops->real(file, name, &value) || !isfinite(value)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s is missing or no number", file->path, name);
    }
    *out = value;
    return SLC_OK;
}

static double real_or(slci_model_file *file, const char *name, double otherwise) {
    double value = otherwise;
    return file->ops->real(file, name, &value) ? value : otherwise;
}

/* "" where it is missing; blanks at the end do not count. */
static void get_text(slci_model_file *file, const char *name, char out[SLCI_MODEL_TEXT_BYTES]) {
    out[0] = '\0';
    if (file->ops->text(file, name, out)) {
        for (size_t n = strlen(out); n > 0 && out[n - 1] == ' '; n--) {
            out[n - 1] = '\0';
        }
    }
}

/* ---- the sky ------------------------------------------------------------------------------- */

static slc_status check_projection(slci_model_file *file) {
    static const char *const expected[2] = {"RA---SIN", "DEC--SIN"};
    char name[16];
    char text[SLCI_MODEL_TEXT_BYTES];
    for (int a = 0; a < 2; a++) {
        get_text(file, indexed(name, "CTYPE", a + 1), text);
        if (strcmp(text, expected[a]) != 0) {
            return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "%s: %s is '%s', expected '%s'", file->path,
                            name, text, expected[a]);
        }
        get_text(file, indexed(name, "CUNIT", a + 1), text);
        if (text[0] != '\0' && strcasecmp(text, "deg") != 0) {
            return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "%s: %s is '%s', expected 'deg'", file->path,
                            name, text);
        }
        const double slant = real_or(file, indexed(name, "PV2_", a + 1), 0.0);
        if (fpclassify(slant) != FP_ZERO) {
            return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                            "%s: %s is %g: not supported, only the projection onto the plane "
                            "that touches the sky at the reference is",
                            file->path, name, slant);
        }
    }
    return SLC_OK;
}

/* Degrees per pixel: CD, or PC or CROTA2 with CDELT. */
static slc_status read_steps(slci_model_file *file, double step[2][2]) {
    double unused = 0.0;
    if (file->ops->real(file, "CD1_1", &unused) || file->ops->real(file, "CD1_2", &unused)) {
        step[0][0] = real_or(file, "CD1_1", 0.0);
        step[0][1] = real_or(file, "CD1_2", 0.0);
        step[1][0] = real_or(file, "CD2_1", 0.0);
        step[1][1] = real_or(file, "CD2_2", 0.0);
        return SLC_OK;
    }
    double delta[2] = {0.0, 0.0};
    SLC_TRY(need_real(file, "CDELT1", &delta[0]));
    SLC_TRY(need_real(file, "CDELT2", &delta[1]));
    const double turned_rad = real_or(file, "CROTA2", 0.0) * SLC_DEGREE_RAD;
    step[0][0] = delta[0] * real_or(file, "PC1_1", cos(turned_rad));
    step[0][1] = fpclassify(turned_rad) == FP_ZERO ? delta[0] * real_or(file, "PC1_2", 0.0)
                                                   : -delta[1] * sin(turned_rad);
    step[1][0] = fpclassify(turned_rad) == FP_ZERO ? delta[1] * real_or(file, "PC2_1", 0.0)
                                                   : delta[0] * sin(turned_rad);
    step[1][1] = delta[1] * real_or(file, "PC2_2", cos(turned_rad));
    return SLC_OK;
}

static slc_status read_sky(slci_model_file *file, slc_model_meta *meta) {
    double place[4] = {0.0};
    static const char *const names[4] = {"CRPIX1", "CRPIX2", "CRVAL1", "CRVAL2"};
    SLC_TRY(check_projection(file));
    for (int k = 0; k < 4; k++) {
        SLC_TRY(need_real(file, names[k], &place[k]));
    }
    SLC_TRY(read_steps(file, meta->step));
    for (int k = 0; k < 4; k++) {
        meta->step[k / 2][k % 2] *= SLC_DEGREE_RAD;
    }
    const double area = meta->step[0][0] * meta->step[1][1] - meta->step[0][1] * meta->step[1][0];
    if (!isfinite(area) || fpclassify(area) == FP_ZERO) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: the pixels have no size (CDELT, PC, CD)", file->path);
    }
    /* The default is 180 below the celestial pole and 0 at it. */
    const double pole_deg = real_or(file, "LONPOLE", place[3] < 90.0 ? 180.0 : 0.0);
    if (fabs(fabs(pole_deg) - 180.0) > POLE_TOLERANCE_DEG || !(fabs(place[3]) <= 90.0)) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: LONPOLE is %g at declination %g: not supported, expected 180 and a "
                        "declination within 90",
                        file->path, pole_deg, place[3]);
    }
    meta->reference_x = place[0] - 1.0;
    meta->reference_y = place[1] - 1.0;
    meta->ra_rad = place[2] * SLC_DEGREE_RAD;
    meta->dec_rad = place[3] * SLC_DEGREE_RAD;
    return SLC_OK;
}

/* RADESYS, or what the standard makes of EQUINOX where it is missing (paper II, section 3.1). */
static slc_status read_frame(slci_model_file *file, slc_model_meta *meta) {
    char frame[SLCI_MODEL_TEXT_BYTES];
    get_text(file, "RADESYS", frame);
    if (frame[0] == '\0') {
        get_text(file, "RADECSYS", frame); /* its name before 2002 */
    }
    const double equinox = real_or(file, "EQUINOX", (double)NAN);
    if (frame[0] == '\0' && isfinite(equinox)) {
        (void)snprintf(frame, sizeof frame, "%s", equinox < 1984.0 ? "FK4" : "FK5");
    }
    if (frame[0] != '\0' && strcasecmp(frame, "ICRS") != 0 && strcasecmp(frame, "FK5") != 0) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: the frame is '%s' (RADESYS, EQUINOX): not supported, expected ICRS or "
                        "FK5",
                        file->path, frame);
    }
    for (size_t k = 0; k < sizeof meta->frame && frame[0] != '\0'; k++) {
        meta->frame[k] = (char)(frame[k] >= 'a' && frame[k] <= 'z' ? frame[k] - 32 : frame[k]);
        if (frame[k] == '\0') {
            break;
        }
    }
    meta->equinox = isfinite(equinox) ? equinox : 2000.0;
    return SLC_OK;
}

/* ---- the other axes ------------------------------------------------------------------------ */

static slc_status read_frequency(slci_model_file *file, int axis, double plane_hz[2]) {
    char name[16];
    char unit[SLCI_MODEL_TEXT_BYTES];
    double value = 0.0;
    get_text(file, indexed(name, "CUNIT", axis), unit);
    if (unit[0] != '\0' && strcasecmp(unit, "Hz") != 0) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "%s: %s is '%s', expected 'Hz'", file->path, name,
                        unit);
    }
    SLC_TRY(need_real(file, indexed(name, "CRVAL", axis), &value));
    plane_hz[1] = real_or(file, indexed(name, "CDELT", axis), 0.0);
    plane_hz[0] = value + (1.0 - real_or(file, indexed(name, "CRPIX", axis), 1.0)) * plane_hz[1];
    return SLC_OK;
}

static slc_status check_stokes(slci_model_file *file, int axis) {
    char name[16];
    const double step = real_or(file, indexed(name, "CDELT", axis), 1.0);
    const double pixel = real_or(file, indexed(name, "CRPIX", axis), 1.0);
    const double code = real_or(file, indexed(name, "CRVAL", axis), 1.0) + (1.0 - pixel) * step;
    if (fabs(code - 1.0) > 1e-6) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: the image is of Stokes parameter %g (%s), expected 1 (I)", file->path,
                        code,
                        fabs(code) <= 8.0 ? slc_vis_polarisation_name((int)lrint(code)) : "?");
    }
    return SLC_OK;
}

/* Axes from the third on: at most one longer than one pixel, which is the frequency. */
static slc_status read_other_axes(slci_model_file *file, slc_model_meta *meta, double plane_hz[2]) {
    meta->n_planes = 1;
    plane_hz[0] = plane_hz[1] = (double)NAN;
    for (int axis = 3; axis <= SLCI_MODEL_AXES; axis++) {
        char name[16];
        char type[SLCI_MODEL_TEXT_BYTES];
        const int64_t n = axis <= file->n_axes ? file->shape[axis - 1] : 1;
        get_text(file, indexed(name, "CTYPE", axis), type);
        const bool is_frequency = strcasecmp(type, "FREQ") == 0;
        if (n != 1 && !is_frequency) {
            return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                            "%s: axis %d ('%s') has %lld pixels, expected 1; only a frequency axis "
                            "(FREQ) may have more",
                            file->path, axis, type, (long long)n);
        }
        if (is_frequency) {
            meta->n_planes *= n;
            SLC_TRY(read_frequency(file, axis, plane_hz));
        } else if (strcasecmp(type, "STOKES") == 0) {
            SLC_TRY(check_stokes(file, axis));
        }
    }
    return SLC_OK;
}

/* ---- the unit ------------------------------------------------------------------------------ */

static slc_status read_unit(slci_model_file *file, slc_model_meta *meta) {
    char unit[SLCI_MODEL_TEXT_BYTES];
    get_text(file, "BUNIT", unit);
    if (strcasecmp(unit, "Jy/pixel") == 0 || strcasecmp(unit, "Jy/pix") == 0) {
        meta->jy_per_unit = 1.0;
        (void)snprintf(meta->unit_text, sizeof meta->unit_text, "Jy/pixel");
        return SLC_OK;
    }
    if (strcasecmp(unit, "Jy/beam") != 0) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: BUNIT is '%s', expected 'Jy/pixel', or 'Jy/beam' with BMAJ and BMIN",
                        file->path, unit);
    }
    const double major_rad = real_or(file, "BMAJ", 0.0) * SLC_DEGREE_RAD;
    const double minor_rad = real_or(file, "BMIN", 0.0) * SLC_DEGREE_RAD;
    if (!(major_rad > 0.0) || !(minor_rad > 0.0)) {
        return SLC_FAIL(
            SLC_ERROR_INPUT,
            "%s: BUNIT is 'Jy/beam' but BMAJ and BMIN give no beam; how many Jy a pixel "
            "has is unknown",
            file->path);
    }
    const double pixel =
        fabs(meta->step[0][0] * meta->step[1][1] - meta->step[0][1] * meta->step[1][0]);
    const double beam = SLC_PI * major_rad * minor_rad / (4.0 * log(2.0));
    meta->jy_per_unit = pixel / beam;
    (void)snprintf(meta->unit_text, sizeof meta->unit_text,
                   "Jy/beam, divided by the %.6g pixels of a beam", beam / pixel);
    return SLC_OK;
}

slc_status slci_model_read_header(slci_model_file *file, slc_model_meta *meta, double plane_hz[2]) {
    *meta = (slc_model_meta){.nx = file->shape[0], .ny = file->shape[1], .dtype = file->dtype};
    if (file->n_axes < 2 || meta->nx < 1 || meta->ny < 1) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: the image has no pixels", file->path);
    }
    SLC_TRY(read_sky(file, meta));
    SLC_TRY(read_frame(file, meta));
    SLC_TRY(read_other_axes(file, meta, plane_hz));
    return read_unit(file, meta);
}
