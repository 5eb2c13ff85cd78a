/* SPDX-License-Identifier: MIT */
/*
 * A program that was built with the previous header.  It makes every call of it
 * and checks what comes back.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <timerthread.h>

#define check(e) ((e) ? (void)0 : fail(#e, __LINE__))

static void fail(const char *what, int line)
{
	printf("client.c:%d: %s\n", line, what);
	exit(1);
}

/* What callbacks and hooks share with main; the semaphore orders them. */
static struct seen {
	struct timerthread *tt;
	timerthread_id id;
	unsigned runs, hooks, visits, submits, slow, running, wakes;
	sem_t ran;
} seen;

static void run(void *arg)
{
	check(arg == &seen);
	check(timerthread_get_current(&seen.tt, &seen.id) == 0);
	seen.runs++;
	sem_post(&seen.ran);
}

static void run_late(void *arg)
{
	uint64_t overrun;

	check(timerthread_get_overrun(&overrun) == 0 && overrun == 2);
	run(arg);
}

static void hook(void *arg)
{
	check(arg == &seen);
	seen.hooks++;
}

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	check(id == seen.id && fn == run && arg == &seen && ctx == &seen);
	seen.visits++;
}

static int match(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	check(fn == run && arg == &seen && ctx == &seen);
	return id == seen.id;
}

static void wake(void *ctx)
{
	check(ctx == &seen);
	seen.wakes++;
}

static void watch(void *arg);

static void visit_running(timerthread_id id, timerthread_fn *fn, void *arg,
			  int64_t run_time, void *ctx)
{
	check(id == seen.id && fn == watch && arg == &seen && ctx == &seen);
	check(run_time >= 0);
	seen.running++;
}

/* What a callback can look at while it runs. */
static void watch(void *arg)
{
	int64_t begun;

	check(timerthread_get_current(&seen.tt, &seen.id) == 0);
	begun = timerthread_now(seen.tt);
	while (timerthread_now(seen.tt) <= begun)
		continue;
	check(timerthread_visit_running(seen.tt, 0, visit_running, &seen) == 1);
	sem_post(&((struct seen *)arg)->ran);
}

static void slow(timerthread_id id, timerthread_fn *fn, void *arg,
		 int64_t run_time, void *ctx)
{
	check(id == seen.id && fn == watch && arg == &seen && ctx == &seen);
	check(run_time > 0);
	seen.slow++;
}

static int submit(void *ctx, timerthread_fn *run_timer, void *arg)
{
	check(ctx == &seen);
	seen.submits++;
	run_timer(arg);
	return 0;
}

static uintptr_t task_id(void *ctx)
{
	check(ctx == &seen);
	return 1;
}

static uint64_t stat_of(struct timerthread *tt, enum timerthread_stat which)
{
	uint64_t value;

	check(timerthread_get_stat(tt, which, &value) == 0);
	return value;
}

static void wait_for_run(void)
{
	while (sem_wait(&seen.ran) < 0)
		check(errno == EINTR);
}

/* A thread of its own, with every option that it takes. */
static void use_thread(void)
{
	struct timerthread *tt;
	timerthread_id id;
	pthread_t thread;
	void *arg;

	check(timerthread_create(&tt) == 0);
	check(timerthread_set_name(tt, "client") == 0);
	check(timerthread_set_buckets(tt, 2) == 0);
	check(timerthread_set_clock(tt, CLOCK_MONOTONIC) == 0);
	check(timerthread_set_slack(tt, TIMERTHREAD_USEC) == 0);
	check(timerthread_set_spin(tt, 0) == 0);
	check(timerthread_set_max_timers(tt, 10) == 0);
	check(timerthread_set_reserve(tt, 10) == 0);
	check(timerthread_set_thread_hooks(tt, hook, hook, &seen) == 0);
	check(timerthread_start(tt, NULL) == 0);
	check(timerthread_get_pthread(tt, &thread) == 0);

	check(timerthread_schedule_after(tt, TIMERTHREAD_MSEC, run, &seen,
					 &id) == 0);
	wait_for_run();
	check(seen.tt == tt && seen.id == id);
	check(timerthread_cancel_wait(tt, id) >= -ENOENT);

	check(timerthread_schedule(tt, TIMERTHREAD_NEVER, run, &seen, &id) ==
	      0);
	check(stat_of(tt, TIMERTHREAD_STAT_PENDING) == 1);
	check(timerthread_cancel_take(tt, id, &arg) == 0 && arg == &seen);
	check(timerthread_cancel(tt, id) == -ENOENT);

	check(timerthread_schedule_after(tt, INT64_MAX, run, &seen, &seen.id) ==
	      0);
	check(timerthread_cancel_all(tt, visit, &seen) == 1 &&
	      seen.visits == 1);
	check(timerthread_stop(tt) == 0);
	check(timerthread_schedule(tt, 0, run, &seen, &id) == -ESHUTDOWN);
	check(stat_of(tt, TIMERTHREAD_STAT_FIRED) == 1);
	timerthread_destroy(tt);
	check(seen.hooks == 2);
}

/* An event loop. */
static void use_polled(void)
{
	struct timerthread *tt;
	struct pollfd p = {.events = POLLIN};
	timerthread_id id;
	int64_t next;

	check(timerthread_create(&tt) == 0);
	check(timerthread_set_dispatch_time(tt, TIMERTHREAD_SEC) == 0);
	check(timerthread_start_polled(tt, &p.fd) == 0);
	check(timerthread_schedule(tt, timerthread_now(tt), run, &seen, &id) ==
	      0);
	check(timerthread_get_next_deadline(tt, &next) == 0);
	check(next <= timerthread_now(tt));
	check(poll(&p, 1, -1) == 1);
	while (sem_trywait(&seen.ran) < 0)
		check(timerthread_dispatch(tt) >= 0);
	timerthread_destroy(tt);
}

/* An event loop that cannot watch a descriptor. */
static void use_woken(void)
{
	struct timerthread *tt;
	timerthread_id id;
	int64_t next;

	check(timerthread_create(&tt) == 0);
	check(timerthread_set_wake(tt, wake, &seen) == 0);
	check(timerthread_start_polled(tt, NULL) == 0);
	check(timerthread_get_next_deadline(tt, &next) == 0);
	check(next == TIMERTHREAD_NEVER && seen.wakes == 0);
	check(timerthread_schedule(tt, 0, run, &seen, &id) == 0);
	check(seen.wakes == 1);
	check(timerthread_dispatch(tt) == 1);
	wait_for_run();
	check(timerthread_stop_until(tt, 0) == 0);
	timerthread_destroy(tt);
}

/* A timer that lives with its owner; the clock stands still. */
static void use_prepared(void)
{
	unsigned visits = seen.visits;
	struct timerthread *tt;
	timerthread_id id;

	check(timerthread_round(9, 100) == 64);
	check(timerthread_create(&tt) == 0);
	check(timerthread_set_data(tt, &seen) == 0);
	check(timerthread_get_data(tt) == &seen);
	check(timerthread_start_virtual(tt, 0) == 0);
	check(timerthread_prepare(tt, run, &seen, &id) == 0);
	check(stat_of(tt, TIMERTHREAD_STAT_UNARMED) == 1);
	check(timerthread_reschedule(tt, id, 1) == 0);
	check(timerthread_disarm(tt, id) == 0);
	check(timerthread_reschedule_after(tt, id, 1) == 0);
	check(timerthread_disarm_wait(tt, id) == 0);
	check(timerthread_advance(tt, 2) == 0);
	seen.id = id;
	check(timerthread_cancel_matching(tt, match, visit, &seen) == 1);
	check(seen.visits == visits + 1);
	timerthread_destroy(tt);
}

/* A virtual clock, and an executor. */
static void use_virtual(void)
{
	int64_t second = timerthread_from_timespec(1, 0), deadline;
	struct timerthread *tt;
	timerthread_id once, every;

	check(second == TIMERTHREAD_SEC && second == 1000 * TIMERTHREAD_MSEC);
	check(timerthread_create(&tt) == 0);
	check(timerthread_set_executor(tt, submit, &seen) == 0);
	check(timerthread_set_task_id(tt, task_id, &seen) == 0);
	check(timerthread_start_virtual(tt, 0) == 0);

	check(timerthread_schedule(tt, second, run, &seen, &once) == 0);
	check(timerthread_reschedule(tt, once, 3 * second) == 0);
	check(timerthread_get_deadline(tt, once, &deadline) == 0);
	check(deadline == 3 * second);
	check(timerthread_reschedule_after(tt, once, 2 * second) == 0);
	check(timerthread_advance(tt, 2 * second - 1) == 0);
	check(timerthread_advance(tt, 1) == 1);
	wait_for_run();
	check(timerthread_cancel_wait(tt, once) == -ENOENT);
	check(timerthread_cancel_wait_until(tt, once, 0) == -ENOENT);

	check(timerthread_schedule_every(tt, 0, second, run_late, &seen,
					 &every) == 0);
	check(timerthread_advance(tt, 0) == 1);
	wait_for_run();
	check(timerthread_cancel_wait(tt, every) == 0);
	check(timerthread_schedule_every_after(tt, second, second, run_late,
					       &seen, &every) == 0);
	check(timerthread_get_deadline(tt, every, &deadline) == 0);
	check(deadline == timerthread_now(tt) + second);
	check(timerthread_cancel(tt, every) == 0);
	check(seen.submits == 2);
	timerthread_destroy(tt);
}

static void check_histograms(struct timerthread *tt,
			     const struct timerthread_snapshot *before)
{
	struct timerthread_snapshot *after;
	int64_t longest;

	check(timerthread_take_snapshot(tt, &after) == 0);
	check(timerthread_get_quantile(after, before,
				       TIMERTHREAD_HISTOGRAM_RUN_TIME, 1,
				       &longest) == 0);
	check(longest > 0);
	check(timerthread_get_quantile(before, NULL,
				       TIMERTHREAD_HISTOGRAM_LATENESS, 1,
				       &longest) == -ENOENT);
	timerthread_free_snapshot(after);
}

/* What the timers do. */
static void look_in(void)
{
	struct timerthread_snapshot *before;
	struct timerthread *tt, *pair[2];
	char text[4];
	int fds[2];

	check(timerthread_create(&tt) == 0);
	check(timerthread_set_slow_hook(tt, 0, slow, &seen) == 0);
	check(timerthread_start(tt, NULL) == 0);
	check(timerthread_take_snapshot(tt, &before) == 0);
	check(timerthread_schedule_after(tt, 0, watch, &seen, NULL) == 0);
	wait_for_run();
	check(timerthread_stop(tt) == 0);
	check(seen.running == 1 && seen.slow == 1);
	check(timerthread_visit_running(tt, 0, visit_running, &seen) == 0);
	check_histograms(tt, before);
	timerthread_free_snapshot(before);

	check(timerthread_format_metrics(&tt, 1, TIMERTHREAD_FORMAT_OPENMETRICS,
					 text, sizeof(text)) > 100);
	check(memcmp(text, "# ", 2) == 0 && text[3] == 0);
	pair[0] = pair[1] = tt;
	check(timerthread_format_metrics(pair, 2, TIMERTHREAD_FORMAT_PROMETHEUS,
					 NULL, 0) > 100);
	check(pipe(fds) == 0);
	check(timerthread_dump(tt, fds[1]) > 0);
	check(read(fds[0], text, sizeof(text)) == sizeof(text));
	timerthread_destroy(tt);
}

int main(void)
{
	struct timerthread *tt;
	timerthread_id id;

	check(sem_init(&seen.ran, 0, 0) == 0);
	use_thread();
	use_polled();
	use_woken();
	use_prepared();
	use_virtual();
	look_in();
	check(timerthread_default(&tt) == 0);
	check(timerthread_schedule_after(tt, 0, run, &seen, &id) == 0);
	wait_for_run();
	check(timerthread_cancel_wait(tt, id) >= -ENOENT);
	check(seen.runs == 6);
	check(strlen(timerthread_version()) > 0);
	printf("%d, %s\n", TIMERTHREAD_VERSION, timerthread_version());
	return 0;
}
