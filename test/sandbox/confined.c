/* SPDX-License-Identifier: MIT */
/*
 * confined DRIVER CLOCK START LATER: uses the library hard, under a filter of
 * system calls that kills the process.  From before an instance is created it
 * may make the calls in the lists START and LATER, names with a space between
 * them; from when it was started on, those in LATER alone.  DRIVER is thread,
 * polled, virtual, or default for the default instance; CLOCK one of monotonic,
 * realtime and boottime.  Without lists there is no filter, so that the calls
 * can be traced.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timerthread.h>
#include <unistd.h>

enum {
	WORKERS = 3,
	ROUNDS = 20000,
	GROWTH = 20000, /* timers that are pending at a time */
	FIRING = 2000,
};

enum drivers { ON_THREAD, ON_POLLED, ON_VIRTUAL, ON_DEFAULT };

static enum drivers driver;
static struct timerthread *tt;
static int fd;
static atomic_int phase; /* workers begin at 1 */
static atomic_int begun, fired, over;

static void check(bool holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "confined: %s\n", what);
		_exit(1);
	}
}

static void allow(scmp_filter_ctx filter, const char *names)
{
	char name[64];
	int n;

	for (; sscanf(names, " %63s%n", name, &n) == 1; names += n) {
		int nr = seccomp_syscall_resolve_name(name);

		check(nr != __NR_SCMP_ERROR, name);
		/* Less than 0: this machine has none of that name. */
		if (nr >= 0)
			check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, nr, 0) ==
				      0,
			      "seccomp_rule_add");
	}
}

/*
 * For all threads.  The first time it also gives up what would let a new
 * program undo it, for which there is a call more.
 */
static void confine(const char *names, const char *more, bool first)
{
	scmp_filter_ctx filter;
	bool loaded;

	if (!names)
		return;
	filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	check(filter != NULL, "seccomp_init");
	check(seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0, "TSYNC");
	check(seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, first) == 0, "NNP");
	allow(filter, names);
	allow(filter, more);
	loaded = seccomp_load(filter) == 0;
	/* Or another thread has made the kernel end the process by now. */
	if (!loaded)
		poll(NULL, 0, 1000);
	check(loaded, "seccomp_load");
	seccomp_release(filter);
}

static void count(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
}

static void schedule_again(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
	timerthread_schedule_after(tt, TIMERTHREAD_MSEC, count, arg, NULL);
}

/* As many as take memory; all are cancelled. */
static void grow(void)
{
	timerthread_id *id = malloc(GROWTH * sizeof(*id));
	int64_t now = timerthread_now(tt);

	check(id != NULL, "malloc");
	for (int i = 0; i < GROWTH; i++) {
		int64_t far = TIMERTHREAD_SEC * (1 + i % 1000);

		check(timerthread_schedule(tt, now + far, count, &fired,
					   &id[i]) == 0,
		      "schedule");
	}
	for (int i = 0; i < GROWTH; i++) {
		if (i % 3 == 0)
			timerthread_reschedule(tt, id[i],
					       now + TIMERTHREAD_SEC);
		if (i % 2 == 0)
			timerthread_cancel(tt, id[i]);
		else
			timerthread_cancel_wait(tt, id[i]);
	}
	free(id);
}

static void fire(void)
{
	for (int i = 0; i < FIRING; i++)
		timerthread_schedule_after(tt, i % 10 * (TIMERTHREAD_MSEC / 10),
					   count, &fired, NULL);
	timerthread_schedule_after(tt, 0, schedule_again, &fired, NULL);
}

/* Pairs, so many that threads meet at a lock and one is preempted there. */
static void hammer(void)
{
	timerthread_id id;

	for (int i = 0; i < ROUNDS; i++) {
		timerthread_schedule_after(tt, TIMERTHREAD_SEC, count, &fired,
					   &id);
		if (i % 100 == 0)
			timerthread_reschedule_after(tt, id, 0);
		timerthread_cancel_wait(tt, id);
	}
}

static void *work(void *arg)
{
	(void)arg;
	atomic_fetch_add(&begun, 1);
	while (atomic_load(&phase) == 0)
		sched_yield();
	grow();
	fire();
	hammer();
	atomic_fetch_add(&over, 1);
	return NULL;
}

static void drive(void)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	switch (driver) {
	case ON_POLLED:
		poll(&p, 1, 1);
		timerthread_dispatch(tt);
		break;
	case ON_VIRTUAL:
		timerthread_advance(tt, TIMERTHREAD_MSEC);
		break;
	default:
		break;
	}
}

static clockid_t clock_named(const char *name)
{
	if (strcmp(name, "realtime") == 0)
		return CLOCK_REALTIME;
	return strcmp(name, "boottime") == 0 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
}

static int start_created(void)
{
	switch (driver) {
	case ON_POLLED:
		return timerthread_start_polled(tt, &fd);
	case ON_VIRTUAL:
		return timerthread_start_virtual(tt, 0);
	default:
		return timerthread_start(tt, NULL);
	}
}

static void start(clockid_t clock)
{
	if (driver == ON_DEFAULT) {
		check(timerthread_default(&tt) == 0, "default");
		return;
	}
	check(timerthread_create(&tt) == 0, "create");
	check(timerthread_set_clock(tt, clock) == 0, "clock");
	if (clock == CLOCK_BOOTTIME)
		check(timerthread_set_reserve(tt, 1000) == 0, "reserve");
	check(start_created() == 0, "start");
}

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
}

/* The default instance has no end. */
static void end(void)
{
	if (driver == ON_DEFAULT)
		return;
	check(timerthread_cancel_all(tt, visit, NULL) >= 0, "cancel_all");
	check(timerthread_stop(tt) == 0, "stop");
	timerthread_destroy(tt);
}

int main(int argc, char **argv)
{
	pthread_t worker[WORKERS];
	const char *at_start = argc == 5 ? argv[3] : NULL;
	const char *later = argc == 5 ? argv[4] : NULL;

	check(argc == 3 || argc == 5, "usage");
	driver = strcmp(argv[1], "polled") == 0    ? ON_POLLED
		 : strcmp(argv[1], "virtual") == 0 ? ON_VIRTUAL
		 : strcmp(argv[1], "default") == 0 ? ON_DEFAULT
						   : ON_THREAD;
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&worker[i], NULL, work, NULL);
	/* The calls of their beginning are not the library's. */
	while (atomic_load(&begun) < WORKERS)
		sched_yield();
	confine(at_start, later, true);
	start(clock_named(argv[2]));
	confine(later, "", false);
	atomic_store(&phase, 1);
	while (atomic_load(&over) < WORKERS ||
	       atomic_load(&fired) < WORKERS * (FIRING + 2))
		drive();
	end();
	_exit(0);
}
