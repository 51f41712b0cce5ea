/* Row by row of the table of distances of all beginnings, of which one row is kept. */
#include "core/spelling.h"

#include <string.h>

int slci_spelling_distance(const char *a, size_t a_length, const char *b) {
    const size_t b_length = strlen(b);
    int row[SLCI_SPELLING_BYTES + 1];
    if (a_length > SLCI_SPELLING_BYTES || b_length > SLCI_SPELLING_BYTES) {
        return SLCI_SPELLING_BYTES + 1;
    }
    for (size_t j = 0; j <= b_length; j++) {
        row[j] = (int)j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            const int changed = diagonal + (a[i - 1] != b[j - 1]);
            const int moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = changed < moved ? changed : moved;
        }
    }
    return row[b_length];
}
