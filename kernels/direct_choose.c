/* How a direct image is computed: kernel tile, block, expansion terms and the methods of all tiles,
 * from the picture, the promise and the survey. Nothing here looks at a budget, a clock or a device,
 * because these numbers fix the bits of the result.
 *
 * On the host the kernel tile's size is a trade. A tile of T² pixels costs a sample 2·2T sines and
 * cosines for T² multiply-adds, so large tiles pay; but the bound θ of the phase that the product
 * leaves out grows with T², so large tiles need more terms, or fall to the sine kernel. A small model
 * of the cost, in cycles of one core, decides among 32, 64, 128 and 256. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/fixed.h"
#include "core/units.h"
#include "kernels/direct_internal.h"
#include "kernels/direct_tile.h"

/* The smallest epsilons that can be promised; docs/kernels/direct.md derives them. */
#define HOST_EPSILON 6e-7
#define CUDA_EPSILON 9e-7

/* More terms than this never pay: θ <= 1 and 12 terms leave 1.6e-10. */
#define MOST_TERMS 12

/* What rounding alone can do to one sample on the host (derived there too). The cut of the expansion
 * has the rest of epsilon, at most half of it. */
#define HOST_ROUNDING 5.5e-7

/* What rounding can do to one sample in CUDA's product kernel, with three products of fp16 and with
 * one (docs/kernels/direct.md). The cut of the expansion has the rest, at most half of epsilon. */
#define PRODUCTS_ROUNDING 8.6e-7
#define PRODUCT_ROUNDING 8.5e-4

/* With SLC_DIRECT_UNIT_SHORT: cards before 9.0 keep one bit less of what they add. */
#define SHORT_ROUNDING 8.7e-7

/* The same in CUDA's sine kernel (direct_cuda.cu: its last variant). */
#define SINE_ROUNDING 8.9e-7

/* Half a unit in the last place of double precision, relative. */
#define DOUBLE_ROUNDING 0x1p-53

/* From this epsilon on one product may do. */
#define PRODUCT_EPSILON 1e-3

/* Share of epsilon for w c in single precision. */
#define SINGLE_SHARE 0.25

/* The CUDA kernel multiplies w and c as 32-bit integers that keep 32 bits of the turn between them; at
 * this many turns they have 28 bits each, and what they leave out is still well below a turn. */
#define CUDA_WIDE_TURNS 0x1p21

/* Cycles of one core with AVX-512, measured on an idle Xeon: one sample's phases for
 * one pixel of a row or column, one multiply-add pair of the product, its promotion, one pair of the
 * sine kernel. Other processors move them about alike. */
#define PHASE_CYCLES 3.0
#define PAIR_CYCLES 0.065
#define PROMOTE_CYCLES 0.6
#define SINE_CYCLES 1.0

/* What one such cycle, and one pair on CUDA, weighs in the plan's arithmetic. */
#define HOST_FLOPS_PER_CYCLE 64.0
#define CUDA_FLOPS_PER_PAIR 16.0

/* A pair of CUDA's product kernel: what is the same for any number of products, and each product, as
 * pairs a second of the sine kernel and of 3, 4, 7, 11 and 14 products have it on an H200. */
#define CUDA_FLOPS_PER_MADE_PAIR 0.65
#define CUDA_FLOPS_PER_PRODUCT 0.26

/* Of the sine kernel's time, what products must save: an H200 takes half a percent of it to launch
 * another kernel and to wait for its last blocks. */
#define LEAST_SAVED 0.01

/* Tiles that the model looks at in each direction at most; larger pictures are sampled. */
#define MODEL_TILES 64

/* Samples of one product: fewer lose less to rounding, more are promoted less often. Between 40 and
 * 120 the rate moves by less than its spread; these keep whole strips below OpenBLAS's bound. */
static int64_t block_samples(int64_t tile_pixels) {
    return tile_pixels == 128 ? 80 : 60;
}

/* Cycles of one sample on one tile. */
static double tile_cycles(const slc_direct_setup *setup, const slc_direct_tile *tile) {
    const int64_t pixels = setup->tile_pixels;
    const int64_t columns = slci_direct_extent(tile->x0, pixels, setup->geometry.nx);
    const int64_t rows = slci_direct_extent(tile->y0, pixels, setup->geometry.ny);
    const double n = (double)slc_round_up(columns, SLCI_DIRECT_LANES);
    const double m = (double)slc_round_up(rows, SLCI_DIRECT_LANES);
    const double phases = (n + m) * PHASE_CYCLES;
    if (tile->method == SLC_DIRECT_SKIP) {
        return 0.0;
    }
    if (tile->method != SLC_DIRECT_PRODUCT) {
        return phases + n * m * setup->n_parts * SINE_CYCLES;
    }
    const double pair = PAIR_CYCLES + PROMOTE_CYCLES / (double)setup->block_samples;
    return phases + n * m * (tile->n_terms + 1) * setup->n_parts * pair;
}

/* Only the host's products take blocks of more samples than one. */
static bool is_for_host(const slc_direct_setup *setup) {
    return setup->block_samples > 1;
}

/* A pair of CUDA's product kernel. */
static double product_flops(int n_products) {
    return CUDA_FLOPS_PER_MADE_PAIR + CUDA_FLOPS_PER_PRODUCT * n_products;
}

/* The plan's weight of one sample on one tile. */
static double tile_flops(const slc_direct_setup *setup, const slc_direct_tile *tile) {
    if (is_for_host(setup)) {
        return tile_cycles(setup, tile) * HOST_FLOPS_PER_CYCLE;
    }
    if (tile->method == SLC_DIRECT_SKIP) {
        return 0.0;
    }
    const double pairs = (double)setup->tile_pixels * (double)setup->tile_pixels;
    return pairs * (tile->method == SLC_DIRECT_PRODUCT ? product_flops(tile->n_products)
                                                       : CUDA_FLOPS_PER_PAIR);
}

/* The cost of one sample, from every `step`-th tile in each direction, scaled up. */
static double model_cycles(const slc_direct_setup *setup) {
    const int64_t n_y = slc_ceil_div(setup->geometry.ny, setup->tile_pixels);
    const int64_t n_x = slc_ceil_div(setup->geometry.nx, setup->tile_pixels);
    const int64_t step_y = slc_ceil_div(n_y, MODEL_TILES);
    const int64_t step_x = slc_ceil_div(n_x, MODEL_TILES);
    double cycles = 0.0;
    for (int64_t ty = step_y / 2; ty < n_y; ty += step_y) {
        for (int64_t tx = step_x / 2; tx < n_x; tx += step_x) {
            const slc_direct_tile tile = slci_direct_tile_at(setup, ty, tx);
            cycles += tile_cycles(setup, &tile);
        }
    }
    return cycles * (double)step_y * (double)step_x;
}

/* The most terms that any tile uses, so that the host kernel's memory is no larger. */
static int terms_used(const slc_direct_setup *setup) {
    const int64_t n_y = slc_ceil_div(setup->geometry.ny, setup->tile_pixels);
    const int64_t n_x = slc_ceil_div(setup->geometry.nx, setup->tile_pixels);
    int most = 0;
    for (int64_t ty = 0; ty < n_y; ty++) {
        for (int64_t tx = 0; tx < n_x; tx++) {
            const slc_direct_tile tile = slci_direct_tile_at(setup, ty, tx);
            most = tile.n_terms > most ? tile.n_terms : most;
        }
    }
    return most;
}

/* The host's kernel tile: the cheapest of the model; 256 only where it gains a tenth, because its
 * sums take four times the memory. */
static void choose_host_tile(slc_direct_setup *setup, int64_t wanted) {
    static const int64_t sizes[] = {128, 64, 32, 256};
    const int64_t longest = slc_max_i64(setup->geometry.nx, setup->geometry.ny);
    int64_t best = 0;
    double best_cycles = 0.0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (wanted > 0 ? sizes[i] != wanted : best > 0 && sizes[i] / 2 >= longest) {
            continue; /* not asked for, or no better than half of it */
        }
        setup->tile_pixels = sizes[i];
        setup->block_samples = block_samples(sizes[i]);
        const double cycles = model_cycles(setup);
        const double gain = sizes[i] > 128 ? 0.9 : 1.0;
        if (best == 0 || cycles < gain * best_cycles) {
            best = sizes[i];
            best_cycles = cycles;
        }
    }
    assert(best > 0);
    setup->tile_pixels = best;
    setup->block_samples = block_samples(best);
    setup->max_terms = terms_used(setup);
}

/* What double precision itself takes from a sample whose phase is far from the phase centre's,
 * relative to w|V|. A direction cosine is rounded twice and u or v once, n - 1 and w eight times at
 * most; all that follows is exact or kept modulo one turn. */
static double phase_rounding(const slc_direct_request *request) {
    const slc_direct_geometry *geometry = &request->geometry;
    const slc_direct_survey *survey = &request->survey;
    const double far_l =
        fabs(geometry->centre_l) + (double)(geometry->nx / 2 + 1) * geometry->scale_rad;
    const double far_m =
        fabs(geometry->centre_m) + (double)(geometry->ny / 2 + 1) * geometry->scale_rad;
    const double far_w =
        geometry->is_w_projected || request->is_psf ? far_l * far_l + far_m * far_m : 1.0;
    const double turns = 3.0 * (survey->max_u * far_l + survey->max_v * far_m) +
                         8.0 * survey->max_w * fmin(far_w, 1.0);
    return 6.283185307179586 * DOUBLE_ROUNDING * turns;
}

/* A positive number in six digits that, read back, are not below it. */
static void format_up(double value, char *text) {
    double read_back = 0.0;
    slci_format_number(value, 6, text);
    if (slci_parse_number(text, &read_back) == SLC_OK && read_back < value) {
        /* The number is at most half a unit of the sixth digit above the text: a little more than
         * that half makes it nearest to the next one. */
        const double unit = pow(10.0, floor(log10(value)) - 5.0);
        slci_format_number(value + 0.6 * unit, 6, text);
    }
}

static slc_status check_request(const slc_direct_request *request) {
    const slc_direct_geometry *geometry = &request->geometry;
    if (geometry->nx < 1 || geometry->ny < 1 || request->n_channels < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "direct imaging: a picture of %lld x %lld pixels from %lld channels; each "
                        "must be at least 1",
                        (long long)geometry->nx, (long long)geometry->ny,
                        (long long)request->n_channels);
    }
    if (!(geometry->scale_rad > 0.0) || !isfinite(geometry->scale_rad) ||
        !isfinite(geometry->centre_l) || !isfinite(geometry->centre_m)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "direct imaging: pixel scale %g rad, centre (%g, %g); the scale must be "
                        "positive and all finite",
                        geometry->scale_rad, geometry->centre_l, geometry->centre_m);
    }
    if (request->n_parts != 1 && request->n_parts != 2) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "direct imaging: %d parts; 1 (real) or 2 (complex)",
                        request->n_parts);
    }
    const bool is_cuda = request->device == SLC_DEVICE_CUDA;
    const double phases = phase_rounding(request);
    const double smallest = fmax(is_cuda ? CUDA_EPSILON : HOST_EPSILON,
                                 phases + (is_cuda ? SINE_ROUNDING : HOST_ROUNDING));
    if (!(request->epsilon >= smallest && request->epsilon < 1.0)) {
        char asked[SLCI_TEXT_BYTES];
        char least[SLCI_TEXT_BYTES];
        slci_format_shortest(request->epsilon, asked);
        format_up(smallest, least);
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "epsilon %s: the direct method on this device promises %s to below 1 (%.1e "
                        "of it for phases in double precision, of baselines up to %g wavelengths); "
                        "the smallest that works is %s",
                        asked, least, phases, fmax(request->survey.max_u, request->survey.max_v),
                        least);
    }
    return SLC_OK;
}

/* Refuses a picture whose w c is beyond what the CUDA sine kernel's two words hold. */
static slc_status check_cuda_phase(const slc_direct_setup *setup) {
    const int64_t n_y = slc_ceil_div(setup->geometry.ny, setup->tile_pixels);
    const int64_t n_x = slc_ceil_div(setup->geometry.nx, setup->tile_pixels);
    for (int64_t ty = 0; ty < n_y; ty++) {
        for (int64_t tx = 0; tx < n_x; tx++) {
            const slc_direct_tile tile = slci_direct_tile_at(setup, ty, tx);
            if (tile.method != SLC_DIRECT_SKIP && tile.c_max * setup->max_w > CUDA_WIDE_TURNS) {
                return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                                "direct imaging on CUDA: max|w| = %g wavelengths turns the phase "
                                "%g times within one tile of %lld pixels, at most %g are possible; "
                                "smaller pixels (--scale) or the host (--device host) help",
                                setup->max_w, tile.c_max * setup->max_w,
                                (long long)setup->tile_pixels, CUDA_WIDE_TURNS);
            }
        }
    }
    return SLC_OK;
}

/* The arithmetic of one sample over the picture; all of it by the sine kernel is `*sine`. */
static double picture_flops(const slc_direct_setup *setup, double *sine) {
    const int64_t n_y = slc_ceil_div(setup->geometry.ny, setup->tile_pixels);
    const int64_t n_x = slc_ceil_div(setup->geometry.nx, setup->tile_pixels);
    double flops = 0.0;
    int64_t n_tiles = 0;
    for (int64_t ty = 0; ty < n_y; ty++) {
        for (int64_t tx = 0; tx < n_x; tx++) {
            const slc_direct_tile tile = slci_direct_tile_at(setup, ty, tx);
            flops += tile_flops(setup, &tile);
            n_tiles += tile.method != SLC_DIRECT_SKIP;
        }
    }
    *sine = (double)n_tiles * (double)setup->tile_pixels * (double)setup->tile_pixels *
            CUDA_FLOPS_PER_PAIR;
    return flops;
}

/* What rounding can do to one sample in CUDA's product kernel with fewer than SLCI_CUDA_LOW_TERMS. */
static double product_rounding(const slc_direct_setup *setup) {
    return setup->n_products == 1                 ? PRODUCT_ROUNDING
           : setup->unit == SLC_DIRECT_UNIT_SHORT ? SHORT_ROUNDING
                                                  : PRODUCTS_ROUNDING;
}

/* The product kernel with one product or three. */
static slc_direct_setup product_setup(const slc_direct_request *request,
                                      const slc_direct_setup *setup, int n_products) {
    slc_direct_setup product = *setup;
    product.unit = request->card.unit;
    product.reason = SLC_DIRECT_REASON_NONE;
    product.compute_capability = request->card.compute_capability;
    product.n_products = n_products;
    product.tile_pixels = SLCI_CUDA_PRODUCT_TILE;
    product.max_terms = n_products == 1                         ? SLCI_CUDA_MOST_COARSE_TERMS
                        : product.unit == SLC_DIRECT_UNIT_SHORT ? SLCI_CUDA_MOST_SHORT_TERMS
                                                                : SLCI_CUDA_MOST_TERMS;
    product.term_tolerance =
        fmin(0.5 * setup->epsilon,
             setup->epsilon - product_rounding(&product) - setup->phase_rounding);
    return product;
}

/* Longer granules, where the product kernel has room for them. */
static void lengthen_granules(slc_direct_setup *product) {
    if (product->unit != SLC_DIRECT_UNIT_SHORT) {
        const int granules = terms_used(product) <= SLCI_CUDA_PLAIN_TERMS ? SLCI_CUDA_PLAIN_GRANULES
                                                                          : SLCI_CUDA_GRANULES;
        product->granule_rows *= granules;
        product->granule_samples *= granules;
    }
}

/* The product kernel where the card has one and its tiles save enough to be worth a launch of their
 * own, with one product where that will do and is faster: three allow for more terms. Else the sine
 * kernel. */
static slc_direct_setup choose_kernel(const slc_direct_request *request,
                                      const slc_direct_setup *sine) {
    double all_sine = 0.0;
    slc_direct_setup product = product_setup(request, sine, 3);
    double flops = picture_flops(&product, &all_sine);
    if (sine->epsilon >= PRODUCT_EPSILON) {
        const slc_direct_setup coarse = product_setup(request, sine, 1);
        const double coarse_flops = picture_flops(&coarse, &all_sine);
        product = coarse_flops <= flops ? coarse : product;
        flops = fmin(coarse_flops, flops);
    }
    const bool is_wanted = request->tile_pixels > 0 ? request->tile_pixels == SLCI_CUDA_PRODUCT_TILE
                                                    : flops < (1.0 - LEAST_SAVED) * all_sine;
    if (!is_wanted) {
        return *sine;
    }
    lengthen_granules(&product);
    return product;
}

static slc_status choose_cuda(const slc_direct_request *request, slc_direct_setup *setup) {
    setup->block_samples = 1;
    setup->single_limit = fmin(setup->single_limit, SLCI_CUDA_SINGLE_TURNS);
    setup->double_limit = request->card.has_fast_double ? SLCI_CUDA_DOUBLE_TURNS : 0.0;
    const bool has_unit = request->card.unit != SLC_DIRECT_UNIT_NONE;
    slc_direct_setup sine = slci_direct_sine_setup(setup);
    sine.reason = has_unit                                         ? SLC_DIRECT_REASON_FIELD
                  : request->card.reason == SLC_DIRECT_REASON_NONE ? SLC_DIRECT_REASON_CARD
                                                                   : request->card.reason;
    SLC_TRY(check_cuda_phase(&sine));
    *setup = has_unit ? choose_kernel(request, &sine) : sine;
    return SLC_OK;
}

static int bits_for(double first_granule_sum) {
    return first_granule_sum > 0.0 ? slc_fixed_scale_bits(first_granule_sum) : 0;
}

slc_status slc_direct_choose(const slc_direct_request *request, slc_direct_setup *out) {
    SLC_TRY(check_request(request));
    slc_direct_setup setup;
    memset(&setup, 0, sizeof setup); /* padding too: the setup may be compared and hashed */
    setup.geometry = request->geometry;
    setup.n_channels = request->n_channels;
    setup.granule_rows = slc_direct_granule_rows(request->n_channels);
    setup.granule_samples =
        slc_min_i64(setup.granule_rows * request->n_channels, SLC_DIRECT_GRANULE_SAMPLES);
    setup.n_parts = request->n_parts;
    setup.is_psf = request->is_psf;
    setup.scale_bits = bits_for(request->survey.first_granule_sum);
    setup.n_pols = 1;
    setup.max_w = request->survey.max_w;
    setup.epsilon = request->epsilon;
    setup.phase_rounding = phase_rounding(request);
    setup.term_tolerance =
        fmin(0.5 * request->epsilon, request->epsilon - HOST_ROUNDING - setup.phase_rounding);
    /* w, c and their product are each rounded by 2^-24 at most. */
    setup.single_limit = SINGLE_SHARE * request->epsilon / (6.283185307179586 * 3.0 * 0x1p-24);
    if (request->device == SLC_DEVICE_CUDA) {
        SLC_TRY(choose_cuda(request, &setup));
    } else {
        setup.max_terms = MOST_TERMS;
        choose_host_tile(&setup, request->tile_pixels);
    }
    *out = setup;
    return SLC_OK;
}

slc_status slc_direct_add_pol(slc_direct_setup *setup, double first_granule_sum) {
    if (setup->n_pols >= SLC_DIRECT_MOST_POLS) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "direct imaging: at most %d polarisations at once",
                        SLC_DIRECT_MOST_POLS);
    }
    setup->more_scale_bits[setup->n_pols - 1] = bits_for(first_granule_sum);
    setup->n_pols++;
    return SLC_OK;
}

int slc_direct_scale_bits(const slc_direct_setup *setup, int pol) {
    return pol == 0 ? setup->scale_bits : setup->more_scale_bits[pol - 1];
}

slc_direct_setup slc_direct_pol_setup(const slc_direct_setup *setup, int pol) {
    slc_direct_setup alone = *setup;
    alone.scale_bits = slc_direct_scale_bits(setup, pol);
    alone.n_pols = 1;
    (void)memset(alone.more_scale_bits, 0, sizeof alone.more_scale_bits);
    return alone;
}

slc_direct_tile slc_direct_tile_get(const slc_direct_setup *setup, int64_t ty, int64_t tx) {
    return slci_direct_tile_at(setup, ty, tx);
}

/* Pixels of one row within the horizon. In exact arithmetic they are one run of columns; its ends are
 * found from the circle and then moved to where the kernels' own test changes. */
static int64_t finite_in_row(const slc_direct_geometry *geometry, int64_t j) {
    const double m = slci_direct_m(geometry, j);
    if (!(m * m < 1.0)) {
        return 0;
    }
    const double half = sqrt(1.0 - m * m) / geometry->scale_rad;
    const double middle = (double)(geometry->nx / 2) + geometry->centre_l / geometry->scale_rad;
    const double last_column = (double)(geometry->nx - 1);
    if (middle + half < -2.0 || middle - half > last_column + 2.0) {
        return 0;
    }
    int64_t first = (int64_t)fmax(0.0, fmin(last_column, ceil(middle - half) - 2.0));
    int64_t last = (int64_t)fmin(last_column, fmax(0.0, floor(middle + half) + 2.0));
    while (first <= last && !(slci_direct_r2(slci_direct_l(geometry, first), m) < 1.0)) {
        first++;
    }
    while (last >= first && !(slci_direct_r2(slci_direct_l(geometry, last), m) < 1.0)) {
        last--;
    }
    return last - first + 1;
}

/* Of slc_direct_reason, after "because". */
static const char *const reasons[] = {
    "", "the card has no tensor cores for products",
    "the card's tensor cores cut off more of a sum than the error's bound allows for",
    "products would save nothing with this max|w| and epsilon"};

/* One sentence for the plan. */
static void explain(const slc_direct_setup *setup, slc_direct_summary *summary) {
    const int64_t *n = summary->n_tiles;
    const long long n_sine =
        (long long)(n[SLC_DIRECT_SINE] + n[SLC_DIRECT_SINE_DOUBLE] + n[SLC_DIRECT_SINE_WIDE]);
    const long long n_product = (long long)n[SLC_DIRECT_PRODUCT];
    const long long pixels = (long long)setup->tile_pixels;
    if (setup->n_products > 0) {
        (void)snprintf(
            summary->why, sizeof summary->why,
            "%lld tiles of %lld x %lld pixels by the tensor cores (%d product%s of fp16, "
            "up to %d correction terms, which leaves at most %.1e), %lld by the sine "
            "kernel%s",
            n_product, pixels, pixels, setup->n_products, setup->n_products == 1 ? "" : "s",
            summary->max_terms_used, summary->worst_bound, n_sine,
            n_sine == 0 ? "" : ": max|w| is too much there, or at the horizon");
    } else if (!is_for_host(setup)) {
        (void)
            snprintf(summary->why, sizeof summary->why,
                     "all %lld tiles of %lld x %lld pixels by the sine kernel, because %s (w c in "
                     "double precision for %lld of them, in two words for %lld)",
                     n_sine, pixels, pixels, reasons[setup->reason],
                     (long long)n[SLC_DIRECT_SINE_DOUBLE], (long long)n[SLC_DIRECT_SINE_WIDE]);
    } else if (n_sine == 0) {
        (void)snprintf(summary->why, sizeof summary->why,
                       "all %lld tiles of %lld x %lld pixels by the matrix product with up to %d "
                       "correction terms, which leaves at most %.1e",
                       n_product, pixels, pixels, summary->max_terms_used, summary->worst_bound);
    } else {
        (void)
            snprintf(summary->why, sizeof summary->why,
                     "%lld tiles of %lld x %lld pixels by the matrix product (up to %d terms), "
                     "%lld by the sine kernel: max|w| = %.0f wavelengths is too much there, at the "
                     "horizon or far out",
                     n_product, pixels, pixels, summary->max_terms_used, n_sine, setup->max_w);
    }
}

/* What rounding can do to one sample in this tile. */
static double tile_rounding(const slc_direct_setup *setup, const slc_direct_tile *tile) {
    if (tile->method == SLC_DIRECT_SKIP) {
        return 0.0;
    }
    if (is_for_host(setup)) {
        return HOST_ROUNDING;
    }
    if (tile->method != SLC_DIRECT_PRODUCT) {
        return SINE_ROUNDING;
    }
    const double saved = tile->n_terms >= SLCI_CUDA_LOW_TERMS ? SLCI_CUDA_LOW_ERROR : 0.0;
    return product_rounding(setup) - saved;
}

void slc_direct_summarise(const slc_direct_setup *setup, slc_direct_summary *out) {
    memset(out, 0, sizeof *out);
    const int64_t n_y = slc_ceil_div(setup->geometry.ny, setup->tile_pixels);
    const int64_t n_x = slc_ceil_div(setup->geometry.nx, setup->tile_pixels);
    for (int64_t ty = 0; ty < n_y; ty++) {
        for (int64_t tx = 0; tx < n_x; tx++) {
            const slc_direct_tile tile = slci_direct_tile_at(setup, ty, tx);
            out->n_tiles[tile.method]++;
            out->max_terms_used =
                tile.n_terms > out->max_terms_used ? tile.n_terms : out->max_terms_used;
            out->worst_bound = fmax(out->worst_bound, tile.bound);
            out->error_bound = fmax(out->error_bound, tile.bound + tile_rounding(setup, &tile) +
                                                          setup->phase_rounding);
            out->flops_per_sample += tile_flops(setup, &tile);
            out->product_cost += product_flops(tile.n_products) / product_flops(setup->n_products) *
                                 (tile.method == SLC_DIRECT_PRODUCT);
        }
    }
    out->product_cost /= (double)slc_max_i64(out->n_tiles[SLC_DIRECT_PRODUCT], 1);
    for (int64_t j = 0; j < setup->geometry.ny; j++) {
        out->finite_pixels += finite_in_row(&setup->geometry, j);
    }
    explain(setup, out);
}

void slc_direct_record(const slc_direct_setup *setup, slc_device_kind device,
                       slc_numerics *record) {
    const slc_direct_kernel *kernel = slc_direct_kernel_get(device);
    slc_numerics_set_text(record, "kernel", kernel == NULL ? "none" : kernel->name);
    slc_numerics_set_f64(record, "epsilon", setup->epsilon);
    slc_numerics_set_i64(record, "granule_rows", setup->granule_rows);
    slc_numerics_set_i64(record, "granule_samples", setup->granule_samples);
    slc_numerics_set_i64(record, "kernel_tile", setup->tile_pixels);
    slc_numerics_set_i64(record, "scale_bits", setup->scale_bits);
    for (int p = 1; p < setup->n_pols; p++) {
        static const char *const names[] = {"scale_bits_2", "scale_bits_3", "scale_bits_4"};
        slc_numerics_set_i64(record, names[p - 1], slc_direct_scale_bits(setup, p));
    }
    slc_numerics_set_f64(record, "max_w_wavelengths", setup->max_w);
    if (device == SLC_DEVICE_HOST) {
        slc_numerics_set_i64(record, "block_samples", setup->block_samples);
        slc_numerics_set_i64(record, "max_terms", setup->max_terms);
        slc_numerics_set_f64(record, "term_tolerance", setup->term_tolerance);
        slc_numerics_set_i64(record, "sine_run", SLCI_DIRECT_SINE_RUN);
        slc_numerics_set_text(record, "simd", slci_direct_simd_get()->name);
        slc_numerics_set_text(record, "blas", slci_direct_blas_core());
    } else {
        static const char *const units[] = {"none", "short", "warp", "group"};
        slc_numerics_set_text(record, "matrix_unit", units[setup->unit]);
        if (setup->unit != SLC_DIRECT_UNIT_NONE) {
            slc_numerics_set_i64(record, "compute_capability", setup->compute_capability);
            slc_numerics_set_i64(record, "n_products", setup->n_products);
            slc_numerics_set_i64(record, "max_terms", setup->max_terms);
            slc_numerics_set_f64(record, "term_tolerance", setup->term_tolerance);
        }
        slc_numerics_set_f64(record, "single_limit", setup->single_limit);
        slc_numerics_set_f64(record, "double_limit", setup->double_limit);
    }
}
