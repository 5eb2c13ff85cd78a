/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "clock.h"
#include "engine.h"

/*
 * Short enough that what was cancelled does not pile up between pauses; long
 * enough that visiting idle buckets costs nothing.
 */
#define TIDY_NS 10000000

/* Callbacks between two blocks that are sorted although something is due. */
#define FIRED_PER_TIDY 64

bool engine_init(struct engine *e, struct intake *in, struct wakeup *w)
{
	e->intake = in;
	e->wakeup = w;
	e->now = INT64_MIN;
	e->tidied = 0;
	e->next = INT64_MAX;
	e->fired = 0;
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

static bool is_due(struct engine *e, int64_t deadline)
{
	if (deadline > e->now)
		e->now = clock_now();
	return deadline <= e->now;
}

/* Runs the timer that pending_next found. */
static void fire(struct engine *e)
{
	uint64_t id = pending_take(&e->pending);
	struct slot *s = intake_slot(e->intake, id);

	if (slot_begin(s, id)) {
		s->fn(s->arg);
		slot_finish(s, id);
	}
	intake_return(e->intake, s);
}

/*
 * What must go on while something is always due: else what was cancelled
 * would wait for a pause that never comes.
 */
static void tidy_between(struct engine *e)
{
	if (++e->fired % FIRED_PER_TIDY == 0) {
		pending_sort(&e->pending);
		pending_sweep(&e->pending);
	}
}

/* One step towards having nothing due.  False: there. */
static bool run_one(struct engine *e)
{
	bool settled;

	if (wakeup_stopping(e->wakeup))
		return false;
	settled = pending_next(&e->pending, &e->next);
	if (wakeup_arrivals(e->wakeup) < e->next) {
		collect(e);
		settled = pending_next(&e->pending, &e->next);
	}
	if (!settled)
		return true;
	if (!is_due(e, e->next))
		return pending_sort(&e->pending);
	fire(e);
	tidy_between(e);
	return true;
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
	return e->next;
}
