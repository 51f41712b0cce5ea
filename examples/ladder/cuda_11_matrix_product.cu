/* Step 11: no sine for each pair any more. Within a square of 128 × 128 pixels with centre (l0, m0) the
 * phase is a sum of one part for the visibility, one for its column and one for its row,
 *
 *     ul + vm + w(n-1) = [u l0 + v m0 + w(n0-1)] + [u(l-l0) + w(n(l,m0)-n0)]
 *                                                + [v(m-m0) + w(n(l0,m)-n0)]
 *
 * up to w times something tiny, so a term is a product of two complex numbers, and the square is a
 * product of two matrices for the tensor cores:
 *
 *     Re V e^{-2πi…} = Re A(l) B(m) = Re A · C + Im A · S,     A = V e^{-2πi(first + second)},
 *                                                               C, S = cos, sin 2π third
 *
 *       rows [128][64]: C, S of 32 visibilities         128 + 128 sines and cosines a visibility
 *       ┌────────┐                                      serve 128 × 128 pixels
 *       │        │   columns [128][64]: Re A, Im A
 *       │        │ · ┌──────────────────────┐ᵀ      =   128 × 128 sums
 *       └────────┘   └──────────────────────┘
 *
 * A block of sixteen warps makes both in shared memory, a lane a visibility, then each warp multiplies
 * 32 rows by 32 columns. Factors have 11 bits, sums are single precision; the tensor cores cut off what
 * they do not round, so each 32 visibilities begin at zero and are added by ordinary additions.
 *
 * One H200: 17.6 times the step before, 0.36 instructions a pair in place of 8. The tensor cores are
 * busy for a fifth of the time: making and multiplying wait for one another at two barriers, since the
 * sums' registers leave room for one block on a multiprocessor. Eight warps of twice as many columns
 * each reach 0.80 of it; two sets of panels, made and multiplied in turns, 1.07 times as much. */
#include <mma.h>

#include "ladder_cuda.h"

#define SQUARE LADDER_SQUARE
#define SAMPLES 32
#define WARPS 16
#define SIDE 16 /* of the pieces that the tensor cores multiply */
#define TALL 2  /* pieces of a warp: 32 rows */
#define WIDE 2  /* and 32 columns */

/* Eight more than needed, so that the rows of a piece lie in different banks. */
#define STRIDE (2 * SAMPLES + 8)

typedef nvcuda::wmma::fragment<nvcuda::wmma::accumulator, SIDE, SIDE, SIDE, float> piece;

typedef struct panels {
    half rows[SQUARE][STRIDE];
    half columns[SQUARE][STRIDE];
    float curve[2][SQUARE]; /* n(l0,m) - n0 of each row, n(l,m0) - n0 of each column */
} panels;

static __device__ float radians(double turns) {
    return (float)(LADDER_TWO_PI * (turns - rint(turns)));
}

/* Lines of both panels: warp `warp` has a part of each, its lanes a visibility each. Only the centre's
 * phase is large, and that one is reduced in double; the rest is well within single precision. */
static __device__ void make_panels(const ladder_card &card, int k, int warp, panels *out) {
    const int lane = (int)threadIdx.x;
    const ladder_direction centre = ladder_look(card, (int)blockIdx.x * SQUARE + SQUARE / 2,
                                                (int)blockIdx.y * SQUARE + SQUARE / 2);
    const double *uvw = &card.uvw_double[3 * (k + lane)];
    const float first = radians(uvw[0] * centre.l + uvw[1] * centre.m + uvw[2] * centre.n1);
    const float along_row = (float)(-LADDER_TWO_PI * card.scale_rad * uvw[0]);
    const float along_column = (float)(LADDER_TWO_PI * card.scale_rad * uvw[1]);
    const float w = (float)(LADDER_TWO_PI * uvw[2]);
    const float2 vis = card.vis[k + lane];
    for (int line = warp; line < SQUARE; line += WARPS) {
        const float offset = (float)(line - SQUARE / 2);
        float sine, cosine;
        __sincosf(fmaf(along_column, offset, w * out->curve[0][line]), &sine, &cosine);
        *(half2 *)&out->rows[line][2 * lane] = __floats2half2_rn(cosine, sine);
        __sincosf(fmaf(along_row, offset, fmaf(w, out->curve[1][line], first)), &sine, &cosine);
        *(half2 *)&out->columns[line][2 * lane] =
            __floats2half2_rn(vis.x * cosine + vis.y * sine, vis.y * cosine - vis.x * sine);
    }
}

/* sum += the product of 32 visibilities, in the warp's pieces. */
static __device__ void multiply(const panels *in, int top, int left, piece sum[TALL][WIDE]) {
    using namespace nvcuda::wmma;
    piece part[TALL][WIDE];
    for (int y = 0; y < TALL; y++) {
        for (int x = 0; x < WIDE; x++) {
            fill_fragment(part[y][x], 0.0f);
        }
    }
    for (int inner = 0; inner < 2 * SAMPLES; inner += SIDE) {
        fragment<matrix_a, SIDE, SIDE, SIDE, half, row_major> a[TALL];
        fragment<matrix_b, SIDE, SIDE, SIDE, half, col_major> b[WIDE];
        for (int y = 0; y < TALL; y++) {
            load_matrix_sync(a[y], &in->rows[top + y * SIDE][inner], STRIDE);
        }
        for (int x = 0; x < WIDE; x++) {
            load_matrix_sync(b[x], &in->columns[left + x * SIDE][inner], STRIDE);
        }
        for (int y = 0; y < TALL; y++) {
            for (int x = 0; x < WIDE; x++) {
                mma_sync(part[y][x], a[y], b[x], part[y][x]);
            }
        }
    }
    for (int y = 0; y < TALL; y++) {
        for (int x = 0; x < WIDE; x++) {
            for (int e = 0; e < part[y][x].num_elements; e++) {
                sum[y][x].x[e] += part[y][x].x[e];
            }
        }
    }
}

static __global__ void __launch_bounds__(32 * WARPS) matrix_product(ladder_card card) {
    __shared__ __align__(32) panels shared;
    const int warp = (int)threadIdx.y;
    const int top = warp % 4 * TALL * SIDE;
    const int left = warp / 4 * WIDE * SIDE;
    const int i0 = (int)blockIdx.x * SQUARE;
    const int j0 = (int)blockIdx.y * SQUARE;
    const double n0 = ladder_look(card, i0 + SQUARE / 2, j0 + SQUARE / 2).n1;
    for (int line = warp * 32 + (int)threadIdx.x; line < SQUARE; line += 32 * WARPS) {
        shared.curve[0][line] = (float)(ladder_look(card, i0 + SQUARE / 2, j0 + line).n1 - n0);
        shared.curve[1][line] = (float)(ladder_look(card, i0 + line, j0 + SQUARE / 2).n1 - n0);
    }
    piece sum[TALL][WIDE];
    for (int y = 0; y < TALL; y++) {
        for (int x = 0; x < WIDE; x++) {
            nvcuda::wmma::fill_fragment(sum[y][x], 0.0f);
        }
    }
    for (int k = 0; k < card.n; k += SAMPLES) { /* n is a multiple of SAMPLES */
        __syncthreads(); /* curves are there; nobody reads the panels any more */
        make_panels(card, k, warp, &shared);
        __syncthreads();
        multiply(&shared, top, left, sum);
    }
    for (int y = 0; y < TALL; y++) {
        for (int x = 0; x < WIDE; x++) {
            float *corner =
                &card.image[(int64_t)(j0 + top + y * SIDE) * card.size + i0 + left + x * SIDE];
            nvcuda::wmma::store_matrix_sync(corner, sum[y][x], (unsigned)card.size,
                                            nvcuda::wmma::mem_row_major);
        }
    }
}

static const ladder_launch launch = {matrix_product, {32, WARPS}, {SQUARE, SQUARE}, false};

extern "C" const ladder_step ladder_cuda_11 = {
    "matrix product",    "sines for each row and column, products by the tensor cores",
    LADDER_PRODUCT_HALF, LADDER_LIMIT_TENSOR,
    ladder_cuda_run,     &launch};
