/* From polarisations, flags and nsamples to one value and one weight, by arithmetic. */
#include "tests/support/test_near.h"

#include "io/vis_combine.h"

enum { CHANNELS = 4 };

static const double wavelengths_per_metre[CHANNELS] = {1.0, 2.0, 3.0, 4.0};

/* A row 5 m long, of two polarisations, in four channels. */
typedef struct sample_row {
    slci_vis_selection selection;
    slci_vis_row row;
    double values[2][2 * CHANNELS];
    uint8_t flags[2][CHANNELS];
    double nsamples[2][CHANNELS];
    float vis[2 * CHANNELS], weight[CHANNELS];
    slc_vis_counts counts;
} sample_row;

/* First polarisation 2 + 1i with nsamples 1, second 4 - 3i with nsamples 3; nothing flagged. */
static void row_init(sample_row *self) {
    memset(self, 0, sizeof *self);
    self->selection = (slci_vis_selection){.n_channels = CHANNELS,
                                           .n_hands = 2,
                                           .hands = {0, 1},
                                           .n_imaged = 1,
                                           .imaged = {{.n_used = 2, .hand = {0, 1}, .scale = 0.5}},
                                           .wavelengths_per_metre = wavelengths_per_metre};
    self->row = (slci_vis_row){.uvw = {3.0, 4.0, 1.0}, .is_selected = true, .factor = 1.0};
    for (int p = 0; p < 2; p++) {
        for (int c = 0; c < CHANNELS; c++) {
            self->values[p][2 * c] = p == 0 ? 2.0 : 4.0;
            self->values[p][2 * c + 1] = p == 0 ? 1.0 : -3.0;
            self->nsamples[p][c] = p == 0 ? 1.0 : 3.0;
        }
        self->row.values[p] = self->values[p];
        self->row.flags[p] = self->flags[p];
        self->row.nsamples[p] = self->nsamples[p];
    }
}

/* Whether a sample counts, with what is not NULL made. */
static bool combine_into(sample_row *self, float *vis, float *weight) {
    const slci_vis_samples out = {vis, weight, &self->counts};
    return slci_vis_combine_row(&self->selection, &self->selection.imaged[0], &self->row, &out);
}

static void row_combine(sample_row *self) {
    /* What was there before must not show. */
    memset(self->vis, 0x55, sizeof self->vis);
    memset(self->weight, 0x55, sizeof self->weight);
    memset(&self->counts, 0, sizeof self->counts);
    (void)combine_into(self, self->vis, self->weight);
}

static void expect_sample(const sample_row *self, int c, double real, double imag, double weight) {
    TEST_NEAR((double)self->vis[2 * c], real, 0.0);
    TEST_NEAR((double)self->vis[2 * c + 1], imag, 0.0);
    TEST_NEAR((double)self->weight[c], weight, 0.0);
}

static void expect_counts(const sample_row *self, int64_t total, int64_t flagged,
                          int64_t zero_weight, int64_t nonfinite) {
    assert_int_equal(self->counts.total, total);
    assert_int_equal(self->counts.flagged, flagged);
    assert_int_equal(self->counts.zero_weight, zero_weight);
    assert_int_equal(self->counts.nonfinite, nonfinite);
}

static void a_pair_is_averaged_with_the_harmonic_weight(void **state) {
    (void)state;
    sample_row self;
    row_init(&self);
    row_combine(&self);
    expect_sample(&self, 0, 3.0, -1.0, 1.5); /* 2 / (1/1 + 1/3) */
    expect_sample(&self, 3, 3.0, -1.0, 1.5);
    expect_counts(&self, 8, 0, 0, 0);

    self.selection.imaged[0].scale = 1.0;
    self.selection.conjugate = true;
    self.row.factor = 10.0;
    row_combine(&self);
    expect_sample(&self, 1, 6.0, 2.0, 15.0);
}

/* Differences, turned by -i or not: -i (x + iy) = y - ix. Each has the weight of the mean. */
static void pairs_may_be_subtracted_and_turned(void **state) {
    (void)state;
    sample_row self;
    row_init(&self);
    slci_vis_combination *imaged = &self.selection.imaged[0];
    imaged->is_difference = true;
    row_combine(&self);
    expect_sample(&self, 0, -1.0, 2.0, 1.5); /* (2 + 1i - 4 + 3i) / 2 */
    imaged->is_turned = true;
    row_combine(&self);
    expect_sample(&self, 0, 2.0, 1.0, 1.5);
    imaged->is_difference = false;
    imaged->hand[0] = 1;
    imaged->hand[1] = 0;
    row_combine(&self);
    expect_sample(&self, 3, -1.0, -3.0, 1.5);
    self.selection.conjugate = true;
    row_combine(&self);
    expect_sample(&self, 3, -1.0, 3.0, 1.5);
}

static void one_polarisation_is_taken_as_it_is(void **state) {
    (void)state;
    sample_row self;
    row_init(&self);
    self.selection.imaged[0].n_used = 1;
    row_combine(&self);
    expect_sample(&self, 2, 2.0, 1.0, 1.0);
    expect_counts(&self, 4, 0, 0, 0);

    /* Without datasets of flags and nsamples nothing is flagged and all weights are the factor. */
    self.row.flags[0] = NULL;
    self.row.nsamples[0] = NULL;
    self.row.factor = 0.25;
    row_combine(&self);
    expect_sample(&self, 2, 2.0, 1.0, 0.25);
}

/* Each unusable sample is counted once, for the first reason in the order of the questions. */
static void what_does_not_count_is_zero(void **state) {
    (void)state;
    sample_row self;
    row_init(&self);
    self.flags[1][0] = 1;
    self.values[0][0] = (double)NAN; /* flagged as well: a flag is asked for first */
    self.nsamples[0][1] = 0.0;
    self.values[1][2 * 2 + 1] = (double)INFINITY;
    row_combine(&self);
    expect_sample(&self, 0, 0.0, 0.0, 0.0);
    expect_sample(&self, 1, 0.0, 0.0, 0.0);
    expect_sample(&self, 2, 0.0, 0.0, 0.0);
    expect_sample(&self, 3, 3.0, -1.0, 1.5);
    expect_counts(&self, 8, 1, 1, 1);

    row_init(&self);
    self.flags[0][0] = 1;
    self.flags[1][0] = 255;
    self.nsamples[1][1] = -2.0;
    self.nsamples[1][2] = (double)NAN;
    self.values[0][2 * 3] = 1e39; /* too large for single precision once averaged */
    row_combine(&self);
    for (int c = 0; c < CHANNELS; c++) {
        expect_sample(&self, c, 0.0, 0.0, 0.0);
    }
    expect_counts(&self, 8, 2, 2, 1);
}

static void the_range_of_baselines_is_half_open(void **state) {
    (void)state;
    sample_row self;
    row_init(&self);
    self.selection.has_uv_range = true; /* lengths are 5, 10, 15 and 20 wavelengths */
    self.selection.uv_min = 10.0;
    self.selection.uv_max = 20.0;
    row_combine(&self);
    expect_sample(&self, 0, 0.0, 0.0, 0.0);
    expect_sample(&self, 1, 3.0, -1.0, 1.5);
    expect_sample(&self, 2, 3.0, -1.0, 1.5);
    expect_sample(&self, 3, 0.0, 0.0, 0.0);
    expect_counts(&self, 4, 0, 0, 0);
    self.selection.uv_max = 0.0; /* no limit */
    row_combine(&self);
    expect_sample(&self, 3, 3.0, -1.0, 1.5);
}

static void rows_out_of_the_selection_are_zero_and_not_counted(void **state) {
    (void)state;
    sample_row self;
    row_init(&self);
    self.row.is_selected = false;
    row_combine(&self);
    expect_sample(&self, 0, 0.0, 0.0, 0.0);
    expect_sample(&self, 3, 0.0, 0.0, 0.0);
    expect_counts(&self, 0, 0, 0, 0);

    /* A baseline that is no number cannot be used at any frequency. */
    row_init(&self);
    self.row.uvw[2] = (double)NAN;
    row_combine(&self);
    expect_sample(&self, 1, 0.0, 0.0, 0.0);
    expect_counts(&self, 8, 0, 0, 4);
}

/* Among the samples without a weight those are told apart that no weight can have. */
static void impossible_weights_are_counted(void **state) {
    (void)state;
    static const struct {
        double first, second, factor;
        int64_t n_zero, n_bad;
    } cases[] = {
        {1.0, 3.0, 1.0, 0, 0},
        {0.0, 3.0, 1.0, CHANNELS, 0},
        {0.0, 0.0, 1.0, CHANNELS, 0},
        {1.0, 3.0, 0.0, CHANNELS, 0},
        {-1.0, 3.0, 1.0, CHANNELS, CHANNELS},
        {0.0, -1.0, 1.0, CHANNELS, CHANNELS},
        {1.0, (double)INFINITY, 1.0, CHANNELS, CHANNELS},
        {(double)NAN, 0.0, 1.0, CHANNELS, CHANNELS},
        {1.0, 3.0, -1.0, CHANNELS, CHANNELS},
        {-1.0, -3.0, -1.0, CHANNELS, CHANNELS}, /* not 1.5 */
        {1.0, 3.0, (double)NAN, CHANNELS, CHANNELS},
        {1e300, 1e300, 1.0, CHANNELS, CHANNELS}, /* past single precision */
    };
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        sample_row self;
        row_init(&self);
        for (int c = 0; c < CHANNELS; c++) {
            self.nsamples[0][c] = cases[k].first;
            self.nsamples[1][c] = cases[k].second;
        }
        self.row.factor = cases[k].factor;
        row_combine(&self);
        expect_counts(&self, 8, 0, cases[k].n_zero, 0);
        assert_int_equal(self.counts.bad_weight, cases[k].n_bad);
    }
}

/* Where a row lies, and whether it lies where an antenna can be. */
static void rows_past_the_longest_are_told(void **state) {
    (void)state;
    static const struct {
        double uvw[3];
        bool is_possible, is_kept;
    } cases[] = {
        {{3.0, 4.0, 1.0}, true, true},
        {{-100.0, 100.0, 100.0}, true, true},
        {{0.0, -101.0, 0.0}, false, false},
        {{0.0, 0.0, 1e308}, false, false},
        {{101.0, 0.0, 0.0}, false, false},
        {{(double)NAN, 0.0, 0.0}, true, false},
        {{0.0, 0.0, (double)INFINITY}, true, false},
    };
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        double uvw[3] = {7.0, 7.0, 7.0};
        slci_vis_row row = {.factor = 1.0};
        memcpy(row.uvw, cases[k].uvw, sizeof row.uvw);
        assert_int_equal(slci_vis_place_row(&row, 100.0, uvw), cases[k].is_possible);
        assert_int_equal(slci_vis_place_row(&row, 100.0, NULL), cases[k].is_possible);
        for (int d = 0; d < 3; d++) {
            TEST_NEAR(uvw[d], cases[k].is_kept ? cases[k].uvw[d] : 0.0, 0.0);
        }
    }
}

static void a_row_says_whether_it_counts(void **state) {
    (void)state;
    sample_row self;
    row_init(&self);
    memset(self.flags[1], 1, CHANNELS - 1);
    assert_true(combine_into(&self, NULL, self.weight));
    memset(self.flags[1], 1, CHANNELS);
    assert_false(combine_into(&self, NULL, self.weight));
}

static void either_output_may_be_left_out(void **state) {
    (void)state;
    sample_row self;
    row_init(&self);
    self.row.values[0] = NULL; /* only weights are wanted */
    self.row.values[1] = NULL;
    (void)combine_into(&self, NULL, self.weight);
    TEST_NEAR((double)self.weight[0], 1.5, 0.0);
    row_init(&self);
    (void)combine_into(&self, self.vis, NULL);
    TEST_NEAR((double)self.vis[1], -1.0, 0.0);
}

/* Doubles that singles cannot hold are counted, with the first place of each kind; the others are what
 * they were. Channels are the file's, of which the selection begins with number 5. */
static void what_singles_cannot_hold_is_counted(void **state) {
    static const struct {
        double value, nsamples;
        int which; /* negative: none */
        double vis, weight;
    } cases[] = {{1e39, 1.0, SLC_VIS_VALUE_TOO_LARGE, 0.0, 0.0},
                 {-1e300, 1.0, SLC_VIS_VALUE_TOO_LARGE, 0.0, 0.0},
                 {3e38, 1.0, -1, (double)3e38F, 1.0},
                 {1e-50, 1.0, SLC_VIS_VALUE_TOO_SMALL, 0.0, 1.0},
                 {1e-40, 1.0, SLC_VIS_VALUE_TOO_SMALL, (double)1e-40F, 1.0},
                 {2e-38, 1.0, -1, (double)2e-38F, 1.0},
                 {0.0, 1.0, -1, 0.0, 1.0},
                 {1.0, 1e39, SLC_VIS_WEIGHT_TOO_LARGE, 0.0, 0.0},
                 {1.0, 1e-46, SLC_VIS_WEIGHT_TOO_SMALL, 0.0, 0.0},
                 {1.0, 0.0, -1, 0.0, 0.0},
                 {1.0, (double)INFINITY, -1, 0.0, 0.0},
                 {(double)NAN, 1.0, -1, 0.0, 0.0}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        sample_row self;
        row_init(&self);
        self.selection.imaged[0].n_used = 1;
        self.selection.channel_begin = 5;
        self.row.number = 70;
        for (int c = 0; c < CHANNELS; c++) {
            self.values[0][2 * c] = c < 2 ? 1.0 : cases[k].value;
            self.values[0][2 * c + 1] = 0.0;
            self.nsamples[0][c] = c < 2 ? 1.0 : cases[k].nsamples;
        }
        row_combine(&self);
        expect_sample(&self, 1, 1.0, 0.0, 1.0);
        expect_sample(&self, 2, cases[k].vis, 0.0, cases[k].weight);
        for (int which = 0; which < SLC_VIS_N_OUTSIDE; which++) {
            const slc_vis_outsiders *found = &self.counts.outside[which];
            assert_int_equal(found->n, which == cases[k].which ? 2 : 0);
            assert_int_equal(found->row, which == cases[k].which ? 70 : 0);
            assert_int_equal(found->channel, which == cases[k].which ? 7 : 0);
        }
    }
}

static void the_first_of_all_counts_stays(void **state) {
    (void)state;
    slc_vis_counts sum = {.total = 1};
    const slc_vis_counts parts[] = {{.outside = {{.n = 2, .row = 30, .channel = 4}}},
                                    {.outside = {{.n = 0, .row = 0, .channel = 0}}},
                                    {.outside = {{.n = 1, .row = 20, .channel = 9}}},
                                    {.outside = {{.n = 3, .row = 20, .channel = 8}}},
                                    {.outside = {{.n = 1, .row = 40, .channel = 0}}}};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        slc_vis_counts_add(&sum, &parts[k]);
    }
    assert_int_equal(sum.outside[0].n, 7);
    assert_int_equal(sum.outside[0].row, 20);
    assert_int_equal(sum.outside[0].channel, 8);
}

/* Floats are taken from wherever they lie, and weights that change from channel to channel are each
 * made from its own pair. */
static void singles_are_taken_as_they_lie_in_a_file(void **state) {
    enum { STRIDE = 19 }; /* of a compound with more members, not aligned */
    static const float pairs[2][2] = {{0.1F, 1e-30F}, {3e38F, -2.5F}};
    unsigned char raw[2][CHANNELS * STRIDE];
    (void)state;
    sample_row self;
    row_init(&self);
    for (int p = 0; p < 2; p++) {
        for (int64_t c = 0; c < CHANNELS; c++) {
            memcpy(raw[p] + c * STRIDE, pairs[p], sizeof pairs[p]);
        }
        self.row.values[p] = NULL;
        self.row.singles[p] = raw[p];
    }
    self.row.single_stride = STRIDE;
    self.nsamples[1][1] = 1.0;
    self.nsamples[0][2] = 3.0;
    row_combine(&self);
    const double real = (double)(float)(0.5 * ((double)0.1F + (double)3e38F));
    const double imag = (double)(float)(0.5 * ((double)1e-30F - 2.5));
    expect_sample(&self, 0, real, imag, 1.5); /* 2 / (1/1 + 1/3) */
    expect_sample(&self, 1, real, imag, 1.0);
    expect_sample(&self, 2, real, imag, 3.0);
    expect_sample(&self, 3, real, imag, 1.5);
    expect_counts(&self, 8, 0, 0, 0);

    self.selection.imaged[0].n_used = 1;
    row_combine(&self);
    expect_sample(&self, 0, (double)0.1F, (double)1e-30F, 1.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_is_averaged_with_the_harmonic_weight),
        cmocka_unit_test(pairs_may_be_subtracted_and_turned),
        cmocka_unit_test(one_polarisation_is_taken_as_it_is),
        cmocka_unit_test(what_does_not_count_is_zero),
        cmocka_unit_test(the_range_of_baselines_is_half_open),
        cmocka_unit_test(rows_out_of_the_selection_are_zero_and_not_counted),
        cmocka_unit_test(impossible_weights_are_counted),
        cmocka_unit_test(rows_past_the_longest_are_told),
        cmocka_unit_test(a_row_says_whether_it_counts),
        cmocka_unit_test(either_output_may_be_left_out),
        cmocka_unit_test(what_singles_cannot_hold_is_counted),
        cmocka_unit_test(the_first_of_all_counts_stays),
        cmocka_unit_test(singles_are_taken_as_they_lie_in_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
