/* Stands in for the steps on a card in builds without CUDA. */
#include "ladder.h"

const ladder *ladder_get_cuda(void) {
    return NULL;
}
