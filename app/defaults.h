/* What the program takes where the user states no budget.
 * The library has no such defaults; here "90 % of what is free now" becomes bytes, within the limits
 * of the container. Internal to app.
 *
 *     slci_budgets budgets = {.vram_bytes = -1, .ram_bytes = -1};     // both to be chosen
 *     SLC_TRY(slci_default_budgets(choice, cuda_index, &budgets));
 */
#ifndef SLC_APP_DEFAULTS_H
#define SLC_APP_DEFAULTS_H

#include <stdint.h>

#include "core/device.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_BUDGET_UNSET (-1)

/* Bytes; SLCI_BUDGET_UNSET is replaced, anything else is kept. */
typedef struct slci_budgets {
    int64_t vram_bytes;
    int64_t ram_bytes;
} slci_budgets;

/* Fills in what is unset. On a card, --vram is 90 % of its free memory and --ram 90 % of the host's.
 * On the host device both come from the same memory: together they are 90 % of it, in equal parts
 * or what the one that was given leaves (a quarter at least). SLC_ERROR_DEVICE when the device cannot
 * be opened or the system does not say how much memory it has. */
SLC_MUST_USE slc_status slci_default_budgets(slc_device_choice choice, int cuda_index,
                                             slci_budgets *budgets);

#ifdef __cplusplus
}
#endif
#endif
