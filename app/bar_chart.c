/* Everything is drawn in rectangles: bars, marks, and the dots of letters, which are two pixels wide.
 *
 *     name ▏▓▓▓▓▓▓▓▓▓▓ 2.1e+11        NAME_WIDTH  names
 *     name ▏▓▓▓▓▓▓▓▓▓▓▓▓▓▓ 1.9e+12    BAR_WIDTH   from the power of ten below the smallest value to
 *          ▏     ╎     ╎              the one above the largest
 *         1e11  1e12  1e13            VALUE_WIDTH numbers behind the longest bar */
#include "app/bar_chart.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/print.h"

#define DOT INT64_C(2)
#define LETTER_WIDTH (6 * DOT) /* five dots and a gap */
#define LETTER_HEIGHT (8 * DOT)
#define NAME_WIDTH (SLCI_BAR_NAME_LENGTH * LETTER_WIDTH)
#define BAR_WIDTH INT64_C(520)
#define VALUE_WIDTH (9 * LETTER_WIDTH)
#define LINE_HEIGHT INT64_C(26)
#define MARGIN INT64_C(10)
#define WIDTH (NAME_WIDTH + BAR_WIDTH + VALUE_WIDTH + 2 * MARGIN)

/* Letters of 5 × 8 dots: bit 5y + x is the dot in column x and row y from the top; the lowest row is
 * below the line. In the order of GLYPHS. */
#define GLYPHS "0123456789abcdefghijklmnopqrstuvwxyz+,-./"
static const uint64_t glyphs[] = {
    UINT64_C(0x03a33ae62e), UINT64_C(0x03884210c4), UINT64_C(0x07c444422e), UINT64_C(0x03e107420f),
    UINT64_C(0x0211f4a988), UINT64_C(0x03a3083c3f), UINT64_C(0x03a317842e), UINT64_C(0x008442221f),
    UINT64_C(0x03a317462e), UINT64_C(0x03a10f462e), UINT64_C(0x07a3e83800), UINT64_C(0x03e318bc21),
    UINT64_C(0x078210f800), UINT64_C(0x07a318fa10), UINT64_C(0x0783f8b800), UINT64_C(0x0084213c4c),
    UINT64_C(0x743d18f800), UINT64_C(0x046318bc21), UINT64_C(0x0388421804), UINT64_C(0x3250843008),
    UINT64_C(0x024a32a421), UINT64_C(0x0388421086), UINT64_C(0x056b5aac00), UINT64_C(0x046318bc00),
    UINT64_C(0x03a318b800), UINT64_C(0x085f18bc00), UINT64_C(0x843d18f800), UINT64_C(0x004211b400),
    UINT64_C(0x03e0e0f800), UINT64_C(0x0304213c42), UINT64_C(0x07a318c400), UINT64_C(0x011518c400),
    UINT64_C(0x02ab5ad400), UINT64_C(0x0454454400), UINT64_C(0x743d18c400), UINT64_C(0x07c4447c00),
    UINT64_C(0x00084f9080), UINT64_C(0x110c000000), UINT64_C(0x00000f8000), UINT64_C(0x018c000000),
    UINT64_C(0x0042222210),
};

/* ---- rectangles and letters ------------------------------------------------------------------- */

typedef struct rectangle {
    int64_t x, y; /* of the upper left corner, from the top of the picture */
    int64_t width, height;
} rectangle;

static void fill(slci_bar_picture *picture, rectangle area, double level) {
    for (int64_t y = area.y; y < area.y + area.height; y++) {
        for (int64_t x = area.x; x < area.x + area.width; x++) {
            picture->pixels[(picture->ny - 1 - y) * picture->nx + x] = level;
        }
    }
}

static void draw_letter(slci_bar_picture *picture, int64_t left, int64_t top, char letter) {
    const char *found = strchr(GLYPHS, tolower((unsigned char)letter));
    const uint64_t dots = letter == '\0' || found == NULL ? 0 : glyphs[found - GLYPHS];
    for (int dot = 0; dot < 40; dot++) {
        if ((dots >> dot & 1) != 0) {
            const rectangle area = {left + DOT * (dot % 5), top + DOT * (dot / 5), DOT, DOT};
            fill(picture, area, SLCI_BAR_INK);
        }
    }
}

static void draw_text(slci_bar_picture *picture, int64_t left, int64_t top, const char *text) {
    for (int64_t i = 0; text[i] != '\0'; i++) {
        draw_letter(picture, left + i * LETTER_WIDTH, top, text[i]);
    }
}

/* ---- the chart -------------------------------------------------------------------------------- */

/* Powers of ten. */
typedef struct decades {
    int first, last;
} decades;

static decades find_decades(const slci_bar *bars, int n_bars) {
    double least = bars[0].value;
    double most = bars[0].value;
    for (int i = 1; i < n_bars; i++) {
        least = fmin(least, bars[i].value);
        most = fmax(most, bars[i].value);
    }
    decades range = {(int)floor(log10(least)), (int)ceil(log10(most))};
    range.first -= log10(least) - range.first < 0.05 ? 1 : 0; /* or there would be no bar */
    return range;
}

static int64_t position(decades range, double exponent) {
    return llrint((exponent - range.first) / (range.last - range.first) * BAR_WIDTH);
}

static void draw_marks(slci_bar_picture *picture, decades range, int64_t left) {
    const int64_t bottom = picture->ny - MARGIN - LETTER_HEIGHT - DOT;
    for (int decade = range.first; decade <= range.last; decade++) {
        char text[16];
        (void)slci_print(text, sizeof text, "1e%d", decade);
        const int64_t x = left + position(range, decade);
        const int64_t half = (int64_t)strlen(text) * LETTER_WIDTH / 2;
        fill(picture, (rectangle){x, MARGIN, 1, bottom - MARGIN}, SLCI_BAR_MARK);
        draw_text(picture, x - half, bottom + DOT, text);
    }
}

static void draw_bar(slci_bar_picture *picture, decades range, int line, const slci_bar *bar) {
    const int64_t left = MARGIN + NAME_WIDTH;
    const int64_t top = MARGIN + (int64_t)line * LINE_HEIGHT;
    const int64_t inset = (LINE_HEIGHT - LETTER_HEIGHT) / 2;
    const int64_t length = position(range, log10(bar->value));
    char text[16];
    (void)slci_print(text, sizeof text, "%.1e", bar->value);
    draw_text(picture, MARGIN, top + inset, bar->name);
    fill(picture, (rectangle){left, top + 3, length, LINE_HEIGHT - 6}, SLCI_BAR_FILL);
    draw_text(picture, left + length + LETTER_WIDTH / 2, top + inset, text);
}

slc_status slci_bar_chart_draw(const slci_bar *bars, int n_bars, slci_bar_picture *out) {
    slci_bar_picture picture = {.nx = WIDTH,
                                .ny = (int64_t)n_bars * LINE_HEIGHT + LETTER_HEIGHT + 3 * MARGIN};
    picture.pixels = malloc((size_t)(picture.nx * picture.ny) * sizeof *picture.pixels);
    if (picture.pixels == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a chart of %d bars", n_bars);
    }
    const decades range = find_decades(bars, n_bars);
    fill(&picture, (rectangle){0, 0, picture.nx, picture.ny}, SLCI_BAR_PAPER);
    draw_marks(&picture, range, MARGIN + NAME_WIDTH);
    for (int i = 0; i < n_bars; i++) {
        draw_bar(&picture, range, i, &bars[i]);
    }
    *out = picture;
    return SLC_OK;
}
