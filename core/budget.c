#include "core/budget.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/checked.h"

struct slc_budget {
    pthread_mutex_t mutex;
    slc_budget_use use[SLC_SPACE_COUNT];
    slc_budget_observer observer; /* NULL: none */
    void *observer_context;
};

static const char *space_name(slc_space space) {
    return space == SLC_SPACE_DEVICE ? "device" : "host";
}

/* The option of the program that raises this limit. */
static const char *space_option(slc_space space) {
    return space == SLC_SPACE_DEVICE ? "--vram" : "--ram";
}

slc_status slc_budget_create(int64_t device_limit_bytes, int64_t host_limit_bytes,
                             slc_budget **out) {
    if (device_limit_bytes < 0 || host_limit_bytes < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "budget: a limit of %lld bytes is negative",
                        (long long)slc_min_i64(device_limit_bytes, host_limit_bytes));
    }
    slc_budget *budget = calloc(1, sizeof *budget);
    if (budget == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "budget: no memory for the ledger");
    }
    (void)pthread_mutex_init(&budget->mutex, NULL);
    budget->use[SLC_SPACE_DEVICE].limit_bytes = device_limit_bytes;
    budget->use[SLC_SPACE_HOST].limit_bytes = host_limit_bytes;
    *out = budget;
    return SLC_OK;
}

void slc_budget_destroy(slc_budget *budget) {
    if (budget == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&budget->mutex);
    free(budget);
}

/* Called with the lock held. */
static void tell(const slc_budget *budget, slc_space space) {
    if (budget->observer != NULL) {
        budget->observer(budget->observer_context, space, &budget->use[space]);
    }
}

static slc_status reserve(slc_budget *budget, slc_space space, int64_t bytes, const char *what,
                          bool is_foreign) {
    assert((unsigned)space < (unsigned)SLC_SPACE_COUNT);
    if (bytes < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: a size of %lld bytes is negative", what,
                        (long long)bytes);
    }
    (void)pthread_mutex_lock(&budget->mutex);
    slc_budget_use *use = &budget->use[space];
    const int64_t used_bytes = use->used_bytes;
    /* used never passes the limit, so the difference cannot overflow. */
    const bool fits = bytes <= use->limit_bytes - used_bytes;
    if (fits) {
        use->used_bytes += bytes;
        use->peak_bytes = slc_max_i64(use->peak_bytes, use->used_bytes);
        use->foreign_bytes += is_foreign ? bytes : 0;
        tell(budget, space);
    }
    (void)pthread_mutex_unlock(&budget->mutex);
    if (!fits) {
        return SLC_FAIL(SLC_ERROR_MEMORY,
                        "%s: %lld bytes of %s memory do not fit the budget: %lld of %lld bytes are "
                        "used; at least %llu is needed (%s)",
                        what, (long long)bytes, space_name(space), (long long)used_bytes,
                        (long long)use->limit_bytes,
                        (unsigned long long)used_bytes + (unsigned long long)bytes,
                        space_option(space));
    }
    return SLC_OK;
}

slc_status slc_budget_reserve(slc_budget *budget, slc_space space, int64_t bytes,
                              const char *what) {
    return reserve(budget, space, bytes, what, false);
}

slc_status slc_budget_reserve_foreign(slc_budget *budget, slc_space space, int64_t bytes,
                                      const char *what) {
    return reserve(budget, space, bytes, what, true);
}

void slc_budget_release(slc_budget *budget, slc_space space, int64_t bytes) {
    assert((unsigned)space < (unsigned)SLC_SPACE_COUNT);
    (void)pthread_mutex_lock(&budget->mutex);
    slc_budget_use *use = &budget->use[space];
    assert(bytes >= 0 && bytes <= use->used_bytes);
    use->used_bytes -= bytes;
    /* What was foreign and what was not is not told apart here; foreign stays a part of used. */
    use->foreign_bytes = slc_min_i64(use->foreign_bytes, use->used_bytes);
    tell(budget, space);
    (void)pthread_mutex_unlock(&budget->mutex);
}

void slc_budget_observe(slc_budget *budget, slc_budget_observer observer, void *context) {
    (void)pthread_mutex_lock(&budget->mutex);
    budget->observer = observer;
    budget->observer_context = context;
    for (int space = 0; space < SLC_SPACE_COUNT; space++) {
        tell(budget, (slc_space)space);
    }
    (void)pthread_mutex_unlock(&budget->mutex);
}

slc_budget_use slc_budget_get(const slc_budget *budget, slc_space space) {
    assert((unsigned)space < (unsigned)SLC_SPACE_COUNT);
    /* Reading is const to the caller; only the lock changes. */
    pthread_mutex_t *mutex = (pthread_mutex_t *)&budget->mutex;
    (void)pthread_mutex_lock(mutex);
    const slc_budget_use use = budget->use[space];
    (void)pthread_mutex_unlock(mutex);
    return use;
}
