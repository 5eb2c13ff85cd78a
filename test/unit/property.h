/* SPDX-License-Identifier: MIT */
/*
 * An instance on a virtual clock, held against a plain sorted list: whatever is
 * chosen, each timer runs at its deadline, in its turn, once, and what the
 * calls return is what the list says.  The choices come from a source of random
 * numbers, or from the bytes of a fuzzer.
 */
#ifndef TT_PROPERTY_H
#define TT_PROPERTY_H

#include "api/instance.h"
#include "os/clock.h"
#include "os/must.h"
#include "random.h"
#include "timerthread.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

struct choices {
	uint64_t rng;        /* used if there are no bytes */
	const uint8_t *byte; /* or NULL */
	size_t left;
};

struct listed {
	int64_t deadline;
	int64_t latest; /* when it was set, if that was past its deadline */
	timerthread_id id;
	void *key; /* the callback's argument */
};

enum { PROPERTY_MAX = 4000, PROPERTY_FEW = 160 };

struct property {
	struct choices choices;
	struct timerthread *tt;
	int64_t now;
	struct listed list[PROPERTY_MAX]; /* sorted by deadline */
	size_t n, most;
	timerthread_id stale; /* one that was, or 0 */
	uintptr_t last_key;
	size_t drained;
	bool calling; /* a callback is running */
	bool slow;    /* time shall not come to its end */
};

/* The one that is tested: callbacks have only their timer's key. */
static struct property *property;

/* 0 to n - 1; n is at most 256 and, with bytes, 0 at their end. */
static unsigned choose(unsigned n)
{
	struct choices *c = &property->choices;

	if (!c->byte)
		return (unsigned)(next_random(&c->rng) % n);
	if (c->left == 0)
		return 0;
	c->left--;
	return *c->byte++ % n;
}

static bool may_choose(void)
{
	return !property->choices.byte || property->choices.left > 0;
}

static uint64_t choose_bits(void)
{
	uint64_t bits = 0;

	if (!property->choices.byte)
		return next_random(&property->choices.rng);
	for (int i = 0; i < 8; i++)
		bits = bits << 8 | choose(256);
	return bits;
}

/* One of those that are listed; there must be one. */
static size_t choose_index(void)
{
	return (choose(256) << 8 | choose(256)) % property->n;
}

/* Not negative: tiny, about the width of a lane, or huge. */
static int64_t choose_distance(void)
{
	unsigned kind = choose(16);

	if (kind < 3)
		return choose(5);
	if (kind < 5)
		return (int64_t)choose(256) << 18;
	return (int64_t)(choose_bits() >> (2 + choose(62)));
}

static int64_t choose_deadline(void)
{
	int64_t distance = choose_distance();

	switch (choose(24)) {
	case 0:
		return INT64_MAX;
	case 1:
		return INT64_MIN;
	case 2:
		return clock_add(property->now, -distance);
	case 3: /* that of another */
		return property->n > 0 ? property->list[choose_index()].deadline
				       : distance;
	default:
		return clock_add(property->now, distance);
	}
}

static void list_add(struct listed l)
{
	size_t i = property->n++;

	l.latest = l.deadline > property->now ? l.deadline : property->now;
	for (; i > 0 && property->list[i - 1].deadline > l.deadline; i--)
		property->list[i] = property->list[i - 1];
	property->list[i] = l;
}

static struct listed list_take(size_t i)
{
	struct listed l = property->list[i];

	memmove(&property->list[i], &property->list[i + 1],
		(--property->n - i) * sizeof(l));
	return l;
}

static size_t list_find(const void *key)
{
	size_t i = 0;

	while (i < property->n && property->list[i].key != key)
		i++;
	must(i < property->n);
	return i;
}

/* In the callback of this one, or, with 0, in none. */
static void check_current(timerthread_id id)
{
	struct timerthread *tt = NULL;
	timerthread_id current = 0;
	uint64_t overrun = 1;

	must(timerthread_get_current(&tt, &current) == (id ? 0 : -ENOENT));
	must(tt == (id ? property->tt : NULL) && current == id);
	must(timerthread_get_overrun(&overrun) == (id ? 0 : -ENOENT));
	must(overrun == !id);
}

static void property_step(void);

static void property_fired(void *key)
{
	struct property *p = property;
	size_t i = list_find(key);
	struct listed l = list_take(i);

	while (i-- > 0)
		must(p->list[i].latest >= l.deadline);
	if (p->now < l.deadline)
		p->now = l.deadline;
	must(timerthread_now(p->tt) == p->now);
	must(timerthread_cancel(p->tt, 0) == -ENOENT);
	check_current(l.id);
	p->stale = l.id;
	p->calling = true;
	if (may_choose() && choose(4) == 0)
		property_step();
	/* It arms itself again, later: what is due must come to an end. */
	if (may_choose() && choose(8) == 0 && p->n < p->most &&
	    p->now < INT64_MAX) {
		l.deadline = clock_add(p->now, 1 + choose_distance());
		must(timerthread_reschedule(p->tt, l.id, l.deadline) == 0);
		list_add(l);
		p->stale = 0;
	}
	p->calling = false;
}

static void do_schedule(void)
{
	struct listed l = {.key = (void *)++property->last_key};

	if (property->n == property->most)
		return;
	l.deadline = choose_deadline();
	/* As above. */
	if (property->calling && l.deadline <= property->now)
		return;
	must(timerthread_schedule(property->tt, l.deadline, property_fired,
				  l.key, &l.id) == 0);
	list_add(l);
}

static void do_cancel(void)
{
	struct listed l;
	void *key = NULL;

	if (property->n == 0)
		return;
	l = list_take(choose_index());
	property->stale = l.id;
	if (choose(2)) {
		must(timerthread_cancel(property->tt, l.id) == 0);
		return;
	}
	must(timerthread_cancel_take(property->tt, l.id, &key) == 0);
	must(key == l.key);
}

static void property_drained(timerthread_id id, timerthread_fn *fn, void *key,
			     void *ctx)
{
	struct property *p = property;

	must(list_take(list_find(key)).id == id);
	must(fn == property_fired && ctx == p);
	p->stale = id;
	p->drained++;
}

/* Of everything. */
static void do_drain(void)
{
	struct property *p = property;
	size_t n = p->n;

	p->drained = 0;
	must(timerthread_drain(p->tt, property_drained, p) == (int)n);
	must(p->drained == n && p->n == 0);
}

/* Some deadlines are too far from now to say how far. */
static int reschedule(timerthread_id id, int64_t deadline)
{
	int64_t delay;

	if (choose(2) ||
	    __builtin_sub_overflow(deadline, property->now, &delay))
		return timerthread_reschedule(property->tt, id, deadline);
	return timerthread_reschedule_after(property->tt, id, delay);
}

static void do_reschedule(void)
{
	struct listed l;

	if (property->n == 0)
		return;
	l = list_take(choose_index());
	do
		l.deadline = choose_deadline();
	while (property->calling && l.deadline <= property->now &&
	       property->now < INT64_MAX && !property->choices.byte);
	if (property->calling && l.deadline <= property->now)
		l.deadline = INT64_MAX;
	must(reschedule(l.id, l.deadline) == 0);
	list_add(l);
}

static void do_stale(void)
{
	int64_t deadline;
	void *key = &deadline;

	if (property->calling)
		return; /* the last one may be the one that runs */
	must(timerthread_cancel(property->tt, property->stale) == -ENOENT);
	must(timerthread_reschedule(property->tt, property->stale, 0) ==
	     -ENOENT);
	must(timerthread_reschedule_after(property->tt, property->stale, 0) ==
	     -ENOENT);
	must(timerthread_get_deadline(property->tt, property->stale,
				      &deadline) == -ENOENT);
	must(timerthread_cancel_take(property->tt, property->stale, &key) ==
	     -ENOENT);
	must(key == &deadline);
	check_current(0);
}

/* The first of the list, and not before now. */
static void do_next(void)
{
	const struct property *p = property;
	int64_t first = p->n > 0 ? p->list[0].deadline : INT64_MAX, next;

	if (p->calling || first < p->now)
		first = p->now;
	must(timerthread_get_next_deadline(p->tt, &next) == 0);
	must(next == first);
}

static void do_advance(void)
{
	struct property *p = property;
	int64_t distance = choose_distance(), end;
	int ran;

	if (p->calling)
		return;
	if (p->slow && distance > (INT64_MAX - p->now) >> 16)
		distance >>= 16;
	end = clock_add(p->now, distance);
	ran = timerthread_advance(p->tt, end - p->now);
	must(ran >= 0);
	p->now = end;
	must(timerthread_now(p->tt) == end);
	must(p->n == 0 || p->list[0].deadline > end ||
	     p->list[0].deadline == INT64_MAX);
}

/* One call, whichever it may be. */
static void property_step(void)
{
	unsigned dice = choose(100);
	size_t i;
	int64_t deadline;

	if (dice < 45)
		do_schedule();
	else if (dice < 60)
		do_cancel();
	else if (dice < 75)
		do_reschedule();
	else if (dice < 78)
		do_stale();
	else if (dice < 80)
		do_next();
	else if (dice < 81 && choose(16) == 0)
		do_drain();
	else
		do_advance();
	if (property->n > 0) {
		i = choose_index();
		must(timerthread_get_deadline(property->tt,
					      property->list[i].id,
					      &deadline) == 0);
		must(deadline == property->list[i].deadline);
	}
}

static void property_check(const struct timerthread *tt)
{
	pending_check(&tt->engine.pending);
	for (uint32_t i = 0; i < tt->engine.intake->n; i++)
		bucket_check(&tt->engine.intake->bucket[i]);
}

/* At the end all but those that never run have run. */
static void property_finish(void)
{
	property->choices = (struct choices){.byte = (const uint8_t *)""};
	must(timerthread_advance(property->tt, INT64_MAX) >= 0);
	must(timerthread_advance(property->tt, INT64_MAX) >= 0);
	property->now = INT64_MAX;
	for (size_t i = 0; i < property->n; i++)
		must(property->list[i].deadline == INT64_MAX);
	property_check(property->tt);
}

/* An instance on a clock that shows now. */
static void property_begin(struct choices c, int64_t now)
{
	static struct property p;

	p = (struct property){
		.choices = c,
		.now = now,
		.most = PROPERTY_FEW,
	};
	property = &p;
	must(timerthread_create(&p.tt) == 0);
	must(timerthread_set_reserve(p.tt, choose(2) ? PROPERTY_FEW : 0) == 0);
	must(timerthread_start_virtual(p.tt, now) == 0);
}

/* Many, of which a lane may hold more than a block. */
static void property_crowd(void)
{
	property->most = PROPERTY_MAX;
	while (property->n < PROPERTY_MAX)
		do_schedule();
}

/* steps: at most; and while there are choices. */
static void property_run(uint64_t steps)
{
	for (; steps > 0 && may_choose(); steps--) {
		property_step();
		property_check(property->tt);
	}
}

static void property_end(void)
{
	property_finish();
	timerthread_destroy(property->tt);
}

#endif
