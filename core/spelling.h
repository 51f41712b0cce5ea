/* How far two words are apart, for messages that say what was probably meant. Internal to Sluice.
 *
 *     if (slci_spelling_distance("vrma", 4, "vram") <= 2) { ... "did you mean" ... }
 */
#ifndef SLC_CORE_SPELLING_H
#define SLC_CORE_SPELLING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Longer words have no distance. */
#define SLCI_SPELLING_BYTES 127

/* Levenshtein's distance of the first `a_length` bytes of `a` and of `b`: letters to add, remove or
 * exchange. SLCI_SPELLING_BYTES + 1 where one of them is longer than SLCI_SPELLING_BYTES. */
int slci_spelling_distance(const char *a, size_t a_length, const char *b);

#ifdef __cplusplus
}
#endif
#endif
