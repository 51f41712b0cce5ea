/* A bar chart as pixels: a line each with a name, a bar and a number, the bars on a logarithmic scale
 * with a mark at every power of ten. Internal to app.
 *
 *     const slci_bar bars[] = {{"one way", 2e9}, {"another", 6e11}};
 *     slci_bar_picture picture;
 *     SLC_TRY(slci_bar_chart_draw(bars, 2, &picture));
 *     ... slci_png_encode(&meta, picture.pixels, &png) ...
 *     free(picture.pixels);
 */
#ifndef SLC_APP_BAR_CHART_H
#define SLC_APP_BAR_CHART_H

#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Letters are drawn as small ones; of other characters there are digits and + , - . / only, and for the
 * rest a space. */
#define SLCI_BAR_NAME_LENGTH 24

typedef struct slci_bar {
    char name[SLCI_BAR_NAME_LENGTH];
    double value; /* above zero */
} slci_bar;

/* What stands in a pixel, from dark to light. */
#define SLCI_BAR_INK 0.0
#define SLCI_BAR_FILL 0.45
#define SLCI_BAR_MARK 0.85
#define SLCI_BAR_PAPER 1.0

typedef struct slci_bar_picture {
    int64_t nx, ny;
    double *pixels; /* [ny, nx], row 0 at the bottom as in all pictures; the caller frees it */
} slci_bar_picture;

/* Of one bar at least. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_bar_chart_draw(const slci_bar *bars, int n_bars,
                                            slci_bar_picture *out);

#ifdef __cplusplus
}
#endif
#endif
