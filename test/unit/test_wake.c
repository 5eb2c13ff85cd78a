/* SPDX-License-Identifier: MIT */
/*
 * An event loop without a descriptor, which a function of the program wakes.
 */
#include "config.h"

#include "prepared.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

/* What is done in wake, and what was seen of it. */
static atom32 wakes, strange;
static pthread_t caller; /* who must call it */

static void count_wake(void *ctx)
{
	if (ctx != &wakes)
		atom32_store(&strange, 1);
	if (!pthread_equal(pthread_self(), caller))
		atom32_store(&strange, 1);
	atom32_add(&wakes, 1);
}

static void *const ctx = (void *)(uintptr_t)&wakes;

static int start_polled(void)
{
	return timerthread_start_polled(tt, NULL);
}

static void setup_waking(void)
{
	setup();
	atom32_store(&wakes, 0);
	atom32_store(&strange, 0);
	caller = pthread_self();
	runs = 0;
	ck_assert_int_eq(timerthread_set_wake(tt, count_wake, ctx), 0);
}

static void begin(void)
{
	setup_waking();
	ck_assert_int_eq(start_polled(), 0);
}

static void check_wakes(uint32_t n)
{
	ck_assert_uint_eq(atom32_load(&wakes), n);
	ck_assert_uint_eq(atom32_load(&strange), 0);
}

static int dispatch(void)
{
	return timerthread_dispatch(tt);
}

static int64_t next_deadline(void)
{
	int64_t t = 0;

	ck_assert_int_eq(timerthread_get_next_deadline(tt, &t), 0);
	return t;
}

/* The loop has worked, and knows when it must do so next. */
static int64_t go_round(void)
{
	ck_assert_int_ge(dispatch(), 0);
	return next_deadline();
}

/* It may be told to work too early, but not too late, nor in vain for ever. */
static void loop_until(int n)
{
	while (runs < n) {
		int64_t t = go_round();

		while (runs < n && now() < t)
			sched_yield();
	}
	ck_assert_int_eq(runs, n);
}

START_TEST(arguments)
{
	int fd = 77;

	ck_assert_int_eq(timerthread_set_wake(NULL, count_wake, ctx), -EINVAL);
	ck_assert_int_eq(timerthread_set_wake(NULL, NULL, NULL), -EINVAL);
	/* Without it there must be room for a descriptor. */
	setup();
	ck_assert_int_eq(start_polled(), -EINVAL);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	ck_assert_int_ne(fd, 77);
	end();
	/* With it there must be none; the start can be tried again. */
	setup_waking();
	fd = 77;
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), -EINVAL);
	ck_assert_int_eq(fd, 77);
	ck_assert_int_eq(start_polled(), 0);
	ck_assert_int_eq(start_polled(), -EBUSY);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), -EINVAL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(start_polled(), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), -EINVAL);
	ck_assert_int_eq(fd, 77);
	end();
}
END_TEST

START_TEST(option)
{
	struct timerthread *shared;
	int fd = 77;

	/* The last one counts, and NULL takes it back. */
	setup_waking();
	ck_assert_int_eq(timerthread_set_wake(tt, NULL, ctx), 0);
	ck_assert_int_eq(start_polled(), -EINVAL);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	schedule(0, note, NULL);
	check_wakes(0);
	ck_assert_int_eq(dispatch(), 1);
	ck_assert_int_eq(timerthread_set_wake(tt, count_wake, ctx), -EBUSY);
	ck_assert_int_eq(timerthread_set_wake(tt, NULL, NULL), -EBUSY);
	end();
	begin();
	ck_assert_int_eq(timerthread_set_wake(tt, count_wake, ctx), -EBUSY);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_wake(tt, NULL, NULL), -EBUSY);
	end();
	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_wake(tt, count_wake, ctx), -EBUSY);
	end();
	ck_assert_int_eq(timerthread_default(&shared), 0);
	ck_assert_int_eq(timerthread_set_wake(shared, count_wake, ctx), -EBUSY);
}
END_TEST

START_TEST(no_descriptor)
{
	int before = open_files();

	begin();
	ck_assert_int_eq(open_files(), before);
	for (int i = 0; i < 100; i++)
		schedule(now() + (100 - i) * 1000, note, NULL);
	loop_until(100);
	ck_assert_int_eq(open_files(), before);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(open_files(), before);
	end();
	ck_assert_int_eq(open_files(), before);
}
END_TEST

/* Other drivers do not call it. */
START_TEST(other_drivers)
{
	setup_waking();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	schedule(5, note, NULL);
	schedule(1, note, NULL);
	ck_assert_int_eq(timerthread_advance(tt, 5), 2);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_wakes(0);
	end();
	setup_waking();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	for (int i = 0; i < 20; i++) {
		wait_for_sleep();
		schedule(0, post, &ran);
		wait_for(&ran);
	}
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_wakes(0);
	end();
}
END_TEST

static void refused_in_child(void)
{
	int64_t t;

	NEED(timerthread_set_wake(tt, NULL, NULL) == -ECHILD);
	NEED(start_polled() == -ECHILD);
	NEED(timerthread_schedule(tt, 0, never, NULL, NULL) == -ECHILD);
	NEED(timerthread_get_next_deadline(tt, &t) == -ECHILD);
	NEED(dispatch() == -ECHILD);
	NEED(timerthread_stop(tt) == -ECHILD);
	timerthread_destroy(tt);
	NEED(atom32_load(&wakes) == 0);
}

START_TEST(in_a_child)
{
	begin();
	go_round();
	in_child(refused_in_child);
	schedule(0, note, NULL);
	check_wakes(1);
	ck_assert_int_eq(dispatch(), 1);
	end();
}
END_TEST

/*
 * When it is called.
 */
START_TEST(once_for_what_is_earlier)
{
	int64_t base;

	begin();
	base = now();
	ck_assert_int_eq(go_round(), TIMERTHREAD_NEVER);
	check_wakes(0);
	schedule(base + 100 * HOUR, never, NULL);
	check_wakes(1);
	/* Once is enough until the loop has asked. */
	schedule(base + 50 * HOUR, never, NULL);
	schedule(base + 40 * HOUR, never, NULL);
	check_wakes(1);
	ck_assert_int_le(next_deadline(), base + 40 * HOUR);
	check_wakes(1);
	schedule(base + 20 * HOUR, never, NULL);
	check_wakes(2);
	ck_assert_int_le(go_round(), base + 20 * HOUR);
	schedule(base + 10 * HOUR, never, NULL);
	check_wakes(3);
	end();
}
END_TEST

START_TEST(not_for_what_is_later)
{
	int64_t base;

	begin();
	base = now();
	schedule(base + HOUR, never, NULL);
	go_round();
	atom32_store(&wakes, 0);
	for (int i = 0; i < 1000; i++) {
		timerthread_id id = schedule(base + HOUR + i, never, NULL);

		if (i % 3 == 1)
			ck_assert_int_eq(cancel(id), 0);
		if (i % 3 == 2)
			ck_assert_int_eq(arm(id, base + 2 * HOUR), 0);
		if (i % 100 == 50)
			next_deadline();
	}
	every(base + HOUR, 1, never, NULL);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	prepare(never, NULL);
	check_wakes(0);
	end();
}
END_TEST

/* The loop may add the slack to the time that it was told: no less will do. */
START_TEST(for_what_is_earlier_by_less_than_the_slack)
{
	int64_t base;

	setup_waking();
	ck_assert_int_eq(timerthread_set_slack(tt, HOUR), 0);
	ck_assert_int_eq(start_polled(), 0);
	base = now() + 100 * HOUR;
	schedule(base, never, NULL);
	ck_assert_int_le(go_round(), base);
	atom32_store(&wakes, 0);
	schedule(base - 1, never, NULL);
	check_wakes(1);
	ck_assert_int_le(next_deadline(), base - 1);
	schedule(base - HOUR, never, NULL);
	check_wakes(2);
	/* What it sleeps for already is later. */
	ck_assert_int_le(next_deadline(), base - HOUR);
	schedule(base - 1, never, NULL);
	check_wakes(2);
	end();
}
END_TEST

/* Nor because timers are cancelled or disarmed, or never run. */
START_TEST(not_for_what_needs_no_work)
{
	timerthread_id id, other;

	begin();
	id = schedule(now() + HOUR, never, NULL);
	other = schedule(now() + HOUR, never, NULL);
	go_round();
	atom32_store(&wakes, 0);
	ck_assert_int_eq(disarm(id), 0);
	ck_assert_int_eq(cancel(id), 0);
	ck_assert_int_eq(arm(other, now() + 2 * HOUR), 0);
	ck_assert_int_eq(cancel_all(), 1);
	check_wakes(0);
	end();

	begin();
	ck_assert_int_eq(go_round(), TIMERTHREAD_NEVER);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	check_wakes(0);
	ck_assert_int_eq(go_round(), TIMERTHREAD_NEVER);
	end();
}
END_TEST

/* To move a timer to an earlier time, or to arm one, is as to schedule one. */
START_TEST(for_what_was_moved)
{
	timerthread_id id, prepared;
	int64_t base;

	begin();
	base = now();
	prepared = prepare(never, NULL);
	id = schedule(base + 100 * HOUR, never, NULL);
	go_round();
	atom32_store(&wakes, 0);
	ck_assert_int_eq(arm(id, base + 50 * HOUR), 0);
	check_wakes(1);
	ck_assert_int_le(go_round(), base + 50 * HOUR);
	ck_assert_int_eq(arm(prepared, base + 20 * HOUR), 0);
	check_wakes(2);
	ck_assert_int_le(go_round(), base + 20 * HOUR);
	ck_assert_int_eq(disarm(prepared), 0);
	ck_assert_int_eq(arm(prepared, base + 10 * HOUR), 0);
	check_wakes(3);
	ck_assert_int_le(go_round(), base + 10 * HOUR);
	end();
}
END_TEST

START_TEST(at_a_stop)
{
	begin();
	go_round();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_wakes(1);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_wakes(1);
	ck_assert_int_eq(dispatch(), -ESHUTDOWN);
	end();
	check_wakes(1);

	begin();
	schedule(now() + HOUR, never, NULL);
	go_round();
	atom32_store(&wakes, 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_wakes(1);
	ck_assert_int_eq(cancel_all(), 1);
	check_wakes(1);
	end();
}
END_TEST

/* It was called since the loop has asked: it will learn of both. */
START_TEST(once_for_a_timer_and_a_stop)
{
	begin();
	go_round();
	schedule(0, never, NULL);
	check_wakes(1);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_wakes(1);
	end();
}
END_TEST

static void *schedule_early(void *arg)
{
	caller = pthread_self();
	schedule(0, note, NULL);
	return arg;
}

START_TEST(on_the_thread_that_schedules)
{
	begin();
	for (int i = 1; i <= 20; i++) {
		go_round();
		pthread_join(start_thread(schedule_early, NULL), NULL);
		check_wakes(i);
		ck_assert_int_le(next_deadline(), now());
		ck_assert_int_eq(dispatch(), 1);
	}
	end();
}
END_TEST

/* What callbacks schedule the loop finds when it asks. */
static void schedule_more(void *arg)
{
	uint32_t before = atom32_load(&wakes);

	note(arg);
	if (runs % 10 != 0)
		schedule(runs % 3 ? 0 : now() + 1000, schedule_more, NULL);
	if (runs % 10 == 1)
		schedule(0, note, NULL);
	if (atom32_load(&wakes) > before + 1)
		atom32_store(&strange, 1);
}

START_TEST(for_what_callbacks_schedule)
{
	begin();
	for (int i = 1; i <= 20; i++) {
		runs = 0;
		schedule(0, schedule_more, NULL);
		while (runs < 10 || next_deadline() != TIMERTHREAD_NEVER)
			ck_assert_int_ge(dispatch(), 0);
		ck_assert_uint_eq(atom32_load(&strange), 0);
	}
	end();
}
END_TEST

/* A dispatch that leaves some behind: they are due at once. */
START_TEST(what_a_short_dispatch_leaves)
{
	setup_waking();
	ck_assert_int_eq(timerthread_set_dispatch_time(tt, 1), 0);
	ck_assert_int_eq(start_polled(), 0);
	for (int i = 0; i < 30; i++)
		schedule(i, note, NULL);
	while (runs < 30) {
		ck_assert_int_le(next_deadline(), now());
		ck_assert_int_ge(dispatch(), 1);
	}
	ck_assert_int_eq(go_round(), TIMERTHREAD_NEVER);
	end();
}
END_TEST

enum { MANY = 30000 };

/* Nothing is due soon; but it looks for those that were cancelled. */
START_TEST(told_when_to_reclaim)
{
	int64_t t;

	begin();
	for (int i = 0; i < MANY; i++)
		schedule(now() + HOUR, never, NULL);
	do
		t = go_round();
	while (t <= now());
	ck_assert_int_lt(t, now() + HOUR / 2);
	end();
}
END_TEST

START_TEST(periodic)
{
	timerthread_id id;

	begin();
	id = every(0, 10000, note, NULL);
	while (runs < 200) {
		int64_t t = go_round();

		ck_assert_int_lt(t, now() + HOUR);
		while (now() < t)
			sched_yield();
	}
	ck_assert_int_eq(cancel(id), 0);
	while (go_round() != TIMERTHREAD_NEVER)
		;
	end();
}
END_TEST

/*
 * A loop that sleeps on a condition variable.
 */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool woken;
	pthread_t thread;
	uint64_t rounds;
} loop;

static void wake_loop(void *arg)
{
	if (arg != &loop)
		atom32_store(&strange, 1);
	pthread_mutex_lock(&loop.mutex);
	loop.woken = true;
	pthread_cond_signal(&loop.changed);
	pthread_mutex_unlock(&loop.mutex);
}

static void sleep_until(int64_t t)
{
	struct timespec at = {
		.tv_sec = (time_t)(t / TIMERTHREAD_SEC),
		.tv_nsec = (long)(t % TIMERTHREAD_SEC),
	};

	pthread_mutex_lock(&loop.mutex);
	while (!loop.woken && now() < t) {
		if (t - now() > HOUR)
			pthread_cond_wait(&loop.changed, &loop.mutex);
		else
			pthread_cond_timedwait(&loop.changed, &loop.mutex, &at);
	}
	loop.woken = false;
	pthread_mutex_unlock(&loop.mutex);
}

/* Until it is stopped. */
static void *run_loop(void *arg)
{
	int64_t t;
	int r;

	while ((r = timerthread_dispatch(tt)) >= 0) {
		if (timerthread_get_next_deadline(tt, &t) != 0)
			break;
		loop.rounds++;
		sleep_until(t);
	}
	must(r >= 0 || r == -ESHUTDOWN);
	return arg;
}

static void begin_loop_with(timerthread_wake_fn *wake)
{
	pthread_condattr_t attr;

	setup();
	memset(&loop, 0, sizeof(loop));
	pthread_mutex_init(&loop.mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&loop.changed, &attr);
	pthread_condattr_destroy(&attr);
	ck_assert_int_eq(timerthread_set_wake(tt, wake, &loop), 0);
	ck_assert_int_eq(start_polled(), 0);
	loop.thread = start_thread(run_loop, &loop);
}

static void begin_loop(void)
{
	begin_loop_with(wake_loop);
}

/* Were the loop not woken, this would hang. */
static void end_loop(void)
{
	ck_assert_int_eq(timerthread_stop(tt), 0);
	pthread_join(loop.thread, NULL);
	end();
	pthread_cond_destroy(&loop.changed);
	pthread_mutex_destroy(&loop.mutex);
	ck_assert_uint_eq(atom32_load(&strange), 0);
}

/* Each is awaited: the loop sleeps for ever, or for hours, before it. */
START_TEST(a_loop_is_woken)
{
	begin_loop();
	for (int i = 0; i < (is_slow() ? 500 : 3000); i++) {
		if (i == 1000)
			schedule(now() + 20 * HOUR, never, NULL);
		schedule(i % 4 ? 0 : now() + i % 100 * 1000, post, &ran);
		wait_for(&ran);
	}
	end_loop();
}
END_TEST

START_TEST(a_loop_is_woken_by_what_is_armed)
{
	timerthread_id id;

	begin_loop();
	id = prepare(post, &ran);
	for (int i = 0; i < (is_slow() ? 500 : 3000); i++) {
		if (i % 2)
			ck_assert_int_ne(arm(id, now() + HOUR), -ENOENT);
		ck_assert_int_eq(arm(id, i % 3 ? 0 : now() + 1000), 0);
		wait_for(&ran);
	}
	end_loop();
}
END_TEST

/* It is stopped at any moment. */
START_TEST(a_loop_is_stopped)
{
	for (int i = 0; i < (is_slow() ? 50 : 300); i++) {
		begin_loop();
		if (i % 3 == 1)
			schedule(0, post, &ran);
		if (i % 3 == 2)
			schedule(now() + HOUR, never, NULL);
		for (int k = 0; k < i % 20; k++)
			sched_yield();
		end_loop();
	}
}
END_TEST

enum { JOBS = 5000, THREADS = 4 };

static struct job {
	int64_t deadline;
	atom32 runs;
	atom32 cancelled;
	atom32 early;
} jobs[THREADS][JOBS];

static atom32 over; /* runs and cancels, of all jobs */

static void end_job(void)
{
	atom32_add(&over, 1);
	if (atom32_load(&over) == THREADS * JOBS)
		sem_post(&ran);
}

static void run_job(void *arg)
{
	struct job *j = arg;

	atom32_add(&j->runs, 1);
	if (now() < j->deadline)
		atom32_add(&j->early, 1);
	end_job();
}

static void *schedule_jobs(void *arg)
{
	uint64_t rng = test_seed() + (uintptr_t)arg;
	struct job *job = jobs[(uintptr_t)arg - 1];

	for (int i = 0; i < JOBS; i++) {
		timerthread_id id;

		job[i].deadline =
			now() + (int64_t)random_below(&rng, 2 * MS) - MS / 4;
		if (timerthread_schedule(tt, job[i].deadline, run_job, &job[i],
					 &id) != 0)
			return arg;
		if (i % 8 == 0 && cancel(id) == 0) {
			atom32_add(&job[i].cancelled, 1);
			end_job();
		}
		if (i % 8 == 1 && arm(id, now() + HOUR) == 0)
			must(arm(id, job[i].deadline) == 0);
		if (random_below(&rng, 50) == 0)
			usleep(100);
	}
	return NULL;
}

START_TEST(none_is_lost)
{
	begin_loop();
	memset(jobs, 0, sizeof(jobs));
	run_threads(schedule_jobs, THREADS);
	while (atom32_load(&over) < THREADS * JOBS)
		wait_for(&ran);
	end_loop();
	for (int i = 0; i < THREADS * JOBS; i++) {
		struct job *j = &jobs[i / JOBS][i % JOBS];

		ck_assert_uint_eq(
			atom32_load(&j->runs) + atom32_load(&j->cancelled), 1);
		ck_assert_uint_eq(atom32_load(&j->early), 0);
	}
}
END_TEST

/*
 * While a thread is held up in wake, the others call it, too: so no timer waits
 * for that thread.  When one of them has returned, none needs to.
 */
static void hold_first(void *arg)
{
	(void)arg;
	if (atom32_add(&wakes, 1) == 0)
		hold(&ran);
}

static void *schedule_first(void *arg)
{
	schedule(now() + HOUR, never, NULL);
	return arg;
}

/* Starts a thread that schedules, and is held up in wake. */
static pthread_t begin_held_up(void *(*schedules)(void *))
{
	pthread_t t;

	setup_waking();
	ck_assert_int_eq(timerthread_set_buckets(tt, 1), 0);
	ck_assert_int_eq(timerthread_set_wake(tt, hold_first, NULL), 0);
	ck_assert_int_eq(start_polled(), 0);
	ck_assert_int_eq(go_round(), TIMERTHREAD_NEVER);
	t = start_thread(schedules, NULL);
	wait_for(&ran);
	return t;
}

START_TEST(held_up_in_wake)
{
	pthread_t t = begin_held_up(schedule_first);

	/* Not the earliest; but the loop may not know of that. */
	schedule(now() + 2 * HOUR, never, NULL);
	check_wakes(2);
	schedule(now() + 3 * HOUR, never, NULL);
	check_wakes(2);
	sem_post(&go);
	pthread_join(t, NULL);
	schedule(now() + 4 * HOUR, never, NULL);
	check_wakes(2);
	/* What the loop knows needs no call, whoever is held up. */
	go_round();
	schedule(now() + 5 * HOUR, never, NULL);
	check_wakes(2);
	end();
}
END_TEST

START_TEST(a_stop_while_one_is_held_up)
{
	pthread_t t = begin_held_up(schedule_first);

	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_wakes(2);
	sem_post(&go);
	pthread_join(t, NULL);
	end();
	check_wakes(2);
}
END_TEST

static void plan_earlier(void *arg)
{
	note(arg);
	schedule(now() + HOUR, never, NULL);
}

static void *schedule_planner(void *arg)
{
	schedule(0, plan_earlier, NULL);
	return arg;
}

/* A dispatch finds what was announced, whoever is held up in wake. */
START_TEST(a_dispatch_while_one_is_held_up)
{
	pthread_t t = begin_held_up(schedule_planner);

	ck_assert_int_eq(dispatch(), 1);
	check_wakes(1);
	sem_post(&go);
	pthread_join(t, NULL);
	end();
}
END_TEST

/*
 * With an executor, which is the test: what it is given it calls later.
 */
static struct {
	timerthread_fn *run;
	void *arg;
} given;

static int take_it(void *executor, timerthread_fn *run, void *arg)
{
	ck_assert_ptr_eq(executor, &given);
	given.run = run;
	given.arg = arg;
	return 0;
}

/* The loop has handed one over, and waits for nothing else. */
static void begin_handing_over(void)
{
	setup_waking();
	ck_assert_int_eq(timerthread_set_executor(tt, take_it, &given), 0);
	ck_assert_int_eq(start_polled(), 0);
	go_round();
}

/* That one is due again the loop learns from the executor's thread. */
START_TEST(a_periodic_one_on_an_executor)
{
	begin_handing_over();
	every(0, HOUR, note, NULL);
	ck_assert_int_eq(go_round(), TIMERTHREAD_NEVER);
	atom32_store(&wakes, 0);
	given.run(given.arg);
	ck_assert_int_eq(runs, 1);
	check_wakes(1);
	ck_assert_int_lt(next_deadline(), TIMERTHREAD_NEVER);
	end();
}
END_TEST

static void stop_it(void *arg)
{
	note(arg);
	ck_assert_int_eq(timerthread_stop(tt), 1);
	check_wakes(1);
}

START_TEST(a_stop_on_an_executor)
{
	begin_handing_over();
	schedule(0, stop_it, NULL);
	ck_assert_int_eq(go_round(), TIMERTHREAD_NEVER);
	atom32_store(&wakes, 0);
	given.run(given.arg);
	ck_assert_int_eq(runs, 1);
	check_wakes(1);
	ck_assert_int_eq(dispatch(), -ESHUTDOWN);
	end();
}
END_TEST

/*
 * The options are looked at when they cannot change any more: a start waits
 * here, and meanwhile one is changed.
 */
static int start_result, started_fd;

static void *start_with_descriptor(void *arg)
{
	start_result = timerthread_start_polled(tt, &started_fd);
	return arg;
}

START_TEST(an_option_that_changes_at_the_start)
{
	pthread_t t;

	setup();
	started_fd = 77;
	pthread_mutex_lock(&tt->mutex);
	t = start_thread(start_with_descriptor, NULL);
	for (int i = 0; i < 1000; i++)
		sched_yield();
	tt->options.waking.fn = count_wake;
	pthread_mutex_unlock(&tt->mutex);
	pthread_join(t, NULL);
	ck_assert_int_eq(start_result, -EINVAL);
	ck_assert_int_eq(started_fd, 77);
	ck_assert_int_eq(start_polled(), 0);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		arguments,
		option,
		no_descriptor,
		other_drivers,
		in_a_child,
		once_for_what_is_earlier,
		not_for_what_is_later,
		for_what_is_earlier_by_less_than_the_slack,
		not_for_what_needs_no_work,
		for_what_was_moved,
		at_a_stop,
		once_for_a_timer_and_a_stop,
		on_the_thread_that_schedules,
		for_what_callbacks_schedule,
		what_a_short_dispatch_leaves,
		told_when_to_reclaim,
		periodic,
		a_loop_is_woken,
		a_loop_is_woken_by_what_is_armed,
		a_loop_is_stopped,
		none_is_lost,
		held_up_in_wake,
		a_stop_while_one_is_held_up,
		a_dispatch_while_one_is_held_up,
		a_periodic_one_on_an_executor,
		a_stop_on_an_executor,
		an_option_that_changes_at_the_start,
	};

	return RUN_TESTS("wake", tests);
}
