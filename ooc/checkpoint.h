/* Checkpoints: a run that was killed, interrupted or switched off goes on where it was, under any
 * budget, and gives the same bytes. One checkpoint belongs to a whole run of the program, however
 * many times it calls slc_execute: those calls are its stages, counted in order, which must be the
 * same each time.
 *
 *     SLC_TRY(slc_checkpoint_create(&options, &checkpoint));        // before planning
 *     SLC_TRY(slc_checkpoint_begin(checkpoint, &fingerprint, NULL));
 *     execution.checkpoint = checkpoint;  ... slc_execute, slc_execute ...
 *     SLC_TRY(slc_checkpoint_finish(checkpoint));                   // the result is safe
 *
 * Two files: `path` is the state (what is still to be done, and the sums under way), `path`.journal
 * the finished boxes of every output. docs/checkpoint.md has their form.
 */
#ifndef SLC_OOC_CHECKPOINT_H
#define SLC_OOC_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/budget.h"
#include "core/log.h"
#include "core/status.h"
#include "ooc/fingerprint.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLC_CHECKPOINT_EVERY_SECONDS 60.0

/* Everything is lent for the checkpoint's life. */
typedef struct slc_checkpoint_options {
    const char *path;
    double every_seconds; /* 0: SLC_CHECKPOINT_EVERY_SECONDS */
    bool resume;        /* go on with what `path` holds; begin, with a note, where there is none */
    bool overwrite;     /* without `resume`: replace the checkpoint, or empty file, of `path` */
    slc_budget *budget; /* slc_checkpoint_bytes() of host memory for copies are taken here */
    slc_log *log;       /* may be NULL */
} slc_checkpoint_options;

/* (optional) What the caller itself must remember from tile to tile, as bytes that mean nothing here:
 * totals counted while reading, the state of rounds. */
typedef struct slc_checkpoint_client {
    void *context;
    /* How many bytes `save` writes; the same whenever it is asked. */
    int64_t (*bytes)(void *context);
    /* Called from the thread that runs slc_execute, while reads may be under way. */
    void (*save)(void *context, void *out);
    /* Called by slc_checkpoint_begin when it resumes. */
    slc_status (*load)(void *context, const void *data, int64_t n_bytes);
} slc_checkpoint_client;

typedef struct slc_checkpoint slc_checkpoint;

/* What a checkpoint takes of the host budget: 1 MiB. */
SLC_API int64_t slc_checkpoint_bytes(void);

/* Checks that the files may be made or are there, and locks them. SLC_ERROR_OUTPUT when `path` exists
 * and neither resume nor overwrite is set, when it or the journal is another kind of file, which is
 * left as it is, or when another run uses it; SLC_ERROR_UNSUPPORTED in a
 * build without checksums; SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_checkpoint_create(const slc_checkpoint_options *options,
                                                      slc_checkpoint **out);

/* Before the first stage: reads and checks the whole of both files when resuming, else begins anew.
 * `client` may be NULL and is lent. SLC_ERROR_INPUT for a damaged checkpoint or one of another run,
 * saying what differs. */
SLC_API SLC_MUST_USE slc_status slc_checkpoint_begin(slc_checkpoint *checkpoint,
                                                     const slc_fingerprint *fingerprint,
                                                     const slc_checkpoint_client *client);

/* Before the first output of the run gets its final name, and once all of them are whole: keeps what
 * these files are, paths [n_paths] under their present names (NULL: none, which does not count), in a
 * state in which nothing is left to do. Whatever comes between the names and slc_checkpoint_finish, a
 * run that resumes finds itself complete. A full disk, or a journal that lacks a part, is only warned
 * of. Takes NULL. SLC_ERROR_OUTPUT where a file is not there; SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_checkpoint_settle(slc_checkpoint *checkpoint,
                                                      const char *const *paths, int n_paths);

/* Before a file that is written beside the outputs gets its name, and once these are settled: keeps
 * what it is, so that a run that resumes may replace it. Whether that run is complete the outputs alone
 * say; where there are none, this is settling. `path` is its present name. Takes NULL. The same
 * statuses. */
SLC_API SLC_MUST_USE slc_status slc_checkpoint_settle_beside(slc_checkpoint *checkpoint,
                                                             const char *path);

/* Of a begun checkpoint: whether it resumes a run whose outputs were settled and are all there, under
 * paths [n_paths] in the same order. Then only slc_checkpoint_finish is left to do. False for NULL. */
SLC_API bool slc_checkpoint_is_complete(const slc_checkpoint *checkpoint, const char *const *paths,
                                        int n_paths);

/* Before a run begins that is to resume the checkpoint `checkpoint_path`: whether the file `path` is an
 * output that the run before has settled, so that nobody's work is lost where it is replaced. False
 * where either is not there. */
SLC_API bool slc_checkpoint_has_made(const char *checkpoint_path, const char *path);

/* Whether an earlier run is being continued. False for NULL. */
SLC_API bool slc_checkpoint_is_resumed(const slc_checkpoint *checkpoint);

/* How many states were written. 0 for NULL. */
SLC_API int64_t slc_checkpoint_count(const slc_checkpoint *checkpoint);

/* What a run is to return that ends with `status`: where it was interrupted, the message names the
 * checkpoint that it can go on with, once. Takes NULL. slc_execute does so by itself; callers do for
 * what they do before and after. */
SLC_API SLC_MUST_USE slc_status slc_checkpoint_explain(slc_checkpoint *checkpoint,
                                                       slc_status status);

/* The result is safe: removes both files. Takes NULL. SLC_ERROR_OUTPUT. */
SLC_API SLC_MUST_USE slc_status slc_checkpoint_finish(slc_checkpoint *checkpoint);

/* Without slc_checkpoint_finish the last state stays, for resuming. Takes NULL. */
SLC_API void slc_checkpoint_destroy(slc_checkpoint *checkpoint);

#ifdef __cplusplus
}
#endif
#endif
