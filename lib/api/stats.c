/* SPDX-License-Identifier: MIT */
/*
 * What an instance has done and has.
 *
 * Calls that schedule count, for they have a bucket's lock; the driver counts
 * its runs.  A cancel is a compare-and-swap on the slot and counts nothing: who
 * wants to know looks at all slots and sees how many timers live.  Those that
 * were scheduled, do not live and did not end with a run were cancelled.
 *
 * So that these never seem to be too many the order is: what was scheduled is
 * read, under the lock, then the slots, then what has ended; for that is
 * counted before the slot is freed.  They may seem to be too few while others
 * are at work, so what was told is remembered and does not get smaller.
 */
#include "config.h"

#include "api/instance.h"
#include "os/base.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* All that can be asked for, and what is needed for that. */
struct stats {
	/* Counted. */
	uint64_t scheduled;
	uint64_t rescheduled;
	uint64_t drained;
	uint64_t fired;
	uint64_t ended; /* timers, with their last run */
	uint64_t capped;
	uint64_t no_memory;
	uint64_t wakeups;
	uint64_t early_wakeups;
	uint64_t slots; /* that there is memory for */
	/* As the slots are. */
	uint64_t pending;
	uint64_t running;
	uint64_t dead;
	/* What follows from these; those that were drained among them. */
	uint64_t cancelled;
	uint64_t recycled;
};

struct member {
	enum timerthread_stat which;
	bool looks; /* at all slots */
	size_t offset;
};

#define MEMBER(which, looks, name)                                             \
	{                                                                      \
		TIMERTHREAD_STAT_##which, looks, offsetof(struct stats, name)  \
	}

static const struct member members[] = {
	MEMBER(PENDING, true, pending),
	MEMBER(RUNNING, true, running),
	MEMBER(DEAD, true, dead),
	MEMBER(SCHEDULED, false, scheduled),
	MEMBER(CANCELLED, true, cancelled),
	MEMBER(DRAINED, false, drained),
	MEMBER(RECYCLED, true, recycled),
	MEMBER(FIRED, false, fired),
	MEMBER(RESCHEDULED, false, rescheduled),
	MEMBER(CAPPED, false, capped),
	MEMBER(NO_MEMORY, false, no_memory),
	MEMBER(WAKEUPS, false, wakeups),
	MEMBER(EARLY_WAKEUPS, false, early_wakeups),
	MEMBER(SLOTS, false, slots),
};

static const struct member *find(enum timerthread_stat which)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (members[i].which == which)
			return &members[i];
	}
	return NULL;
}

static void add_counts(struct stats *s, struct bucket *b)
{
	s->rescheduled += counter_read(&b->rescheduled);
	s->drained += counter_read(&b->counts.drained);
	s->fired += counter_read(&b->counts.fired);
	lock_acquire(&b->lock);
	s->scheduled += counter_read(&b->scheduled);
	s->slots += slots_room(&b->slots);
	lock_release(&b->lock);
}

static void count(struct timerthread *tt, struct stats *s)
{
	struct engine *e = &tt->engine;
	struct bucket_set used;
	uint32_t i;

	intake_used(e->intake, &used);
	while (bucket_set_take(&used, &i))
		add_counts(s, &e->intake->bucket[i]);
	s->fired += counter_read(&e->fired);
	s->capped = counter_read(&tt->capped);
	s->no_memory = counter_read(&tt->no_memory);
	s->wakeups = counter_read(&e->wakeup.wakeups);
	s->early_wakeups = counter_read(&e->wakeup.early);
}

static void add_slot(struct stats *s, enum slot_state state)
{
	if (state == SLOT_ARMED || state == SLOT_MOVED)
		s->pending++;
	else if (state == SLOT_DEAD || state == SLOT_DEAD_MOVED)
		s->dead++;
	else if (state != SLOT_FREE)
		s->running++;
}

/* Acquire: pairs with slot_free, before which the timer's end was counted. */
static void add_slots(struct stats *s, struct bucket *b)
{
	uint32_t end;

	lock_acquire(&b->lock);
	end = slots_end(&b->slots);
	lock_release(&b->lock);
	for (uint32_t i = SLOT_FIRST_NUMBER; i < end; i++) {
		const struct slot *slot = slots_get(&b->slots, i);
		uint32_t word = atom32_load_acquire(&slot->state);

		add_slot(s, slot_state(word));
	}
}

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* What was told before, if it was more. */
static uint64_t remember(struct counter *told, uint64_t now)
{
	counter_add(told, difference(now, counter_read(told)));
	return counter_read(told);
}

static void look(struct timerthread *tt, struct stats *s)
{
	struct intake *in = tt->engine.intake;
	struct bucket_set used, again;
	uint64_t gone;
	uint32_t i;

	intake_used(in, &used);
	again = used;
	while (bucket_set_take(&used, &i))
		add_slots(s, &in->bucket[i]);
	while (bucket_set_take(&again, &i))
		s->ended += counter_read(&in->bucket[i].counts.ended);
	s->ended += counter_read(&tt->engine.ended);
	gone = difference(s->scheduled, s->ended + s->pending + s->running);
	pthread_mutex_lock(&tt->mutex);
	s->cancelled = remember(&tt->cancelled, gone);
	s->recycled = remember(&tt->recycled, difference(gone, s->dead));
	pthread_mutex_unlock(&tt->mutex);
}

static int get(struct timerthread *tt, enum timerthread_stat which,
	       uint64_t *ret_value)
{
	const struct member *m = find(which);
	struct stats s = {0};

	if (!m)
		return -EINVAL;
	if (instance_lives(tt)) {
		count(tt, &s);
		if (m->looks)
			look(tt, &s);
	}
	memcpy(ret_value, (const char *)&s + m->offset, sizeof(*ret_value));
	return 0;
}

TT_EXPORT int timerthread_get_stat(struct timerthread *tt,
				   enum timerthread_stat which,
				   uint64_t *ret_value)
{
	int r = instance_check(tt, ret_value != NULL);

	return r < 0 ? r : get(tt, which, ret_value);
}
