/* What --tune found is kept in a file and found again for work of about the same shape; a file that is
 * missing, foreign or damaged is as good as none, which is said where it is damaged. */
#include "tests/support/test_support.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/cache_file.h"
#include "app/tuning_book.h"
#include "core/device_host.h"

typedef struct place {
    slc_pool *pool;
    slc_device *device;
    char directory[TEST_PATH_BYTES], folder[TEST_PATH_BYTES];
    slc_log log;
    int n_notes;
    slci_tuning_place of;
} place;

static void count_notes(void *context, slc_log_level level, const char *text) {
    place *self = context;
    self->n_notes += level == SLC_LOG_NOTE;
    assert_true(level != SLC_LOG_NOTE || strstr(text, "damaged") != NULL);
}

static void place_open(place *self) {
    memset(self, 0, sizeof *self);
    TEST_OK(slc_pool_create(2, &self->pool));
    TEST_OK(slc_device_create_host(self->pool, NULL, &self->device));
    test_directory_create(self->directory);
    test_join(self->directory, "cache/sluice", self->folder);
    slc_log_init(&self->log, SLC_LOG_DETAIL, count_notes, self);
    self->of = (slci_tuning_place){self->device, self->folder, &self->log};
}

static void place_close(place *self) {
    slc_log_destroy(&self->log);
    slc_device_destroy(self->device);
    slc_pool_destroy(self->pool);
    test_directory_remove(self->directory);
}

static slci_direct_division shape(int64_t n_lines, int64_t n_pieces) {
    return (slci_direct_division){.n_lines = n_lines, .n_pieces = n_pieces, .n_slots = 132};
}

static int64_t find(const slci_tuning_book *book, slc_direct_launch launch, int64_t n_lines,
                    int64_t n_pieces) {
    const slci_direct_division division = shape(n_lines, n_pieces);
    return slci_tuning_book_find(book, launch, &division);
}

static void add(slci_tuning_book *book, slc_direct_launch launch, int64_t n_lines, int64_t n_pieces,
                int64_t split) {
    const slci_direct_division division = shape(n_lines, n_pieces);
    slci_tuning_book_add(book, launch, &division, split);
}

static void the_nearest_shape_is_found(void **state) {
    (void)state;
    slci_tuning_book book = {.n = 0};
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_SINE, 100, 100), 0);
    add(&book, SLC_DIRECT_LAUNCH_SINE, 100, 100, 40);
    add(&book, SLC_DIRECT_LAUNCH_SINE, 100, 110, 50);
    add(&book, SLC_DIRECT_LAUNCH_PRODUCT, 100, 100, 60);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_SINE, 100, 100), 40);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_SINE, 100, 106), 50);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_PRODUCT, 98, 104), 60);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_HOST, 100, 100), 0);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_SINE, 80, 100), 0);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_SINE, 100, 500), 0);
    const slci_direct_division other_slots = {.n_lines = 100, .n_pieces = 100, .n_slots = 66};
    assert_int_equal(slci_tuning_book_find(&book, SLC_DIRECT_LAUNCH_SINE, &other_slots), 0);
    /* A split for more pieces than there are. */
    add(&book, SLC_DIRECT_LAUNCH_HOST, 5, 100, 100);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_HOST, 5, 90), 90);
    /* The same shape again. */
    add(&book, SLC_DIRECT_LAUNCH_SINE, 100, 100, 41);
    assert_int_equal(book.n, 4);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_SINE, 100, 100), 41);
}

/* Pictures of 132 lines (CUDA) or of 40 pieces (host) on 132 slots, whose tiles have other numbers of
 * rows than the one that was tuned. Without a start and a spread the model looks at slots that wait
 * alone. */
static void other_rows_fill_the_device_alike(void **state) {
    (void)state;
    slci_tuning_book book = {.n = 0};
    add(&book, SLC_DIRECT_LAUNCH_PRODUCT, 132, 40, 4);
    add(&book, SLC_DIRECT_LAUNCH_HOST, 132, 40, 4);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_PRODUCT, 132, 80), 4);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_PRODUCT, 132, 20), 4);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_PRODUCT, 132, 161), 0);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_PRODUCT, 66, 40), 0);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_HOST, 264, 40), 2);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_HOST, 66, 40), 8);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_HOST, 132, 80), 0);
    /* One block for each of 133 lines leaves 131 of 132 slots waiting half of the time. */
    add(&book, SLC_DIRECT_LAUNCH_SINE, 133, 400, 1);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_SINE, 133, 400), 1);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_SINE, 133, 800), 0);
}

static void the_oldest_goes_where_it_is_full(void **state) {
    (void)state;
    slci_tuning_book book = {.n = 0};
    for (int64_t i = 0; i <= SLCI_TUNING_ENTRIES; i++) {
        add(&book, SLC_DIRECT_LAUNCH_PRODUCT, INT64_C(1) << (i % 40), 1000 * (1 + i / 40), 1 + i);
    }
    assert_int_equal(book.n, SLCI_TUNING_ENTRIES);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_PRODUCT, 1, 1000), 0);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_PRODUCT, 2, 1000), 2);
    assert_int_equal(find(&book, SLC_DIRECT_LAUNCH_PRODUCT, INT64_C(1) << 24, 2000),
                     SLCI_TUNING_ENTRIES + 1);
}

static void what_is_saved_is_found(void **state) {
    (void)state;
    place self;
    slci_tuning_book book = {.n = 0};
    slci_tuning_book found = {.n = 7};
    place_open(&self);
    slci_tuning_book_load(&self.of, &found);
    assert_int_equal(found.n, 0);
    for (int64_t i = 0; i < SLCI_TUNING_ENTRIES; i++) {
        add(&book, (slc_direct_launch)(i % SLC_DIRECT_N_LAUNCHES), 1 + i, INT64_C(999999999999999),
            7);
    }
    TEST_OK(slci_tuning_book_save(&self.of, &book));
    assert_int_equal(test_directory_count(self.folder), 1);
    slci_tuning_book_load(&self.of, &found);
    assert_int_equal(found.n, book.n);
    for (int i = 0; i < found.n; i++) {
        assert_int_equal(found.entry[i].launch, book.entry[i].launch);
        assert_int_equal(found.entry[i].n_lines, book.entry[i].n_lines);
        assert_int_equal(found.entry[i].n_pieces, book.entry[i].n_pieces);
        assert_int_equal(found.entry[i].n_slots, book.entry[i].n_slots);
        assert_int_equal(found.entry[i].split, book.entry[i].split);
    }
    assert_int_equal(self.n_notes, 0);
    place_close(&self);
}

/* What runs at the same time find is kept, of all of them: each has loaded the book before the others
 * have saved. */
enum { N_RUNS = 4, N_SHAPES = 2 };

static void runs_at_the_same_time_merge(void **state) {
    (void)state;
    place self;
    slci_tuning_book found = {.n = 0};
    pid_t child[N_RUNS];
    place_open(&self);
    for (int run = 0; run < N_RUNS; run++) {
        slci_tuning_book book = {.n = 0};
        child[run] = fork();
        assert_true(child[run] >= 0);
        for (int i = 0; child[run] == 0 && i < N_SHAPES; i++) {
            add(&book, SLC_DIRECT_LAUNCH_SINE, 1 + run, 100 + 1000 * i, 1 + i);
            if (slci_tuning_book_save(&self.of, &book) != SLC_OK) {
                _exit(1);
            }
        }
        if (child[run] == 0) {
            _exit(0);
        }
    }
    for (int run = 0; run < N_RUNS; run++) {
        int how = 0;
        assert_int_equal(waitpid(child[run], &how, 0), child[run]);
        assert_int_equal(how, 0);
    }
    slci_tuning_book_load(&self.of, &found);
    assert_int_equal(found.n, N_RUNS * N_SHAPES);
    assert_int_equal(test_directory_count(self.folder), 1);
    place_close(&self);
}

/* The file that the book is kept in. */
static slci_cache_file file_of(const place *self) {
    slci_cache_file file;
    TEST_OK(slci_cache_file_name(self->device, "tuning", 1, self->folder, &file));
    return file;
}

static void a_damaged_file_is_said_and_not_used(void **state) {
    (void)state;
    static const char *const texts[] = {
        "product lines 256 pieces 49 slots 132 split 0\n",
        "product lines 256 pieces 49 slots 132 split 50\n", /* more than pieces */
        "product lines 256 pieces 49 slots 132\n",
        "product lines 256 pieces 49 slots 132 split 12 \n",
        "product lines -1 pieces 49 slots 132 split 12\n",
        "product lines 1e3 pieces 49 slots 132 split 12\n",
        "product pieces 49 lines 256 slots 132 split 12\n",
        "product lines 99999999999999999999 pieces 49 slots 132 split 12\n",
        "other lines 256 pieces 49 slots 132 split 12\n",
        "sine lines 256 pieces 49 slots 132 split 12\n\n",
        "x\n",
    };
    place self;
    place_open(&self);
    const slci_cache_file file = file_of(&self);
    int n_bad = 0;
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        slci_tuning_book book = {.n = 7};
        TEST_OK(slci_cache_file_write(&file, texts[i]));
        slci_tuning_book_load(&self.of, &book);
        assert_int_equal(book.n, 0);
        assert_int_equal(self.n_notes, ++n_bad);
    }
    slci_tuning_book book = {.n = 0};
    add(&book, SLC_DIRECT_LAUNCH_SINE, 10, 10, 5);
    TEST_OK(slci_tuning_book_save(&self.of, &book));
    slci_tuning_book_load(&self.of, &book);
    assert_int_equal(book.n, 1);
    assert_int_equal(truncate(file.path, 100), 0);
    slci_tuning_book_load(&self.of, &book);
    assert_int_equal(book.n, 0);
    assert_int_equal(self.n_notes, n_bad + 1);
    place_close(&self);
}

/* A home folder that is kept elsewhere and linked to, file by file. */
static void a_link_stays_one(void **state) {
    (void)state;
    place self;
    char elsewhere[TEST_PATH_BYTES];
    struct stat info;
    slci_tuning_book book = {.n = 0};
    place_open(&self);
    add(&book, SLC_DIRECT_LAUNCH_SINE, 10, 10, 5);
    TEST_OK(slci_tuning_book_save(&self.of, &book));
    const slci_cache_file file = file_of(&self);
    test_join(self.directory, "elsewhere", elsewhere);
    assert_int_equal(rename(file.path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, file.path), 0);
    add(&book, SLC_DIRECT_LAUNCH_SINE, 20, 20, 5);
    TEST_OK(slci_tuning_book_save(&self.of, &book));
    assert_true(lstat(file.path, &info) == 0 && S_ISLNK(info.st_mode));
    slci_tuning_book_load(&self.of, &book);
    assert_int_equal(book.n, 2);
    /* Somebody else's file, of which the run is told when it loads. */
    FILE *other = fopen(elsewhere, "w");
    assert_true(other != NULL && fputs("mine\n", other) >= 0);
    assert_int_equal(fclose(other), 0);
    TEST_FAILS(slci_tuning_book_save(&self.of, &book), SLC_ERROR_OUTPUT, "remove the link");
    assert_true(stat(elsewhere, &info) == 0 && info.st_size == 5);
    assert_int_equal(unlink(elsewhere), 0);
    TEST_FAILS(slci_tuning_book_save(&self.of, &book), SLC_ERROR_OUTPUT, "is a link");
    assert_int_equal(self.n_notes, 0);
    place_close(&self);
}

static void without_a_folder_nothing_is_kept(void **state) {
    (void)state;
    place self;
    slci_tuning_book book = {.n = 1};
    place_open(&self);
    self.of.folder = NULL;
    TEST_FAILS(slci_tuning_book_save(&self.of, &book), SLC_ERROR_ARGUMENT, "folder");
    slci_tuning_book_load(&self.of, &book);
    assert_int_equal(book.n, 0);
    self.of.folder = "/proc/sluice";
    TEST_FAILS(slci_tuning_book_save(&self.of, &book), SLC_ERROR_OUTPUT, "/proc/sluice");
    assert_int_equal(self.n_notes, 0);
    place_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_shape_is_found),
        cmocka_unit_test(other_rows_fill_the_device_alike),
        cmocka_unit_test(the_oldest_goes_where_it_is_full),
        cmocka_unit_test(what_is_saved_is_found),
        cmocka_unit_test(runs_at_the_same_time_merge),
        cmocka_unit_test(a_damaged_file_is_said_and_not_used),
        cmocka_unit_test(a_link_stays_one),
        cmocka_unit_test(without_a_folder_nothing_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
