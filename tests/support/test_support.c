#include "tests/support/test_support.h"

#include <dirent.h>
#include <ftw.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SLC_TEST_SOURCE_DIR
#define SLC_TEST_SOURCE_DIR "."
#endif

void test_expect_ok(slc_status status, const char *call, const char *file, int line) {
    if (status != SLC_OK) {
        print_error("%s\n  gave %s: %s\n", call, slc_status_name(status), slc_status_message());
        _fail(file, line);
    }
}

void test_expect_failure(slc_status status, slc_status expected, const char *words,
                         const char *call, const char *file, int line) {
    if (status != expected) {
        print_error("%s\n  gave %s (%s), expected %s\n", call, slc_status_name(status),
                    status == SLC_OK ? "" : slc_status_message(), slc_status_name(expected));
        _fail(file, line);
    }
    if (words != NULL && strstr(slc_status_message(), words) == NULL) {
        print_error("%s\n  said \"%s\", expected \"%s\" in it\n", call, slc_status_message(),
                    words);
        _fail(file, line);
    }
}

void test_join(const char *directory, const char *name, char path[TEST_PATH_BYTES]) {
    const int length = snprintf(path, TEST_PATH_BYTES, "%s/%s", directory, name);
    assert_true(length > 0 && length < TEST_PATH_BYTES);
}

void test_write_below(const char *directory, const char *name, const char *text) {
    char path[TEST_PATH_BYTES];
    test_join(directory, name, path);
    for (char *slash = strchr(path + strlen(directory) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

test_place *test_place_create(void **state, const char *name) {
    test_place *self = test_allocate(sizeof *self);
    test_directory_create(self->directory);
    test_join(self->directory, name, self->path);
    *state = self;
    return self;
}

int test_place_destroy(void **state) {
    test_place *self = *state;
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

int test_way_create(void **state) {
    test_way *self = test_allocate((int64_t)sizeof *self);
    test_directory_create(self->directory);
    test_join(self->directory, "in.h5", self->in);
    test_join(self->directory, "out.h5", self->out);
    test_join(self->directory, "other.h5", self->other);
    test_join(self->directory, "state", self->checkpoint);
    *state = self;
    return 0;
}

int test_way_destroy(void **state) {
    test_way *self = *state;
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

bool test_shared_path(const char *relative, char path[TEST_PATH_BYTES]) {
    const char *shared = getenv("SLUICE_SHARED");
    test_join(shared != NULL ? shared : SLC_TEST_SOURCE_DIR "/../shared", relative, path);
    if (access(path, R_OK) != 0) {
        print_message("no %s; set SLUICE_SHARED to the folder of the shared data\n", path);
        return false;
    }
    return true;
}

void test_need_shared(const char *relative, char path[TEST_PATH_BYTES]) {
    if (!test_shared_path(relative, path)) {
        TEST_SKIP("it needs %s", relative);
    }
}

void test_directory_create(char path[TEST_PATH_BYTES]) {
    const char *parent = getenv("TMPDIR");
    test_join(parent != NULL ? parent : "/tmp", "sluice-test-XXXXXX", path);
    assert_non_null(mkdtemp(path));
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place) {
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

void test_directory_remove(const char *path) {
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int64_t test_directory_count(const char *path) {
    DIR *directory = opendir(path);
    assert_non_null(directory);
    int64_t n = 0;
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    (void)closedir(directory);
    return n;
}

char *test_file_read(const char *path, int64_t *n_bytes) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *n_bytes = ftell(file);
    rewind(file);
    char *bytes = test_allocate(*n_bytes);
    assert_int_equal(fread(bytes, 1, (size_t)*n_bytes, file), (size_t)*n_bytes);
    (void)fclose(file);
    return bytes;
}

void *test_allocate(int64_t bytes) {
    assert_true(bytes >= 0);
    void *memory = malloc(bytes > 0 ? (size_t)bytes : 1);
    assert_non_null(memory);
    return memory;
}

uint64_t test_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t test_random_below(uint64_t *state, int64_t n) {
    return (int64_t)(test_random(state) % (uint64_t)n);
}

double test_random_between(uint64_t *state, double low, double high) {
    const double unit = ldexp((double)(test_random(state) >> 11), -53);
    return low + (high - low) * unit;
}

void test_fill(void *memory, int64_t bytes, uint64_t seed) {
    unsigned char *byte = memory;
    for (int64_t i = 0; i < bytes; i++) {
        byte[i] = (unsigned char)(test_random(&seed) >> 56);
    }
}

void test_fill_f32(float *values, int64_t n, uint64_t seed) {
    for (int64_t i = 0; i < n; i++) {
        values[i] = (float)test_random_between(&seed, -1, 1);
    }
}

void test_fill_f64(double *values, int64_t n, uint64_t seed) {
    for (int64_t i = 0; i < n; i++) {
        values[i] = test_random_between(&seed, -1, 1);
    }
}

/* The sums of one comparison so far. */
typedef struct comparison {
    double error;
    double norm;
} comparison;

static void compare(comparison *so_far, double a, double b) {
    so_far->error += (a - b) * (a - b);
    so_far->norm += b * b;
}

double test_relative_error_f32(const float *a, const float *b, int64_t n) {
    comparison sums = {0};
    for (int64_t i = 0; i < n; i++) {
        compare(&sums, (double)a[i], (double)b[i]);
    }
    return sqrt(sums.error / sums.norm);
}

double test_relative_error_f64(const double *a, const double *b, int64_t n) {
    comparison sums = {0};
    for (int64_t i = 0; i < n; i++) {
        compare(&sums, a[i], b[i]);
    }
    return sqrt(sums.error / sums.norm);
}
