/* Any text as an array with a slice of it, for libFuzzer.
 *
 *     byte 0      rank (low 3 bits)
 *     1 byte for each dimension: elements, where 255 stands for very many
 *     the rest is the text
 *
 * A text is refused, or is a part that lies within the array: every element of it. */
#include <stdlib.h>
#include <string.h>

#include "app/dataset_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* That element k = 0 and the last one of every dimension are the array's. */
static void check_view(const slc_slice_view *view, const slc_layout *layout) {
    int n_kept = 0;
    if (view->inner_rank != layout->rank || view->rank > layout->rank || view->rank < 0) {
        abort();
    }
    for (int d = 0; d < layout->rank; d++) {
        const int64_t n = layout->shape[d];
        if (view->count[d] < 0 || view->count[d] > n) {
            abort();
        }
        if (view->count[d] == 0) {
            continue;
        }
        const __int128 last =
            (__int128)view->first[d] + (__int128)(view->count[d] - 1) * view->step[d];
        if (view->first[d] < 0 || view->first[d] >= n || last < 0 || last >= n) {
            abort();
        }
    }
    for (int e = 0; e < view->rank; e++) {
        if (view->dim[e] < n_kept || view->dim[e] >= layout->rank) {
            abort();
        }
        n_kept = view->dim[e] + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    slci_dataset_name name;
    slc_slice_view view;
    const int rank = n_bytes > 0 ? data[0] & 7 : 0;
    const size_t head = 1 + (size_t)rank;
    if (n_bytes < head) {
        return 0;
    }
    slc_layout layout = {.rank = rank, .dtype = SLC_F32};
    for (int d = 0; d < rank; d++) {
        layout.shape[d] = data[1 + d] == 255 ? INT64_MAX : data[1 + d];
    }
    char *text = malloc(n_bytes - head + 1);
    if (text == NULL) {
        abort();
    }
    memcpy(text, data + head, n_bytes - head);
    text[n_bytes - head] = '\0';
    if (slci_dataset_name_parse_slice(text, &name) == SLC_OK &&
        slc_slice_resolve(&name.slice, name.dataset, &layout, &view) == SLC_OK) {
        check_view(&view, &layout);
    }
    if (slci_dataset_name_parse(text, &name) == SLC_OK && name.slice.n_parts != 0) {
        abort();
    }
    free(text);
    return 0;
}
