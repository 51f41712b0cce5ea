/* What the files of the chunk sink share. Read io/chunk_sink.c first; it draws the states of a chunk.
 * chunk_sink.c takes boxes, encodes and puts; chunk_sink_pieces.c gives chunks away for a journal and
 * takes them back; chunk_sink_size.c says how large all of it is. Internal to io. */
#ifndef SLC_IO_CHUNK_SINK_INTERNAL_H
#define SLC_IO_CHUNK_SINK_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "io/chunk_encode.h"
#include "io/chunk_grid.h"
#include "io/chunk_sink.h"
#include "io/nameless_file.h"

typedef enum slci_chunk_state {
    SLCI_CHUNK_NEW,
    SLCI_CHUNK_OPEN,
    SLCI_CHUNK_AWAY,
    SLCI_CHUNK_BUSY,
    SLCI_CHUNK_PARKED,
    SLCI_CHUNK_HELD,
    SLCI_CHUNK_FILED,
    SLCI_CHUNK_PUT
} slci_chunk_state;

/* Of one chunk. There may be millions. */
typedef struct slci_chunk_entry {
    int64_t at;    /* OPEN, HELD: slot; PARKED: payload buffer; AWAY, FILED: place in the file */
    uint32_t n;    /* OPEN, AWAY: elements that have come; PARKED, HELD, FILED: bytes */
    uint8_t state; /* slci_chunk_state */
    bool is_kept;  /* OPEN, AWAY: just as it is, in a journal */
} slci_chunk_entry;

typedef struct slci_chunk_slot {
    slci_chunk_sink *sink;
    int64_t index;  /* of its chunk; -1: free */
    bool is_busy;   /* not to be taken: filled, or encoded */
    int64_t parked; /* the place in the file that its chunk has already; -1: none */
    int64_t buffer; /* its memory, for which a payload's is exchanged when that is held here */
} slci_chunk_slot;

struct slci_chunk_sink {
    slci_chunk_sink_options options;
    slci_chunk_grid grid;
    slc_layout chunk_layout; /* dense */
    int n_encoders;
    bool is_short;                /* there are fewer of them than threads */
    slci_chunk_encoder **encoder; /* [n_encoders] */
    slci_chunk_entry *entry;      /* [n_chunks] */
    int64_t n_slots;
    slci_chunk_slot *slots;
    int64_t payload_bytes, n_payloads;
    unsigned char *buffer_memory; /* [n_payloads + n_slots + 1, payload_bytes] */
    int64_t *free_payload;        /* [n_payloads], a stack of buffers */
    unsigned char *filed;         /* [payload_bytes], the last buffer, of the thread that puts */
    slc_task_group *group;
    slc_piece_keep keep; /* NULL: nobody keeps pieces; set while nothing is under way */
    void *keep_context;

    pthread_mutex_t mutex; /* everything below, and entries, slots and the stack */
    pthread_cond_t changed;
    slci_chunk_encoder **free_encoder; /* [n_encoders], a stack */
    int n_free_encoders;
    int64_t n_free_payloads, n_parked, n_held;
    int64_t n_encoding;
    int64_t n_busy; /* tasks that were given to the pool and have not ended */
    int64_t hand;   /* where the search for a slot to take begins */
    int64_t next;   /* the chunk to be put next */
    bool is_putting;
    slci_nameless_file file;
    int64_t file_end;
    slc_failure failure; /* the first */
    slci_chunk_sink_counts counts;
};

/* Chunks that may be put together or encoded at a time, for each encoder: one under way, one that
 * waits. */
#define SLCI_SLOTS_PER_ENCODER 2

typedef struct slci_chunk_sizes {
    int64_t n_chunks, n_encoders, n_slots, n_payloads, payload_bytes;
    int64_t bytes;
} slci_chunk_sizes;

/* io/chunk_sink_size.c: with fewer encoders than threads where memory is short. */
slci_chunk_sizes slci_chunk_sink_size(const slci_chunk_sink_options *options);
int64_t slci_chunk_sink_threads(const slci_chunk_sink_options *options);

/* Where a slot's chunk lies, and a buffer. */
unsigned char *slci_chunk_slot_memory(const slci_chunk_slot *slot);
unsigned char *slci_chunk_payload(const slci_chunk_sink *sink, int64_t buffer);

/* The functions below need the mutex, which some let go of meanwhile. */

/* The slot of a chunk, with what has come of it so far; it is busy until the caller says otherwise.
 * SLC_ERROR_ARGUMENT for a chunk that is complete. */
SLC_MUST_USE slc_status slci_chunk_open(slci_chunk_sink *sink, int64_t index,
                                        slci_chunk_slot **out);

/* A chunk in a payload buffer is ready to be put: puts it, with all that waits for it, or parks it. */
SLC_MUST_USE slc_status slci_chunk_deliver(slci_chunk_sink *sink, int64_t index, int64_t buffer,
                                           int64_t n_bytes);

/* Keeps the first failure; the message is the calling thread's last. Returns it. */
slc_status slci_chunk_fail(slci_chunk_sink *sink, slc_status status);

/* Without the mutex: until nothing is being encoded. The first failure of a task. */
SLC_MUST_USE slc_status slci_chunk_sink_wait(slci_chunk_sink *sink);

#endif
