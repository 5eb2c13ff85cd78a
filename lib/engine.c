/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "clock.h"
#include "engine.h"

/*
 * Short enough that what was cancelled does not pile up while the thread is
 * busy; long enough that visiting idle buckets costs nothing.
 */
#define TIDY_NS 10000000

bool engine_init(struct engine *e, struct intake *in, struct wakeup *w)
{
	e->intake = in;
	e->wakeup = w;
	e->now = INT64_MIN;
	e->tidied = 0;
	return pending_init(&e->pending, in);
}

void engine_destroy(struct engine *e)
{
	pending_destroy(&e->pending);
}

/* Fetches what the buckets hold. */
static void collect(struct engine *e)
{
	struct pending *p = &e->pending;
	struct bucket_set listed;
	uint32_t i;

	wakeup_collect(e->wakeup, &listed);
	while (bucket_set_take(&listed, &i))
		pending_add(p,
			    bucket_collect(&e->intake->bucket[i], &p->spares));
}

/* Runs the earliest timer if it is due.  False: it is not. */
static bool fire(struct engine *e)
{
	int64_t next = pending_next(&e->pending);
	struct slot *s;
	uint64_t id;

	if (next > e->now) {
		e->now = clock_now();
		if (next > e->now)
			return false;
	}
	id = pending_take(&e->pending);
	s = intake_slot(e->intake, id);
	if (slot_begin(s, id)) {
		s->fn(s->arg);
		slot_finish(s, id);
	}
	intake_return(e->intake, s);
	return true;
}

/* One step towards having nothing due.  False: there. */
static bool run_one(struct engine *e)
{
	if (wakeup_stopping(e->wakeup))
		return false;
	if (wakeup_arrivals(e->wakeup) < pending_next(&e->pending))
		collect(e);
	return fire(e) || pending_sort(&e->pending);
}

/* True: there is more to tidy. */
static bool tidy(struct engine *e, bool *collected)
{
	bool more;

	if (wakeup_stopping(e->wakeup))
		return false;
	if (!*collected) {
		if (e->now - e->tidied < TIDY_NS)
			return false;
		e->tidied = e->now;
		*collected = true;
		collect(e);
		return true;
	}
	more = pending_trim(&e->pending);
	return pending_sweep(&e->pending) || more;
}

int64_t engine_run(struct engine *e)
{
	bool collected = false;

	do {
		while (run_one(e))
			;
	} while (tidy(e, &collected));
	intake_give_back(e->intake);
	return pending_next(&e->pending);
}
