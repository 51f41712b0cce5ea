/* A histogram as a picture: bars on a transparent ground. Internal to app.
 *
 *     slci_png png;
 *     SLC_TRY(slci_stats_picture(&options, &png));
 *     ... png.bytes [png.n_bytes] ...
 *     free(png.bytes);
 */
#ifndef SLC_APP_STATS_PICTURE_H
#define SLC_APP_STATS_PICTURE_H

#include "app/stats.h"
#include "io/png_memory.h"

/* Of a run whose result has bins. A bar has the same whole number of pixels as every other; the
 * picture is at most 4,096 wide, beyond which a column is the highest of the bars that it stands for.
 * SLC_ERROR_UNSUPPORTED where libpng was not there when Sluice was built; SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_stats_picture(const slc_stats_options *options, slci_png *out);

#endif
