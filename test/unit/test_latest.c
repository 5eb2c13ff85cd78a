/* SPDX-License-Identifier: MIT */
/*
 * The slot and the entry of the timer that was scheduled last are used again
 * when it is dead: never those of one that lives, or that others may find.
 */
#include "config.h"

#include "checks/bucket.h"
#include "contents.h"
#include "fixture.h"
#include "intake/collect.h"
#include "intake/recycle.h"
#include "must.h"
#include "random.h"
#include "sweeping.h"

#define MS   INT64_C(1000000)
#define HOUR (3600000 * MS)

static unsigned runs;
static struct bucket *b;
static int64_t soon; /* the next deadline, later than those before it */

static void count(void *arg)
{
	(void)arg;
	runs++;
}

static void never_runs(void *arg)
{
	(void)arg;
	abort();
}

static timerthread_id next_one(timerthread_fn *fn)
{
	timerthread_id id;

	soon += MS;
	must(timerthread_schedule(tt, soon, fn, NULL, &id) == 0);
	return id;
}

static void drop(timerthread_id id)
{
	must(timerthread_cancel(tt, id) == 0);
}

static void pairs(int n)
{
	for (int i = 0; i < n; i++)
		drop(next_one(never_runs));
}

static bool is_noted(void)
{
	return b->latest.entry != NULL;
}

/* As it is after some pairs: the last timer is dead, and is noted. */
static void begin(void)
{
	start_virtual();
	b = &tt->engine.intake->bucket[0];
	runs = 0;
	soon = HOUR;
	pairs(300);
	while (!is_noted())
		pairs(1);
	bucket_check(b);
}

/* Each timer that was scheduled to run has run, once. */
static void finish(unsigned n)
{
	bucket_check(b);
	ck_assert_int_ge(timerthread_advance(tt, 2 * HOUR), 0);
	ck_assert_uint_eq(runs, n);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_PENDING), 0);
	end();
}

START_TEST(pairs_leave_nothing_behind)
{
	enum { N = 2000 };
	static timerthread_id ids[N];
	size_t entries, slots;
	int again = 0;

	begin();
	entries = bucket_size(b);
	slots = b->slots.used;
	for (int i = 0; i < N; i++) {
		ids[i] = next_one(never_runs);
		again += i > 0 && slot_index(ids[i]) == slot_index(ids[i - 1]);
		drop(ids[i]);
		must(i == 0 || timerthread_cancel(tt, ids[i - 1]) == -ENOENT);
	}
	/* Most of them have the slot of the one before. */
	ck_assert_int_gt(again, N - N / 32);
	ck_assert_uint_le(bucket_size(b), entries + RECYCLE_LOOKS);
	ck_assert_uint_le(b->slots.used, slots + RECYCLE_LOOKS);
	for (int i = 0; i < N; i++)
		must(timerthread_cancel(tt, ids[i]) == -ENOENT);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_PENDING), 0);
	finish(0);
}
END_TEST

/* It is retired as any other, and the next one has another slot. */
START_TEST(one_that_is_used_up)
{
	timerthread_id id;
	struct slot *s;

	for (int i = 0; i < 4; i++) {
		begin();
		id = next_one(never_runs);
		s = intake_slot(tt->engine.intake, id);
		if (i < 2) {
			/* The last generation but one, and the last. */
			uint32_t word =
				i == 0 ? UINT32_MAX - 30 : UINT32_MAX - 14;

			atom32_store(&s->state, word);
			b->latest.id = id = slot_id(s, word);
		} else {
			b->latest.entry->ticket |=
				i == 2 ? TICKET_WORN - 8 : TICKET_WORN;
			atom32_store(&s->ticket, b->latest.entry->ticket);
		}
		drop(id);
		for (int k = 0; k < 4; k++) {
			timerthread_id next = next_one(never_runs);

			ck_assert(intake_slot(tt->engine.intake, next) != s ||
				  (i % 2 == 0 && k == 0));
			must(timerthread_cancel(tt, id) == -ENOENT);
			drop(next);
			id = next;
		}
		finish(0);
	}
}
END_TEST

/* Of several that live none is taken, whichever dies. */
START_TEST(what_lives_stays)
{
	timerthread_id id[3];

	for (int dies = 0; dies < 4; dies++) {
		begin();
		for (int i = 0; i < 3; i++)
			id[i] = next_one(count);
		if (dies < 3)
			drop(id[dies]);
		for (int i = 0; i < 8; i++)
			next_one(count);
		finish(dies < 3 ? 10 : 11);
	}
}
END_TEST

/* It fails once, and is not tried again before a lane was emptied. */
START_TEST(it_is_tried_until_it_fails)
{
	begin();
	next_one(count);
	ck_assert(is_noted());
	next_one(count);
	ck_assert(!is_noted());
	for (int i = 0; i < 100; i++)
		next_one(count);
	ck_assert(!is_noted());
	finish(102);
}
END_TEST

/* The dead one is of another lane, and stays there. */
START_TEST(another_lane)
{
	timerthread_id id;

	begin();
	drop(next_one(never_runs));
	must(timerthread_schedule(tt, 100 * HOUR, count, NULL, &id) == 0);
	drop(id);
	must(timerthread_schedule(tt, 100 * HOUR, count, NULL, &id) == 0);
	next_one(count);
	bucket_check(b);
	drop(id);
	finish(1);
}
END_TEST

/* Its entry is another one then, and does not count at its old place. */
START_TEST(it_was_moved)
{
	timerthread_id id;

	for (int i = 0; i < 2; i++) {
		begin();
		id = next_one(never_runs);
		must(timerthread_reschedule(
			     tt, id, i == 0 ? soon - MS / 2 : soon / 4) == 0);
		drop(id);
		for (int k = 0; k < 5; k++)
			next_one(count);
		bucket_check(b);
		finish(5);
	}
}
END_TEST

/* By another entry: the driver has the ticket, and frees the slot soon. */
START_TEST(the_driver_is_freeing_it)
{
	timerthread_id id, next;
	struct slot *s;
	uint32_t ticket;

	begin();
	id = next_one(never_runs);
	s = intake_slot(tt->engine.intake, id);
	ck_assert_ptr_nonnull(s);
	drop(id);
	ticket = atom32_load(&s->ticket);
	atom32_store(&s->ticket, ticket | TICKET_HANDED_OVER);
	next = next_one(count);
	ck_assert(intake_slot(tt->engine.intake, next) != s);
	atom32_store(&s->ticket, ticket);
	finish(1);
}
END_TEST

/* One that was prepared, or repeats, goes another way, into the same lane. */
START_TEST(others_come_between)
{
	timerthread_id id, prepared;

	begin();
	id = next_one(never_runs);
	must(timerthread_prepare(tt, count, NULL, &prepared) == 0);
	soon += MS;
	must(timerthread_reschedule(tt, prepared, soon) == 0);
	drop(id);
	next_one(count);
	bucket_check(b);
	must(timerthread_disarm(tt, prepared) == 0);
	next_one(count);
	soon += MS;
	must(timerthread_reschedule(tt, prepared, soon) == 0);
	next_one(count);
	bucket_check(b);
	ck_assert_int_eq(timerthread_advance(tt, 2 * HOUR), 4);
	drop(prepared);
	ck_assert_uint_eq(runs, 4);
	end();
}
END_TEST

/* The driver has its entry: in a block of its own, or in its heap. */
START_TEST(the_driver_has_it)
{
	struct visit v;

	begin();
	drop(next_one(never_runs));
	visit_begin(&v, INT64_MAX - 1, 0);
	ck_assert(!bucket_collect(b, &tt->engine.wakeup, &v));
	ck_assert_uint_gt(v.cursor.taken, 0);
	for (int i = 0; i < 5; i++)
		next_one(count);
	bucket_check(b);
	for (uint32_t i = 0; i < v.cursor.taken; i++)
		pending_add(&tt->engine.pending, v.cursor.row[i]);
	finish(5);
}
END_TEST

/* A sweep has taken it: its slot is free, and its entry is stale. */
START_TEST(a_sweep_has_freed_it)
{
	begin();
	drop(next_one(never_runs));
	sweep_all_of(b);
	ck_assert_uint_eq(b->slots.used, 0);
	for (int i = 0; i < 5; i++)
		next_one(count);
	finish(5);
}
END_TEST

/* Where its entry was, there is another one that counts. */
START_TEST(its_place_has_another_entry)
{
	struct slot *dead;
	timerthread_id id, other;

	begin();
	id = next_one(never_runs);
	dead = intake_slot(tt->engine.intake, id);
	drop(id);
	b->latest.entry = NULL;
	other = next_one(count);
	/* With the same ticket, too. */
	atom32_store(&intake_slot(tt->engine.intake, other)->ticket,
		     atom32_load(&dead->ticket));
	for (struct lane *l = b->lane; l < b->lane + LANES; l++) {
		struct entry *e = l->queue.back;

		if (l->queue.blocks == 0 || e == l->queue.front ||
		    e[-1].index != slot_index(other))
			continue;
		e[-1].ticket = atom32_load(&dead->ticket);
		b->latest = (struct latest){true, e - 1, dead, id};
	}
	ck_assert(is_noted());
	next_one(count);
	ck_assert(!is_noted());
	finish(2);
}
END_TEST

/* Sums, orders and ids, with all of this at random. */
START_TEST(at_random)
{
	enum { STEPS = 20000, LIVE = 4 };
	timerthread_id live[LIVE] = {0};
	unsigned expected = 0;
	uint64_t rng = test_seed();

	begin();
	for (int i = 0; i < STEPS; i++) {
		size_t at = random_below(&rng, LIVE);

		switch (random_below(&rng, 8)) {
		case 0:
			if (live[at] != 0)
				drop(live[at]);
			live[at] = next_one(never_runs);
			break;
		case 1:
			if (live[at] == 0)
				break;
			soon += MS;
			must(timerthread_reschedule(tt, live[at],
						    soon - 2 * MS) == 0);
			break;
		case 2:
			if (live[at] != 0)
				drop(live[at]);
			live[at] = 0;
			break;
		default:
			pairs(1 + (int)random_below(&rng, 10));
			break;
		}
		if (i % 50 == 0)
			bucket_check(b);
		if (i % 1000 == 0)
			sweep_as_driver(b, false);
	}
	for (size_t i = 0; i < LIVE; i++)
		if (live[i] != 0)
			drop(live[i]);
	finish(expected);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		pairs_leave_nothing_behind,
		one_that_is_used_up,
		what_lives_stays,
		it_is_tried_until_it_fails,
		another_lane,
		it_was_moved,
		the_driver_is_freeing_it,
		others_come_between,
		the_driver_has_it,
		a_sweep_has_freed_it,
		its_place_has_another_entry,
		at_random,
	};

	return RUN_TESTS("latest", tests);
}
