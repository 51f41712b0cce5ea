/* How a plan and a page say by what the work of a launch is divided. Internal to app.
 *
 *     char text[SLCI_IMAGE_SPLIT_BYTES];
 *     slci_image_format_split(&result->tuning.launch[0], text);
 */
#ifndef SLC_APP_IMAGE_TUNE_H
#define SLC_APP_IMAGE_TUNE_H

#include "app/image.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_IMAGE_SPLIT_BYTES 96

/* "product kernel: split 4, tuned on this machine". */
void slci_image_format_split(const slc_image_launch *launch, char text[SLCI_IMAGE_SPLIT_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
