/* SPDX-License-Identifier: MIT */
/*
 * Cancelling, and waiting for the end of the callback.
 */
#include "config.h"

#include "timers.h"
#include "wrapped_wait.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* A thread in timerthread_cancel_wait. */
struct canceller {
	pthread_t thread;
	timerthread_id id;
	bool limited; /* it may give up, in an hour */
	int result;
	int seen; /* the callback's value, once the call has returned */
};

static int written; /* by callbacks, with no lock */
static atom32 returned;

static void *wait_in_thread(void *arg)
{
	struct canceller *w = arg;

	w->result = w->limited ? timerthread_cancel_wait_until(
					 tt, w->id, timerthread_now(tt) + HOUR)
			       : timerthread_cancel_wait(tt, w->id);
	w->seen = written;
	atom32_add(&returned, 1);
	return NULL;
}

/* Threads that have cancelled a timer which runs, and wait for its end. */
static atom32 asleep;

void __wrap_futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
			     int64_t deadline)
{
	/* The thread of one that was destroyed may be here, too. */
	const atom32 *ends = atomic_load(&published)->engine.await.ends;
	bool awaits = word >= ends && word < ends + AWAIT_WORDS;

	if (!awaits) {
		__real_futex_wait_until(word, expected, clock, deadline);
		return;
	}
	atom32_add(&asleep, 1);
	wait_whole(word, expected, clock, deadline);
	atom32_add(&asleep, UINT32_MAX);
}

/* Threads that are inside, before their cancel or after it. */
static unsigned waiting(void)
{
	return atom32_load(&tt->engine.await.waiting);
}

static void start_waiters(struct canceller *w, unsigned n, timerthread_id id)
{
	static unsigned started;

	for (unsigned i = 0; i < n; i++) {
		w[i] = (struct canceller){.id = id, .limited = started++ % 2};
		ck_assert_int_eq(pthread_create(&w[i].thread, NULL,
						wait_in_thread, &w[i]),
				 0);
	}
	while (atom32_load(&asleep) < n)
		sched_yield();
}

/* They all waited until the callback had written value. */
static void check_waiters(struct canceller *w, unsigned n, int value)
{
	for (unsigned i = 0; i < n; i++) {
		pthread_join(w[i].thread, NULL);
		ck_assert_int_eq(w[i].result, 1);
		ck_assert_int_eq(w[i].seen, value);
	}
}

/* Writes when it is let go, just before it ends. */
static void hold_and_write(void *arg)
{
	hold(arg);
	written++;
}

static timerthread_id hold_writer(void)
{
	timerthread_id id = schedule(0, hold_and_write, &ran);

	wait_for(&ran);
	return id;
}

static int cancel_wait(timerthread_id id)
{
	return timerthread_cancel_wait(tt, id);
}

static int cancel_wait_until(timerthread_id id, int64_t deadline)
{
	return timerthread_cancel_wait_until(tt, id, deadline);
}

START_TEST(where_nothing_runs)
{
	timerthread_id id;

	ck_assert_int_eq(timerthread_cancel_wait(NULL, 1), -EINVAL);
	ck_assert_int_eq(timerthread_cancel_wait_until(NULL, 1, 0), -EINVAL);
	setup();
	ck_assert_int_eq(cancel_wait(1), -ENOENT);
	ck_assert_int_eq(cancel_wait_until(1, 0), -ENOENT);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(cancel_wait(0), -ENOENT);
	ck_assert_int_eq(cancel_wait(UINT64_MAX), -ENOENT);
	id = schedule(TIMERTHREAD_NEVER, never, NULL);
	for (int bit = 0; bit < 64; bit++)
		ck_assert_int_eq(cancel_wait(id ^ UINT64_C(1) << bit), -ENOENT);
	ck_assert_int_eq(cancel_wait(id), 0);
	ck_assert_int_eq(cancel_wait(id), -ENOENT);
	ck_assert_int_eq(timerthread_cancel(tt, id), -ENOENT);
	id = schedule(0, post, &ran);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(cancel_wait(id), -ENOENT);
	/* Moved, and repeating. */
	id = schedule(TIMERTHREAD_NEVER - 1, never, NULL);
	ck_assert_int_eq(timerthread_reschedule(tt, id, TIMERTHREAD_NEVER), 0);
	ck_assert_int_eq(cancel_wait(id), 0);
	id = every(TIMERTHREAD_NEVER, 1, never, NULL);
	ck_assert_int_eq(cancel_wait(id), 0);
	/* There is nothing to wait for, so a deadline does not count. */
	id = schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(cancel_wait_until(id, INT64_MIN), 0);
	ck_assert_int_eq(cancel_wait_until(id, INT64_MIN), -ENOENT);
	/* After stop. */
	id = schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(cancel_wait(id), 0);
	ck_assert_int_eq(cancel_wait(id), -ENOENT);
	end();
}
END_TEST

START_TEST(waits_for_the_callback)
{
	struct canceller w;
	timerthread_id id;

	start();
	for (int i = 1; i <= 200; i++) {
		atom32_store(&returned, 0);
		id = hold_writer();
		start_waiters(&w, 1, id);
		for (int j = 0; j < i; j++)
			sched_yield();
		ck_assert_uint_eq(atom32_load(&returned), 0);
		ck_assert_int_eq(timerthread_cancel(tt, id), 1);
		sem_post(&go);
		check_waiters(&w, 1, i);
		ck_assert_int_eq(cancel_wait(id), -ENOENT);
		ck_assert_int_eq(timerthread_cancel(tt, id), -ENOENT);
	}
	end();
}
END_TEST

/* One that was cancelled while running before is waited for too. */
START_TEST(waits_after_a_cancel)
{
	struct canceller w;
	timerthread_id id;

	start();
	id = hold_writer();
	ck_assert_int_eq(timerthread_cancel(tt, id), 1);
	start_waiters(&w, 1, id);
	ck_assert_uint_eq(atom32_load(&returned), 0);
	sem_post(&go);
	check_waiters(&w, 1, 1);
	end();
}
END_TEST

/* The timer is cancelled then, and its callback goes on. */
START_TEST(gives_up)
{
	timerthread_id id;

	start();
	id = every(0, 1, hold_and_write, &ran);
	wait_for(&ran);
	for (int i = 0; i < 3; i++) {
		int64_t begin = timerthread_now(NULL), away = i * 1000000 - 1;

		ck_assert_int_eq(
			cancel_wait_until(id, timerthread_now(tt) + away),
			-ETIMEDOUT);
		/* In real time, also on a virtual clock. */
		ck_assert_int_ge(timerthread_now(NULL) - begin, away);
		ck_assert_int_eq(timerthread_cancel(tt, id), 1);
		ck_assert_uint_eq(waiting(), 0);
	}
	ck_assert_int_eq(cancel_wait_until(id, INT64_MIN), -ETIMEDOUT);
	check_not_pending(id);
	ck_assert_int_eq(written, 0);
	sem_post(&go);
	ck_assert_int_ne(cancel_wait_until(id, TIMERTHREAD_NEVER - 1), 0);
	ck_assert_int_eq(written, 1);
	ck_assert_int_eq(cancel_wait_until(id, INT64_MIN), -ENOENT);
	for (int i = 0; i < 20; i++)
		settle();
	ck_assert_int_eq(written, 1);
	end();
}
END_TEST

/* A destroy waits for the callback, whoever has given up before. */
START_TEST(gives_up_and_destroys)
{
	timerthread_id id;

	start();
	id = hold_writer();
	ck_assert_int_eq(cancel_wait_until(id, 0), -ETIMEDOUT);
	sem_post(&go);
	driver_destroy(tt);
	ck_assert_int_eq(written, 1);
}
END_TEST

START_TEST(several_wait)
{
	enum { WAITERS = 6 };
	struct canceller w[WAITERS];

	start();
	for (int i = 1; i <= 20; i++) {
		atom32_store(&returned, 0);
		start_waiters(w, WAITERS, hold_writer());
		ck_assert_uint_eq(atom32_load(&returned), 0);
		sem_post(&go);
		check_waiters(w, WAITERS, i);
	}
	end();
}
END_TEST

/* A thread that is cancelled in cancel_wait finishes it first. */
START_TEST(is_no_cancellation_point)
{
	struct canceller w;

	start();
	start_waiters(&w, 1, hold_writer());
	ck_assert_int_eq(pthread_cancel(w.thread), 0);
	sem_post(&go);
	check_waiters(&w, 1, 1);
	ck_assert_uint_eq(waiting(), 0);
	end();
}
END_TEST

/* Only for its own timer: another one that is held is nothing to it. */
START_TEST(waits_for_no_other)
{
	timerthread_id id;

	start();
	id = schedule(TIMERTHREAD_NEVER, never, NULL);
	hold_thread();
	ck_assert_int_eq(cancel_wait(id), 0);
	ck_assert_int_eq(cancel_wait(id), -ENOENT);
	id = schedule(0, never, NULL);
	ck_assert_int_eq(cancel_wait(id), 0);
	sem_post(&go);
	settle();
	end();
}
END_TEST

START_TEST(periodic)
{
	struct canceller w[3];
	timerthread_id id;

	start();
	id = every(0, 1, hold_and_write, &ran);
	wait_for(&ran);
	sem_post(&go);
	wait_for(&ran);
	start_waiters(w, 3, id);
	sem_post(&go);
	check_waiters(w, 3, 2);
	for (int i = 0; i < 20; i++)
		settle();
	ck_assert_int_eq(written, 2);
	ck_assert_int_eq(cancel_wait(id), -ENOENT);
	end();
}
END_TEST

static struct {
	timerthread_id id;
	int runs, result[3], move;
} inside;

/* Armed again for at once, and then it is held. */
static void arm_and_hold(void *arg)
{
	inside.move = timerthread_reschedule(tt, inside.id, 0);
	hold_and_write(arg);
}

START_TEST(armed_again)
{
	struct canceller w;

	start();
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, arm_and_hold, &ran, &inside.id), 0);
	wait_for(&ran);
	ck_assert_int_eq(inside.move, 0);
	start_waiters(&w, 1, inside.id);
	sem_post(&go);
	check_waiters(&w, 1, 1);
	for (int i = 0; i < 20; i++)
		settle();
	ck_assert_int_eq(written, 1);
	end();
}
END_TEST

static void cancel_self(void *arg)
{
	for (int i = 0; i < 3; i++)
		inside.result[i] = i % 2 ? cancel_wait_until(inside.id, 0)
					 : cancel_wait(inside.id);
	inside.runs++;
	sem_post(arg);
	if (inside.runs == 3)
		timerthread_cancel(tt, inside.id);
}

static void check_deadlk(void)
{
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(inside.result[i], -EDEADLK);
}

/* Nothing is cancelled: one that repeats goes on. */
START_TEST(from_its_own_callback)
{
	start();
	inside.id = 0;
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, cancel_self, &ran, &inside.id), 0);
	wait_for(&ran);
	settle();
	check_deadlk();
	ck_assert_int_eq(cancel_wait(inside.id), -ENOENT);

	inside.runs = 0;
	ck_assert_int_eq(timerthread_schedule_every(tt, 0, 1, cancel_self, &ran,
						    &inside.id),
			 0);
	for (int i = 0; i < 3; i++)
		wait_for(&ran);
	settle();
	check_deadlk();
	ck_assert_int_eq(inside.runs, 3);
	ck_assert_int_eq(cancel_wait(inside.id), -ENOENT);
	end();
}
END_TEST

static void cancel_twice(void *arg)
{
	if (++inside.runs == 1) {
		inside.move = timerthread_reschedule(tt, inside.id,
						     TIMERTHREAD_NEVER);
		inside.result[0] = cancel_wait(inside.id);
	} else {
		inside.result[1] = timerthread_cancel(tt, inside.id);
		inside.result[2] = cancel_wait(inside.id);
	}
	sem_post(arg);
}

/* Armed again, it stays so; cancelled, it stays that. */
START_TEST(from_its_own_callback_armed_or_cancelled)
{
	start();
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, cancel_twice, &ran, &inside.id), 0);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(inside.move, 0);
	ck_assert_int_eq(inside.result[0], -EDEADLK);
	ck_assert_int_eq(deadline_of(inside.id), TIMERTHREAD_NEVER);
	ck_assert_int_eq(timerthread_reschedule(tt, inside.id, 0), 0);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(inside.result[1], 1);
	ck_assert_int_eq(inside.result[2], -EDEADLK);
	ck_assert_int_eq(inside.runs, 2);
	ck_assert_int_eq(cancel_wait(inside.id), -ENOENT);
	end();
}
END_TEST

static timerthread_id over, pending, due;

static void cancel_others(void *arg)
{
	inside.result[0] = cancel_wait(pending);
	inside.result[1] = cancel_wait(due);
	inside.result[2] = cancel_wait(over);
	sem_post(arg);
}

/* No other callback of the instance can be running then: it never waits. */
START_TEST(from_another_callback)
{
	start();
	over = hold_thread();
	pending = schedule(TIMERTHREAD_NEVER, never, NULL);
	schedule(1, cancel_others, &ran);
	due = schedule(2, never, NULL);
	sem_post(&go);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(inside.result[0], 0);
	ck_assert_int_eq(inside.result[1], 0);
	ck_assert_int_eq(inside.result[2], -ENOENT);
	end();
}
END_TEST

static void wait_in_callback(void *arg)
{
	wait_in_thread(arg);
	sem_post(&ran);
}

START_TEST(from_another_instance)
{
	struct timerthread *second;
	struct canceller w = {0};

	start();
	ck_assert_int_eq(timerthread_create(&second), 0);
	ck_assert_int_eq(driver_start(second), 0);
	w.id = hold_writer();
	ck_assert_int_eq(
		timerthread_schedule(second, 0, wait_in_callback, &w, NULL), 0);
	while (waiting() == 0)
		sched_yield();
	ck_assert_uint_eq(atom32_load(&returned), 0);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(w.result, 1);
	ck_assert_int_eq(w.seen, 1);
	driver_destroy(second);
	end();
}
END_TEST

static void *stop_in_thread(void *arg)
{
	return timerthread_stop(tt) == 0 ? arg : NULL;
}

static void *destroy_in_thread(void *arg)
{
	driver_destroy(tt);
	return arg;
}

/* Wait until stop, on another thread, has shut the instance. */
static void wait_for_stop(void)
{
	timerthread_id id;

	while (timerthread_schedule(tt, TIMERTHREAD_NEVER, never, NULL, &id) ==
	       0) {
		timerthread_cancel(tt, id);
		sched_yield();
	}
}

START_TEST(stop_meanwhile)
{
	struct canceller w[3];
	timerthread_id id;
	pthread_t t;
	void *r;

	start();
	id = every(0, 1, hold_and_write, &ran);
	wait_for(&ran);
	start_waiters(w, 3, id);
	ck_assert_int_eq(pthread_create(&t, NULL, stop_in_thread, &w), 0);
	wait_for_stop();
	ck_assert_uint_eq(atom32_load(&returned), 0);
	sem_post(&go);
	check_waiters(w, 3, 1);
	pthread_join(t, &r);
	ck_assert_ptr_eq(r, &w);
	ck_assert_int_eq(written, 1);
	end();
}
END_TEST

/* Who destroys waits for those who wait. */
START_TEST(destroy_meanwhile)
{
	struct canceller w[3];

	for (int i = 1; i <= 50; i++) {
		pthread_t t;

		start();
		atom32_store(&returned, 0);
		start_waiters(w, 3, hold_writer());
		ck_assert_int_eq(
			pthread_create(&t, NULL, destroy_in_thread, NULL), 0);
		if (i % 2) {
			for (int j = 0; j < i; j++)
				sched_yield();
		}
		ck_assert_uint_eq(atom32_load(&returned), 0);
		sem_post(&go);
		check_waiters(w, 3, i);
		pthread_join(t, NULL);
	}
}
END_TEST

static void destroy_and_write(void *arg)
{
	hold(arg);
	driver_destroy(tt);
	written++;
}

/* The callback that is waited for destroys the instance itself. */
START_TEST(destroyed_by_the_callback)
{
	struct canceller w[3];

	for (int i = 1; i <= 50; i++) {
		timerthread_id id;

		start();
		id = schedule(0, destroy_and_write, &ran);
		wait_for(&ran);
		start_waiters(w, 3, id);
		sem_post(&go);
		check_waiters(w, 3, i);
	}
}
END_TEST

static timerthread_id *self;

/* Its deadline is gone: a thread is in cancel_wait, wherever in it. */
static void destroy_once_cancelled(void *arg)
{
	int64_t deadline;

	(void)arg;
	while (timerthread_get_deadline(tt, *self, &deadline) == 0)
		;
	driver_destroy(tt);
	written++;
}

START_TEST(destroyed_as_soon_as_it_is_cancelled)
{
	for (int i = 1; i <= 300; i++) {
		struct canceller w = {0};

		start();
		self = &w.id;
		/* Its id is there before it runs. */
		w.id = 0;
		ck_assert_int_eq(timerthread_schedule_every(
					 tt, 0, HOUR, destroy_once_cancelled,
					 NULL, &w.id),
				 0);
		ck_assert_int_eq(
			pthread_create(&w.thread, NULL, wait_in_thread, &w), 0);
		pthread_join(w.thread, NULL);
		if (w.result == 0) {
			/* It had not begun, and so does not destroy. */
			driver_destroy(tt);
			continue;
		}
		ck_assert_int_eq(w.result, 1);
		ck_assert_int_eq(w.seen, written);
	}
}
END_TEST

/*
 * The use that it is there for: whoever has returned from it may free what the
 * callback works on.
 */
struct used {
	int64_t a, b;
};

static void use(void *arg)
{
	struct used *u = arg;

	u->a++;
	u->b--;
}

enum { USES = 6000, USERS = 3 };

static void *use_and_free(void *arg)
{
	uint64_t rng = test_seed() + (uintptr_t)arg;
	void *wrong = NULL;

	for (int i = 0; i < USES; i++) {
		int64_t delay = (int64_t)random_below(&rng, 20000) - 4000;
		struct used *u = calloc(1, sizeof(*u));
		timerthread_id id = 0;
		int r, kind = i % 3;

		if (kind == 0)
			r = timerthread_schedule_every(
				tt, timerthread_now(tt) + delay, 1 + delay / 2,
				use, u, &id);
		else
			r = timerthread_schedule_after(tt, delay, use, u, &id);
		if (kind == 2)
			timerthread_reschedule(tt, id,
					       timerthread_now(tt) + delay / 2);
		for (uint64_t n = random_below(&rng, 60); n > 0; n--)
			timerthread_now(tt);
		if (r == 0)
			r = cancel_wait(id);
		/* A period that is not positive: never scheduled. */
		if (r != 0 && r != 1 && r != -ENOENT && r != -EINVAL)
			wrong = arg;
		if (u->a + u->b != 0 || (kind && r == 0 && u->a != 0) ||
		    (kind && r != 0 && u->a != 1))
			wrong = arg;
		free(u);
	}
	return wrong;
}

START_TEST(cancel_wait_then_free)
{
	start();
	run_threads(use_and_free, USERS);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		where_nothing_runs,
		waits_for_the_callback,
		waits_after_a_cancel,
		gives_up,
		gives_up_and_destroys,
		several_wait,
		is_no_cancellation_point,
		waits_for_no_other,
		periodic,
		armed_again,
		from_its_own_callback,
		from_its_own_callback_armed_or_cancelled,
		from_another_callback,
		from_another_instance,
		stop_meanwhile,
		destroy_meanwhile,
		destroyed_by_the_callback,
		destroyed_as_soon_as_it_is_cancelled,
		cancel_wait_then_free,
	};

	return RUN_TESTS("cancel_wait", tests);
}
