/* A checkpoint whose two files are not as they were written, for libFuzzer.
 *
 *     byte 0      which stopped run left the files (low 2 bits), which tiles the next has (bit 2)
 *     8 bytes for each of up to 16 changes: what is done, to which file and block, where in it (two),
 *     and four of which a value is made; the rest is not used
 *
 * Blocks are changed and then sealed with checksums that fit, as a hand would have to do it, since a
 * file without them is refused at its first block; the last kind of change is that of damage, a byte or
 * a length of the file itself. Resuming ends in a status, and a refusal is one line that names the
 * file; a damaged one is refused before anything is computed. */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "io/h5_array.h"
#include "ooc/checkpoint_internal.h"
#include "tests/support/test_stages.h"

enum { CHANGE_BYTES = 8, MOST_CHANGES = 16, MOST_BLOCKS = 256, MOST_BYTES = 1 << 16, N_FILES = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* A block as it will be written: its header says `claimed` bytes. */
typedef struct block {
    int kind;
    int64_t n_bytes, claimed;
    char *bytes;
} block;

typedef struct content {
    block block[MOST_BLOCKS];
    int n_blocks;
} content;

/* ---- the program that is stopped and resumed --------------------------------------------------- */

static char folder[64];

/* The second stage's output is stored in chunks that are encoded, which the journal keeps as pieces. */
static void bind(int stage, test_bound_job *out) {
    test_stages_bind(stage, out);
    if (stage != 1) {
        return;
    }
    slc_h5_array_output output = {.dataset = "/x", .chunk = {4, 5}, .overwrite = true};
    char path[80];
    (void)snprintf(path, sizeof path, "%s/out.h5", folder);
    output.path = path;
    for (int o = 0; o < out->job.n_operands; o++) {
        if (out->bindings[o].sink != NULL) {
            output.layout = out->bindings[o].sink->layout;
            slc_sink_destroy(out->bindings[o].sink);
            out->bindings[o].sink = NULL;
            if (slc_h5_filter_parse("deflate:1", &output.filter) != SLC_OK ||
                slc_h5_array_create(&output, &out->bindings[o].sink) != SLC_OK) {
                abort();
            }
        }
    }
}

static int64_t errors(int stage, const test_bound_job *bound) {
    return stage == 1 ? 0 : test_stages_errors(stage, bound);
}

/* What the caller remembers: eight bytes. */
static int64_t client_bytes(void *context) {
    (void)context;
    return 8;
}

static void client_save(void *context, void *out) {
    (void)context;
    memset(out, 'c', 8);
}

static slc_status client_load(void *context, const void *data, int64_t n_bytes) {
    (void)context;
    return n_bytes == 8 && memcmp(data, "cccccccc", 8) == 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INPUT, "%s/state: totals of another kind", folder);
}

static const slc_checkpoint_client client = {.bytes = client_bytes,
                                             .save = client_save,
                                             .load = client_load};
static test_stages stages = {.n_stages = 3,
                             .granule = 4,
                             .bind = bind,
                             .unbind = test_unbind,
                             .errors = errors,
                             .client = &client};

/* ---- files of runs that were stopped ----------------------------------------------------------- */

enum { N_RUNS = 4 };
static content stopped[N_RUNS][N_FILES];
static char names[N_FILES][80];

static int64_t open_file(int f, int flags, int *fd) {
    struct stat info;
    *fd = open(names[f], flags, 0600);
    if (*fd < 0 || fstat(*fd, &info) != 0) {
        abort();
    }
    return (int64_t)info.st_size;
}

static void read_blocks(int f, content *out) {
    int fd = -1;
    slci_block_reader reader = {.name = names[f], .end = open_file(f, O_RDONLY, &fd)};
    reader.fd = fd;
    while (reader.at < reader.end && out->n_blocks < MOST_BLOCKS) {
        block *next = &out->block[out->n_blocks++];
        if (slci_block_next(&reader, &next->kind, &next->n_bytes) != SLC_OK) {
            abort();
        }
        next->claimed = next->n_bytes;
        next->bytes = test_allocate(next->n_bytes + 1);
        if (slci_block_read(&reader, next->bytes, next->n_bytes) != SLC_OK ||
            slci_block_close(&reader) != SLC_OK) {
            abort();
        }
    }
    (void)close(fd);
}

/* Runs of three stages, stopped at places that are as far apart. */
static void make_stopped(void) {
    (void)snprintf(folder, sizeof folder, "checkpoint-%ld", (long)getpid());
    (void)snprintf(names[0], sizeof names[0], "%s/state", folder);
    (void)snprintf(names[1], sizeof names[1], "%s/state.journal", folder);
    if (mkdir(folder, 0700) != 0 || slc_pool_create(1, &stages.pool) != SLC_OK ||
        slc_device_create_host(stages.pool, NULL, &stages.device) != SLC_OK ||
        slc_budget_create(1LL << 32, 1LL << 32, &stages.budget) != SLC_OK) {
        abort();
    }
    stages.path = names[0];
    test_attempt whole = {.seed = 3};
    if (test_stages_run(&stages, &whole) != SLC_OK) {
        abort();
    }
    for (int r = 0; r < N_RUNS; r++) {
        test_attempt attempt = {.seed = 3,
                                .stop_after = whole.n_tiles * (2 * r + 1) / (2 * N_RUNS),
                                .overwrite = true};
        if (test_stages_run(&stages, &attempt) != SLC_ERROR_INTERRUPTED) {
            abort();
        }
        for (int f = 0; f < N_FILES; f++) {
            read_blocks(f, &stopped[r][f]);
        }
    }
}

static void remove_folder(void) {
    test_directory_remove(folder);
}

/* ---- changes ----------------------------------------------------------------------------------- */

static void copy_block(const block *from, block *to) {
    *to = *from;
    to->bytes = test_allocate(from->n_bytes + 1);
    memcpy(to->bytes, from->bytes, (size_t)from->n_bytes);
}

static void free_blocks(content *of) {
    for (int b = 0; b < of->n_blocks; b++) {
        free(of->block[b].bytes);
    }
    of->n_blocks = 0;
}

static int64_t value_of(int64_t old, const uint8_t *how) {
    static const int64_t values[] = {0,
                                     1,
                                     -1,
                                     2,
                                     INT64_MAX,
                                     INT64_MIN,
                                     INT64_MAX - 7,
                                     INT64_C(1) << 20,
                                     INT64_C(1) << 32,
                                     INT64_C(1) << 62,
                                     (INT64_C(1) << 62) + 1,
                                     INT64_MAX / 8};
    switch (how[0] % 4) {
    case 0:
        return values[how[1] % TEST_COUNT(values)];
    case 1:
        return how[1];
    case 2:
        return (int64_t)((uint64_t)old + (uint64_t)(int64_t)(int8_t)how[1]);
    default:
        return (int64_t)((uint64_t)how[1] << (how[2] % 64));
    }
}

static void resize(block *of, int64_t n_bytes) {
    char *bytes = test_allocate(n_bytes + 1);
    memset(bytes, 0, (size_t)n_bytes);
    memcpy(bytes, of->bytes, (size_t)slc_min_i64(n_bytes, of->n_bytes));
    free(of->bytes);
    of->bytes = bytes;
    of->n_bytes = n_bytes;
    of->claimed = n_bytes;
}

static void remove_block(content *of, int b) {
    free(of->block[b].bytes);
    of->n_blocks--;
    memmove(&of->block[b], &of->block[b + 1], (size_t)(of->n_blocks - b) * sizeof of->block[b]);
}

static void repeat_block(content *of, int b) {
    if (of->n_blocks < MOST_BLOCKS) {
        memmove(&of->block[b + 1], &of->block[b], (size_t)(of->n_blocks - b) * sizeof of->block[b]);
        of->n_blocks++;
        copy_block(&of->block[b + 1], &of->block[b]);
    }
}

static void exchange(block *a, block *b) {
    const block other = *a;
    *a = *b;
    *b = other;
}

/* One change of the files' blocks. */
static void change(content *of, const uint8_t *how) {
    if (of->n_blocks == 0) {
        return;
    }
    const int b = how[1] % of->n_blocks;
    block *to = &of->block[b];
    const int64_t where = how[2] | how[3] << 8;
    switch (how[0] % 8) {
    case 0:
    case 1:
        if (to->n_bytes >= 8) {
            char *word = to->bytes + where % (to->n_bytes / 8) * 8;
            int64_t value = 0;
            memcpy(&value, word, sizeof value);
            value = value_of(value, how + 4);
            if (to->kind == SLCI_STATE_PARTIAL &&
                word - to->bytes >= (ptrdiff_t)sizeof(slci_box_record)) {
                value &= 0xffff; /* a sum under way, to which the job adds */
            }
            memcpy(word, &value, sizeof value);
        }
        break;
    case 2:
        to->kind = how[2];
        break;
    case 3:
        remove_block(of, b);
        break;
    case 4:
        repeat_block(of, b);
        break;
    case 5:
        resize(to, (how[4] & 1) != 0 ? where % 1024
                                     : slc_max_i64(to->n_bytes + (where % 512 - 256) * 8, 0));
        break;
    case 6:
        exchange(to, &of->block[how[2] % of->n_blocks]);
        break;
    default:
        to->claimed = value_of(to->n_bytes, how + 4);
        break;
    }
}

static void write_blocks(int f, const content *from) {
    int fd = -1;
    (void)open_file(f, O_RDWR | O_CREAT | O_TRUNC, &fd);
    slci_block_writer writer = {.fd = fd, .name = names[f]};
    for (int b = 0; b < from->n_blocks; b++) {
        const block *next = &from->block[b];
        if (slci_block_begin(&writer, next->kind, next->claimed) != SLC_OK) {
            abort();
        }
        writer.left = next->n_bytes;
        if (slci_block_add(&writer, next->bytes, next->n_bytes) != SLC_OK ||
            slci_block_end(&writer) != SLC_OK) {
            abort();
        }
    }
    (void)close(fd);
}

/* Another byte, or another length; whether the file is another one in what a state counts on. */
static bool damage(int f, const uint8_t *how) {
    int fd = -1;
    const int64_t n_bytes = open_file(f, O_RDWR, &fd);
    const int64_t at = (how[2] | how[3] << 8) % (n_bytes > 0 ? n_bytes : 1);
    const bool is_cut = (how[4] & 1) != 0;
    uint8_t byte = 0;
    if (n_bytes > 0 && is_cut && ftruncate(fd, (off_t)at) != 0) {
        abort();
    }
    if (n_bytes > 0 && !is_cut) {
        if (pread(fd, &byte, 1, (off_t)at) != 1) {
            abort();
        }
        byte = (uint8_t)(byte ^ (how[5] | 1));
        if (pwrite(fd, &byte, 1, (off_t)at) != 1) {
            abort();
        }
    }
    (void)close(fd);
    return n_bytes > 0;
}

/* ---- one input --------------------------------------------------------------------------------- */

/* The kinds of changes with this bit are those of damage; returns how many were made to good files. */
#define IS_DAMAGE 0x40
#define OF_JOURNAL 0x80

static int put_files(const uint8_t *data, size_t n_bytes, bool *is_forged) {
    const content *run = stopped[data[0] % N_RUNS];
    static content made[N_FILES];
    int n_damaged = 0;
    for (int f = 0; f < N_FILES; f++) {
        made[f].n_blocks = run[f].n_blocks;
        for (int b = 0; b < run[f].n_blocks; b++) {
            copy_block(&run[f].block[b], &made[f].block[b]);
        }
    }
    const size_t n_changes = (n_bytes - 1) / CHANGE_BYTES;
    for (size_t k = 0; k < n_changes && k < MOST_CHANGES; k++) {
        const uint8_t *how = data + 1 + k * CHANGE_BYTES;
        if ((how[0] & IS_DAMAGE) == 0) {
            change(&made[(how[0] & OF_JOURNAL) != 0], how);
            *is_forged = true;
        }
    }
    for (int f = 0; f < N_FILES; f++) {
        write_blocks(f, &made[f]);
        free_blocks(&made[f]);
    }
    for (size_t k = 0; k < n_changes && k < MOST_CHANGES && n_damaged == 0; k++) {
        const uint8_t *how = data + 1 + k * CHANGE_BYTES;
        if ((how[0] & IS_DAMAGE) != 0) {
            n_damaged += damage((how[0] & OF_JOURNAL) != 0, how);
        }
    }
    return n_damaged;
}

static void check_refusal(slc_status status) {
    const char *message = slc_status_message();
    const bool is_of_input = status == SLC_ERROR_INPUT || status == SLC_ERROR_UNSUPPORTED;
    if (!is_of_input || strstr(message, names[0]) == NULL || strchr(message, '\n') != NULL) {
        (void)fprintf(stderr, "%s: %s\n", slc_status_name(status), message);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    if (stages.pool == NULL) {
        make_stopped();
        (void)atexit(remove_folder);
    }
    if (n_bytes < 1 || n_bytes > MOST_BYTES) {
        return 0;
    }
    bool is_forged = false;
    const int n_damaged = put_files(data, n_bytes, &is_forged);
    (void)slc_checkpoint_has_made(names[0], names[1]);
    test_attempt attempt = {.seed = data[0] / N_RUNS % 2, .resume = true};
    const slc_status status = test_stages_run(&stages, &attempt);
    if (status != SLC_OK) {
        check_refusal(status);
    }
    const bool is_right = n_damaged > 0 ? status != SLC_OK && attempt.n_tiles == 0
                                        : status == SLC_OK && attempt.n_errors == 0;
    if (!is_forged && !is_right) {
        abort();
    }
    (void)unlink(names[0]);
    (void)unlink(names[1]);
    return 0;
}
