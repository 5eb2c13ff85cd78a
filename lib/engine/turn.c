/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/fire.h"
#include "engine/reclaim.h"
#include "engine/turn.h"

/*
 * Entries that a batch files or looks at although they are not due.  That takes
 * half a millisecond at most, so that a loop with other work can do some of
 * that in between.
 */
#define BATCH_EFFORT (16 * BLOCK_ENTRIES)

/* Callbacks between two blocks that are filed although something is due. */
#define FIRED_PER_SWEEP 64

/*
 * So many timers that were rescheduled to a later time are put back before a
 * sleep that they would have ended for nothing.
 */
#define REFRESHED_MAX 64

static void collect_bucket(struct engine *e, struct bucket *b)
{
	struct slot *rearmed;

	pending_add(&e->pending,
		    bucket_collect(b, &e->pending.filed.spares, &rearmed));
	engine_take_rearmed(e, b, rearmed);
}

/* Collects what the buckets hold. */
static void collect(struct engine *e)
{
	struct bucket_set listed;
	uint32_t i;

	pending_advance(&e->pending, engine_clock(e));
	wakeup_collect(&e->wakeup, &listed);
	while (bucket_set_take(&listed, &i))
		collect_bucket(e, &e->intake->bucket[i]);
	engine_unreserve(e);
}

/* A virtual clock moves on to the next deadline by itself. */
static void tell_time(struct engine *e, int64_t deadline)
{
	int64_t now = engine_clock(e);

	if (e->virtual && now < deadline && deadline <= e->until) {
		virtual_set(e->virtual, deadline);
		now = deadline;
	}
	e->now = now < e->until ? now : e->until;
}

/*
 * The wall clock may have been set back since it was read.  The latest time of
 * all never comes: it says that there is no timer, or that one only waits.
 */
static bool is_due(struct engine *e, int64_t deadline)
{
	if (deadline > e->now || e->clock == CLOCK_REALTIME)
		tell_time(e, deadline);
	return deadline <= e->now && deadline < INT64_MAX;
}

static void sweep_between(struct engine *e)
{
	if (++e->fired % FIRED_PER_SWEEP == 0)
		pending_ran(&e->pending, FIRED_PER_SWEEP);
}

/* Nothing is due.  Puts the first one back if its deadline is later now. */
static enum step refresh_first(struct engine *e)
{
	if (e->refreshed >= REFRESHED_MAX || !pending_first_moved(&e->pending))
		return STEP_DONE;
	e->refreshed++;
	return fire(e);
}

/* Is the rest left to the next batch? */
static bool is_spent(const struct engine *e)
{
	return e->batch && e->effort >= BATCH_EFFORT;
}

/* Nothing is due: brings what will be due soon to its place. */
static enum step prepare(struct engine *e, enum pending_next found)
{
	if (!is_spent(e) && pending_prepare(&e->pending, e->now)) {
		e->effort += BLOCK_ENTRIES;
		return STEP_MORE;
	}
	return found == PENDING_FIRST ? refresh_first(e) : STEP_DONE;
}

/* The earliest is not yet known, but it is not due before e->next. */
static enum step search_on(struct engine *e)
{
	if (e->next <= e->until)
		return STEP_MORE;
	if (is_spent(e))
		return STEP_DONE;
	e->effort += BLOCK_ENTRIES;
	return STEP_MORE;
}

/* One step towards having nothing due. */
static enum step run_one(struct engine *e)
{
	enum pending_next found;
	enum step step;

	if (wakeup_stopping(&e->wakeup))
		return STEP_DONE;
	found = pending_next(&e->pending, &e->next);
	if (!e->batch && wakeup_arrivals(&e->wakeup) < e->next) {
		collect(e);
		found = pending_next(&e->pending, &e->next);
	}
	if (found == PENDING_MORE)
		return search_on(e);
	if (!is_due(e, e->next))
		return prepare(e, found);
	if (e->over)
		return STEP_DONE;
	if (found == PENDING_FAR) {
		pending_open(&e->pending);
		return STEP_MORE;
	}
	step = fire(e);
	if (step == STEP_MORE)
		sweep_between(e);
	return step;
}

/* True: there is more to reclaim. */
static bool reclaim(struct engine *e)
{
	return !is_spent(e) && !wakeup_stopping(&e->wakeup) && reclaim_step(e);
}

bool engine_turn(struct engine *e, int64_t until)
{
	enum step step;

	engine_set_busy(e);
	e->until = until;
	e->ran = 0;
	e->over = false;
	e->refreshed = 0;
	e->effort = 0;
	if (e->batch && wakeup_arrivals(&e->wakeup) <= until)
		collect(e);
	do {
		do
			step = run_one(e);
		while (step == STEP_MORE);
		if (step == STEP_FORKED)
			return false;
	} while (reclaim(e));
	/* At once, whatever the slack, and wherever the wall clock is set. */
	if (is_spent(e))
		e->next = INT64_MIN;
	intake_flush(e->intake);
	engine_set_idle(e);
	return true;
}
