/* SPDX-License-Identifier: MIT */
/*
 * The cap on the number of timers, and on that of ids.
 */
#include "config.h"

#include "fail_alloc.h"
#include "timers.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* No bucket gets any more slots. */
static bool full;

/* Called in the place of the library's, by --wrap. */
int __real_slots_next_chunk(const struct slots *t);
int __wrap_slots_next_chunk(const struct slots *t);

int __wrap_slots_next_chunk(const struct slots *t)
{
	return full ? -1 : __real_slots_next_chunk(t);
}

static void start_with(size_t cap)
{
	full = false;
	setup();
	ck_assert_int_eq(timerthread_set_max_timers(tt, cap), 0);
	ck_assert_int_eq(driver_start(tt), 0);
}

static int try_to(timerthread_id *ret_id)
{
	return timerthread_schedule(tt, TIMERTHREAD_NEVER, never, NULL, ret_id);
}

/* There are no places left, whichever way one asks for it. */
static void check_full(void)
{
	timerthread_id id = 5;

	ck_assert_int_eq(try_to(&id), -EAGAIN);
	ck_assert_int_eq(timerthread_schedule_after(tt, HOUR, never, NULL, &id),
			 -EAGAIN);
	ck_assert_int_eq(timerthread_schedule_every(tt, TIMERTHREAD_NEVER, 1,
						    never, NULL, &id),
			 -EAGAIN);
	ck_assert_uint_eq(id, 5);
}

/* There are exactly n places left; they are left again after it. */
static void check_left(size_t n)
{
	timerthread_id *id = calloc(n + 1, sizeof(*id));

	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(try_to(&id[i]), 0);
	check_full();
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(timerthread_cancel(tt, id[i]), 0);
	free(id);
}

START_TEST(option)
{
	ck_assert_int_eq(timerthread_set_max_timers(NULL, 1), -EINVAL);
	setup();
	/* The last one counts. */
	ck_assert_int_eq(timerthread_set_max_timers(tt, 1), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, SIZE_MAX), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 3), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 9), -EBUSY);
	check_left(3);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 9), -EBUSY);
	end();

	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 9), -EBUSY);
	end();
}
END_TEST

START_TEST(none)
{
	start_with(0);
	for (int i = 0; i < 20000; i++)
		ck_assert_int_eq(try_to(NULL), 0);
	end();
}
END_TEST

/* Ids can name no more timers; that counts as no memory. */
START_TEST(no_ids_are_left)
{
	timerthread_id last = 0;
	uint64_t failed;

	start_with(0);
	ck_assert_int_eq(try_to(&last), 0);
	full = true;
	for (int n = 0; try_to(&last) == 0; n++)
		ck_assert_int_lt(n, 1000); /* or --wrap does nothing here */
	check_full();
	ck_assert_int_eq(
		timerthread_get_stat(tt, TIMERTHREAD_STAT_NO_MEMORY, &failed),
		0);
	ck_assert_uint_eq(failed, 4);
	ck_assert_int_eq(timerthread_cancel(tt, last), 0);
	ck_assert_int_eq(try_to(NULL), 0);
	check_full();
	full = false;
	for (int i = 0; i < 20000; i++)
		ck_assert_int_eq(try_to(NULL), 0);
	end();
}
END_TEST

START_TEST(exact)
{
	static const size_t caps[] = {1, 2, 10, 3000};

	for (size_t c = 0; c < 4; c++) {
		start_with(caps[c]);
		for (int i = 0; i < 3; i++)
			check_left(caps[c]);
		end();
	}
}
END_TEST

/* Whoever cancelled it has its place at once; one who did not, does not. */
START_TEST(cancel_frees_a_place)
{
	enum { CAP = 4 };
	timerthread_id id[CAP];

	start_with(CAP);
	for (int i = 0; i < CAP; i++)
		ck_assert_int_eq(try_to(&id[i]), 0);
	for (int i = 0; i < 5000; i++) {
		timerthread_id old = id[i % CAP];

		check_full();
		if (i % 2)
			ck_assert_int_eq(timerthread_cancel(tt, old), 0);
		else
			ck_assert_int_eq(timerthread_cancel_wait(tt, old), 0);
		ck_assert_int_eq(timerthread_cancel(tt, old), -ENOENT);
		ck_assert_int_eq(timerthread_cancel_wait(tt, old), -ENOENT);
		ck_assert_int_eq(try_to(&id[i % CAP]), 0);
		ck_assert_int_eq(timerthread_cancel(tt, old), -ENOENT);
	}
	check_full();
	end();
}
END_TEST

START_TEST(a_running_one_counts)
{
	timerthread_id id;
	int r;

	start_with(1);
	for (int i = 0; i < 200; i++) {
		id = hold_thread();
		check_full();
		if (i % 3) {
			ck_assert_int_eq(timerthread_cancel(tt, id), 1);
			check_full();
		}
		sem_post(&go);
		if (i % 2) {
			r = timerthread_cancel_wait(tt, id);
			ck_assert(r == 1 || r == -ENOENT);
		} else {
			while (timerthread_cancel(tt, id) != -ENOENT)
				sched_yield();
		}
		check_left(1);
	}
	end();
}
END_TEST

static int inside[2];

static void schedule_inside(void *arg)
{
	timerthread_id id;

	inside[0] = try_to(&id);
	if (arg) {
		timerthread_cancel(tt, *(timerthread_id *)arg);
		inside[1] = try_to(&id);
		timerthread_cancel(tt, id);
	}
	sem_post(&ran);
}

START_TEST(its_own_callback_counts)
{
	timerthread_id other, id;

	start_with(2);
	ck_assert_int_eq(try_to(&other), 0);
	id = schedule(0, schedule_inside, &other);
	wait_for(&ran);
	while (timerthread_cancel(tt, id) != -ENOENT)
		sched_yield();
	ck_assert_int_eq(inside[0], -EAGAIN);
	ck_assert_int_eq(inside[1], 0);
	check_left(2);
	end();
}
END_TEST

static timerthread_id self;
static int runs, moved;

static void arm_three_times(void *arg)
{
	if (++runs <= 3)
		moved |= timerthread_reschedule(tt, self, 0);
	sem_post(arg);
}

/* One place for a timer, however often it runs and is moved. */
START_TEST(one_place_each)
{
	start_with(2);
	ck_assert_int_eq(
		timerthread_schedule_every(tt, 0, 1, post, &ran, &self), 0);
	for (int i = 0; i < 500; i++) {
		wait_for(&ran);
		if (i % 50 == 0)
			check_left(1);
	}
	ck_assert_int_ge(timerthread_cancel_wait(tt, self), 0);
	check_left(2);
	while (sem_trywait(&ran) == 0)
		;

	ck_assert_int_eq(
		timerthread_schedule(tt, 0, arm_three_times, &ran, &self), 0);
	for (int i = 0; i < 4; i++)
		wait_for(&ran);
	ck_assert_int_ne(timerthread_cancel_wait(tt, self), 0);
	ck_assert_int_eq(moved, 0);
	check_left(2);

	/* To move one takes no place, and gives none. */
	ck_assert_int_eq(try_to(&self), 0);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(
			timerthread_reschedule(tt, self,
					       i % 2 ? TIMERTHREAD_NEVER - i
						     : TIMERTHREAD_NEVER),
			0);
	check_left(1);
	ck_assert_int_eq(timerthread_cancel(tt, self), 0);
	check_left(2);
	end();
}
END_TEST

START_TEST(failures_take_no_place)
{
	enum { CAP = 3 };
	timerthread_id id[CAP];

	start_with(CAP);
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(timerthread_schedule(tt, 0, NULL, NULL, NULL),
				 -EINVAL);
		ck_assert_int_eq(
			timerthread_schedule_every(tt, 0, 0, never, NULL, NULL),
			-EINVAL);
		ck_assert_int_eq(timerthread_cancel(tt, 0), -ENOENT);
		ck_assert_int_eq(timerthread_cancel(tt, UINT64_MAX), -ENOENT);
		ck_assert_int_eq(timerthread_reschedule(tt, 0, 0), -ENOENT);
	}
	check_left(CAP);
	for (int i = 0; i < CAP; i++)
		ck_assert_int_eq(try_to(&id[i]), 0);
	for (int i = 0; i < 100; i++)
		check_full();
	for (int i = 0; i < CAP; i++)
		ck_assert_int_eq(timerthread_cancel(tt, id[i]), 0);
	check_left(CAP);
	end();
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

START_TEST(no_memory_takes_no_place)
{
	enum { CAP = 5000 };
	static timerthread_id id[CAP];
	int n = 0, r;

	start_with(CAP);
	fail_arm(3, UINT32_MAX);
	while (n < CAP && (r = try_to(&id[n])) == 0)
		n++;
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(try_to(NULL), -ENOMEM);
	ck_assert_uint_gt(fail_disarm(), 3);
	ck_assert_int_lt(n, CAP);
	ck_assert_int_eq(r, -ENOMEM);
	check_left((size_t)(CAP - n));
	end();
}
END_TEST

#endif

/* Stopped is stopped, however many timers there are. */
START_TEST(full_and_stopped)
{
	timerthread_id id;

	start_with(1);
	ck_assert_int_eq(try_to(&id), 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(try_to(NULL), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(try_to(NULL), -ESHUTDOWN);
	end();
}
END_TEST

/* The calls of one thread: it is told exactly how many there are. */
START_TEST(random_against_a_number)
{
	enum { CAP = 50, STEPS = 100000 };
	timerthread_id id[CAP];
	uint64_t rng = test_seed();
	int n = 0;

	start_with(CAP);
	for (int step = 0; step < STEPS; step++) {
		uint64_t up = step / 1000 % 2 ? 40 : 60;

		if (random_below(&rng, 100) < up) {
			timerthread_id new;
			int r = try_to(&new);

			ck_assert_int_eq(r, n < CAP ? 0 : -EAGAIN);
			if (r == 0)
				id[n++] = new;
		} else if (n > 0) {
			int i = (int)random_below(&rng, (uint64_t)n);

			ck_assert_int_eq(timerthread_cancel(tt, id[i]), 0);
			id[i] = id[--n];
		}
	}
	check_left((size_t)(CAP - n));
	end();
}
END_TEST

/*
 * Many threads.  A timer is counted in "alive" after its schedule call and no
 * more before its cancel or in its callback: never more than there are.
 */
enum { THREADS = 4, RACE_CAP = 3, RACE_STEPS = 50000 };

static atom32 alive, most, fired;

static void born(void)
{
	uint32_t n = AO_int_fetch_and_add_full(&alive, 1) + 1;
	uint32_t seen = atom32_load(&most);

	/* Those that run at once may be gone before they are counted. */
	while ((int32_t)n > (int32_t)seen) {
		uint32_t was = atom32_swap(&most, seen, n);

		if (was == seen)
			break;
		seen = was;
	}
}

static void gone(void *arg)
{
	AO_int_fetch_and_add_full(&alive, (unsigned)-1);
	if (arg)
		atom32_add(arg, 1);
}

static void *race(void *arg)
{
	uint64_t rng = test_seed() + (uintptr_t)arg;
	timerthread_id mine[RACE_CAP];
	void *wrong = NULL;
	int n = 0;

	for (int i = 0; i < RACE_STEPS; i++) {
		timerthread_id id;
		int r;

		if (random_below(&rng, 2) && n > 0) {
			gone(NULL);
			if (timerthread_cancel(tt, mine[--n]) != 0)
				wrong = arg;
			continue;
		}
		if (random_below(&rng, 4) == 0)
			r = timerthread_schedule(
				tt, 0, gone, (void *)(uintptr_t)&fired, NULL);
		else if ((r = try_to(&id)) == 0)
			mine[n++] = id;
		if (r == 0)
			born();
		else if (r != -EAGAIN)
			wrong = arg;
	}
	while (n > 0) {
		gone(NULL);
		if (timerthread_cancel(tt, mine[--n]) != 0)
			wrong = arg;
	}
	return wrong;
}

/* All of the instance's callbacks are over. */
static void wait_until_empty(void)
{
	timerthread_id id;

	while (timerthread_schedule(tt, timerthread_now(tt), post, &ran, &id) !=
	       0)
		sched_yield();
	wait_for(&ran);
	while (timerthread_cancel(tt, id) != -ENOENT)
		sched_yield();
}

START_TEST(many_threads)
{
	start_with(RACE_CAP);
	run_threads(race, THREADS);
	wait_until_empty();
	ck_assert_uint_eq(atom32_load(&alive), 0);
	ck_assert_uint_le(atom32_load(&most), RACE_CAP);
	/* They did meet the cap. */
	ck_assert_uint_ge(atom32_load(&most), RACE_CAP - 1);
	check_left(RACE_CAP);
	end();
}
END_TEST

/*
 * Two threads rush for the same few places, time and again: they get all of
 * them, and no more.
 */
enum { RUSHES = 20000, RUSH_CAP = 3 };

static struct rush {
	timerthread_id mine[RUSH_CAP + 1];
	int n;
} rush[2];

static atom32 rushes, rushed;

static void rush_once(struct rush *r)
{
	r->n = 0;
	while (r->n <= RUSH_CAP && try_to(&r->mine[r->n]) == 0)
		r->n++;
}

static void *rush_along(void *arg)
{
	for (uint32_t i = 1; i <= RUSHES; i++) {
		while (atom32_load_acquire(&rushes) < i)
			sched_yield();
		rush_once(arg);
		atom32_store_release(&rushed, i);
	}
	return NULL;
}

START_TEST(last_place)
{
	pthread_t t;

	start_with(RUSH_CAP);
	ck_assert_int_eq(pthread_create(&t, NULL, rush_along, &rush[1]), 0);
	for (uint32_t i = 1; i <= RUSHES; i++) {
		atom32_store_release(&rushes, i);
		rush_once(&rush[0]);
		while (atom32_load_acquire(&rushed) < i)
			sched_yield();
		if (rush[0].n + rush[1].n != RUSH_CAP)
			ck_abort_msg("rush %u: %d and %d", (unsigned)i,
				     rush[0].n, rush[1].n);
		for (int j = 0; j < 2; j++) {
			while (rush[j].n > 0)
				timerthread_cancel(tt,
						   rush[j].mine[--rush[j].n]);
		}
	}
	pthread_join(t, NULL);
	check_left(RUSH_CAP);
	end();
}
END_TEST

/* Each has no more than its share: none is ever refused. */
enum { SHARE = 3 };

static void *keep_to_share(void *arg)
{
	timerthread_id mine[SHARE] = {0};
	void *wrong = NULL;

	for (int i = 0; i < RACE_STEPS; i++) {
		timerthread_id *id = &mine[i % SHARE];

		/* -ENOENT: it has run, and that is over. */
		if (*id && timerthread_cancel_wait(tt, *id) == -EDEADLK)
			wrong = arg;
		if (i % 4 ? try_to(id)
			  : timerthread_schedule(tt, 0, gone, NULL, id))
			wrong = arg;
	}
	for (int i = 0; i < SHARE; i++)
		timerthread_cancel_wait(tt, mine[i]);
	return wrong;
}

START_TEST(none_is_refused_its_share)
{
	start_with((size_t)THREADS * SHARE);
	run_threads(keep_to_share, THREADS);
	check_left((size_t)THREADS * SHARE);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		option,
		none,
		no_ids_are_left,
		exact,
		cancel_frees_a_place,
		a_running_one_counts,
		its_own_callback_counts,
		one_place_each,
		failures_take_no_place,
#ifndef FAIL_ALLOC_UNAVAILABLE
		no_memory_takes_no_place,
#endif
		full_and_stopped,
		random_against_a_number,
		many_threads,
		last_place,
		none_is_refused_its_share,
	};

	return RUN_TESTS("limit", tests);
}
