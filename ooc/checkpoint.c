/* The two files of a checkpoint, and when each is touched.
 *
 *     tile  tile  tile ╎ tile  tile  tile ╎ tile            ╎ every so many seconds, at a tile's end,
 *     ─────────────────╎──────────────────╎──────            with nothing under way:
 *     box ▸ journal    ╎                  ╎                  1. sync the journal
 *                      ╎ box ▸ journal    ╎                  2. write FILE.part-…, sync it
 *                      ▼ FILE             ▼ FILE             3. rename it to FILE
 *
 * Whatever moment the power fails at, FILE is a whole state, and the journal holds at least what that
 * state counts on. Only one run may use the files at a time: the journal is locked while it is
 * open. Nothing is replaced, emptied or removed but what begins as a checkpoint's file does, or was
 * made by this run. */
#include "ooc/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/clock.h"
#include "ooc/checkpoint_internal.h"

/* How long another run may hold the journal's lock before it counts as being at work: 3 s. */
#define LOCK_WAIT_MS 50
#define LOCK_ATTEMPTS 60

slc_status slci_checkpoint_fail(const char *what, const char *path) {
    return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot %s %s: %s", what, path, strerror(errno));
}

/* ---- creating -------------------------------------------------------------------------------- */

static slc_status set_paths(slc_checkpoint *self, const char *path) {
    const size_t n = strlen(path);
    if (n == 0 || n >= sizeof self->path) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "the checkpoint's name has %zu bytes; 1 to %zu work", n,
                        sizeof self->path - 1);
    }
    (void)snprintf(self->path, sizeof self->path, "%s", path);
    (void)snprintf(self->journal_path, sizeof self->journal_path, "%s.journal", path);
    return SLC_OK;
}

/* Whether the open file may be replaced by a state: it is empty, or begins as one. A journal may not,
 * least of all one that another run is writing. */
static slc_status check_state(const slc_checkpoint *self, int fd) {
    struct stat info;
    int kind = 0;
    if (fstat(fd, &info) != 0) {
        return slci_checkpoint_fail("look at", self->path);
    }
    if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s is in use as the journal of another checkpoint; " SLCI_NAME_ANOTHER,
                        self->path);
    }
    if (info.st_size == 0) {
        return self->options.overwrite
                   ? SLC_OK
                   : SLC_FAIL(SLC_ERROR_OUTPUT,
                              "%s exists and is empty; replacing it (--overwrite) makes it a "
                              "checkpoint",
                              self->path);
    }
    const bool is_block = slci_block_peek(fd, &kind);
    if (!is_block || kind >= SLCI_FIRST_JOURNAL_KIND) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "%s exists and is %s; " SLCI_NAME_ANOTHER, self->path,
                        is_block ? "the journal of another checkpoint" : "no checkpoint of Sluice");
    }
    return SLC_OK;
}

/* What must be known of the names before anything is made under them. A file that is resumed is read
 * and checked as a whole before anything is done to it. */
static slc_status check_names(const slc_checkpoint *self, bool *exists) {
    struct stat info;
    *exists = stat(self->path, &info) == 0;
    if (*exists && !S_ISREG(info.st_mode)) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s is no ordinary file and cannot be a checkpoint; " SLCI_NAME_ANOTHER,
                        self->path);
    }
    if (*exists && !self->options.resume) {
        const int fd = open(self->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) {
            return slci_checkpoint_fail("open", self->path);
        }
        const slc_status status = check_state(self, fd);
        (void)close(fd);
        SLC_TRY(status);
    }
    if (*exists && !self->options.resume && !self->options.overwrite) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s exists: resuming (--resume) goes on with that checkpoint, replacing it "
                        "(--overwrite) begins another one",
                        self->path);
    }
    if (!*exists && self->options.resume) {
        slc_log_note(self->options.log, "there is no checkpoint %s: beginning from the start",
                     self->path);
    }
    return SLC_OK;
}

/* A run that was killed holds its lock until the system has taken it apart, which takes a moment
 * where it had much memory. A file system without locks is let be. */
static bool lock(int fd) {
    const struct timespec pause = {.tv_nsec = LOCK_WAIT_MS * 1000000L};
    for (int attempt = 0; flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; attempt++) {
        if (attempt == LOCK_ATTEMPTS) {
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

/* Makes the journal, or opens the one that is there. It is never reached through a link. */
static slc_status make_journal(slc_checkpoint *self) {
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    self->journal_fd = open(self->journal_path, flags | O_EXCL, 0666);
    self->is_new = self->journal_fd >= 0;
    if (self->journal_fd < 0 && errno == EEXIST) {
        self->journal_fd = open(self->journal_path, flags | O_NONBLOCK, 0666);
    }
    if (self->journal_fd < 0 && errno == ELOOP) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s is a link and cannot be a journal; " SLCI_NAME_ANOTHER,
                        self->journal_path);
    }
    return self->journal_fd >= 0 ? SLC_OK : slci_checkpoint_fail("make", self->journal_path);
}

/* Opens the journal and keeps others away from it. A file of that name that is not ours is let be; one
 * that is resumed is checked as a whole before it is changed. */
static slc_status open_journal(slc_checkpoint *self) {
    struct stat info;
    SLC_TRY(make_journal(self));
    if (fstat(self->journal_fd, &info) != 0) {
        return slci_checkpoint_fail("look at", self->journal_path);
    }
    if (!S_ISREG(info.st_mode)) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s is no ordinary file and cannot be a journal; " SLCI_NAME_ANOTHER,
                        self->journal_path);
    }
    if (!lock(self->journal_fd)) {
        return SLC_FAIL(
            SLC_ERROR_OUTPUT,
            "another run is using the checkpoint %s; wait for its end, or " SLCI_NAME_ANOTHER,
            self->path);
    }
    /* Now that nobody else writes it: what the run before has made of it. */
    if (fstat(self->journal_fd, &info) != 0 || info.st_nlink == 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "another run has just ended with the checkpoint %s; begin again",
                        self->path);
    }
    const bool resumes = self->options.resume && self->has_state;
    int kind = 0;
    if (!resumes && info.st_size > 0 &&
        (!slci_block_peek(self->journal_fd, &kind) || kind < SLCI_FIRST_JOURNAL_KIND)) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s exists and is no journal of a checkpoint; " SLCI_NAME_ANOTHER,
                        self->journal_path);
    }
    self->is_ours = true;
    return SLC_OK;
}

int64_t slc_checkpoint_bytes(void) {
    return SLCI_CHECKPOINT_BUFFER_BYTES;
}

slc_status slc_checkpoint_create(const slc_checkpoint_options *options, slc_checkpoint **out) {
    if (!slci_hash_is_built()) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "this Sluice was built without xxHash (libxxhash-dev), whose checksums a "
                        "checkpoint (--checkpoint) needs");
    }
    slc_checkpoint *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a checkpoint");
    }
    self->options = *options;
    self->journal_fd = -1;
    self->state_fd = -1;
    self->stage = -1;
    self->saved_stage = -1;
    const double seconds =
        options->every_seconds > 0 ? options->every_seconds : SLC_CHECKPOINT_EVERY_SECONDS;
    self->every_ns = (int64_t)(seconds * 1e9);
    pthread_mutex_init(&self->mutex, NULL);
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(failed, slc_budget_reserve(options->budget, SLC_SPACE_HOST,
                                            SLCI_CHECKPOINT_BUFFER_BYTES, "checkpoint"));
    self->buffer = malloc(SLCI_CHECKPOINT_BUFFER_BYTES);
    if (self->buffer == NULL) {
        slc_budget_release(options->budget, SLC_SPACE_HOST, SLCI_CHECKPOINT_BUFFER_BYTES);
        SLC_TRY_GOTO(failed, SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a checkpoint's copies"));
    }
    SLC_TRY_GOTO(failed, set_paths(self, options->path));
    SLC_TRY_GOTO(failed, check_names(self, &self->has_state));
    SLC_TRY_GOTO(failed, open_journal(self));
    *out = self;
    return SLC_OK;
failed:
    slc_checkpoint_destroy(self);
    return status;
}

/* ---- beginning and resuming ------------------------------------------------------------------ */

static slc_status copy_fingerprint(slc_checkpoint *self, const slc_fingerprint *fingerprint) {
    char *text = malloc((size_t)slc_max_i64(fingerprint->n_bytes, 1));
    if (text == NULL || fingerprint->is_incomplete) {
        free(text);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a checkpoint's fingerprint");
    }
    if (fingerprint->n_bytes > 0) {
        memcpy(text, fingerprint->text, (size_t)fingerprint->n_bytes);
    }
    self->fingerprint = (slc_fingerprint){.text = text, .n_bytes = fingerprint->n_bytes};
    return SLC_OK;
}

/* The run before was at its very end, and had removed its journal. Are its outputs where they should
 * be, nothing is needed from it; if not, the run begins from the start. */
static slc_status begin_without_journal(slc_checkpoint *self) {
    self->saved_stage = -1;
    return slci_journal_begin(self);
}

static slc_status resume(slc_checkpoint *self) {
    int64_t n_bytes = 0;
    int64_t n_blocks = 0;
    struct stat info;
    SLC_TRY(slci_state_read(self, &n_bytes, &n_blocks));
    self->is_resumed = true;
    slc_log_note(self->options.log, "going on with the checkpoint %s", self->path);
    if (self->is_settled && fstat(self->journal_fd, &info) == 0 && info.st_size < n_bytes) {
        return begin_without_journal(self);
    }
    SLC_TRY(slci_journal_open(self, n_bytes, n_blocks));
    self->is_whole = true;
    return SLC_OK;
}

slc_status slc_checkpoint_begin(slc_checkpoint *self, const slc_fingerprint *fingerprint,
                                const slc_checkpoint_client *client) {
    SLC_TRY(copy_fingerprint(self, fingerprint));
    if (client != NULL) {
        self->client = *client;
    }
    self->last_ns = slc_clock_ns();
    self->is_begun = true;
    if (self->options.resume && self->has_state) {
        return resume(self);
    }
    /* First the state, so that none is left whose journal is gone. */
    if (self->has_state && unlink(self->path) != 0) {
        return slci_checkpoint_fail("remove", self->path);
    }
    self->has_state = false;
    return slci_journal_begin(self);
}

bool slc_checkpoint_is_resumed(const slc_checkpoint *self) {
    return self != NULL && self->is_resumed;
}

int64_t slc_checkpoint_count(const slc_checkpoint *self) {
    return self != NULL ? self->n_states : 0;
}

/* ---- stages ---------------------------------------------------------------------------------- */

void slci_checkpoint_drop_partials(slc_checkpoint *self) {
    self->n_partials = 0;
}

void slci_checkpoint_drop_sums(slc_checkpoint *self, const slc_job *job) {
    int64_t n = 0;
    for (int64_t p = 0; p < self->n_partials; p++) {
        const int o = self->partial[p].operand;
        if (o < job->n_operands && job->operands[o].access == SLC_ACCESS_WORK) {
            self->partial[n++] = self->partial[p];
        }
    }
    self->n_partials = n;
}

/* What regions and partials mean depends on the job's axes and on the shape of what it writes. Two
 * runs may do a stage by different jobs that give the same result, because their budgets differ. */
static uint64_t sign(const slc_job *job) {
    slci_hash hash;
    slci_hash_begin(&hash, 0);
    slci_hash_add(&hash, job->name, (int64_t)strlen(job->name));
    for (int a = 0; a < job->n_axes; a++) {
        const slc_axis *axis = &job->axes[a];
        const int64_t numbers[3] = {axis->extent, axis->granule, (int64_t)axis->kind};
        slci_hash_add(&hash, numbers, (int64_t)sizeof numbers);
    }
    for (int o = 0; o < job->n_operands; o++) {
        const slc_operand *operand = &job->operands[o];
        const bool is_scratch = operand->access == SLC_ACCESS_WORK && !operand->keeps_state;
        if (operand->access == SLC_ACCESS_IN || is_scratch) {
            continue; /* scratch memory may be as large as the threads are many */
        }
        const int64_t numbers[4] = {o, (int64_t)operand->dtype, (int64_t)operand->access,
                                    operand->rank};
        slci_hash_add(&hash, numbers, (int64_t)sizeof numbers);
        for (int d = 0; d < operand->rank; d++) {
            const int64_t dimension[3] = {operand->axes[d], operand->fixed_extent[d],
                                          operand->per_step[d]};
            slci_hash_add(&hash, dimension, (int64_t)sizeof dimension);
        }
    }
    return slci_hash_end(&hash);
}

slc_status slci_checkpoint_next_stage(slc_checkpoint *self, const slc_job *job) {
    if (!self->is_begun) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "job %s: the checkpoint %s was not begun (slc_checkpoint_begin)", job->name,
                        self->path);
    }
    SLC_TRY(slc_job_check(job));
    if (self->stage >= self->saved_stage) {
        self->n_regions = 0;
        slci_checkpoint_drop_partials(self);
    }
    self->stage++;
    self->signature = sign(job);
    if (self->stage == self->saved_stage && self->signature != self->saved_signature) {
        slc_log_note(self->options.log,
                     "under this budget the step in which the run was stopped is done in another "
                     "way; it begins again");
        self->saved_stage--;
        self->n_regions = 0;
        slci_checkpoint_drop_partials(self);
    }
    return SLC_OK;
}

void slci_checkpoint_undo_stage(slc_checkpoint *self) {
    self->stage--;
}

/* ---- writing states -------------------------------------------------------------------------- */

slc_status slci_checkpoint_warn(const slc_checkpoint *self, slc_status status) {
    if (status != SLC_ERROR_OUTPUT) {
        return status;
    }
    slc_log_warning(self->options.log, "%s; the run goes on, and %s", slc_status_message(),
                    self->has_state ? "the checkpoint before stays good"
                                    : "there is no checkpoint yet");
    return SLC_OK;
}

bool slci_checkpoint_is_stopped(slc_checkpoint *self) {
    pthread_mutex_lock(&self->mutex);
    const bool stopped = self->is_stopped;
    pthread_mutex_unlock(&self->mutex);
    return stopped;
}

/* ---- the end --------------------------------------------------------------------------------- */

static slc_status remove_state(slc_checkpoint *self) {
    if (self->has_state && unlink(self->path) != 0 && errno != ENOENT) {
        return slci_checkpoint_fail("remove", self->path);
    }
    self->has_state = false;
    return SLC_OK;
}

static slc_status remove_journal(slc_checkpoint *self) {
    if (unlink(self->journal_path) != 0 && errno != ENOENT) {
        return slci_checkpoint_fail("remove", self->journal_path);
    }
    return SLC_OK;
}

/* A state that knows the outputs goes last, since it needs no journal to say that all is done; any
 * other one goes first, so that none is left whose journal is gone. */
slc_status slc_checkpoint_finish(slc_checkpoint *self) {
    if (self == NULL) {
        return SLC_OK;
    }
    self->is_finished = true;
    if (self->is_settled) {
        SLC_TRY(remove_journal(self));
        return remove_state(self);
    }
    SLC_TRY(remove_state(self));
    return remove_journal(self);
}

/* Whether there is something to go on with: a state of this run, and all that it counts on. */
static bool is_useful(const slc_checkpoint *self) {
    return self->is_ours && self->has_state && !self->is_finished &&
           (self->n_states > 0 || self->is_whole);
}

/* Before the run has begun, whether what it was to resume looks like a state. */
static bool is_promising(const slc_checkpoint *self) {
    int kind = 0;
    if (!self->options.resume || self->is_begun || !self->is_ours || !self->has_state) {
        return false;
    }
    const int fd = open(self->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const bool is_block = fd >= 0 && slci_block_peek(fd, &kind);
    if (fd >= 0) {
        (void)close(fd);
    }
    return is_block && kind < SLCI_FIRST_JOURNAL_KIND;
}

/* An interrupted run whose last state is older than the interrupt says so too. */
slc_status slc_checkpoint_explain(slc_checkpoint *self, slc_status status) {
    if (self == NULL || status != SLC_ERROR_INTERRUPTED || self->is_told ||
        !(is_useful(self) || is_promising(self))) {
        return status;
    }
    self->is_told = true;
    return SLC_FAIL(SLC_ERROR_INTERRUPTED,
                    "%s; %s keeps what was done up to its last state: " SLCI_GO_ON,
                    slc_status_message(), self->path);
}

/* A run that ends early for whatever reason says what is left to go on with; but not one that ends
 * before it has begun, which the same command would do again. */
static void say_how_to_go_on(const slc_checkpoint *self) {
    if (is_useful(self) && !self->is_told) {
        slc_log_note(self->options.log, "%s keeps what was done up to its last state: " SLCI_GO_ON,
                     self->path);
    }
}

void slc_checkpoint_destroy(slc_checkpoint *self) {
    if (self == NULL) {
        return;
    }
    say_how_to_go_on(self);
    /* A journal without a state is of no use to anybody, nor is one that was made beside a state that
     * turned out to be none. */
    const bool is_needed = self->has_state && (!self->is_new || self->n_states > 0);
    if (self->is_ours && !is_needed && !self->is_finished) {
        (void)unlink(self->journal_path);
    }
    if (self->journal_fd >= 0) {
        (void)close(self->journal_fd);
    }
    if (self->state_fd >= 0) {
        (void)close(self->state_fd);
    }
    if (self->buffer != NULL) {
        slc_budget_release(self->options.budget, SLC_SPACE_HOST, SLCI_CHECKPOINT_BUFFER_BYTES);
    }
    free(self->buffer);
    free(self->region);
    free(self->partial);
    free(self->output);
    slc_fingerprint_destroy(&self->fingerprint);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}
