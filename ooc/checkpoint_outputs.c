/* Outputs between their names and the end of the checkpoint.
 *
 *     outputs whole ─ settle ─ name ─ name ─ … ─ finish
 *                        │      any moment in here: the state says what the files are
 *                        └ state with nothing left to do
 *
 * A run that resumes finds them by size, time and inode, which a rename keeps, whatever they are called
 * by then. Are all of them there, it is complete. Is only a part, it takes everything from the journal
 * and writes all outputs again, and may replace those. What was replaced stays known: until the new
 * file has the name the old one may be there, and a record is a few bytes an attempt. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/file.h"
#include "ooc/checkpoint_internal.h"

static bool find_record(const char *path, slci_output_record *out) {
    slci_file_stamp stamp;
    if (!slci_file_stamp_find(path, &stamp)) {
        return false;
    }
    *out = (slci_output_record){.bytes = stamp.bytes,
                                .modified_ns = stamp.modified_ns,
                                .inode = stamp.inode};
    return true;
}

static bool is_same(const slci_output_record *a, const slci_output_record *b) {
    return a->bytes == b->bytes && a->modified_ns == b->modified_ns && a->inode == b->inode;
}

static slc_status not_there(const char *path) {
    return SLC_FAIL(SLC_ERROR_OUTPUT, "%s, which was written, is not there: %s", path,
                    strerror(errno));
}

/* Of the run before an output may have its name still, which this run is about to replace: it stays
 * known. */
static slc_status look_at(slc_checkpoint *self, const char *const *paths, int n_paths) {
    slci_output_record *output = calloc((size_t)(n_paths + self->n_known), sizeof *output);
    int n = 0;
    if (output == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the outputs of a checkpoint");
    }
    for (int i = 0; i < n_paths; i++) {
        if (paths[i] == NULL) {
            continue;
        }
        if (!find_record(paths[i], &output[n])) {
            const slc_status status = not_there(paths[i]);
            free(output);
            return status;
        }
        n++;
    }
    for (int i = 0; i < self->n_known; i++) {
        output[n + i] = self->output[i];
    }
    free(self->output);
    self->output = output;
    self->n_outputs = n;
    self->n_known += n;
    return SLC_OK;
}

/* Writes a state in which nothing is left to do: it stands before a stage that never comes. */
static slc_status write_end(slc_checkpoint *self, int64_t stage) {
    const slci_state state = {.round = 0};
    slci_checkpoint_drop_partials(self);
    self->stage = stage;
    self->signature = 0;
    return slci_checkpoint_warn(self, slci_state_write(self, &state));
}

slc_status slc_checkpoint_settle(slc_checkpoint *self, const char *const *paths, int n_paths) {
    if (self == NULL || n_paths == 0 || slci_checkpoint_is_stopped(self)) {
        return SLC_OK;
    }
    SLC_TRY(look_at(self, paths, n_paths));
    return self->n_outputs == 0 ? SLC_OK : write_end(self, self->stage + 1);
}

slc_status slc_checkpoint_settle_beside(slc_checkpoint *self, const char *path) {
    if (self == NULL || slci_checkpoint_is_stopped(self)) {
        return SLC_OK;
    }
    if (self->n_outputs == 0) {
        return slc_checkpoint_settle(self, &path, 1);
    }
    slci_output_record *output =
        realloc(self->output, (size_t)(self->n_known + 1) * sizeof *output);
    if (output == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the outputs of a checkpoint");
    }
    self->output = output;
    if (!find_record(path, &output[self->n_known])) {
        return not_there(path);
    }
    self->n_known++;
    /* A run that found itself complete has no stages of its own. */
    return write_end(self, slc_max_i64(slc_max_i64(self->stage, self->saved_stage), 0));
}

bool slc_checkpoint_is_complete(const slc_checkpoint *self, const char *const *paths, int n_paths) {
    bool is_complete =
        self != NULL && self->is_resumed && n_paths > 0 && n_paths == self->n_outputs;
    for (int i = 0; i < n_paths && is_complete; i++) {
        slci_output_record found;
        is_complete = find_record(paths[i], &found) && is_same(&found, &self->output[i]);
    }
    return is_complete;
}

/* What the state in the open file says of outputs. What is wrong with it is found, and said, when the
 * checkpoint is begun. */
static bool has_record(int fd, const char *name, const slci_output_record *record) {
    struct stat info;
    slci_state_head head = {.version = 0};
    slci_output_record *output = NULL;
    bool has = false;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return false;
    }
    slci_block_reader reader = {.fd = fd, .name = name, .end = (int64_t)info.st_size};
    if (slci_state_open(&reader, &head, &output) != SLC_OK) {
        return false;
    }
    for (int64_t i = 0; i < head.n_known; i++) {
        has = has || is_same(&output[i], record);
    }
    free(output);
    return has;
}

bool slc_checkpoint_has_made(const char *checkpoint_path, const char *path) {
    slci_output_record record;
    if (!slci_hash_is_built() || !find_record(path, &record)) {
        return false;
    }
    const int fd = open(checkpoint_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    const bool has_made = has_record(fd, checkpoint_path, &record);
    (void)close(fd);
    return has_made;
}
