/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "clock.h"
#include "engine.h"
#include "expiry.h"
#include "fork.h"

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

bool engine_init(struct engine *e, const struct engine_parts *parts)
{
	*e = (struct engine){
		.parts = *parts,
		.now = INT64_MIN,
		.next = INT64_MAX,
	};
	return pending_init(&e->pending, parts->intake);
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

	wakeup_collect(e->parts.wakeup, &listed);
	while (bucket_set_take(&listed, &i))
		pending_add(p, bucket_collect(&e->parts.intake->bucket[i],
					      &p->spares));
}

/* The wall clock may have been set back since it was read. */
static bool is_due(struct engine *e, int64_t deadline)
{
	if (deadline > e->now || e->parts.clock == CLOCK_REALTIME)
		e->now = clock_now(e->parts.clock);
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

static void call(struct engine *e, struct slot *s)
{
	e->running = s;
	set_idle(e);
	fork_call(s->fn, s->arg);
	set_busy(e);
	e->running = NULL;
}

/* Who sees that the timer is over can count on its place. */
static void finish(struct engine *e, struct bucket *b, struct slot *s,
		   struct entry *entry)
{
	if (expiry_repeat(b, s, entry)) {
		pending_put_back(&e->pending, *entry);
		return;
	}
	limit_give(e->parts.limit);
	if (!expiry_end(s))
		await_end(e->parts.await, s);
	intake_return(e->parts.intake, s);
}

/* The first entry that pending_next found has come up. */
static void fire(struct engine *e)
{
	struct entry entry = pending_take(&e->pending);
	struct bucket *b = intake_bucket(e->parts.intake, entry.index);
	struct slot *s = slots_of(&b->slots, entry.index);

	/* So that a period that has passed by now counts as missed. */
	if (entry.ticket & TICKET_REPEATS)
		e->now = clock_now(e->parts.clock);
	switch (expiry_begin(b, s, &entry, e->now)) {
	case EXPIRY_RUN:
		call(e, s);
		finish(e, b, s, &entry);
		break;
	case EXPIRY_LATER:
		pending_put_back(&e->pending, entry);
		break;
	case EXPIRY_OVER:
		intake_return(e->parts.intake, s);
		break;
	default:
		break;
	}
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

/* Puts the first one back if its time is a later one.  False: no need to. */
static bool settle(struct engine *e)
{
	if (e->settled >= SETTLED_MAX || !pending_first_moved(&e->pending))
		return false;
	e->settled++;
	fire(e);
	return true;
}

/* One step towards having nothing due.  False: there. */
static bool run_one(struct engine *e)
{
	bool settled;

	if (wakeup_stopping(e->parts.wakeup))
		return false;
	settled = pending_next(&e->pending, &e->next);
	if (wakeup_arrivals(e->parts.wakeup) < e->next) {
		collect(e);
		settled = pending_next(&e->pending, &e->next);
	}
	if (!settled)
		return true;
	if (!is_due(e, e->next))
		return pending_sort(&e->pending) || settle(e);
	fire(e);
	tidy_between(e);
	return true;
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
		collect(e);
		return true;
	}
	more = pending_trim(&e->pending);
	return pending_sweep(&e->pending) || more;
}

int64_t engine_run(struct engine *e)
{
	bool collected = false;

	set_busy(e);
	e->settled = 0;
	do {
		while (run_one(e))
			;
	} while (tidy(e, &collected));
	intake_give_back(e->parts.intake);
	set_idle(e);
	return e->next;
}

bool engine_is_running(const struct engine *e, uint64_t id)
{
	const struct slot *s = e->running;

	return s && slot_id(s, atom32_load(&s->state)) == id;
}
