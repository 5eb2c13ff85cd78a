/* SPDX-License-Identifier: MIT */
/*
 * When the next timer is due.
 */
#include "config.h"

#include "timers.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

static int64_t next(void)
{
	int64_t t = 77;

	ck_assert_int_eq(timerthread_get_next_deadline(tt, &t), 0);
	return t;
}

static int64_t now(void)
{
	return timerthread_now(tt);
}

static void begin(int64_t at)
{
	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, at), 0);
}

START_TEST(arguments_and_life)
{
	int64_t t = 77;

	ck_assert_int_eq(timerthread_get_next_deadline(NULL, &t), -EINVAL);
	ck_assert_int_eq(timerthread_get_next_deadline(NULL, NULL), -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_get_next_deadline(tt, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_get_next_deadline(tt, &t), -EINVAL);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(timerthread_get_next_deadline(tt, NULL), -EINVAL);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	schedule(now() + HOUR, never, NULL);
	errno = E2BIG;
	next();
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_get_next_deadline(tt, &t), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_get_next_deadline(tt, NULL), -EINVAL);
	end();

	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_get_next_deadline(tt, &t), -ESHUTDOWN);
	end();
	ck_assert_int_eq(t, 77);
}
END_TEST

/* Until the driver has found that there is none. */
START_TEST(none)
{
	timerthread_id id;

	start();
	while (next() != TIMERTHREAD_NEVER)
		sched_yield();
	schedule(TIMERTHREAD_NEVER, never, NULL);
	while (next() != TIMERTHREAD_NEVER)
		sched_yield();
	schedule(0, post, &ran);
	wait_for(&ran);
	while (next() != TIMERTHREAD_NEVER)
		sched_yield();
	/* Once it has been at work at that time. */
	id = schedule(now() + MS, post, &ran);
	timerthread_cancel(tt, id);
	while (next() != TIMERTHREAD_NEVER)
		sched_yield();
	end();
}
END_TEST

/* Far and near ones come and go; none that is there is overlooked. */
enum { ROUNDS = 4000 };

static void *look(void *arg)
{
	uint64_t rng = test_seed() + (uintptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		int64_t before = now(), d, t, after;
		timerthread_id id;

		d = before +
		    (int64_t)random_below(&rng, i % 2 ? 2 * MS : 2 * HOUR);
		if (timerthread_schedule(tt, d, post, &ran, &id) != 0)
			return arg;
		if (i % 4 == 0) {
			d -= (d - before) / 2;
			if (timerthread_reschedule(tt, id, d) == -ENOENT)
				continue;
		}
		if (timerthread_get_next_deadline(tt, &t) != 0)
			return arg;
		after = now();
		if (t < before || (t > d && d > after))
			return arg;
		timerthread_cancel(tt, id);
	}
	return NULL;
}

START_TEST(none_is_overlooked)
{
	start();
	run_threads(look, 1);
	run_threads(look, 4);
	end();
}
END_TEST

/* In a callback on the driver's thread. */
static int64_t seen[3];

static void look_inside(void *arg)
{
	seen[0] = now();
	if (timerthread_get_next_deadline(tt, &seen[1]) != 0)
		seen[1] = -1;
	seen[2] = now();
	sem_post(arg);
}

START_TEST(in_a_callback_it_is_now)
{
	start();
	for (int i = 0; i < 100; i++) {
		timerthread_id id = schedule(now() + i * HOUR, post, &go);

		schedule(0, look_inside, &ran);
		wait_for(&ran);
		ck_assert_int_le(seen[0], seen[1]);
		ck_assert_int_le(seen[1], seen[2]);
		timerthread_cancel(tt, id);
	}
	end();
}
END_TEST

/*
 * On a virtual clock.
 */
static int runs;

static void note(void *arg)
{
	(void)arg;
	runs++;
}

START_TEST(exact)
{
	static const int64_t start[] = {0, -HOUR, HOUR, INT64_MIN / 2};
	timerthread_id id[3];

	for (int i = 0; i < 4; i++) {
		const int64_t at = start[i];

		begin(at);
		ck_assert_int_eq(next(), TIMERTHREAD_NEVER);
		schedule(TIMERTHREAD_NEVER, never, NULL);
		ck_assert_int_eq(next(), TIMERTHREAD_NEVER);
		id[0] = schedule(at + 20 * HOUR + 7, never, NULL);
		ck_assert_int_eq(next(), at + 20 * HOUR + 7);
		id[1] = schedule(at + 3, never, NULL);
		ck_assert_int_eq(next(), at + 3);
		id[2] = every(at + 2, HOUR, note, NULL);
		ck_assert_int_eq(next(), at + 2);
		ck_assert_int_eq(timerthread_advance(tt, 2), 1);
		ck_assert_int_eq(next(), at + 3);
		ck_assert_int_eq(timerthread_cancel(tt, id[1]), 0);
		ck_assert_int_eq(next(), at + 2 + HOUR);
		ck_assert_int_eq(timerthread_cancel(tt, id[2]), 0);
		ck_assert_int_eq(next(), at + 20 * HOUR + 7);
		ck_assert_int_eq(timerthread_cancel(tt, id[0]), 0);
		ck_assert_int_eq(next(), TIMERTHREAD_NEVER);
		/* What has passed is now. */
		id[0] = schedule(at - 5, note, NULL);
		ck_assert_int_eq(next(), now());
		ck_assert_int_eq(timerthread_cancel(tt, id[0]), 0);
		ck_assert_int_eq(next(), TIMERTHREAD_NEVER);
		end();
	}
}
END_TEST

/* Wherever its entry is: looked at before, collected before, or neither. */
START_TEST(exact_when_the_first_was_moved)
{
	static const int64_t away[] = {MS, 20 * MS, HOUR, 50 * HOUR};

	for (int i = 0; i < 4 * 4 * 3; i++) {
		int64_t first = away[i % 4], later = away[i / 4 % 4];
		timerthread_id id;

		begin(100);
		id = schedule(100 + first, note, NULL);
		switch (i / 16) {
		case 1:
			ck_assert_int_eq(next(), 100 + first);
			break;
		case 2:
			schedule(101, note, NULL);
			ck_assert_int_eq(timerthread_advance(tt, MS / 2), 1);
			break;
		default:
			break;
		}
		ck_assert_int_eq(
			timerthread_reschedule(tt, id, 100 + first + later), 0);
		ck_assert_int_eq(next(), 100 + first + later);
		schedule(100 + first + later + 1, note, NULL);
		ck_assert_int_eq(next(), 100 + first + later);
		ck_assert_int_eq(
			timerthread_reschedule(tt, id, 100 + first + later + 2),
			0);
		ck_assert_int_eq(next(), 100 + first + later + 1);
		ck_assert_int_eq(timerthread_reschedule(tt, id, 50), 0);
		ck_assert_int_eq(next(), now());
		ck_assert_int_eq(timerthread_advance(tt, 0), 1);
		ck_assert_int_eq(next(), 100 + first + later + 1);
		end();
	}
}
END_TEST

/*
 * From event to event: each step runs something, and at the end nothing is
 * left.  Callbacks move and cancel others meanwhile.
 */
enum { TIMERS = 1500 };

static timerthread_id ids[TIMERS];
static uint64_t dice;

static int64_t any_distance(void)
{
	return (int64_t)(next_random(&dice) >> (14 + random_below(&dice, 48)));
}

static void meddle(void *arg)
{
	timerthread_id *id = arg, *other = &ids[random_below(&dice, TIMERS)];
	int64_t distance = any_distance();

	note(NULL);
	switch (random_below(&dice, 6)) {
	case 0:
		timerthread_cancel(tt, *other);
		break;
	case 1:
		timerthread_reschedule(tt, *other, now() + distance);
		break;
	case 2: /* those that repeat come to an end */
	case 3:
		timerthread_cancel(tt, *id);
		break;
	default:
		break;
	}
}

START_TEST(from_event_to_event)
{
	int64_t t;

	dice = test_seed();
	begin(-5);
	for (int i = 0; i < TIMERS; i++)
		ids[i] = i % 5 ? schedule(any_distance() - 10, meddle, &ids[i])
			       : every(any_distance() - 10, 1 + any_distance(),
				       meddle, &ids[i]);
	for (int i = 0; i < TIMERS; i += 3) {
		ck_assert_int_eq(
			timerthread_reschedule(tt, ids[i], any_distance()), 0);
		if (i % 4 == 0)
			ck_assert_int_eq(timerthread_cancel(tt, ids[i]), 0);
	}
	while ((t = next()) != TIMERTHREAD_NEVER) {
		int before = runs, r;

		ck_assert_int_ge(t, now());
		r = timerthread_advance(tt, t - now());
		ck_assert_int_ge(r, 1);
		ck_assert_int_eq(runs, before + r);
		ck_assert_int_eq(now(), t);
	}
	ck_assert_int_gt(runs, TIMERS / 3);
	for (int i = 0; i < TIMERS; i++)
		ck_assert_int_eq(timerthread_cancel(tt, ids[i]), -ENOENT);
	end();
}
END_TEST

/* Another thread advances the clock. */
static atom32 advanced;

static void *advance_in_thread(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20000; i++) {
		if (timerthread_advance(tt, i % 8) < 0)
			return arg;
	}
	atom32_store_release(&advanced, 1);
	return NULL;
}

static void *look_meanwhile(void *arg)
{
	while (!atom32_load_acquire(&advanced)) {
		int64_t before = now(), t;
		timerthread_id id;

		if (timerthread_get_next_deadline(tt, &t) != 0)
			return arg;
		/* One has a period of 10. */
		if (t < before || t > now() + 10)
			return arg;
		if (timerthread_schedule(tt, before + 5, note, NULL, &id) != 0)
			return arg;
		timerthread_cancel(tt, id);
	}
	return NULL;
}

static void *advance_or_look(void *arg)
{
	return arg == (void *)1 ? advance_in_thread(arg) : look_meanwhile(arg);
}

START_TEST(while_another_thread_advances)
{
	begin(0);
	every(0, 10, note, NULL);
	every(3, 77, note, NULL);
	run_threads(advance_or_look, 3);
	end();
}
END_TEST

/* While a thread advances the clock it is now. */
static void *advance_once(void *arg)
{
	(void)arg;
	return timerthread_advance(tt, 10) == 1 ? NULL : arg;
}

START_TEST(while_a_callback_is_held_it_is_now)
{
	pthread_t t;
	void *wrong;

	begin(0);
	schedule(4, hold, &ran);
	schedule(HOUR, never, NULL);
	ck_assert_int_eq(pthread_create(&t, NULL, advance_once, &runs), 0);
	wait_for(&ran);
	ck_assert_int_eq(next(), 4);
	sem_post(&go);
	pthread_join(t, &wrong);
	ck_assert_ptr_null(wrong);
	ck_assert_int_eq(now(), 10);
	ck_assert_int_eq(next(), HOUR);
	end();
}
END_TEST

/*
 * In an event loop that a function wakes.  The linker puts this in the place of
 * wakeup_next: another thread stops the instance before the loop gets its
 * answer, or after that.
 */
int64_t __real_wakeup_next(struct wakeup *w);
int64_t __wrap_wakeup_next(struct wakeup *w);

enum { NO_STOP, STOP_BEFORE, STOP_AFTER };

static int stop_when;

static void *stop(void *arg)
{
	return timerthread_stop(tt) == 0 ? NULL : arg;
}

int64_t __wrap_wakeup_next(struct wakeup *w)
{
	int64_t t;

	if (stop_when == STOP_BEFORE)
		run_threads(stop, 1);
	t = __real_wakeup_next(w);
	if (stop_when == STOP_AFTER)
		run_threads(stop, 1);
	return t;
}

static atom32 wakes;

static void count_wake(void *ctx)
{
	(void)ctx;
	atom32_add(&wakes, 1);
}

/* It was woken for a timer, so the stop alone need not wake it again. */
START_TEST(a_loop_that_asks_learns_of_a_stop)
{
	for (int when = STOP_BEFORE; when <= STOP_AFTER; when++) {
		int64_t t;
		int r;

		atom32_store(&wakes, 0);
		setup();
		ck_assert_int_eq(timerthread_set_wake(tt, count_wake, NULL), 0);
		ck_assert_int_eq(timerthread_start_polled(tt, NULL), 0);
		ck_assert_int_eq(timerthread_dispatch(tt), 0);
		schedule(0, never, NULL);
		ck_assert_uint_eq(atom32_load(&wakes), 1);
		stop_when = when;
		r = timerthread_get_next_deadline(tt, &t);
		stop_when = NO_STOP;
		/* Else it would sleep for ever. */
		ck_assert(r == -ESHUTDOWN || atom32_load(&wakes) > 1);
		ck_assert_int_eq(timerthread_dispatch(tt), -ESHUTDOWN);
		end();
	}
}
END_TEST

int main(void)
{
	const TTest *const any[] = {
		arguments_and_life,
		none,
		none_is_overlooked,
	};
	const TTest *const on_the_driver[] = {
		in_a_callback_it_is_now,
	};
	/* The driver makes no difference. */
	const TTest *const once[] = {
		exact,
		exact_when_the_first_was_moved,
		from_event_to_event,
		while_another_thread_advances,
		while_a_callback_is_held_it_is_now,
		a_loop_that_asks_learns_of_a_stop,
	};
	TCase *tcase = tcase_create("next");

	ADD_TESTS(tcase, any);
	if (driver_tested() != ON_EXECUTOR)
		ADD_TESTS(tcase, on_the_driver);
	if (driver_tested() == ON_THREAD)
		ADD_TESTS(tcase, once);
	return run_case("next", tcase);
}
