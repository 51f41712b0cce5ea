/* What the files of the checkpoint share. Read ooc/checkpoint.c first; it draws the files. */
#ifndef SLC_OOC_CHECKPOINT_INTERNAL_H
#define SLC_OOC_CHECKPOINT_INTERNAL_H

#include <pthread.h>

#include "ooc/checkpoint.h"
#include "ooc/checkpoint_file.h"
#include "ooc/engine_internal.h"
#include "ooc/resume.h"

#define SLCI_CHECKPOINT_PATH_BYTES 4096
#define SLCI_CHECKPOINT_BUFFER_BYTES (1 << 20)

/* Kinds of blocks from here on are the journal's, those below are the state's. */
#define SLCI_FIRST_JOURNAL_KIND 101

/* Where a box of an operand lies in a file; its elements follow in C order. Written as it is. */
typedef struct slci_box_record {
    int64_t stage, round;
    uint64_t signature; /* of the stage's job */
    int64_t operand, element_bytes;
    int64_t rank, origin[SLC_MAX_RANK], extent[SLC_MAX_RANK];
} slci_box_record;

/* Elements of an operand that the state file holds: of an output under way, or of a work operand. */
typedef struct slci_partial {
    int operand;
    int64_t element_bytes;
    slc_box box;
    int64_t at; /* of its first element in the state file */
} slci_partial;

/* Kinds of the state's blocks, in their order. */
typedef enum slci_state_kind {
    SLCI_STATE_HEAD = 1,
    SLCI_STATE_OUTPUTS,
    SLCI_STATE_FINGERPRINT,
    SLCI_STATE_CLIENT,
    SLCI_STATE_REGIONS,
    SLCI_STATE_PARTIAL,
    SLCI_STATE_END
} slci_state_kind;

/* A file that is an output of the run, or is about to get the name of one. A rename changes none of
 * these; a device's number may be another one when the machine has been started anew. */
typedef struct slci_output_record {
    int64_t bytes, modified_ns;
    uint64_t inode;
} slci_output_record;

/* More outputs than this are no state of ours. */
#define SLCI_MOST_OUTPUTS (1 << 20)

/* Whom a sink gives its pieces. */
typedef struct slci_piece_keeper {
    slc_checkpoint *checkpoint;
    int operand;
} slci_piece_keeper;

struct slc_checkpoint {
    char path[SLCI_CHECKPOINT_PATH_BYTES];
    char new_path[SLCI_CHECKPOINT_PATH_BYTES + 48]; /* of the state that is being written */
    char journal_path[SLCI_CHECKPOINT_PATH_BYTES + 16];
    slc_checkpoint_options options;
    slc_checkpoint_client client;
    int64_t every_ns, last_ns; /* between states, and when the last one was written */
    unsigned char *buffer; /* [SLCI_CHECKPOINT_BUFFER_BYTES], of the thread that runs the stages */
    slc_fingerprint fingerprint;
    uint64_t id;    /* of the journal, which the state repeats */
    int journal_fd; /* -1: not open */
    int state_fd;   /* the last state, which partials are read from; -1: none */
    bool is_ours;   /* the journal is, and is locked */
    bool is_new;    /* this run has made the journal */
    bool has_state; /* there is a state under `path` */
    bool is_resumed;
    bool is_whole; /* what is resumed: state and journal are as they were written */
    bool is_finished;
    bool is_told;                  /* how to go on */
    int64_t n_states, state_bytes; /* states written, and the length of the last one */
    bool is_begun;
    int64_t stage;      /* that is under way, from 0; -1 before the first */
    uint64_t signature; /* of its job */

    /* What was resumed: the stage and round it stands in, and what is left of that round. */
    int64_t saved_stage, saved_round;
    uint64_t saved_signature;
    int64_t n_regions;
    slci_region *region; /* [n_regions] */

    bool is_settled; /* in the state nothing is left to do but to give the outputs their names */
    /* Once all outputs are whole: what they are; of a resumed run, what they were. */
    int n_outputs;
    int n_known; /* with those of runs before, behind them, some of which may have names still */
    slci_output_record *output; /* [n_known] */

    int64_t n_partials;
    slci_partial *partial; /* [n_partials]; of later ones those that overlap earlier ones count */

    slci_piece_keeper keeper[SLC_MAX_OPERANDS]; /* of the stage's outputs */

    slci_block_reader replay; /* the journal as it was resumed, up to its recorded end */

    pthread_mutex_t mutex; /* everything below: the writer thread appends */
    slci_block_writer journal;
    bool is_stopped; /* the journal lacks a box: no state can be written any more */
};

/* One buffer to be saved: `device` memory of a tile of `operand` whose first elements are `box`. */
typedef struct slci_save {
    int operand;
    slc_box box;
    const void *d_data;
} slci_save;

/* The state's first block. */
typedef struct slci_state_head {
    int64_t version, id;
    int64_t stage, round;
    int64_t signature;          /* of the stage's job */
    int64_t n_outputs, n_known; /* of the second block, [n_known] */
    int64_t n_regions, n_partials;
    int64_t journal_bytes, journal_blocks;
} slci_state_head;

/* A state to be written. */
typedef struct slci_state {
    int64_t round;
    const slci_region *region; /* what is left of the round, in order */
    int64_t n_regions;
    const slci_save *save;
    int n_saves;
    slci_run *run; /* whose buffers these are; NULL where nothing is left to do */
} slci_state;

/* SLC_ERROR_INPUT where `found` (read from the file `path`) is not `expected`, naming the first
 * difference. */
SLC_MUST_USE slc_status slci_fingerprint_compare(const char *path, const slc_fingerprint *found,
                                                 const slc_fingerprint *expected);

/* ooc/checkpoint_state.c. write puts the state beside the old one, renames it and makes it the one
 * that partials are read from; SLC_ERROR_OUTPUT leaves the old one in place. read checks the whole
 * file and fills in the checkpoint, but for `journal_bytes` and `journal_blocks`, which are the
 * journal's. */
SLC_MUST_USE slc_status slci_state_write(slc_checkpoint *checkpoint, const slci_state *state);
SLC_MUST_USE slc_status slci_state_read(slc_checkpoint *checkpoint, int64_t *journal_bytes,
                                        int64_t *journal_blocks);

/* The state's first block, and the second one; `out` is the caller's, NULL where there is none.
 * SLC_ERROR_UNSUPPORTED for another format. */
SLC_MUST_USE slc_status slci_state_open(slci_block_reader *reader, slci_state_head *head,
                                        slci_output_record **out);

/* Reads `part`, which lies in the partial's box and fits the buffer, into the buffer. */
SLC_MUST_USE slc_status slci_partial_read(slc_checkpoint *checkpoint, const slci_partial *partial,
                                          const slc_box *part);

/* ooc/checkpoint_journal.c. begin empties the journal and gives it the checkpoint's identity; open
 * checks what the state says of it; sync makes durable what was appended. */
SLC_MUST_USE slc_status slci_journal_begin(slc_checkpoint *checkpoint);
SLC_MUST_USE slc_status slci_journal_open(slc_checkpoint *checkpoint, int64_t n_bytes,
                                          int64_t n_blocks);
SLC_MUST_USE slc_status slci_journal_sync(slc_checkpoint *checkpoint, int64_t *n_bytes,
                                          int64_t *n_blocks);

/* Sinks with pieces have them kept while a stage runs: attach before it, detach after it, whatever came
 * of it; `status` is that, and is returned where detaching is fine too. flush: the journal has all that
 * was written so far, as it has after a stage that came to its end. */
SLC_MUST_USE slc_status slci_journal_attach(slc_checkpoint *checkpoint, const slc_job *job,
                                            const slc_binding *bindings);
SLC_MUST_USE slc_status slci_journal_detach(const slc_job *job, const slc_binding *bindings,
                                            slc_status status);
SLC_MUST_USE slc_status slci_journal_flush(const slc_job *job, const slc_binding *bindings);

/* Gives the sinks every box and piece that the journal has of the stage under way. */
SLC_MUST_USE slc_status slci_journal_replay(slc_checkpoint *checkpoint, const slc_job *job,
                                            const slc_binding *bindings);

/* Whether `record` is what it claims to be; its box. */
bool slci_box_record_get(const slci_box_record *record, slc_box *box);
slci_box_record slci_box_record_of(int operand, int64_t element_bytes, const slc_box *box);

/* Whether a box of such a record is a part of the array of `layout`, which has its rank. */
bool slci_box_is_within(const slc_box *box, const slc_layout *layout);

/* SLC_ERROR_OUTPUT from a failed call on `path`, with errno's reason. */
slc_status slci_checkpoint_fail(const char *what, const char *path);

/* The order of the stages: the next slc_execute begins with this job. No region or partial of the
 * stage before is left, but for those that are resumed. undo_stage: nothing of it has run, and the
 * caller may try again in another way. SLC_ERROR_ARGUMENT before slc_checkpoint_begin. */
SLC_MUST_USE slc_status slci_checkpoint_next_stage(slc_checkpoint *checkpoint, const slc_job *job);
void slci_checkpoint_undo_stage(slc_checkpoint *checkpoint);

/* A disk that is full, or a file that cannot be written, is no reason to end a run that would
 * otherwise come to its result: SLC_ERROR_OUTPUT becomes a warning. */
SLC_MUST_USE slc_status slci_checkpoint_warn(const slc_checkpoint *checkpoint, slc_status status);

/* Whether the journal lacks something, so that no state can be written any more. */
bool slci_checkpoint_is_stopped(slc_checkpoint *checkpoint);

/* Forgets sums under way, since another round begins; what work operands hold as well, or not. */
void slci_checkpoint_drop_partials(slc_checkpoint *checkpoint);
void slci_checkpoint_drop_sums(slc_checkpoint *checkpoint, const slc_job *job);

#endif
