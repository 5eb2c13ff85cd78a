/* SPDX-License-Identifier: MIT */
/*
 * Stop and destroy: from callbacks, by many threads, and under load.
 */
#include "config.h"

#include "early_ends.h"
#include "fixture.h"
#include "os/tool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

static int stopped, schedule_in_stop;

static void stop_self(void *arg)
{
	stopped = timerthread_stop(tt);
	schedule_in_stop = timerthread_schedule(tt, 0, never, NULL, NULL);
	sem_post(arg);
	wait_for(&go);
}

static void *stopper(void *arg)
{
	return timerthread_stop(tt) == 0 ? arg : NULL;
}

/* A thread that is cancelled in stop finishes it first. */
START_TEST(stop_is_no_cancellation_point)
{
	pthread_t t;

	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, stop_self, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(pthread_create(&t, NULL, stopper, &tt), 0);
	pthread_cancel(t);
	sem_post(&go);
	pthread_join(t, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	driver_destroy(tt);
}
END_TEST

START_TEST(destroy_without_start)
{
	setup();
	driver_destroy(tt);
}
END_TEST

START_TEST(destroy_with_timers)
{
	start();
	for (int i = 0; i < 10000; i++)
		ck_assert_int_eq(timerthread_schedule_after(
					 tt, INT64_C(3600000000000) + i, never,
					 NULL, NULL),
				 0);
	driver_destroy(tt);
}
END_TEST

START_TEST(stop_from_a_callback)
{
	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, stop_self, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(stopped, 1);
	ck_assert_int_eq(schedule_in_stop, -ESHUTDOWN);
	sem_post(&go);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	driver_destroy(tt);
}
END_TEST

static void destroy_self(void *arg)
{
	/* The call that scheduled this must have returned. */
	wait_for(&go);
	driver_destroy(tt);
	sem_post(arg);
}

/* The thread is detached then, so what it frees last may come after us. */
START_TEST(destroy_from_a_callback)
{
	for (int i = 0; i < 20; i++) {
		start();
		ck_assert_int_eq(timerthread_schedule(tt, TIMERTHREAD_NEVER,
						      never, NULL, NULL),
				 0);
		ck_assert_int_eq(
			timerthread_schedule(tt, 0, destroy_self, &ran, NULL),
			0);
		sem_post(&go);
		wait_for(&ran);
	}
}
END_TEST

/* What is not due, or is due but behind the callback that runs, stays. */
START_TEST(stop_waits_for_the_callback_alone)
{
	timerthread_id behind;

	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_schedule(tt, 0, stop_self, &ran, NULL), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 1, never, NULL, &behind), 0);
	sem_post(&go);
	wait_for(&ran);
	sem_post(&go);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_cancel(tt, behind), 0);
	driver_destroy(tt);
}
END_TEST

/* It is stopped, and the callback that it did not wait for goes on. */
START_TEST(stop_gives_up)
{
	timerthread_id behind;

	ck_assert_int_eq(timerthread_stop_until(NULL, 0), -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_stop_until(tt, INT64_MIN), 0);
	driver_destroy(tt);

	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, &behind), 0);
	for (int i = 0; i < 3; i++) {
		int64_t begin = timerthread_now(NULL), away = i * 1000000 - 1;

		ck_assert_int_eq(
			timerthread_stop_until(tt, timerthread_now(tt) + away),
			-ETIMEDOUT);
		/* In real time, also on a virtual clock. */
		ck_assert_int_ge(timerthread_now(NULL) - begin, away);
	}
	ck_assert_int_eq(timerthread_stop_until(tt, INT64_MIN), -ETIMEDOUT);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
			 -ESHUTDOWN);
	sem_post(&go);
	ck_assert_int_eq(timerthread_stop_until(tt, TIMERTHREAD_NEVER - 1), 0);
	ck_assert_int_eq(timerthread_cancel(tt, behind), 0);
	ck_assert_int_eq(timerthread_stop_until(tt, INT64_MIN), 0);
	driver_destroy(tt);

	/* A destroy waits for it. */
	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop_until(tt, 0), -ETIMEDOUT);
	sem_post(&go);
	driver_destroy(tt);
}
END_TEST

START_TEST(stop_from_many_threads)
{
	enum { THREADS = 8 };
	pthread_t t[THREADS];
	void *r;

	start();
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, stopper, &tt), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &r);
		ck_assert_ptr_eq(r, &tt);
	}
	driver_destroy(tt);
}
END_TEST

static atom32 callback_is_over;

static void hold_and_tell(void *arg)
{
	hold(arg);
	atom32_store_release(&callback_is_over, 1);
}

/* Was the callback over when stop returned? */
static void *stop_and_look(void *arg)
{
	timerthread_stop(arg);
	return atom32_load_acquire(&callback_is_over) ? arg : NULL;
}

/* None of those in stop returns before the callback that runs is over. */
START_TEST(all_stops_wait)
{
	enum { THREADS = 3 };
	pthread_t t[THREADS];
	void *r;

	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold_and_tell, &ran, NULL),
			 0);
	wait_for(&ran);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, stop_and_look, tt),
				 0);
	wait_for_joiners(THREADS);
	sem_post(&go);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &r);
		ck_assert_ptr_eq(r, tt);
	}
	driver_destroy(tt);
}
END_TEST

/* Ends the callback, but not at once. */
static void *release(void *arg)
{
	for (int i = 0; i < 200; i++)
		sched_yield();
	sem_post(&go);
	return arg;
}

static void hold_and_destroy(void *arg)
{
	hold(arg);
	driver_destroy(tt);
}

static timerthread_id awaited;

static void *awaiter(void *arg)
{
	return timerthread_cancel_wait(arg, awaited) == 1 ? &awaited : NULL;
}

/* A periodic timer has a deadline while it runs, until it is cancelled. */
static void wait_for_cancel(void)
{
	int64_t deadline;

	while (timerthread_get_deadline(tt, awaited, &deadline) == 0)
		sched_yield();
}

/*
 * Of several threads in stop and one in destroy, none leaves before the
 * callback is over.
 */
START_TEST(destroy_waits_for_stops)
{
	enum { THREADS = 3, ROUNDS = 50 };

	for (int round = 0; round < ROUNDS; round++) {
		pthread_t t[THREADS], releaser;
		void *r;

		atom32_store(&callback_is_over, 0);
		start();
		ck_assert_int_eq(
			timerthread_schedule(tt, 0, hold_and_tell, &ran, NULL),
			0);
		wait_for(&ran);
		for (int i = 0; i < THREADS; i++)
			ck_assert_int_eq(
				pthread_create(&t[i], NULL, stop_and_look, tt),
				0);
		wait_for_joiners(THREADS);
		ck_assert_int_eq(pthread_create(&releaser, NULL, release, NULL),
				 0);
		driver_destroy(tt);
		ck_assert_uint_eq(atom32_load_acquire(&callback_is_over), 1);
		for (int i = 0; i < THREADS; i++) {
			pthread_join(t[i], &r);
			ck_assert_ptr_eq(r, tt);
		}
		pthread_join(releaser, NULL);
	}
}
END_TEST

static bool is_quiet(void)
{
	bool quiet;

	pthread_mutex_lock(&tt->mutex);
	quiet = instance_is_quiet(tt);
	pthread_mutex_unlock(&tt->mutex);
	return quiet;
}

static void tell_of_sleep(void)
{
	if (is_quiet())
		sem_post(&ran);
}

static atom32 destroy_is_over;

/* It tells when it sleeps although all callbacks are over. */
static void *destroy_and_tell(void *arg)
{
	before_wait = tell_of_sleep;
	driver_destroy(tt);
	atom32_store_release(&destroy_is_over, 1);
	sem_post(&ran);
	return arg;
}

START_TEST(destroy_is_the_last)
{
	pthread_t stop, destroy;

	sem_init(&stop_sleeps, 0, 0);
	sem_init(&stop_goes_on, 0, 0);
	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(pthread_create(&stop, NULL, stop_late, tt), 0);
	wait_for(&stop_sleeps);
	ck_assert_int_eq(pthread_create(&destroy, NULL, destroy_and_tell, tt),
			 0);
	wait_for_joiners(2);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_uint_eq(atom32_load_acquire(&destroy_is_over), 0);
	sem_post(&stop_goes_on);
	pthread_join(stop, NULL);
	pthread_join(destroy, NULL);
	ck_assert_uint_eq(atom32_load_acquire(&destroy_is_over), 1);
}
END_TEST

/* The last one to leave frees: a stop, or the timer thread. */
START_TEST(destroy_from_a_callback_while_others_stop)
{
	enum { THREADS = 3, ROUNDS = 50 };

	for (int round = 0; round < ROUNDS; round++) {
		pthread_t t[THREADS];
		int n = 1 + round % THREADS;
		void *r;

		start();
		ck_assert_int_eq(timerthread_schedule(tt, TIMERTHREAD_NEVER,
						      never, NULL, NULL),
				 0);
		ck_assert_int_eq(timerthread_schedule(tt, 0, hold_and_destroy,
						      &ran, NULL),
				 0);
		wait_for(&ran);
		for (int i = 0; i < n; i++)
			ck_assert_int_eq(
				pthread_create(&t[i], NULL, stopper, tt), 0);
		wait_for_joiners((unsigned)n);
		sem_post(&go);
		for (int i = 0; i < n; i++) {
			pthread_join(t[i], &r);
			ck_assert_ptr_eq(r, tt);
		}
	}
}
END_TEST

/* The same with one that waits for that callback's end. */
START_TEST(destroy_from_a_callback_that_is_awaited)
{
	for (int round = 0; round < 50; round++) {
		pthread_t t;
		void *r;

		start();
		ck_assert_int_eq(timerthread_schedule_every(tt, 0, 1,
							    hold_and_destroy,
							    &ran, &awaited),
				 0);
		wait_for(&ran);
		ck_assert_int_eq(pthread_create(&t, NULL, awaiter, tt), 0);
		wait_for_cancel();
		sem_post(&go);
		pthread_join(t, &r);
		ck_assert_ptr_eq(r, &awaited);
	}
}
END_TEST

/*
 * A thread that is preempted where it tells tools of the callback's end, for as
 * long as it takes to show whether destroy waits for it.
 */
static _Thread_local bool preempt;
static sem_t destroyed, settled;
static bool destroyed_too_soon;

static void pause_here(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 300000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	preempt = false;
	if (sem_timedwait(&destroyed, &until) != 0)
		return;
	/* There is nothing left to go on with. */
	destroyed_too_soon = true;
	sem_post(&settled);
	for (;;)
		wait_for(&destroyed);
}

static void preempted(enum tool_event event, const volatile void *p,
		      size_t size)
{
	(void)p;
	(void)size;
	if (event == TOOL_ACQUIRE && preempt)
		pause_here();
}

static void *preempted_awaiter(void *arg)
{
	void *r;

	preempt = true;
	r = awaiter(arg);
	preempt = false;
	sem_post(&settled);
	return r;
}

/*
 * A cancel_wait whose callback is over, and which was preempted before it has
 * left the instance: destroy waits for that too.
 */
START_TEST(destroy_waits_for_a_preempted_cancel_wait)
{
	tool_fn *before = tool_found;
	pthread_t t;
	void *r;

	sem_init(&destroyed, 0, 0);
	sem_init(&settled, 0, 0);
	tool_found = preempted;
	start();
	ck_assert_int_eq(
		timerthread_schedule_every(tt, 0, 1, hold, &ran, &awaited), 0);
	wait_for(&ran);
	ck_assert_int_eq(pthread_create(&t, NULL, preempted_awaiter, tt), 0);
	wait_for_cancel();
	sem_post(&go);
	driver_destroy(tt);
	sem_post(&destroyed);
	wait_for(&settled);
	ck_assert(!destroyed_too_soon);
	pthread_join(t, &r);
	ck_assert_ptr_eq(r, &awaited);
	tool_found = before;
}
END_TEST

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	*(int *)ctx += 1;
}

/* However long it runs: every other call comes back meanwhile. */
START_TEST(a_callback_blocks_no_other_call)
{
	enum { THREADS = 2 };
	pthread_t t[THREADS], self;
	struct timerthread *other = NULL;
	timerthread_id id, running;
	int64_t deadline;
	int drained = 0;
	void *r;

	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, &running), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_set_slack(tt, 1), -EBUSY);
	ck_assert_int_eq(driver_start(tt), -EBUSY);
	ck_assert_int_eq(timerthread_get_pthread(tt, &self),
			 tt->driver == DRIVER_THREAD ? 0 : -EINVAL);
	for (int i = 0; i < 20000; i++)
		ck_assert_int_eq(timerthread_schedule(tt, i, never, NULL, &id),
				 0);
	ck_assert_int_eq(timerthread_reschedule(tt, id, TIMERTHREAD_NEVER), 0);
	ck_assert_int_eq(timerthread_get_deadline(tt, id, &deadline), 0);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, &id), 0);
	ck_assert_int_eq(timerthread_cancel_wait(tt, id), 0);
	ck_assert_int_eq(timerthread_cancel(tt, running), 1);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit, &drained), 19999);
	ck_assert_int_eq(timerthread_create(&other), 0);
	ck_assert_int_eq(driver_start(other), 0);
	ck_assert_int_eq(timerthread_schedule(other, 0, post, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop(other), 0);
	driver_destroy(other);

	/* Also while others are in stop. */
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, &id), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, stopper, tt), 0);
	wait_for_joiners(THREADS);
	ck_assert_int_eq(timerthread_set_slack(tt, 1), -EBUSY);
	ck_assert_int_eq(driver_start(tt), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_get_pthread(tt, &self), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
			 -ESHUTDOWN);
	ck_assert_int_eq(timerthread_reschedule(tt, id, 0), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_get_deadline(tt, id, &deadline), 0);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert_int_eq(timerthread_cancel(tt, running), 1);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit, &drained), 0);
	ck_assert_int_gt(timerthread_now(tt), 0);

	sem_post(&go);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &r);
		ck_assert_ptr_eq(r, tt);
	}
	ck_assert_int_eq(timerthread_cancel_all(tt, visit, &drained), 0);
	ck_assert_int_eq(drained, 19999);
	driver_destroy(tt);
}
END_TEST

static int shut_out;

static void *produce(void *arg)
{
	int r;

	do {
		timerthread_id id;

		r = timerthread_schedule_after(arg, 1000000000, never, NULL,
					       &id);
		if (r == 0)
			timerthread_cancel(arg, id);
	} while (r == 0);
	return r == -ESHUTDOWN ? &shut_out : NULL;
}

START_TEST(stop_under_load)
{
	enum { THREADS = 4, ROUNDS = 30 };

	for (int round = 0; round < ROUNDS; round++) {
		pthread_t t[THREADS];
		void *r;

		start();
		for (int i = 0; i < THREADS; i++)
			ck_assert_int_eq(
				pthread_create(&t[i], NULL, produce, tt), 0);
		ck_assert_int_eq(timerthread_schedule_after(tt, round * 100000,
							    post, &ran, NULL),
				 0);
		wait_for(&ran);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		for (int i = 0; i < THREADS; i++) {
			pthread_join(t[i], &r);
			ck_assert_ptr_eq(r, &shut_out);
		}
		driver_destroy(tt);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		stop_is_no_cancellation_point,
		destroy_without_start,
		destroy_with_timers,
		stop_from_a_callback,
		destroy_from_a_callback,
		stop_waits_for_the_callback_alone,
		stop_gives_up,
		stop_from_many_threads,
		all_stops_wait,
		destroy_waits_for_stops,
		destroy_is_the_last,
		destroy_from_a_callback_while_others_stop,
		destroy_from_a_callback_that_is_awaited,
		destroy_waits_for_a_preempted_cancel_wait,
		a_callback_blocks_no_other_call,
		stop_under_load,
	};

	return RUN_TESTS("stop", tests);
}
