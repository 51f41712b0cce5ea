/* The page of an imaging run for --report: the facts and the picture. Internal to the program.
 *
 *     slci_image_page page = {.picture = NULL};
 *     SLC_TRY_GOTO(done, slci_image_page_begin(&options, &page));      // before the run
 *     SLC_TRY_GOTO(done, slc_image_run(&options, &result));
 *     SLC_TRY_GOTO(done, slci_image_page_fill(&page, &options, &result, &run.page));
 *     ... slci_run_end ...
 * done:
 *     slci_image_page_release(&page);
 */
#ifndef SLC_APP_CMD_IMAGE_PAGE_H
#define SLC_APP_CMD_IMAGE_PAGE_H

#include "app/image.h"
#include "app/report_html.h"
#include "io/png_memory.h"

/* What the page lends from; it must live until the page is written. */
typedef struct slci_image_page {
    double *picture; /* where the run leaves its image */
    slci_png png;
} slci_image_page;

/* Has the run keep its picture, which it counts in --ram as always. Where --ram is too small for it
 * nothing is kept: the run will say so. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_image_page_begin(slc_image_options *options, slci_image_page *self);

/* Fills in the page. A picture that cannot be shown is none: the page says why. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_image_page_fill(slci_image_page *self,
                                             const slc_image_options *options,
                                             const slc_image_result *result, slci_page *page);
void slci_image_page_release(slci_image_page *self);

#endif
