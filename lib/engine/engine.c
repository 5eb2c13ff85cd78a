/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/engine.h"
#include "intake/handover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void engine_init(struct engine *e, struct timerthread *instance)
{
	memset(e, 0, sizeof(*e));
	e->instance = instance;
	wakeup_init(&e->wakeup);
	await_init(&e->await);
}

static bool make_parts(struct engine *e, uint32_t buckets)
{
	e->intake = intake_create(buckets);
	return e->intake && pending_init(&e->pending, e->intake);
}

int engine_open(struct engine *e, uint32_t buckets, bool polled)
{
	int r = sleeper_open(&e->wakeup.sleeper, e->clock, polled);

	if (r < 0)
		return r;
	if (!make_parts(e, buckets)) {
		engine_close(e);
		return -ENOMEM;
	}
	e->now = INT64_MIN;
	e->next = INT64_MAX;
	e->reclaim.began = engine_clock(e);
	return 0;
}

void engine_close(struct engine *e)
{
	if (e->intake) {
		pending_destroy(&e->pending);
		intake_destroy(e->intake);
	}
	e->intake = NULL;
	free(e->virtual);
	e->virtual = NULL;
	sleeper_close(&e->wakeup.sleeper);
}

void engine_close_inherited(struct engine *e)
{
	if (atom32_load(&e->busy) == 0)
		pending_destroy(&e->pending);
	intake_destroy_inherited(e->intake);
	free(e->virtual);
	sleeper_close_inherited(&e->wakeup.sleeper);
}

void engine_destroy(struct engine *e)
{
	await_empty(&e->await);
	engine_close(e);
	await_destroy(&e->await);
}

size_t engine_take_rearmed(struct engine *e, struct bucket *b,
			   struct slot *rearmed)
{
	struct slot *s;
	size_t n = 0;

	while ((s = rearmed) != NULL) {
		rearmed = s->next;
		pending_add_rearmed(&e->pending, handover_collect(b, s));
		n++;
	}
	return n;
}

void engine_unreserve(struct engine *e)
{
	uint32_t ended = atom32_load(&e->ended);

	pending_unreserve(&e->pending, ended - e->unreserved);
	e->unreserved = ended;
}
