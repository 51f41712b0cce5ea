/* Streams and events of the host device.
 *
 * A stream is one thread that runs commands first in, first out. Commands are numbered from 1 in the
 * order they were enqueued, and the number of the last one that ran is the stream's place on its
 * timeline. An event is nothing but a point on a timeline: recording it enqueues a command that only
 * notes the time, and keeps that command's number.
 *
 *     stream A   1 copy   2 record(e)   3 copy   4 record(e)     timeline A: done = 2
 *     stream B   1 wait(A, 2)           2 call                   waits until timeline A >= 2
 *
 * A wait takes timeline and number when it is enqueued. So recording the event again does not move an
 * older wait, just as with CUDA, and since a wait only ever points at a command that is enqueued
 * already, streams cannot wait in a circle.
 *
 * The first command that fails stops the stream's work: later commands are passed over, but records
 * and waits still take their turn, so that nothing that waits for this stream hangs. Whoever waits
 * for a later point (the host, or another stream through an event) gets the failure; a stream
 * adopts it as its own, since what it would compute from then on is not to be trusted.
 *
 * Timelines and events are counted references: a wait may outlive the stream that it points at, and
 * a record the event that it was meant for. Locks are taken in the order event, stream, timeline. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/checked.h"
#include "core/clock.h"
#include "core/device_host.h"
#include "core/device_internal.h"
#include "core/host_command.h"
#include "core/thread.h"

/* A tile takes about a dozen commands on each stream, and a few tiles are in flight. */
#define FIRST_CAPACITY 64

typedef struct timeline {
    pthread_mutex_t mutex;
    pthread_cond_t advanced;
    atomic_int references;
    int64_t done;      /* number of the last command that ran */
    int64_t failed_at; /* number of the first one that failed; 0: none did */
    slc_failure failure;
} timeline;

typedef struct host_event {
    slc_event base;
    pthread_mutex_t mutex;
    atomic_int references; /* the owner's, and one for each record in a queue */
    timeline *line;        /* of the latest record; NULL: never recorded */
    int64_t number;        /* of the latest record */
    int64_t time_ns;       /* when it happened */
} host_event;

typedef slci_command_kind command_kind;
typedef slci_command command;

typedef struct host_stream {
    slc_stream base;
    timeline *line;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t has_work;
    command *ring; /* [capacity], n_queued commands from `head` on */
    int64_t capacity;
    int64_t head;
    int64_t n_queued;
    int64_t last_number;
    slci_host_graph *recording; /* NULL: commands are queued */
    bool is_closing;
} host_stream;

/* ---- timelines -------------------------------------------------------------------------------- */

static timeline *timeline_create(void) {
    timeline *line = calloc(1, sizeof *line);
    if (line != NULL) {
        (void)pthread_mutex_init(&line->mutex, NULL);
        (void)pthread_cond_init(&line->advanced, NULL);
        atomic_init(&line->references, 1);
    }
    return line;
}

static timeline *timeline_acquire(timeline *line) {
    if (line != NULL) {
        (void)atomic_fetch_add(&line->references, 1);
    }
    return line;
}

static void timeline_release(timeline *line) {
    if (line != NULL && atomic_fetch_sub(&line->references, 1) == 1) {
        (void)pthread_cond_destroy(&line->advanced);
        (void)pthread_mutex_destroy(&line->mutex);
        free(line);
    }
}

/* What whoever waits for command `number` is told. Called with the mutex held. */
static slc_status timeline_verdict(const timeline *line, int64_t number) {
    if (line->failed_at != 0 && line->failed_at <= number) {
        return slc_status_restore(&line->failure);
    }
    return SLC_OK;
}

static slc_status timeline_wait(timeline *line, int64_t number) {
    (void)pthread_mutex_lock(&line->mutex);
    while (line->done < number) {
        (void)pthread_cond_wait(&line->advanced, &line->mutex);
    }
    const slc_status status = timeline_verdict(line, number);
    (void)pthread_mutex_unlock(&line->mutex);
    return status;
}

static void timeline_advance(timeline *line, int64_t number, slc_status status) {
    (void)pthread_mutex_lock(&line->mutex);
    if (status != SLC_OK && line->failed_at == 0) {
        line->failed_at = number;
        slc_status_capture(status, &line->failure);
    }
    line->done = number;
    (void)pthread_cond_broadcast(&line->advanced);
    (void)pthread_mutex_unlock(&line->mutex);
}

/* ---- the queue -------------------------------------------------------------------------------- */

static slc_status ring_grow(host_stream *stream) {
    int64_t capacity = FIRST_CAPACITY;
    int64_t bytes = 0;
    command *ring = NULL;
    if ((stream->capacity == 0 || slc_checked_mul(stream->capacity, 2, &capacity)) &&
        slc_checked_mul(capacity, (int64_t)sizeof(command), &bytes)) {
        ring = malloc((size_t)bytes);
    }
    if (ring == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for more than %lld commands in a stream",
                        (long long)stream->capacity);
    }
    for (int64_t i = 0; i < stream->n_queued; i++) {
        ring[i] = stream->ring[(stream->head + i) % stream->capacity];
    }
    free(stream->ring);
    stream->ring = ring;
    stream->capacity = capacity;
    stream->head = 0;
    return SLC_OK;
}

/* Room for one more command; called with the mutex held. */
static slc_status reserve(host_stream *stream, command_kind kind, command **out) {
    slci_host_graph *graph = stream->recording;
    if (graph != NULL) {
        SLC_TRY(slci_host_graph_reserve(graph, kind));
        *out = &graph->command[graph->n];
        return SLC_OK;
    }
    if (stream->n_queued == stream->capacity) {
        SLC_TRY(ring_grow(stream));
    }
    *out = &stream->ring[(stream->head + stream->n_queued) % stream->capacity];
    return SLC_OK;
}

/* The next free command, to be filled in place; on success the stream is locked until push_end. */
static slc_status push_begin(host_stream *stream, command_kind kind, command **out) {
    (void)pthread_mutex_lock(&stream->mutex);
    command *next = NULL;
    const slc_status status = reserve(stream, kind, &next);
    if (status != SLC_OK) {
        (void)pthread_mutex_unlock(&stream->mutex);
        return status;
    }
    next->kind = kind;
    next->number = stream->last_number + 1;
    *out = next;
    return SLC_OK;
}

static void push_end(host_stream *stream) {
    if (stream->recording != NULL) {
        stream->recording->n++;
    } else {
        stream->n_queued++;
        stream->last_number++;
        (void)pthread_cond_signal(&stream->has_work);
    }
    (void)pthread_mutex_unlock(&stream->mutex);
}

/* Waits for a command and takes it out; false when the stream is closing and all has run. The
 * command is copied, because the ring may move while it runs. */
static bool pop(host_stream *stream, command *out) {
    (void)pthread_mutex_lock(&stream->mutex);
    while (stream->n_queued == 0 && !stream->is_closing) {
        (void)pthread_cond_wait(&stream->has_work, &stream->mutex);
    }
    const bool has_command = stream->n_queued > 0;
    if (has_command) {
        *out = stream->ring[stream->head];
        stream->head = (stream->head + 1) % stream->capacity;
        stream->n_queued--;
    }
    (void)pthread_mutex_unlock(&stream->mutex);
    return has_command;
}

/* ---- the thread ------------------------------------------------------------------------------- */

static void event_release(host_event *event) {
    if (atomic_fetch_sub(&event->references, 1) == 1) {
        timeline_release(event->line);
        (void)pthread_mutex_destroy(&event->mutex);
        free(event);
    }
}

/* The time counts only while this is still the event's latest record. */
static void run_record(host_stream *stream, const command *self) {
    host_event *event = self->as.record;
    (void)pthread_mutex_lock(&event->mutex);
    if (event->line == stream->line && event->number == self->number) {
        event->time_ns = slc_clock_ns();
    }
    (void)pthread_mutex_unlock(&event->mutex);
    event_release(event);
}

static void run_pause(int64_t ns) {
    struct timespec left = {.tv_sec = (time_t)(ns / SLC_NS_PER_S),
                            .tv_nsec = (long)(ns % SLC_NS_PER_S)};
    while (nanosleep(&left, &left) != 0) {
    }
}

slc_status slci_host_command_run(slc_pool *pool, const command *self) {
    switch (self->kind) {
    case SLCI_COMMAND_COPY:
        return slci_host_run_copy(pool, self->as.copy.dst, self->as.copy.src, self->as.copy.bytes);
    case SLCI_COMMAND_COPY_STRIDED:
        return slci_host_run_copy_strided(pool, self->as.strided.dst, &self->as.strided.dst_layout,
                                          self->as.strided.src, &self->as.strided.src_layout);
    case SLCI_COMMAND_SET:
        return slci_host_run_set(pool, self->as.set.memory, self->as.set.value, self->as.set.bytes);
    case SLCI_COMMAND_CALL:
        /* The argument is this thread's own copy, so the function may write to it. */
        return self->as.call.function((void *)(uintptr_t)self->as.call.argument);
    case SLCI_COMMAND_PAUSE:
        run_pause(self->as.pause_ns);
        return SLC_OK;
    case SLCI_COMMAND_RECORD:
    case SLCI_COMMAND_WAIT:
        break;
    }
    return SLC_FAIL(SLC_ERROR_INTERNAL, "a stream met command %d", (int)self->kind);
}

static void *thread_main(void *argument) {
    host_stream *stream = argument;
    bool has_failed = false;
    command next;
    while (pop(stream, &next)) {
        slc_status status = SLC_OK;
        if (next.kind == SLCI_COMMAND_RECORD) {
            run_record(stream, &next);
        } else if (next.kind == SLCI_COMMAND_WAIT) {
            status = timeline_wait(next.as.wait.line, next.as.wait.number);
            timeline_release(next.as.wait.line);
        } else if (!has_failed) {
            status = slci_host_command_run(stream->base.device->pool, &next);
        }
        has_failed = has_failed || status != SLC_OK;
        timeline_advance(stream->line, next.number, status);
    }
    return NULL;
}

/* Signals are for the program's own threads. */
static int start_thread(host_stream *stream) {
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = slci_thread_start(&stream->thread, thread_main, stream);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* ---- streams ---------------------------------------------------------------------------------- */

static void stream_free(host_stream *stream) {
    (void)pthread_cond_destroy(&stream->has_work);
    (void)pthread_mutex_destroy(&stream->mutex);
    timeline_release(stream->line);
    slci_host_graph_destroy(stream->recording);
    free(stream->ring);
    free(stream);
}

slc_status slci_host_stream_create(slc_device *device, slc_stream **out) {
    host_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a stream");
    }
    (void)pthread_mutex_init(&stream->mutex, NULL);
    (void)pthread_cond_init(&stream->has_work, NULL);
    stream->base.device = device;
    stream->line = timeline_create();
    slc_status status = SLC_OK;
    if (stream->line == NULL) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a stream");
        goto failed;
    }
    SLC_TRY_GOTO(failed, ring_grow(stream));
    const int error = start_thread(stream);
    if (error != 0) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "the system starts no thread for a stream: %s",
                          strerror(error));
        goto failed;
    }
    *out = &stream->base;
    return SLC_OK;
failed:
    stream_free(stream);
    return status;
}

/* What is enqueued still runs: events recorded on the stream must happen. */
void slci_host_stream_destroy(slc_stream *stream) {
    host_stream *self = (host_stream *)stream;
    (void)pthread_mutex_lock(&self->mutex);
    self->is_closing = true;
    (void)pthread_cond_signal(&self->has_work);
    (void)pthread_mutex_unlock(&self->mutex);
    (void)pthread_join(self->thread, NULL);
    stream_free(self);
}

slc_status slci_host_stream_synchronize(slc_stream *stream) {
    host_stream *self = (host_stream *)stream;
    (void)pthread_mutex_lock(&self->mutex);
    const int64_t number = self->last_number;
    (void)pthread_mutex_unlock(&self->mutex);
    return timeline_wait(self->line, number);
}

slc_status slci_host_copy(slc_stream *stream, void *dst, const void *src, int64_t bytes,
                          slc_copy_direction direction) {
    (void)direction; /* all memory is the same memory here */
    host_stream *self = (host_stream *)stream;
    command *next = NULL;
    SLC_TRY(push_begin(self, SLCI_COMMAND_COPY, &next));
    next->as.copy.dst = dst;
    next->as.copy.src = src;
    next->as.copy.bytes = bytes;
    push_end(self);
    return SLC_OK;
}

slc_status slci_host_copy_strided(slc_stream *stream, void *dst, const slc_layout *dst_layout,
                                  const void *src, const slc_layout *src_layout,
                                  slc_copy_direction direction) {
    (void)direction;
    host_stream *self = (host_stream *)stream;
    command *next = NULL;
    SLC_TRY(push_begin(self, SLCI_COMMAND_COPY_STRIDED, &next));
    next->as.strided.dst = dst;
    next->as.strided.src = src;
    next->as.strided.dst_layout = *dst_layout;
    next->as.strided.src_layout = *src_layout;
    push_end(self);
    return SLC_OK;
}

slc_status slci_host_set(slc_stream *stream, void *memory, uint8_t value, int64_t bytes) {
    host_stream *self = (host_stream *)stream;
    command *next = NULL;
    SLC_TRY(push_begin(self, SLCI_COMMAND_SET, &next));
    next->as.set.memory = memory;
    next->as.set.bytes = bytes;
    next->as.set.value = value;
    push_end(self);
    return SLC_OK;
}

slc_status slci_host_call(slc_stream *stream, slc_stream_function function, const void *argument,
                          int64_t argument_bytes) {
    host_stream *self = (host_stream *)stream;
    command *next = NULL;
    SLC_TRY(push_begin(self, SLCI_COMMAND_CALL, &next));
    next->as.call.function = function;
    if (argument_bytes > 0) {
        memcpy(next->as.call.argument, argument, (size_t)argument_bytes);
    }
    push_end(self);
    return SLC_OK;
}

slc_status slci_host_pause(slc_stream *stream, int64_t ns) {
    host_stream *self = (host_stream *)stream;
    command *next = NULL;
    SLC_TRY(push_begin(self, SLCI_COMMAND_PAUSE, &next));
    next->as.pause_ns = ns;
    push_end(self);
    return SLC_OK;
}

/* ---- graphs ----------------------------------------------------------------------------------- */

slc_status slci_host_capture_begin(slc_stream *stream) {
    host_stream *self = (host_stream *)stream;
    slci_host_graph *graph = NULL;
    SLC_TRY(slci_host_graph_create(&graph));
    (void)pthread_mutex_lock(&self->mutex);
    self->recording = graph;
    (void)pthread_mutex_unlock(&self->mutex);
    return SLC_OK;
}

slc_status slci_host_capture_end(slc_stream *stream, void **graph) {
    host_stream *self = (host_stream *)stream;
    (void)pthread_mutex_lock(&self->mutex);
    *graph = self->recording;
    self->recording = NULL;
    (void)pthread_mutex_unlock(&self->mutex);
    return SLC_OK;
}

slc_status slci_host_graph_launch(slc_stream *stream, void *graph) {
    host_stream *self = (host_stream *)stream;
    const slci_host_graph *recorded = graph;
    for (int64_t i = 0; i < recorded->n; i++) {
        command *next = NULL;
        SLC_TRY(push_begin(self, recorded->command[i].kind, &next));
        next->as = recorded->command[i].as;
        push_end(self);
    }
    return SLC_OK;
}

void slci_host_graph_release(slc_device *device, void *graph) {
    (void)device;
    slci_host_graph_destroy(graph);
}

/* ---- events ----------------------------------------------------------------------------------- */

/* The host's events all keep the time: it costs them nothing. */
slc_status slci_host_event_create(slc_device *device, bool is_timed, slc_event **out) {
    (void)is_timed;
    host_event *event = calloc(1, sizeof *event);
    if (event == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for an event");
    }
    event->base.device = device;
    (void)pthread_mutex_init(&event->mutex, NULL);
    atomic_init(&event->references, 1);
    *out = &event->base;
    return SLC_OK;
}

void slci_host_event_destroy(slc_event *event) {
    event_release((host_event *)event);
}

slc_status slci_host_event_record(slc_event *event, slc_stream *stream) {
    host_event *self = (host_event *)event;
    host_stream *on = (host_stream *)stream;
    (void)pthread_mutex_lock(&self->mutex);
    command *next = NULL;
    const slc_status status = push_begin(on, SLCI_COMMAND_RECORD, &next);
    if (status == SLC_OK) {
        (void)atomic_fetch_add(&self->references, 1);
        next->as.record = self;
        timeline *old = self->line;
        self->line = timeline_acquire(on->line);
        self->number = next->number;
        push_end(on);
        timeline_release(old);
    }
    (void)pthread_mutex_unlock(&self->mutex);
    return status;
}

/* The point of the event's latest record, to be released; NULL if it was never recorded. */
static timeline *event_point(host_event *event, int64_t *number) {
    (void)pthread_mutex_lock(&event->mutex);
    timeline *line = timeline_acquire(event->line);
    *number = event->number;
    (void)pthread_mutex_unlock(&event->mutex);
    return line;
}

slc_status slci_host_event_wait(slc_stream *stream, slc_event *event) {
    host_stream *self = (host_stream *)stream;
    int64_t number = 0;
    timeline *line = event_point((host_event *)event, &number);
    if (line == NULL) {
        return SLC_OK;
    }
    command *next = NULL;
    const slc_status status = push_begin(self, SLCI_COMMAND_WAIT, &next);
    if (status != SLC_OK) {
        timeline_release(line);
        return status;
    }
    next->as.wait.line = line;
    next->as.wait.number = number;
    push_end(self);
    return SLC_OK;
}

slc_status slci_host_event_query(slc_event *event, bool *is_done) {
    int64_t number = 0;
    timeline *line = event_point((host_event *)event, &number);
    bool has_happened = true;
    slc_status status = SLC_OK;
    if (line != NULL) {
        (void)pthread_mutex_lock(&line->mutex);
        has_happened = line->done >= number;
        if (has_happened) {
            status = timeline_verdict(line, number);
        }
        (void)pthread_mutex_unlock(&line->mutex);
    }
    timeline_release(line);
    if (status == SLC_OK) {
        *is_done = has_happened;
    }
    return status;
}

slc_status slci_host_event_synchronize(slc_event *event) {
    int64_t number = 0;
    timeline *line = event_point((host_event *)event, &number);
    const slc_status status = line == NULL ? SLC_OK : timeline_wait(line, number);
    timeline_release(line);
    return status;
}

/* The time of the event's latest record, which must have happened. */
static slc_status event_time(host_event *event, const char *which, int64_t *ns) {
    (void)pthread_mutex_lock(&event->mutex);
    bool has_happened = false;
    if (event->line != NULL) {
        (void)pthread_mutex_lock(&event->line->mutex);
        has_happened = event->line->done >= event->number;
        (void)pthread_mutex_unlock(&event->line->mutex);
    }
    const int64_t time_ns = event->time_ns;
    (void)pthread_mutex_unlock(&event->mutex);
    if (!has_happened) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "no time can be taken: the %s event was not recorded or has not happened "
                        "yet; synchronise with it first",
                        which);
    }
    *ns = time_ns;
    return SLC_OK;
}

slc_status slci_host_event_elapsed(slc_event *begin, slc_event *end, int64_t *ns) {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    SLC_TRY(event_time((host_event *)begin, "first", &begin_ns));
    SLC_TRY(event_time((host_event *)end, "second", &end_ns));
    *ns = end_ns - begin_ns;
    return SLC_OK;
}
