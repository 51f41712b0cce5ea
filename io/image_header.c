/* What a picture's file says about it, as cards with FITS names.
 *
 * The projection is an orthographic one (SIN) with its tangent point at the reference pixel; FITS
 * counts pixels from 1. Latitude and longitude of the celestial pole are those of a picture whose
 * north is up: LONPOLE 180, the default for any declination below the pole, is written out because
 * the default changes there. Columns run from east to west, so CDELT1 is negative. A keyword whose
 * value is unknown is absent: FITS has no NaN in headers, and 0 would be a statement. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/constants.h"
#include "core/version.h"
#include "io/image_formats.h"

void slci_copy_ascii(const char *from, char *to, int64_t capacity) {
    int64_t n = 0;
    for (; n + 1 < capacity && from[n] != '\0'; n++) {
        const unsigned char c = (unsigned char)from[n];
        to[n] = c >= 0x20 && c < 0x7F ? (char)c : '?';
    }
    to[n] = '\0';
}

int64_t slci_image_pixels(const slc_image_meta *meta) {
    return meta->nx * meta->ny * slci_image_planes(meta);
}

int64_t slci_image_planes(const slc_image_meta *meta) {
    return meta->n_planes * slci_image_n_stokes(meta);
}

int slci_image_n_stokes(const slc_image_meta *meta) {
    return meta->n_stokes > 1 ? meta->n_stokes : 1;
}

int slci_image_stokes(const slc_image_meta *meta, int k) {
    return k == 0 ? meta->stokes : meta->more_stokes[k - 1];
}

bool slci_image_stokes_step(const slc_image_meta *meta, int *step) {
    const int n = slci_image_n_stokes(meta);
    *step = n > 1 ? meta->more_stokes[0] - meta->stokes : 1;
    bool is_even = *step != 0;
    for (int k = 1; k < n; k++) {
        is_even = is_even && slci_image_stokes(meta, k) == meta->stokes + k * *step;
    }
    return is_even;
}

static slci_card *add_card(slci_cards *cards, const char *name, slci_card_kind kind,
                           const char *comment) {
    slci_card *const card = &cards->card[cards->n++];
    memset(card, 0, sizeof *card);
    (void)snprintf(card->name, sizeof card->name, "%s", name);
    card->kind = kind;
    card->comment = comment;
    return card;
}

static void add_text(slci_cards *cards, const char *name, const char *text, const char *comment) {
    if (text[0] != '\0') {
        slci_copy_ascii(text, add_card(cards, name, SLCI_CARD_TEXT, comment)->text,
                        SLCI_CARD_TEXT_BYTES);
    }
}

static void add_real(slci_cards *cards, const char *name, double real, const char *comment) {
    if (isfinite(real)) {
        /* Adding 0 turns -0 into 0. */
        add_card(cards, name, SLCI_CARD_REAL, comment)->real = real + 0.0;
    }
}

static void add_integer(slci_cards *cards, const char *name, int64_t integer, const char *comment) {
    add_card(cards, name, SLCI_CARD_INTEGER, comment)->integer = integer;
}

static void add_sky_axes(slci_cards *cards, const slc_image_meta *meta) {
    const double step_deg = meta->scale_rad * SLC_RADIAN_DEG;
    add_text(cards, "CTYPE1", "RA---SIN", "right ascension, orthographic");
    add_real(cards, "CRPIX1", meta->reference_x + 1, "tangent point, pixels counted from 1");
    add_real(cards, "CDELT1", -step_deg, "columns run westwards");
    add_real(cards, "CRVAL1", meta->ra_rad * SLC_RADIAN_DEG, "right ascension there");
    add_text(cards, "CUNIT1", "deg", "");
    add_text(cards, "CTYPE2", "DEC--SIN", "declination, orthographic");
    add_real(cards, "CRPIX2", meta->reference_y + 1, "tangent point, pixels counted from 1");
    add_real(cards, "CDELT2", step_deg, "rows run northwards");
    add_real(cards, "CRVAL2", meta->dec_rad * SLC_RADIAN_DEG, "declination there");
    add_text(cards, "CUNIT2", "deg", "");
}

static void add_frequency_axis(slci_cards *cards, const slc_image_meta *meta) {
    const bool is_cube = meta->n_planes > 1;
    add_text(cards, "CTYPE3", "FREQ", "frequency");
    add_real(cards, "CRPIX3", 1, "");
    add_real(cards, "CDELT3", is_cube ? meta->freq_step_hz : meta->width_hz,
             is_cube ? "from plane to plane" : "between the outer edges of the channels");
    add_real(cards, "CRVAL3", meta->freq_hz, "middle of plane 1");
    add_text(cards, "CUNIT3", "Hz", "");
    add_text(cards, "SPECSYS", "TOPOCENT", "frequencies as observed");
}

static void add_beam(slci_cards *cards, const slc_image_meta *meta) {
    if (slci_image_planes(meta) > 1 && meta->plane_beam != NULL) {
        cards->remark[cards->n_remarks++] =
            "Each plane has its own beam, so BMAJ, BMIN and BPA are left out.";
        return;
    }
    const slc_beam *const beam = &meta->beam;
    if (!beam->is_valid || !isfinite(beam->major_rad) || !isfinite(beam->minor_rad) ||
        !isfinite(beam->angle_rad)) {
        return;
    }
    add_real(cards, "BMAJ", beam->major_rad * SLC_RADIAN_DEG, "[deg] beam, full width at half");
    add_real(cards, "BMIN", beam->minor_rad * SLC_RADIAN_DEG, "[deg]");
    add_real(cards, "BPA", beam->angle_rad * SLC_RADIAN_DEG, "[deg] north through east");
}

static void add_run(slci_cards *cards, const slc_image_meta *meta) {
    add_text(cards, "SLCVERS", SLC_VERSION, "Sluice's version");
    add_text(cards, "SLCMETH", meta->method, "how the image was computed");
    add_real(cards, "SLCEPS", meta->epsilon, "error bound, of sum |w V| / sum w");
    add_integer(cards, "SLCNVIS", meta->n_used, "samples used (row x channel)");
    add_integer(cards, "SLCNFLAG", meta->n_flagged, "flagged (row x channel x polarisation)");
    add_real(cards, "SLCWSUM", meta->weight_sum, "sum of weights");
    add_real(cards, "SLCSABS", meta->abs_sum, "sum of |w V|");
}

/* Polarisations that no axis can name have none: only .h5 has such pictures, and names them itself. */
static void add_stokes_axis(slci_cards *cards, const slc_image_meta *meta) {
    const bool has_several = slci_image_n_stokes(meta) > 1;
    int step = 1;
    if (slci_image_stokes_step(meta, &step)) {
        add_text(cards, "CTYPE4", "STOKES",
                 has_several ? "1 I to 4 V, -1 RR, -2 LL, -5 XX, -6 YY"
                             : "1 I, -1 RR, -2 LL, -5 XX, -6 YY");
        add_real(cards, "CRPIX4", 1, "");
        add_real(cards, "CDELT4", step, "");
        add_real(cards, "CRVAL4", meta->stokes, "");
    }
}

void slci_image_cards(const slc_image_meta *meta, slci_cards *out) {
    memset(out, 0, sizeof *out);
    add_sky_axes(out, meta);
    if (meta->has_frequency) {
        add_frequency_axis(out, meta);
    } else {
        out->remark[out->n_remarks++] = "The set names no frequency; axis 3 counts planes.";
    }
    add_stokes_axis(out, meta);
    add_real(out, "LONPOLE", 180, "[deg] north is up");
    add_text(out, "RADESYS", meta->frame, "frame of the coordinates");
    if (strcmp(meta->frame, "FK5") == 0 && meta->equinox > 0) {
        add_real(out, "EQUINOX", meta->equinox, "[yr]");
    }
    if (!meta->has_position) {
        out->remark[out->n_remarks++] =
            "The set names no phase centre; coordinates count from (0, 0).";
    }
    add_text(out, "BUNIT", meta->unit, "unit of a pixel");
    add_text(out, "TELESCOP", meta->telescope, "");
    add_text(out, "OBJECT", meta->object, "");
    add_text(out, "DATE-OBS", meta->date_obs, "UTC, begin of the first time used");
    add_beam(out, meta);
    add_run(out, meta);
}
