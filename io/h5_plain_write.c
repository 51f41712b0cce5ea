/* HDF5 makes room for all chunks when it makes the dataset, and its structure does not change any more:
 * so HDF5 closes the file, and the chunks are looked up in it as a reader looks them up. */
#include "io/h5_plain_write.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/file.h"
#include "io/block_move.h"
#include "io/h5_index.h"
#include "io/outfile.h"

struct slci_h5_plain {
    char final_path[SLC_PATH_BYTES];
    int fd;
    slci_blocks blocks;
    slci_h5_index *index;  /* NULL: in one piece, or there are no elements */
    int64_t n_memories;    /* as many threads write at once, others wait */
    int64_t memory_bytes;  /* of each; 0: none is needed */
    char *memory;          /* [n_memories, memory_bytes] */
    int64_t *free_memory;  /* [n_memories], a stack */
    pthread_mutex_t mutex; /* everything below */
    pthread_cond_t changed;
    int64_t n_free;
};

/* ---- sizes ------------------------------------------------------------------------------------ */

static slci_blocks blocks_of(const slc_h5_array_output *output) {
    slci_blocks blocks = {.layout = output->layout, .turn = slci_h5_output_turn(output)};
    for (int d = 0; d < output->layout.rank; d++) {
        blocks.block[d] =
            slci_h5_is_chunked(output) ? output->chunk[d] : slc_max_i64(output->layout.shape[d], 1);
    }
    return blocks;
}

/* The pool's threads, and the one that is not. */
static int64_t n_memories_of(const slc_h5_array_output *output) {
    return output->pool == NULL ? 1 : slc_pool_size(output->pool) + 1;
}

int64_t slci_h5_plain_bytes(const slc_h5_array_output *output) {
    const slci_blocks blocks = blocks_of(output);
    const int64_t places =
        slci_h5_is_chunked(output)
            ? slci_h5_index_bytes(output->layout.rank, output->layout.shape, output->chunk)
            : 0;
    return places + n_memories_of(output) * slci_blocks_memory_bytes(&blocks);
}

/* ---- writing ---------------------------------------------------------------------------------- */

static slc_status write_run(void *context, void *data, int64_t n_bytes, int64_t at) {
    const slci_h5_plain *plain = context;
    return slci_write_at(plain->fd, data, n_bytes, at) == 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write %s, %lld bytes from byte %lld on: %s",
                          plain->final_path, (long long)n_bytes, (long long)at, strerror(errno));
}

static int64_t take_memory(slci_h5_plain *plain) {
    (void)pthread_mutex_lock(&plain->mutex);
    while (plain->n_free == 0) {
        (void)pthread_cond_wait(&plain->changed, &plain->mutex);
    }
    const int64_t taken = plain->free_memory[--plain->n_free];
    (void)pthread_mutex_unlock(&plain->mutex);
    return taken;
}

static void give_back_memory(slci_h5_plain *plain, int64_t taken) {
    (void)pthread_mutex_lock(&plain->mutex);
    plain->free_memory[plain->n_free++] = taken;
    (void)pthread_cond_signal(&plain->changed);
    (void)pthread_mutex_unlock(&plain->mutex);
}

slc_status slci_h5_plain_write(slci_h5_plain *plain, const slc_box *box, const void *src) {
    void *data = (void *)(uintptr_t)src; /* is not written to */
    if (plain->memory_bytes == 0) {
        return slci_blocks_move(&plain->blocks, box, data, NULL);
    }
    const int64_t taken = take_memory(plain);
    const slc_status status =
        slci_blocks_move(&plain->blocks, box, data, plain->memory + taken * plain->memory_bytes);
    give_back_memory(plain, taken);
    return status;
}

/* ---- making ----------------------------------------------------------------------------------- */

/* With the lock. */
static slc_status find_chunks(slci_h5_plain *plain, const slci_h5_plain_options *options,
                              slci_h5_id file, int64_t file_bytes) {
    const slc_h5_array_output *output = &options->settled->output;
    slci_h5_index_request request = {.path = options->path,
                                     .name = options->settled->name,
                                     .dataset =
                                         H5Dopen2((hid_t)file, options->settled->name, H5P_DEFAULT),
                                     .descriptor = plain->fd,
                                     .file_bytes = file_bytes,
                                     .rank = output->layout.rank};
    memcpy(request.shape, output->layout.shape, sizeof request.shape);
    memcpy(request.chunk, output->chunk, sizeof request.chunk);
    if (request.dataset < 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "%s: dataset %s cannot be opened", options->path,
                        options->settled->name);
    }
    const slc_status status = slci_h5_index_create(&request, &plain->index);
    (void)H5Dclose((hid_t)request.dataset);
    return status;
}

static slc_status place_chunks(slci_h5_plain *plain, const slci_h5_plain_options *options,
                               int64_t file_bytes) {
    slci_h5_id file = 0;
    if (options->settled->n_chunks == 0) {
        return SLC_OK;
    }
    slc_status status = slci_h5_open(options->path, NULL, &file);
    if (status == SLC_OK) {
        slci_h5_lock();
        status = find_chunks(plain, options, file, file_bytes);
        slci_h5_unlock();
        slci_h5_close(file);
    }
    if (status != SLC_OK) {
        return status == SLC_ERROR_MEMORY
                   ? status
                   : SLC_FAIL(SLC_ERROR_OUTPUT, "%s: the chunks of the file that was made: %s",
                              options->final_path, slc_status_message());
    }
    plain->blocks.place = plain->index->offset;
    return plain->index->n_stored == options->settled->n_chunks
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_OUTPUT, "%s: HDF5 made %lld chunks, expected %lld",
                          options->final_path, (long long)plain->index->n_stored,
                          (long long)options->settled->n_chunks);
}

static slc_status make_memory(slci_h5_plain *plain, const slc_h5_array_output *output) {
    plain->memory_bytes = slci_blocks_memory_bytes(&plain->blocks);
    plain->n_free = plain->n_memories = n_memories_of(output);
    if (plain->memory_bytes == 0) {
        return SLC_OK;
    }
    plain->memory = malloc((size_t)(plain->n_memories * plain->memory_bytes));
    plain->free_memory = calloc((size_t)plain->n_memories, sizeof *plain->free_memory);
    if (plain->memory == NULL || plain->free_memory == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to write it", plain->final_path);
    }
    for (int64_t k = 0; k < plain->n_memories; k++) {
        plain->free_memory[k] = k;
    }
    return SLC_OK;
}

static slc_status prepare(slci_h5_plain *plain, const slci_h5_plain_options *options) {
    const slc_h5_array_output *output = &options->settled->output;
    struct stat found;
    (void)snprintf(plain->final_path, sizeof plain->final_path, "%s", options->final_path);
    plain->fd = open(options->path, O_RDWR | O_CLOEXEC);
    if (plain->fd < 0 || fstat(plain->fd, &found) != 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot open %s for writing: %s", options->path,
                        strerror(errno));
    }
    /* Not every file system can; writing then says when it is full. */
    if (found.st_size > 0 && fallocate(plain->fd, 0, 0, found.st_size) != 0 &&
        errno != EOPNOTSUPP) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "there is no room for %s of %lld bytes: %s",
                        plain->final_path, (long long)found.st_size, strerror(errno));
    }
    plain->blocks = blocks_of(output);
    plain->blocks.move = write_run;
    plain->blocks.context = plain;
    SLC_TRY(make_memory(plain, output));
    if (slci_h5_is_chunked(output)) {
        return place_chunks(plain, options, found.st_size);
    }
    plain->blocks.first_place = options->place;
    return SLC_OK;
}

slc_status slci_h5_plain_create(const slci_h5_plain_options *options, slci_h5_plain **out) {
    slci_h5_plain *plain = calloc(1, sizeof *plain);
    if (plain == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to write it", options->final_path);
    }
    plain->fd = -1;
    (void)pthread_mutex_init(&plain->mutex, NULL);
    (void)pthread_cond_init(&plain->changed, NULL);
    const slc_status status = prepare(plain, options);
    if (status != SLC_OK) {
        slci_h5_plain_destroy(plain);
        return status;
    }
    *out = plain;
    return SLC_OK;
}

void slci_h5_plain_destroy(slci_h5_plain *plain) {
    if (plain == NULL) {
        return;
    }
    if (plain->fd >= 0) {
        (void)close(plain->fd);
    }
    slci_h5_index_destroy(plain->index);
    free(plain->free_memory);
    free(plain->memory);
    (void)pthread_cond_destroy(&plain->changed);
    (void)pthread_mutex_destroy(&plain->mutex);
    free(plain);
}
