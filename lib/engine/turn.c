/* SPDX-License-Identifier: MIT */
#include "engine/turn.h"
#include "engine/fire.h"
#include "engine/reclaim.h"

/*
 * How many entries that are not due a turn opens or looks at.  That takes half
 * a millisecond at most, so that a loop can do some of its other work in
 * between.
 */
#define EFFORT_MAX (16 * BLOCK_ENTRIES)

static void visit_by(struct engine *e, struct bucket *b, int64_t by,
		     int64_t now)
{
	struct visit v;
	bool more;

	visit_begin(&v, by, now);
	do {
		more = bucket_collect(b, &e->wakeup, &v);
		for (uint32_t i = 0; i < v.cursor.taken; i++)
			pending_add(&e->pending, v.cursor.row[i]);
		for (int i = 0; i < v.entries; i++)
			pending_file(&e->pending, v.entry[i], by);
		/* They come in their order: no other one here may run. */
		v.full = v.entries > 0 &&
			 v.entry[v.entries - 1].deadline >= e->pending.beyond;
	} while (more);
}

/* Visits the buckets in which something is due by this time. */
static void collect(struct engine *e, int64_t by, int64_t now)
{
	struct bucket_set due = wakeup_collect(&e->wakeup, by);
	struct bucket *b;

	while ((b = intake_take(e->intake, &due)))
		visit_by(e, b, by, now);
}

/*
 * INT64_MAX never comes: it says that there is no timer.  And the wall clock
 * may have been set back since the turn began.
 */
static bool is_due(struct engine *e, int64_t deadline)
{
	if (e->watch.clock == CLOCK_REALTIME && !e->watch.is_virtual) {
		int64_t now = watch_now(&e->watch);

		e->until = now < e->until ? now : e->until;
	}
	return deadline <= e->until && deadline < INT64_MAX;
}

/* The earliest timer is not yet known, but it is not due before e->next. */
static enum step search_on(struct engine *e)
{
	bool due = is_due(e, e->next);

	if (!due && e->effort >= EFFORT_MAX)
		return STEP_DONE;
	e->effort += due ? 0 : BLOCK_ENTRIES;
	return STEP_MORE;
}

/* Has the turn worked for as long as it may? */
static bool is_long(struct engine *e)
{
	return (e->ran > 0 || e->steps++ >= TURN_STEPS) &&
	       clock_now(CLOCK_MONOTONIC) - e->began >= e->dispatch_time;
}

/* The same.  Then the next turn begins immediately. */
static bool must_end(struct engine *e)
{
	if (likely(e->dispatch_time == 0) || !is_long(e))
		return false;
	e->again = true;
	return true;
}

/* One step towards having nothing due. */
static enum step run_next(struct engine *e)
{
	if (wakeup_stopping(&e->wakeup))
		return STEP_DONE;
	if (must_end(e)) {
		/* If one went back for want of memory, it may come first. */
		e->cut = e->pending.beyond == INT64_MAX;
		return STEP_DONE;
	}
	if (!pending_next(&e->pending, e->until, &e->next))
		return search_on(e);
	if (!is_due(e, e->next))
		return STEP_DONE;
	/* There was no memory, so a bucket has one that is earlier. */
	if (unlikely(e->next > e->pending.beyond))
		return STEP_DONE;
	return fire(e);
}

static void begin_turn(struct engine *e)
{
	engine_set_busy(e);
	e->ran = e->steps = 0;
	e->effort = 0;
	e->again = false;
	pending_begin_turn(&e->pending);
	if (e->dispatch_time > 0)
		e->began = clock_now(CLOCK_MONOTONIC);
}

static void end_turn(struct engine *e)
{
	/* Immediately, whatever the slack, and however the clock is set. */
	e->again = e->again || e->effort >= EFFORT_MAX;
	if (e->again)
		e->next = INT64_MIN;
	if (intake_flush(e->intake))
		reclaim_owe(e);
	atomword_store(&e->pending_bytes, pending_bytes(&e->pending));
	engine_set_idle(e);
}

/* Runs all that is due by e->until.  False: as from engine_turn. */
static bool run_batch(struct engine *e)
{
	enum step step;

	e->cut = false;
	do {
		step = run_next(e);
		if (step == STEP_FORKED)
			return false;
		/* A wall clock is read before each run. */
		e->back_to_back = step == STEP_RAN && watch_goes_on(&e->watch);
	} while (step != STEP_DONE);
	return true;
}

/* However little time a turn may take, the dead are found: by a few steps. */
static void reclaim(struct engine *e)
{
	int steps = 0;

	while (e->effort < EFFORT_MAX && !wakeup_stopping(&e->wakeup) &&
	       (steps++ < TURN_STEPS || !must_end(e)) && reclaim_step(e))
		;
}

bool engine_turn(struct engine *e, int64_t until)
{
	begin_turn(e);
	if (unlikely(e->cut) && !run_batch(e))
		return false;
	if (!e->cut) {
		e->until = until;
		collect(e, until, until);
		if (!run_batch(e))
			return false;
	}
	reclaim(e);
	/* One step, so that no timer waits for more. */
	if (!e->again && e->effort < EFFORT_MAX)
		e->again = pending_open_ahead(&e->pending, until);
	end_turn(e);
	return true;
}

int64_t engine_next(struct engine *e, int64_t limit)
{
	int64_t now = watch_now(&e->watch), at = now;
	int64_t next, nearest;

	engine_set_busy(e);
	pending_begin_turn(&e->pending);
	for (;;) {
		/* What is far off is looked for as if its time had come. */
		while (!pending_next(&e->pending, at, &next) ||
		       (next <= limit && !pending_has_found(&e->pending, next)))
			at = clock_later(at, next);
		nearest = wakeup_nearest(&e->wakeup);
		if (nearest > limit || nearest >= next)
			break;
		collect(e, nearest, now);
	}
	engine_set_idle(e);
	/* What it could not keep may come first. */
	e->cut = e->cut && e->pending.beyond == INT64_MAX;
	e->next = next;
	return next < limit ? next : limit;
}

static void do_nothing(void *arg)
{
	(void)arg;
}

/*
 * After a sleep, the code of a call is in no cache.  With this, and with the
 * turn that the driver takes before it spins, the median lateness is 0.8 us;
 * without them it is 1.3 us.
 */
static void rehearse(struct engine *e)
{
	const struct run none = {0};

	inside_call(e->instance, &e->inside, &e->task_id, &none, do_nothing,
		    NULL);
}

/* engine_next does not return a timer that was cancelled or moved. */
bool spin_until_due(struct engine *e)
{
	int64_t now = watch_now(&e->watch);
	int64_t next, limit = clock_add(now, e->wakeup.spin);

	/* There is more for a turn to do, or nothing any more. */
	if (e->next == INT64_MIN || wakeup_stopping(&e->wakeup))
		return false;
	next = engine_next(e, limit);
	if (next <= now || next >= limit)
		return false;
	rehearse(e);
	wakeup_spin(&e->wakeup, next);
	return true;
}
