/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "away.h"
#include "crank.h"
#include "fire.h"

/*
 * Short enough that what was cancelled does not pile up between pauses; long
 * enough that visiting idle buckets costs nothing.
 */
#define TIDY_NS 10000000

/* Callbacks between two blocks that are sorted although something is due. */
#define FIRED_PER_TIDY 64

/*
 * So many timers that were moved to a later time are put back before a sleep
 * that they would have ended for nothing.
 */
#define SETTLED_MAX 64

static void take_back(struct engine *e, struct bucket *b, struct slot *back)
{
	struct slot *s;

	while ((s = back) != NULL) {
		back = s->next;
		pending_come_back(&e->pending, away_take(b, s));
	}
}

static void fetch(struct engine *e, struct bucket *b)
{
	struct slot *back;

	pending_add(&e->pending, bucket_collect(b, &e->pending.spares, &back));
	take_back(e, b, back);
}

/* What was handed over and is over needs no place in the heap any more. */
static void forget(struct engine *e)
{
	uint32_t gone = atom32_load(&e->gone);

	pending_forget(&e->pending, gone - e->forgotten);
	e->forgotten = gone;
}

/* Fetches what the buckets hold. */
static void collect(struct engine *e)
{
	struct bucket_set listed;
	uint32_t i;

	pending_advance(&e->pending, engine_clock(e));
	wakeup_collect(e->parts.wakeup, &listed);
	while (bucket_set_take(&listed, &i))
		fetch(e, &e->parts.intake->bucket[i]);
	forget(e);
}

/* A virtual clock moves on to the next deadline by itself. */
static void tell_time(struct engine *e, int64_t deadline)
{
	int64_t now = engine_clock(e);

	if (e->parts.virtual && now < deadline && deadline <= e->limit) {
		virtual_set(e->parts.virtual, deadline);
		now = deadline;
	}
	e->now = now < e->limit ? now : e->limit;
}

/*
 * The wall clock may have been set back since it was read.  The latest time of
 * all never comes: it says that there is no timer, or that one only waits.
 */
static bool is_due(struct engine *e, int64_t deadline)
{
	if (deadline > e->now || e->parts.clock == CLOCK_REALTIME)
		tell_time(e, deadline);
	return deadline <= e->now && deadline < INT64_MAX;
}

static void tidy_between(struct engine *e)
{
	if (++e->fired % FIRED_PER_TIDY == 0)
		pending_ran(&e->pending, FIRED_PER_TIDY);
}

/* Nothing is due.  Puts the first one back if its time is a later one. */
static enum step settle(struct engine *e)
{
	if (e->settled >= SETTLED_MAX || !pending_first_moved(&e->pending))
		return STEP_DONE;
	e->settled++;
	return fire(e);
}

/* Nothing is due: what will be shall be in its place. */
static enum step prepare(struct engine *e, enum pending_next found)
{
	if (pending_prepare(&e->pending, e->now))
		return STEP_MORE;
	return found == PENDING_FIRST ? settle(e) : STEP_DONE;
}

/* One step towards having nothing due. */
static enum step run_one(struct engine *e)
{
	enum pending_next found;
	enum step step;

	if (wakeup_stopping(e->parts.wakeup))
		return STEP_DONE;
	found = pending_next(&e->pending, &e->next);
	if (!e->parts.batch && wakeup_arrivals(e->parts.wakeup) < e->next) {
		collect(e);
		found = pending_next(&e->pending, &e->next);
	}
	if (found == PENDING_MORE)
		return STEP_MORE;
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
		tidy_between(e);
	return step;
}

/*
 * Finds what was cancelled in the buckets, where it lies: to fetch what is far
 * from due, and may soon be cancelled, would cost ten times as much.  False:
 * there is nothing left to do.
 */
static bool tidy_buckets(struct engine *e)
{
	uint32_t i;

	if (!bucket_set_take(&e->untidy, &i))
		return false;
	if (bucket_tidy(&e->parts.intake->bucket[i], e->parts.wakeup,
			&e->pending.spares))
		bucket_set_add(&e->untidy, i);
	return true;
}

/* Is it time again? */
static bool begin_tidying(struct engine *e)
{
	/* Unsigned: the wall clock may have been set back. */
	if ((uint64_t)e->now - (uint64_t)e->tidied < TIDY_NS)
		return false;
	e->tidied = e->now;
	wakeup_listed(e->parts.wakeup, &e->untidy);
	forget(e);
	return true;
}

/* True: there is more to tidy. */
static bool tidy(struct engine *e, bool *begun)
{
	bool more;

	if (wakeup_stopping(e->parts.wakeup))
		return false;
	if (!*begun)
		return *begun = begin_tidying(e);
	if (tidy_buckets(e))
		return true;
	more = pending_trim(&e->pending);
	return pending_sweep(&e->pending) || more;
}

bool crank(struct engine *e, int64_t limit)
{
	bool tidying = false;
	enum step step;

	engine_set_busy(e);
	e->limit = limit;
	e->ran = 0;
	e->over = false;
	e->settled = 0;
	if (e->parts.batch && wakeup_arrivals(e->parts.wakeup) <= limit)
		collect(e);
	do {
		do
			step = run_one(e);
		while (step == STEP_MORE);
		if (step == STEP_FORKED)
			return false;
	} while (tidy(e, &tidying));
	intake_give_back(e->parts.intake);
	engine_set_idle(e);
	return true;
}
