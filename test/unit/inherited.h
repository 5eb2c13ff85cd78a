/* SPDX-License-Identifier: MIT */
/*
 * In a child: each call on an instance that is inherited is refused, and those
 * of the child's own work.
 */
#pragma once

#include "child.h"
#include "fixture.h"
#include "os/fork.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#define HOUR INT64_C(3600000000000)

static timerthread_id some_id, running_id;

/* Does the kernel wipe the library's page?  Else only a handler tells it. */
static inline void set_wiped(bool wiped)
{
#if defined(TT_OS_LINUX) && defined(MADV_WIPEONFORK)
	madvise(&fork_page, sizeof(fork_page),
		wiped ? MADV_WIPEONFORK : MADV_KEEPONFORK);
#else
	(void)wiped;
#endif
}

/* An instance of the caller's own runs a timer, stops and goes. */
static inline void use_one_of_its_own(clockid_t clock)
{
	struct timerthread *own;
	sem_t done;

	sem_init(&done, 0, 0);
	NEED(timerthread_create(&own) == 0);
	NEED(timerthread_set_clock(own, clock) == 0);
	NEED(timerthread_start(own, NULL) == 0);
	NEED(timerthread_schedule(own, TIMERTHREAD_NEVER, never, NULL, NULL) ==
	     0);
	NEED(timerthread_schedule_after(own, 1000, post, &done, NULL) == 0);
	wait_for(&done);
	NEED(timerthread_stop(own) == 0);
	timerthread_destroy(own);
	sem_destroy(&done);
}

/*
 * An inherited default instance stays where it is: kept here, that is no leak.
 */
static struct timerthread *volatile defaults[8];
static int n_defaults;

static inline void use_default(void)
{
	struct timerthread *one;
	sem_t done;

	sem_init(&done, 0, 0);
	NEED(timerthread_default(&one) == 0);
	defaults[n_defaults++ % 8] = one;
	NEED(timerthread_schedule(one, 0, post, &done, NULL) == 0);
	wait_for(&done);
	sem_destroy(&done);
}

/*
 * Each call of the header on an instance.
 */
static inline int set_name(struct timerthread *t)
{
	return timerthread_set_name(t, "name");
}

static inline int set_buckets(struct timerthread *t)
{
	return timerthread_set_buckets(t, 1);
}

static inline int set_clock(struct timerthread *t)
{
	return timerthread_set_clock(t, CLOCK_REALTIME);
}

static inline int set_spin(struct timerthread *t)
{
	return timerthread_set_spin(t, 1);
}

static inline int set_slack(struct timerthread *t)
{
	return timerthread_set_slack(t, 1);
}

static inline int set_max_timers(struct timerthread *t)
{
	return timerthread_set_max_timers(t, 1);
}

static inline int set_thread_hooks(struct timerthread *t)
{
	return timerthread_set_thread_hooks(t, never, never, NULL);
}

static inline int set_reserve(struct timerthread *t)
{
	return timerthread_set_reserve(t, 1);
}

static inline int set_executor(struct timerthread *t)
{
	return timerthread_set_executor(t, NULL, NULL);
}

static inline int set_task_id(struct timerthread *t)
{
	return timerthread_set_task_id(t, NULL, NULL);
}

static inline int start_polled(struct timerthread *t)
{
	int fd;

	return timerthread_start_polled(t, &fd);
}

static inline int start_virtually(struct timerthread *t)
{
	return timerthread_start_virtual(t, 0);
}

static inline int advance(struct timerthread *t)
{
	return timerthread_advance(t, 0);
}

static inline int start_again(struct timerthread *t)
{
	return timerthread_start(t, NULL);
}

static inline int schedule(struct timerthread *t)
{
	timerthread_id id = 5;
	int r = timerthread_schedule(t, 0, never, NULL, &id);

	return id == 5 ? r : 1;
}

static inline int schedule_after(struct timerthread *t)
{
	timerthread_id id = 5;
	int r = timerthread_schedule_after(t, 0, never, NULL, &id);

	return id == 5 ? r : 1;
}

static inline int schedule_every(struct timerthread *t)
{
	timerthread_id id = 5;
	int r = timerthread_schedule_every(t, 0, 1, never, NULL, &id);

	return id == 5 ? r : 1;
}

static inline int schedule_every_after(struct timerthread *t)
{
	timerthread_id id = 5;
	int r = timerthread_schedule_every_after(t, 0, 1, never, NULL, &id);

	return id == 5 ? r : 1;
}

static inline int prepare(struct timerthread *t)
{
	timerthread_id id = 5;
	int r = timerthread_prepare(t, never, NULL, &id);

	return id == 5 ? r : 1;
}

static inline int reschedule(struct timerthread *t)
{
	return timerthread_reschedule(t, some_id, 0);
}

static inline int reschedule_running(struct timerthread *t)
{
	return timerthread_reschedule(t, running_id, 0);
}

static inline int reschedule_after(struct timerthread *t)
{
	return timerthread_reschedule_after(t, some_id, 0);
}

static inline int disarm(struct timerthread *t)
{
	return timerthread_disarm(t, some_id);
}

static inline int disarm_running(struct timerthread *t)
{
	return timerthread_disarm(t, running_id);
}

static inline int disarm_wait(struct timerthread *t)
{
	return timerthread_disarm_wait(t, some_id);
}

static inline int disarm_wait_running(struct timerthread *t)
{
	return timerthread_disarm_wait(t, running_id);
}

static inline int cancel(struct timerthread *t)
{
	return timerthread_cancel(t, some_id);
}

static inline int cancel_running(struct timerthread *t)
{
	return timerthread_cancel(t, running_id);
}

static inline int cancel_wait(struct timerthread *t)
{
	return timerthread_cancel_wait(t, some_id);
}

static inline int cancel_wait_running(struct timerthread *t)
{
	return timerthread_cancel_wait(t, running_id);
}

static inline int cancel_wait_until(struct timerthread *t)
{
	return timerthread_cancel_wait_until(t, running_id, TIMERTHREAD_NEVER);
}

static inline int cancel_nothing(struct timerthread *t)
{
	return timerthread_cancel(t, 0);
}

static inline int cancel_take(struct timerthread *t)
{
	void *arg = t;
	int r = timerthread_cancel_take(t, some_id, &arg);

	return arg == t ? r : 1;
}

static inline int cancel_take_nothing(struct timerthread *t)
{
	return timerthread_cancel_take(t, 0, NULL);
}

static inline int get_deadline(struct timerthread *t)
{
	int64_t deadline = 5;
	int r = timerthread_get_deadline(t, some_id, &deadline);

	return deadline == 5 ? r : 1;
}

static inline int get_next_deadline(struct timerthread *t)
{
	int64_t deadline = 5;
	int r = timerthread_get_next_deadline(t, &deadline);

	return deadline == 5 ? r : 1;
}

static inline int get_next_deadline_nowhere(struct timerthread *t)
{
	return timerthread_get_next_deadline(t, NULL);
}

static inline int get_stat(struct timerthread *t)
{
	uint64_t value = 5;
	int r = timerthread_get_stat(t, TIMERTHREAD_STAT_PENDING, &value);

	return value == 5 ? r : 1;
}

static inline int get_stat_nowhere(struct timerthread *t)
{
	return timerthread_get_stat(t, TIMERTHREAD_STAT_PENDING, NULL);
}

static inline int take_snapshot(struct timerthread *t)
{
	struct timerthread_snapshot *s = NULL;
	int r = timerthread_take_snapshot(t, &s);

	return s ? 1 : r;
}

static inline void no_slow(timerthread_id id, timerthread_fn *fn, void *arg,
			   int64_t run_time, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)run_time;
	(void)ctx;
	abort();
}

static inline int visit_running(struct timerthread *t)
{
	return timerthread_visit_running(t, 0, no_slow, NULL);
}

static inline int visit_running_nowhere(struct timerthread *t)
{
	return timerthread_visit_running(t, -1, NULL, NULL);
}

static inline int set_slow_hook(struct timerthread *t)
{
	return timerthread_set_slow_hook(t, -1, no_slow, NULL);
}

static inline int format_metrics(struct timerthread *t)
{
	char buf[] = "x";
	int r = timerthread_format_metrics(
		&t, 1, TIMERTHREAD_FORMAT_OPENMETRICS, buf, sizeof(buf));

	return buf[0] == 'x' ? r : 1;
}

/*
 * One that is the child's does not help, whichever is first.  Where there is
 * none, that comes before all else, also behind one that is inherited.
 */
static inline int format_several(struct timerthread *t)
{
	struct timerthread *pair[2] = {t, t}, *const none[] = {t, NULL, t};
	char buf[] = "x";
	int r, own = timerthread_create(&pair[1]);
	int again = timerthread_format_metrics(
		pair, 2, TIMERTHREAD_FORMAT_PROMETHEUS, buf, sizeof(buf));

	NEED(own == 0);
	for (size_t n = 2; n <= 3; n++)
		NEED(timerthread_format_metrics(none, n,
						TIMERTHREAD_FORMAT_PROMETHEUS,
						buf, sizeof(buf)) == -EINVAL);
	NEED(timerthread_format_metrics(NULL, 1, TIMERTHREAD_FORMAT_PROMETHEUS,
					buf, sizeof(buf)) == -EINVAL);
	pair[0] = pair[1];
	pair[1] = t;
	r = timerthread_format_metrics(pair, 2, (enum timerthread_format)2,
				       NULL, 1);
	timerthread_destroy(pair[0]);
	return buf[0] == 'x' && again == r ? r : 1;
}

static inline int dump(struct timerthread *t)
{
	return timerthread_dump(t, -1);
}

static inline void no_visit(timerthread_id id, timerthread_fn *fn, void *arg,
			    void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
	abort();
}

static inline int cancel_all(struct timerthread *t)
{
	return timerthread_cancel_all(t, no_visit, NULL);
}

static inline int match_all(timerthread_id id, timerthread_fn *fn, void *arg,
			    void *ctx)
{
	no_visit(id, fn, arg, ctx);
	return 1;
}

static inline int cancel_matching(struct timerthread *t)
{
	return timerthread_cancel_matching(t, match_all, no_visit, NULL);
}

static inline int cancel_matching_nothing(struct timerthread *t)
{
	return timerthread_cancel_matching(t, NULL, NULL, NULL);
}

static inline int set_wake(struct timerthread *t)
{
	return timerthread_set_wake(t, never, NULL);
}

static inline int get_pthread(struct timerthread *t)
{
	pthread_t thread;

	return timerthread_get_pthread(t, &thread);
}

static const struct {
	const char *name;
	int (*call)(struct timerthread *t);
} calls[] = {
	{"set_name", set_name},
	{"set_buckets", set_buckets},
	{"set_clock", set_clock},
	{"set_slack", set_slack},
	{"set_spin", set_spin},
	{"set_max_timers", set_max_timers},
	{"set_thread_hooks", set_thread_hooks},
	{"set_reserve", set_reserve},
	{"set_executor", set_executor},
	{"set_task_id", set_task_id},
	{"set_wake", set_wake},
	{"start", start_again},
	{"start_polled", start_polled},
	{"start_virtual", start_virtually},
	{"dispatch", timerthread_dispatch},
	{"advance", advance},
	{"stop", timerthread_stop},
	{"schedule", schedule},
	{"schedule_after", schedule_after},
	{"schedule_every", schedule_every},
	{"schedule_every_after", schedule_every_after},
	{"prepare", prepare},
	{"reschedule", reschedule},
	{"reschedule, running", reschedule_running},
	{"reschedule_after", reschedule_after},
	{"disarm", disarm},
	{"disarm, running", disarm_running},
	{"disarm_wait", disarm_wait},
	{"disarm_wait, running", disarm_wait_running},
	{"cancel", cancel},
	{"cancel, running", cancel_running},
	{"cancel, no id", cancel_nothing},
	{"cancel_take", cancel_take},
	{"cancel_take, nowhere", cancel_take_nothing},
	{"cancel_wait", cancel_wait},
	{"cancel_wait, running", cancel_wait_running},
	{"cancel_wait_until", cancel_wait_until},
	{"get_deadline", get_deadline},
	{"get_next_deadline", get_next_deadline},
	{"get_next_deadline, nowhere", get_next_deadline_nowhere},
	{"cancel_all", cancel_all},
	{"cancel_matching", cancel_matching},
	{"cancel_matching, nothing", cancel_matching_nothing},
	{"get_stat", get_stat},
	{"get_stat, nowhere", get_stat_nowhere},
	{"take_snapshot", take_snapshot},
	{"visit_running", visit_running},
	{"visit_running, nowhere", visit_running_nowhere},
	{"set_slow_hook", set_slow_hook},
	{"format_metrics", format_metrics},
	{"format_metrics, several", format_several},
	{"dump", dump},
	{"get_pthread", get_pthread},
	{"stop again", timerthread_stop},
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* In a child. */
static inline void need_all_refused(struct timerthread *t)
{
	for (size_t i = 0; i < CALLS; i++) {
		int r;

		errno = E2BIG;
		r = calls[i].call(t);
		if (r == -ECHILD && errno == E2BIG)
			continue;
		say("%s: %d, errno %d\n", calls[i].name, r, errno);
		_exit(EXIT_FAILURE);
	}
}

/* -ECHILD each, and then it is freed. */
static inline void refused_and_destroyed(void)
{
	need_all_refused(tt);
	timerthread_destroy(tt);
}

static inline void schedule_some(int n)
{
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(timerthread_schedule_after(tt, HOUR + i, never,
							    NULL, &some_id),
				 0);
}
