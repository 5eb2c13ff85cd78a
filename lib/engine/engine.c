/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"
#include "intake/reserve.h"
#include "os/fork.h"
#include "os/memory.h"

#include <errno.h>
#include <string.h>

void engine_init(struct engine *e, struct timerthread *instance)
{
	memset(e, 0, sizeof(*e));
	e->instance = instance;
	atom32_store(&e->started_by, FORK_NO_GENERATION);
	atom32_store(&e->short_way, FORK_NO_GENERATION);
	e->slow = (struct slow){.threshold = INT64_MAX};
	e->watch = (struct watch){.clock = CLOCK_MONOTONIC};
	wakeup_init(&e->wakeup, &e->watch);
}

static bool make_parts(struct engine *e, uint32_t buckets, size_t reserve)
{
	e->intake = intake_create(buckets);
	e->measured = pages_alloc(sizeof(*e->measured));
	return e->intake && e->measured &&
	       cap_open(&e->cap, e->intake->cpus.n) &&
	       wakeup_open(&e->wakeup, buckets) &&
	       pending_init(&e->pending, e->intake, &e->wakeup) &&
	       (reserve == 0 || (intake_reserve(e->intake, reserve) &&
				 pending_reserve(&e->pending, reserve)));
}

int engine_open(struct engine *e, uint32_t buckets, size_t reserve, bool polled)
{
	bool sleeps = !e->wakeup.wake; /* else the program does */
	int r = sleeper_open(&e->wakeup.sleeper,
			     sleeps ? e->watch.clock : CLOCK_MONOTONIC,
			     polled && sleeps);

	if (r < 0)
		return r;
	if (!make_parts(e, buckets, reserve))
		return -ENOMEM;
	atomword_store(&e->pending_bytes, pending_bytes(&e->pending));
	e->next = INT64_MAX;
	e->reclaim.began = e->reclaim.window = clock_now(CLOCK_MONOTONIC);
	e->reclaim.due = INT64_MAX;
	return 0;
}

void engine_close(struct engine *e, bool inherited)
{
	if (e->intake) {
		/* Else a thread was in a turn that does not exist here. */
		if (atom32_load(&e->busy) == 0)
			pending_destroy(&e->pending);
		intake_destroy(e->intake);
	}
	e->intake = NULL;
	/* Only the pages that were touched need memory. */
	pages_free(e->measured, sizeof(*e->measured));
	e->measured = NULL;
	cap_close(&e->cap);
	wakeup_close(&e->wakeup);
	sleeper_close(&e->wakeup.sleeper, inherited);
}
