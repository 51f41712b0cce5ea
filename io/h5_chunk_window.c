/* A slot goes round:
 *
 *      EMPTY ──take──▶ FILLING ──filled──▶ READY ⟲ take, return
 *        ▲                │                   │
 *        └──── not good ──┘                   └──▶ taken for another chunk, when nobody has it
 *
 * Who needs a slot moves a hand over them (the clock algorithm): a slot in use stays, one that was used
 * since the hand came by is spared once, unless all of its elements have been read. Chunks are found by
 * a table of chains. No thread holds a slot to be filled while it waits for another, so waits end. */
#include "io/h5_chunk_window.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/checked.h"

#define ALIGNMENT 64
#define MAX_SLOTS ((int64_t)1 << 20)

typedef enum slot_state { EMPTY, FILLING, READY } slot_state;

typedef struct slot {
    slot_state state;
    int n_users;
    bool was_used; /* since the hand came by, and something of it is left to read */
    int64_t chunk;
    int64_t n_left; /* elements that were not read yet */
    int64_t next;   /* in the chain; -1: none */
} slot;

struct slci_chunk_window {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t chunk_bytes, n_slots, hand;
    slot *slots;    /* [n_slots] */
    int64_t *chain; /* [n_slots]: the first slot of each, -1: none */
    char *data;     /* [n_slots, chunk_bytes] */
};

slc_status slci_chunk_window_create(int64_t chunk_bytes, int64_t bytes, slci_chunk_window **out) {
    *out = NULL;
    const int64_t n = slc_min_i64(slc_max_i64(bytes, 0) / chunk_bytes, MAX_SLOTS);
    if (n == 0) {
        return SLC_OK;
    }
    slci_chunk_window *window = calloc(1, sizeof *window);
    if (window != NULL) {
        (void)pthread_mutex_init(&window->mutex, NULL);
        (void)pthread_cond_init(&window->changed, NULL);
        window->chunk_bytes = chunk_bytes;
        window->n_slots = n;
        window->slots = calloc((size_t)n, sizeof *window->slots);
        window->chain = calloc((size_t)n, sizeof *window->chain);
        window->data = aligned_alloc(ALIGNMENT, (size_t)slc_round_up(n * chunk_bytes, ALIGNMENT));
    }
    if (window == NULL || window->slots == NULL || window->chain == NULL || window->data == NULL) {
        slci_chunk_window_destroy(window);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to keep %lld decoded chunks of %lld bytes",
                        (long long)n, (long long)chunk_bytes);
    }
    for (int64_t k = 0; k < n; k++) {
        window->chain[k] = -1;
    }
    *out = window;
    return SLC_OK;
}

void slci_chunk_window_destroy(slci_chunk_window *window) {
    if (window == NULL) {
        return;
    }
    free(window->data);
    free(window->chain);
    free(window->slots);
    (void)pthread_cond_destroy(&window->changed);
    (void)pthread_mutex_destroy(&window->mutex);
    free(window);
}

static int64_t find(const slci_chunk_window *window, int64_t chunk) {
    int64_t s = window->chain[chunk % window->n_slots];
    while (s >= 0 && window->slots[s].chunk != chunk) {
        s = window->slots[s].next;
    }
    return s;
}

static void unlink_slot(slci_chunk_window *window, int64_t s) {
    int64_t *link = &window->chain[window->slots[s].chunk % window->n_slots];
    while (*link != s) {
        link = &window->slots[*link].next;
    }
    *link = window->slots[s].next;
    window->slots[s].state = EMPTY;
}

/* A slot that nobody uses, empty; -1 where there is none. */
static int64_t make_room(slci_chunk_window *window) {
    for (int64_t k = 0; k < 2 * window->n_slots; k++) {
        const int64_t s = window->hand;
        slot *here = &window->slots[s];
        window->hand = (s + 1) % window->n_slots;
        if (here->n_users > 0) {
            continue;
        }
        if (here->was_used) {
            here->was_used = false;
            continue;
        }
        if (here->state != EMPTY) {
            unlink_slot(window, s);
        }
        return s;
    }
    return -1;
}

slci_window_answer slci_chunk_window_take(slci_chunk_window *window, int64_t chunk,
                                          int64_t n_elements, slci_window_loan *out) {
    slci_window_answer answer = SLCI_WINDOW_HELD;
    (void)pthread_mutex_lock(&window->mutex);
    int64_t s = find(window, chunk);
    while (s >= 0 && window->slots[s].state == FILLING) {
        (void)pthread_cond_wait(&window->changed, &window->mutex);
        s = find(window, chunk);
    }
    if (s < 0) {
        s = make_room(window);
        answer = s < 0 ? SLCI_WINDOW_NO_ROOM : SLCI_WINDOW_TO_FILL;
    }
    if (answer == SLCI_WINDOW_TO_FILL) {
        int64_t *link = &window->chain[chunk % window->n_slots];
        window->slots[s] =
            (slot){.state = FILLING, .chunk = chunk, .n_left = n_elements, .next = *link};
        *link = s;
    }
    if (s >= 0) {
        window->slots[s].n_users++;
        *out = (slci_window_loan){.slot = s, .data = window->data + s * window->chunk_bytes};
    }
    (void)pthread_mutex_unlock(&window->mutex);
    return answer;
}

void slci_chunk_window_filled(slci_chunk_window *window, const slci_window_loan *loan,
                              bool is_good) {
    (void)pthread_mutex_lock(&window->mutex);
    slot *here = &window->slots[loan->slot];
    if (is_good) {
        here->state = READY;
    } else {
        here->n_users--;
        unlink_slot(window, loan->slot);
    }
    (void)pthread_cond_broadcast(&window->changed);
    (void)pthread_mutex_unlock(&window->mutex);
}

void slci_chunk_window_return(slci_chunk_window *window, const slci_window_loan *loan,
                              int64_t n_used) {
    (void)pthread_mutex_lock(&window->mutex);
    slot *here = &window->slots[loan->slot];
    here->n_users--;
    here->n_left -= n_used;
    here->was_used = here->n_left > 0;
    (void)pthread_mutex_unlock(&window->mutex);
}
