/* What the parts of all formats share. */
#include "io/vis_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/constants.h"

bool slci_vis_is_frequency(double hz) {
    return hz > 0.0 && hz < SLCI_VIS_MOST_HZ;
}

bool slci_vis_is_direction(double lon_rad, double lat_rad) {
    /* A rounding above a right angle is one of the pole. */
    return fabs(lon_rad) <= 2.0 * SLC_TWO_PI && fabs(lat_rad) <= SLC_PI / 2.0 + 1e-9;
}

bool slci_vis_is_date(double jd) {
    return jd >= 1721425.5 && jd < 5373484.5;
}

bool slci_vis_wants_values(const slci_vis_target *target) {
    bool wants = false;
    for (int k = 0; k < SLC_VIS_MOST_IMAGED; k++) {
        wants = wants || target->vis[k] != NULL;
    }
    return wants;
}

bool slci_vis_wants_samples(const slci_vis_target *target) {
    bool wants = slci_vis_wants_values(target);
    for (int k = 0; k < SLC_VIS_MOST_IMAGED; k++) {
        wants = wants || target->weight[k] != NULL;
    }
    return wants;
}

void slci_vis_sets_init(slci_vis_sets *sets) {
    memset(sets, 0, sizeof *sets);
    sets->integration_low_s = (double)INFINITY;
    sets->integration_high_s = -(double)INFINITY;
}

slc_status slci_vis_sets_add_time(slci_vis_sets *sets, double jd, int64_t *index) {
    bool is_new = false;
    const double positive_zero = jd + 0.0; /* -0 and 0 are one time */
    int64_t bits = 0;
    memcpy(&bits, &positive_zero, sizeof bits);
    SLC_TRY(slci_distinct_add(&sets->times, bits, 0, index, &is_new));
    if (!is_new) {
        return SLC_OK;
    }
    if (*index >= sets->time_capacity) {
        const int64_t capacity = sets->time_capacity == 0 ? 64 : 2 * sets->time_capacity;
        slci_time_info *larger = realloc(sets->time_info, (size_t)capacity * sizeof *larger);
        if (larger == NULL) {
            return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the times of the set");
        }
        sets->time_info = larger;
        sets->time_capacity = capacity;
    }
    sets->time_info[*index] =
        (slci_time_info){.jd = positive_zero, .integration_s = (double)NAN, .lst_rad = (double)NAN};
    return SLC_OK;
}

void slci_vis_sets_destroy(slci_vis_sets *sets) {
    slci_distinct_destroy(&sets->times);
    slci_distinct_destroy(&sets->baselines);
    slci_distinct_destroy(&sets->antennas);
    free(sets->time_info);
    memset(sets, 0, sizeof *sets);
}

slc_status slci_vis_part_init(slci_vis_part *part, const slci_vis_part_ops *ops, const char *path) {
    part->ops = ops;
    part->header.latitude_rad = (double)NAN;
    part->header.longitude_rad = (double)NAN;
    SLC_TRY(slci_file_stamp_get(path, &part->stamp));
    part->path = strdup(path);
    return part->path == NULL ? SLC_FAIL(SLC_ERROR_MEMORY, "no memory to open %s", path) : SLC_OK;
}

void slci_vis_part_fini(slci_vis_part *part) {
    free(part->header.freq_hz);
    free(part->header.channel_width_hz);
    free(part->header.polarisations);
    free(part->path);
}
