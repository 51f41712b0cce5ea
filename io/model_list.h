/* The components of a model image: its pixels that are not zero, with their places as the data sees
 * them. One pass over the image counts them; the list is then a source that gives any part of
 * itself, from memory where the positions may be kept, else by reading that part of the image
 * again.
 *
 *     const slc_model_list_options options = {.model = model, .ra_rad = ra, .dec_rad = dec,
 *                                             .is_w_projected = true};
 *     SLC_TRY(slc_model_list_create(&options, &list));
 */
#ifndef SLC_IO_MODEL_LIST_H
#define SLC_IO_MODEL_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/budget.h"
#include "core/source.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fields of the source; the shared dimension is the component, in rising order of pixels. pixel
 * [component] i64: y · nx + x. place [component, 3] f64: direction cosines l and m from the data's
 * phase centre, and n - 1 there, or n where the data are not w-projected. flux [component, plane]
 * f64, Jy; NaN counts as 0. */
enum { SLC_MODEL_PIXEL, SLC_MODEL_PLACE, SLC_MODEL_FLUX, SLC_MODEL_N_FIELDS };

typedef struct slc_model_list_options {
    slc_source *model;      /* of io/model.h, its planes chosen; lent for the list's life */
    double ra_rad, dec_rad; /* the data's phase centre */
    bool is_w_projected;
    int64_t keep_bytes; /* for positions kept in memory, at most */
    slc_budget *budget; /* positions are reserved from it; NULL: from none; lent for the life */
    const volatile int *cancel; /* not 0: stop with SLC_ERROR_INTERRUPTED; may be NULL */
} slc_model_list_options;

/* What the pass has found. */
typedef struct slc_model_survey {
    int64_t n_components; /* pixels not zero in some plane */
    int64_t n_nan;        /* values that are no number, over all planes */
    double flux_jy;       /* Σ I and Σ |I| of the first plane */
    double abs_flux_jy;
    double offset_rad; /* between the image's tangent point and the data's phase centre */
    bool is_rotated;   /* they differ: places are not those of the image */
    bool is_kept;
    int64_t bytes; /* of memory that the list holds, positions included */
} slc_model_survey;

/* What a list of the model holds at least, which the caller reserves; positions come on top. */
SLC_API int64_t slc_model_list_least_bytes(const slc_source *model);

/* What each thread takes while it reads from the list. */
SLC_API int64_t slc_model_list_block_bytes(const slc_source *model);

/* Goes through the image. SLC_ERROR_INPUT: a pixel that is not zero lies beyond the horizon, of the
 * image or of the data, or is infinite (its place is named), or all are zero. SLC_ERROR_MEMORY,
 * SLC_ERROR_INTERRUPTED. */
SLC_API SLC_MUST_USE slc_status slc_model_list_create(const slc_model_list_options *options,
                                                      slc_source **out);

/* Gives back the memory of positions kept, which are from then on found again; before anything is
 * read. */
SLC_API void slc_model_list_forget(slc_source *source);

/* Lent; lives as long as the source. */
SLC_API const slc_model_survey *slc_model_list_survey(const slc_source *source);

#ifdef __cplusplus
}
#endif
#endif
