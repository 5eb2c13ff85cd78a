/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "api/stats.h"

#include "api/running.h"

static void add_counts(struct stats *s, struct bucket *b)
{
	s->rescheduled += counter_read(&b->rescheduled);
	s->fired += counter_read(&b->counts.fired);
	lock_acquire(&b->lock);
	s->scheduled += counter_read(&b->scheduled);
	s->slots += slots_room(&b->slots);
	s->bytes += bucket_bytes(b);
	lock_release(&b->lock);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_measured(struct stats *s, const struct measured *m)
{
	s->run_time += counter_read(&m->run_time.sum);
	s->longest_run =
		larger(s->longest_run, counter_read(&m->run_time.longest));
	s->largest_lateness =
		larger(s->largest_lateness, counter_read(&m->lateness.longest));
}

/* Several may measure: the driver, and the parts of an executor's runs. */
static void add_all_measured(struct timerthread *tt, struct stats *s)
{
	const struct runs *r = &tt->runs;

	add_measured(s, tt->engine.measured);
	for (uint32_t i = 0; r->measured && i < r->cpus.n; i++)
		add_measured(s, &r->measured[i]);
}

void stats_count(struct timerthread *tt, struct stats *s)
{
	struct engine *e = &tt->engine;
	struct bucket_set used;
	uint32_t i;

	intake_used(e->intake, &used);
	while (bucket_set_take(&used, &i))
		add_counts(s, &e->intake->bucket[i]);
	s->fired += counter_read(&e->fired);
	s->drained = counter_read(&tt->drained);
	s->capped = counter_read(&tt->capped);
	s->no_memory = counter_read(&tt->no_memory);
	s->wakeups = counter_read(&e->wakeup.wakeups);
	s->early_wakeups = counter_read(&e->wakeup.early);
	s->bytes += sizeof(*tt) + atomword_load(&e->pending_bytes) +
		    block_pool_bytes(&e->intake->pool);
	s->awake_time = (uint64_t)wakeup_awake(&e->wakeup);
	add_all_measured(tt, s);
	s->current_run = (uint64_t)running_longest(tt);
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

/* Acquire: pairs with slot_free; the timer's end was counted before that. */
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

/* Returns the number that was reported before, if that was greater. */
static uint64_t remember(struct counter *told, uint64_t now)
{
	counter_add(told, difference(now, counter_read(told)));
	return counter_read(told);
}

void stats_look(struct timerthread *tt, struct stats *s)
{
	struct intake *in = tt->engine.intake;
	struct bucket_set used, again;
	uint64_t ended, gone;
	uint32_t i;

	intake_used(in, &used);
	again = used;
	while (bucket_set_take(&used, &i))
		add_slots(s, &in->bucket[i]);
	ended = counter_read(&tt->engine.ended);
	while (bucket_set_take(&again, &i))
		ended += counter_read(&in->bucket[i].counts.ended);
	gone = difference(s->scheduled, ended + s->pending + s->running);
	pthread_mutex_lock(&tt->mutex);
	s->cancelled = remember(&tt->cancelled, gone);
	s->recycled = remember(&tt->recycled, difference(gone, s->dead));
	pthread_mutex_unlock(&tt->mutex);
}

static void add_counts_of(struct measured_counts *c, const struct measured *m)
{
	histogram_add_to(&c->lateness, &m->lateness);
	histogram_add_to(&c->run_time, &m->run_time);
}

void stats_measured(const struct timerthread *tt, struct measured_counts *c)
{
	const struct runs *r = &tt->runs;

	*c = (struct measured_counts){0};
	if (!instance_lives(tt))
		return;
	add_counts_of(c, tt->engine.measured);
	for (uint32_t i = 0; r->measured && i < r->cpus.n; i++)
		add_counts_of(c, &r->measured[i]);
}
