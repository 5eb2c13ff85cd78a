/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "away.h"
#include "clock.h"
#include "engine.h"
#include "expiry.h"
#include "inside.h"

#include <limits.h>

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

/* What has become of a step. */
enum step {
	STEP_MORE,   /* there is another one to take */
	STEP_DONE,   /* there is none */
	STEP_FORKED, /* this is a child of fork(2); e may be gone */
};

bool engine_init(struct engine *e, const struct engine_parts *parts)
{
	*e = (struct engine){
		.parts = *parts,
		.limit = INT64_MAX,
		.now = INT64_MIN,
		.next = INT64_MAX,
	};
	return pending_init(&e->pending, parts->intake);
}

void engine_destroy(struct engine *e)
{
	pending_destroy(&e->pending);
}

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

	wakeup_collect(e->parts.wakeup, &listed);
	while (bucket_set_take(&listed, &i))
		fetch(e, &e->parts.intake->bucket[i]);
	forget(e);
}

static int64_t read_clock(const struct engine *e)
{
	return e->parts.virtual ? virtual_now(e->parts.virtual)
				: clock_now(e->parts.clock);
}

/* A virtual clock moves on to the next deadline by itself. */
static void tell_time(struct engine *e, int64_t deadline)
{
	int64_t now = read_clock(e);

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
	if (deadline == INT64_MAX)
		return false;
	if (deadline > e->now || e->parts.clock == CLOCK_REALTIME)
		tell_time(e, deadline);
	return deadline <= e->now;
}

/* The compare-and-swap keeps the compiler from moving stores before it. */
static void set_busy(struct engine *e)
{
	(void)atom32_swap_acquire(&e->busy, 0, 1);
}

static void set_idle(struct engine *e)
{
	atom32_store_release(&e->busy, 0);
}

static void count(struct engine *e)
{
	if (e->ran < INT_MAX)
		e->ran++;
}

/* Leaves it to the next batch. */
static void leave(struct engine *e, struct bucket *b, struct slot *s,
		  const struct entry *entry)
{
	if (!pending_keep(&e->pending)) {
		e->over = true;
		pending_put_back(&e->pending, *entry);
	} else if (!away_keep(b, e->parts.wakeup, s, entry)) {
		pending_forget(&e->pending, 1);
	}
}

/* Who sees that the timer is over can count on its place. */
static void finish(struct engine *e, struct bucket *b, struct slot *s,
		   struct entry *entry)
{
	if (expiry_repeat(b, s, entry)) {
		if (e->parts.batch && entry->deadline <= e->limit)
			leave(e, b, s, entry);
		else
			pending_put_back(&e->pending, *entry);
		return;
	}
	limit_give(e->parts.limit);
	if (!expiry_end(s))
		await_end(e->parts.await, s);
	intake_return(e->parts.intake, s);
}

static enum step run(struct engine *e, struct bucket *b, struct slot *s,
		     struct entry *entry)
{
	uint64_t id = slot_id(s, atom32_load(&s->state));

	count(e);
	set_idle(e);
	if (!inside_call(e->parts.instance, id, s->fn, s->arg))
		return STEP_FORKED;
	set_busy(e);
	finish(e, b, s, entry);
	return STEP_MORE;
}

static enum step hand_over(struct engine *e, struct slot *s)
{
	count(e);
	set_idle(e);
	if (!e->parts.hand_over(e->parts.instance, s))
		return STEP_FORKED;
	set_busy(e);
	return STEP_MORE;
}

static enum expiry begin(struct engine *e, struct bucket *b, struct slot *s,
			 struct entry *entry)
{
	int64_t now = e->now;

	/* So that a period that has passed by now counts as missed. */
	if (entry->ticket & TICKET_REPEATS)
		now = read_clock(e);
	return expiry_begin(b, s, entry, now);
}

static enum expiry send(struct engine *e, struct bucket *b, struct slot *s,
			struct entry *entry)
{
	enum expiry x = away_send(b, s, entry, e->now);

	if (x != EXPIRY_RUN)
		pending_forget(&e->pending, 1);
	return x;
}

/* The first entry that pending_next found has come up. */
static enum step fire(struct engine *e)
{
	struct entry entry = pending_take(&e->pending);
	struct bucket *b = intake_bucket(e->parts.intake, entry.index);
	struct slot *s = slots_of(&b->slots, entry.index);
	/* Without memory it runs here. */
	bool away = e->parts.hand_over && pending_keep(&e->pending);

	switch (away ? send(e, b, s, &entry) : begin(e, b, s, &entry)) {
	case EXPIRY_RUN:
		return away ? hand_over(e, s) : run(e, b, s, &entry);
	case EXPIRY_LATER:
		pending_put_back(&e->pending, entry);
		break;
	case EXPIRY_OVER:
		intake_return(e->parts.intake, s);
		break;
	default:
		break;
	}
	return STEP_MORE;
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

/* Nothing is due.  Puts the first one back if its time is a later one. */
static enum step settle(struct engine *e)
{
	if (e->settled >= SETTLED_MAX || !pending_first_moved(&e->pending))
		return STEP_DONE;
	e->settled++;
	return fire(e);
}

static bool may_collect(const struct engine *e)
{
	return !e->parts.batch || e->ran == 0;
}

/* One step towards having nothing due. */
static enum step run_one(struct engine *e)
{
	enum step step;
	bool settled;

	if (wakeup_stopping(e->parts.wakeup))
		return STEP_DONE;
	settled = pending_next(&e->pending, &e->next);
	if (wakeup_arrivals(e->parts.wakeup) < e->next && may_collect(e)) {
		collect(e);
		settled = pending_next(&e->pending, &e->next);
	}
	if (!settled)
		return STEP_MORE;
	if (!is_due(e, e->next))
		return pending_sort(&e->pending) ? STEP_MORE : settle(e);
	if (e->over)
		return STEP_DONE;
	step = fire(e);
	if (step == STEP_MORE)
		tidy_between(e);
	return step;
}

/* True: there is more to tidy. */
static bool tidy(struct engine *e, bool *collected)
{
	bool more;

	if (wakeup_stopping(e->parts.wakeup))
		return false;
	if (!*collected) {
		/* Unsigned: the wall clock may have been set back. */
		if ((uint64_t)e->now - (uint64_t)e->tidied < TIDY_NS)
			return false;
		e->tidied = e->now;
		*collected = true;
		e->over = !may_collect(e);
		collect(e);
		return true;
	}
	more = pending_trim(&e->pending);
	return pending_sweep(&e->pending) || more;
}

bool engine_run(struct engine *e, int64_t limit)
{
	bool collected = false;
	enum step step;

	set_busy(e);
	e->limit = limit;
	e->ran = 0;
	e->over = false;
	e->settled = 0;
	do {
		do
			step = run_one(e);
		while (step == STEP_MORE);
		if (step == STEP_FORKED)
			return false;
	} while (tidy(e, &collected));
	intake_give_back(e->parts.intake);
	set_idle(e);
	return true;
}
