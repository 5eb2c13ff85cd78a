/* SPDX-License-Identifier: MIT */
/*
 * What can be seen from outside of callbacks that are running, and what is told
 * of those that ran for too long.
 */
#include "config.h"

#include "cancellers.h"
#include "tasks.h"

#include <pthread.h>
#include <sched.h>

/* What the library has told last, and how often. */
static struct seen {
	timerthread_id id;
	timerthread_fn *fn;
	void *arg;
	int64_t run_time;
	int n;
} seen;

static void see(timerthread_id id, timerthread_fn *fn, void *arg,
		int64_t run_time, void *ctx)
{
	struct seen *s = ctx;

	*s = (struct seen){id, fn, arg, run_time, s->n + 1};
}

static bool any_runs(void)
{
	struct seen s = {.n = 0};
	int r = timerthread_visit_running(tt, 0, see, &s);

	ck_assert_int_ge(r, 0);
	ck_assert_int_eq(s.n, r);
	return r > 0;
}

START_TEST(arguments)
{
	ck_assert_int_eq(timerthread_visit_running(NULL, 0, see, &seen),
			 -EINVAL);
	ck_assert_int_eq(timerthread_set_slow_hook(NULL, 0, see, &seen),
			 -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_visit_running(tt, 0, NULL, &seen),
			 -EINVAL);
	ck_assert_int_eq(timerthread_visit_running(tt, -1, see, &seen),
			 -EINVAL);
	ck_assert_int_eq(timerthread_visit_running(tt, 0, see, &seen), 0);
	ck_assert_int_eq(timerthread_set_slow_hook(tt, -1, see, &seen),
			 -EINVAL);
	ck_assert_int_eq(timerthread_set_slow_hook(tt, -1, NULL, NULL),
			 -EINVAL);
	ck_assert_int_eq(timerthread_set_slow_hook(tt, 0, see, &seen), 0);
	ck_assert_int_eq(timerthread_set_slow_hook(tt, 0, NULL, NULL), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(timerthread_set_slow_hook(tt, 0, see, &seen), -EBUSY);
	/* What the driver of a test has done to start may be running still. */
	settle();
	while (any_runs())
		sched_yield();
	ck_assert_int_eq(timerthread_visit_running(tt, 0, see, &seen), 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_visit_running(tt, 0, see, &seen), 0);
	ck_assert_int_eq(seen.n, 0);
	end();
}
END_TEST

START_TEST(one_that_hangs)
{
	timerthread_id held;
	int64_t before;

	start();
	before = clock_now(CLOCK_MONOTONIC);
	held = hold_thread();
	while (timerthread_visit_running(tt, MS, see, &seen) == 0)
		sched_yield();
	ck_assert_int_eq(seen.n, 1);
	ck_assert_uint_eq(seen.id, held);
	ck_assert_ptr_eq((void *)seen.fn, (void *)hold);
	ck_assert_ptr_eq(seen.arg, &ran);
	ck_assert_int_gt(seen.run_time, MS);
	ck_assert_int_le(seen.run_time, clock_now(CLOCK_MONOTONIC) - before);
	ck_assert_int_eq(timerthread_visit_running(tt, HOUR, see, &seen), 0);
	ck_assert_int_eq(seen.n, 1);

	sem_post(&go);
	while (any_runs())
		sched_yield();
	ck_assert_int_eq(timerthread_visit_running(tt, 0, see, &seen), 0);
	end();
}
END_TEST

/* A periodic timer's callback begins anew each time. */
START_TEST(since_its_own_beginning)
{
	timerthread_id id;
	int64_t between;

	start();
	id = every(0, 1, hold, &ran);
	wait_for(&ran);
	while (timerthread_visit_running(tt, 5 * MS, see, &seen) == 0)
		sched_yield();
	between = clock_now(CLOCK_MONOTONIC);
	sem_post(&go);
	wait_for(&ran);
	while (timerthread_visit_running(tt, 0, see, &seen) == 0)
		sched_yield();
	ck_assert_uint_eq(seen.id, id);
	ck_assert_int_le(seen.run_time, clock_now(CLOCK_MONOTONIC) - between);
	ck_assert_int_eq(timerthread_cancel(tt, id), 1);
	sem_post(&go);
	end();
}
END_TEST

/* Each is given its own place; another thread looks at which runs. */
enum { ROUNDS = 30000, SIGHTS = 1000 };

static timerthread_id ids[ROUNDS];
static atom32 runs[ROUNDS];
static atom32 done;

static struct seen sights[SIGHTS];
static atom32 n_sights;

static void count_it(void *arg)
{
	atom32 *n = arg;

	atom32_store_release(n, 1);
}

static void keep_sight(timerthread_id id, timerthread_fn *fn, void *arg,
		       int64_t run_time, void *ctx)
{
	uint32_t n = atom32_load(&n_sights);

	(void)ctx;
	if (n < SIGHTS) {
		sights[n] = (struct seen){id, fn, arg, run_time, 0};
		atom32_store_release(&n_sights, n + 1);
	}
}

static void *look_on(void *arg)
{
	while (!atom32_load_acquire(&done))
		timerthread_visit_running(tt, 0, keep_sight, NULL);
	return arg;
}

static void check_sight(const struct seen *s)
{
	const atom32 *n = s->arg;

	ck_assert(n >= runs && n < runs + ROUNDS);
	ck_assert_uint_eq(s->id, ids[n - runs]);
	ck_assert_ptr_eq((void *)s->fn, (void *)count_it);
	ck_assert_int_gt(s->run_time, 0);
	ck_assert_int_lt(s->run_time, HOUR);
}

/* What is seen belongs together, whatever begins and ends meanwhile. */
START_TEST(while_they_change)
{
	pthread_t t;

	start();
	settle();
	while (any_runs())
		sched_yield();
	ck_assert_int_eq(pthread_create(&t, NULL, look_on, NULL), 0);
	for (int i = 0; i < ROUNDS; i++) {
		ids[i] = schedule(0, count_it, (void *)(uintptr_t)&runs[i]);
		while (i % 64 == 0 && !atom32_load_acquire(&runs[i]))
			sched_yield();
	}
	while (!atom32_load_acquire(&runs[ROUNDS - 1]))
		sched_yield();
	atom32_store_release(&done, 1);
	pthread_join(t, NULL);
	for (uint32_t i = 0; i < atom32_load_acquire(&n_sights); i++)
		check_sight(&sights[i]);
	end();
}
END_TEST

/* Runs for so long. */
static int64_t length;

static void linger(void *arg)
{
	int64_t until = clock_now(CLOCK_MONOTONIC) + length;

	while (clock_now(CLOCK_MONOTONIC) <= until)
		sched_yield();
	sem_post(arg);
}

static timerthread_id inside_hook;
static int cancelled_in_hook, waited_in_hook;

static void hook(timerthread_id id, timerthread_fn *fn, void *arg,
		 int64_t run_time, void *ctx)
{
	see(id, fn, arg, run_time, ctx);
	inside_hook = 0;
	timerthread_get_current(NULL, &inside_hook);
	cancelled_in_hook = timerthread_cancel(tt, id);
	waited_in_hook = timerthread_cancel_wait(tt, id);
	sem_post(&ran);
}

static void start_with_hook(int64_t threshold)
{
	seen.n = 0;
	setup();
	ck_assert_int_eq(timerthread_set_slow_hook(tt, threshold, hook, &seen),
			 0);
	ck_assert_int_eq(driver_start(tt), 0);
}

START_TEST(hook_after_a_slow_one)
{
	sem_t over;
	timerthread_id id;

	sem_init(&over, 0, 0);
	start_with_hook(2 * MS);
	length = 3 * MS;
	id = schedule(0, linger, &over);
	wait_for(&over);
	wait_for(&ran);
	ck_assert_int_eq(seen.n, 1);
	ck_assert_uint_eq(seen.id, id);
	ck_assert_ptr_eq((void *)seen.fn, (void *)linger);
	ck_assert_ptr_eq(seen.arg, &over);
	ck_assert_int_gt(seen.run_time, 3 * MS);
	/* As in the callback. */
	ck_assert_uint_eq(inside_hook, id);
	ck_assert_int_eq(cancelled_in_hook, 1);
	ck_assert_int_eq(waited_in_hook, -EDEADLK);
	driver_destroy(tt);
	sem_destroy(&over);
}
END_TEST

/* A machine may hold up any callback; but not each of many. */
START_TEST(no_hook_after_a_fast_one)
{
	start_with_hook(HOUR);
	length = 0;
	for (int i = 0; i < 100; i++) {
		schedule(0, linger, &ran);
		wait_for(&ran);
	}
	ck_assert_int_eq(seen.n, 0);
	end();
}
END_TEST

START_TEST(hook_after_each)
{
	sem_t over;

	sem_init(&over, 0, 0);
	start_with_hook(0);
	length = 1;
	for (int i = 1; i <= 3; i++) {
		schedule(0, linger, &over);
		wait_for(&over);
		wait_for(&ran);
		ck_assert_int_eq(seen.n, i);
	}
	driver_destroy(tt);
	sem_destroy(&over);
}
END_TEST

/* The timer is not over before the hook is. */
static void hold_in_hook(timerthread_id id, timerthread_fn *fn, void *arg,
			 int64_t run_time, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)run_time;
	hold(ctx);
}

static atom32 returned;

static void *cancel_and_wait(void *arg)
{
	int r = timerthread_cancel_wait(tt, *(timerthread_id *)arg);

	atom32_store(&returned, 1);
	return r == 1 ? NULL : arg;
}

START_TEST(who_waits_waits_for_the_hook)
{
	timerthread_id id;
	pthread_t t;
	void *wrong;
	sem_t over;

	sem_init(&over, 0, 0);
	setup();
	ck_assert_int_eq(timerthread_set_slow_hook(tt, 0, hold_in_hook, &ran),
			 0);
	ck_assert_int_eq(driver_start(tt), 0);
	length = 1;
	id = schedule(0, linger, &over);
	wait_for(&over);
	wait_for(&ran);
	ck_assert_int_eq(pthread_create(&t, NULL, cancel_and_wait, &id), 0);
	wait_for_cancellers(1);
	ck_assert_uint_eq(atom32_load(&returned), 0);
	ck_assert(any_runs());
	sem_post(&go);
	pthread_join(t, &wrong);
	ck_assert_ptr_null(wrong);
	end();
	sem_destroy(&over);
}
END_TEST

static void no_hook(timerthread_id id, timerthread_fn *fn, void *arg,
		    int64_t run_time, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)run_time;
	never(ctx);
}

static void destroy_slowly(void *arg)
{
	linger(arg);
	timerthread_destroy(tt);
}

/* The call that scheduled it must have returned. */
static void destroy_after_go(void *arg)
{
	wait_for(&go);
	destroy_slowly(arg);
}

static void setup_without_hook(void)
{
	setup();
	length = 1;
	ck_assert_int_eq(timerthread_set_slow_hook(tt, 0, no_hook, NULL), 0);
}

/* What the hook uses may have gone with the instance. */
START_TEST(no_hook_after_a_destroy)
{
	sem_t over;

	setup_without_hook();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	schedule(0, destroy_slowly, &ran);
	ck_assert_int_eq(advance(0), 1);

	sem_init(&over, 0, 0);
	setup_without_hook();
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, NULL, post, &over),
			 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	schedule(0, destroy_after_go, &ran);
	sem_post(&go);
	wait_for(&over);
	sem_destroy(&over);
}
END_TEST

/* Nor for another callback that returns after it. */
START_TEST(no_hook_after_a_destroy_on_an_executor)
{
	struct caller other;

	setup_without_hook();
	sem_init(&came, 0, 0);
	ck_assert_int_eq(timerthread_set_executor(tt, keep, NULL), 0);
	start_driver(VIRTUAL);
	schedule(0, hold, &ran);
	schedule(0, destroy_slowly, &ran);
	submit_due(2);
	start_call(&other, 0);
	wait_for(&ran);
	call_task(1);
	sem_post(&go);
	end_call(&other);
}
END_TEST

static void show_run(struct running *r, timerthread_id id)
{
	word64_store_release(&r->inside.id, id);
	word64_store_release(&r->inside.since, 5);
	atom32_store_release(&r->inside.version, 1);
}

/* The id of the next one; 0: there is none. */
static timerthread_id next_run(const struct runs *r, struct run *after)
{
	const struct run none = {.since = INT64_MAX};
	struct run best = none;

	runs_next(r, after, &best);
	*after = best;
	return best.id;
}

/* In the same nanosecond: none is left out, and they have an order. */
START_TEST(two_that_began_at_once)
{
	struct run after = {.since = INT64_MIN};
	struct running a, b;
	struct runs r;

	ck_assert(runs_open(&r, 1));
	ck_assert(runs_begin(&r, &a));
	ck_assert(runs_begin(&r, &b));
	show_run(&a, 3);
	show_run(&b, 7);
	ck_assert_uint_eq(next_run(&r, &after), 3);
	ck_assert_uint_eq(next_run(&r, &after), 7);
	ck_assert_uint_eq(next_run(&r, &after), 0);
	ck_assert(runs_end(&a));
	ck_assert(runs_end(&b));
	runs_free(&r);
}
END_TEST

static void *end_run(void *running)
{
	ck_assert(runs_end(running));
	return NULL;
}

/*
 * Runs that began on one CPU may end on several, at the same time: who comes
 * for the lock has counted nothing yet, or what another counts would be lost.
 */
START_TEST(measured_under_the_lock)
{
	struct histogram_counts counts = {.longest = 0};
	struct running run;
	struct runs r;
	pthread_t t;

	ck_assert(runs_open(&r, 1));
	ck_assert(runs_begin(&r, &run));
	run.timing = (struct timing){.ran = true, .run_time = 5};
	lock_acquire(&r.part->lock);
	ck_assert_int_eq(pthread_create(&t, NULL, end_run, &run), 0);
	while (atom32_load(&r.part->lock.slept) == 0)
		sched_yield();
	histogram_add_to(&counts, &r.part->measured.run_time);
	ck_assert_uint_eq(histogram_number(&counts), 0);
	lock_release(&r.part->lock);
	pthread_join(t, NULL);
	histogram_add_to(&counts, &r.part->measured.run_time);
	ck_assert_uint_eq(histogram_number(&counts), 1);
	runs_free(&r);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		arguments,
		two_that_began_at_once,
		measured_under_the_lock,
		one_that_hangs,
		since_its_own_beginning,
		while_they_change,
		hook_after_a_slow_one,
		no_hook_after_a_fast_one,
		hook_after_each,
		who_waits_waits_for_the_hook,
		no_hook_after_a_destroy,
		no_hook_after_a_destroy_on_an_executor,
	};

	return RUN_TESTS("running", tests);
}
