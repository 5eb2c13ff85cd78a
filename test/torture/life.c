/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "life.h"
#include "random.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timerthread.h>
#include <unistd.h>

enum { TIMERS = 48, STEPS = 300, JOBS = 1 << 12, TEXT = 32768 };

#define MS       INT64_C(1000000)
#define PREPARED (-1)

struct account {
	struct life *life;
	timerthread_id id;
	_Atomic int64_t earliest; /* no deadline of it was earlier */
	int64_t period;           /* PREPARED: it was prepared */
	bool gone;                /* a cancel returned 0, or it was drained */
	bool ended;               /* a cancel returned 1 */
	unsigned taken; /* disarms that met a run, and may have ended it */
	uint64_t rng;   /* the callback's */
	atomic_uint runs, returned, rearmed, moved;
	atomic_bool ended_inside;
};

struct job {
	timerthread_fn *run;
	void *arg;
};

struct life {
	struct timerthread *tt;
	enum life_driver driver;
	uint64_t seed, rng, digest;
	int64_t moved;
	unsigned n;
	struct account account[TIMERS];
	/* An executor's queue. */
	pthread_mutex_t mutex;
	struct job job[JOBS];
	unsigned jobs, taken;
};

#define NEED(l, holds)                                                         \
	do {                                                                   \
		if (!(holds))                                                  \
			wrong(l, __LINE__, #holds);                            \
	} while (0)

static void wrong(const struct life *l, int line, const char *what)
{
	static const char *const names[] = {"thread", "polled", "virtual",
					    "executor"};

	fprintf(stderr,
		"torture: life.c:%d: %s; an instance on %s, seed %" PRIu64 "\n",
		line, what, names[l->driver], l->seed);
	abort();
}

/* What happened, and in which order. */
static void digest(struct life *l, uint64_t x)
{
	l->digest = (l->digest ^ x) * UINT64_C(0x100000001b3);
}

/* Before it is rescheduled to that time. */
static void expect_at(struct account *a, int64_t deadline)
{
	int64_t earliest = atomic_load(&a->earliest);

	while (deadline < earliest &&
	       !atomic_compare_exchange_weak(&a->earliest, &earliest, deadline))
		continue;
}

/*
 * What the callback of a timer does, beside telling that it ran.
 */
static void rearm(struct account *a)
{
	int64_t delay = (int64_t)random_below(&a->rng, 4 * (uint64_t)MS);

	expect_at(a, timerthread_now(a->life->tt) + delay);
	if (timerthread_reschedule_after(a->life->tt, a->id, delay) == 0) {
		atomic_fetch_add(&a->rearmed, a->period == 0);
		atomic_fetch_add(&a->moved, 1);
	}
}

static void end_it(struct account *a)
{
	struct life *l = a->life;

	NEED(l, timerthread_cancel_wait(l->tt, a->id) == -EDEADLK);
	if (timerthread_cancel(l->tt, a->id) == 1)
		atomic_store(&a->ended_inside, true);
}

static void act(struct account *a)
{
	struct life *l = a->life;
	struct timerthread *tt = NULL;
	timerthread_id id = 0;
	uint64_t overrun = 0;

	NEED(l, timerthread_now(l->tt) >= atomic_load(&a->earliest));
	NEED(l, timerthread_get_current(&tt, &id) == 0 && tt == l->tt);
	NEED(l, timerthread_get_overrun(&overrun) == 0);
	atomic_fetch_add(&a->runs, 1);
	if (l->driver == LIFE_VIRTUAL)
		digest(l, (uint64_t)(a - l->account) ^
				  (uint64_t)timerthread_now(l->tt));
	/* Its schedule call may not have returned. */
	if (id != *(volatile timerthread_id *)&a->id)
		return;
	switch (random_below(&a->rng, 16)) {
	case 0:
	case 1:
		rearm(a);
		break;
	case 2:
		end_it(a);
		break;
	default:
		break;
	}
}

static void run(void *arg)
{
	struct account *a = arg;

	act(a);
	atomic_fetch_add(&a->returned, 1);
}

/*
 * An executor: the life's own thread, whenever it comes by.
 */
static int submit(void *ctx, timerthread_fn *fn, void *arg)
{
	struct life *l = ctx;
	int r = -1;

	pthread_mutex_lock(&l->mutex);
	if (l->jobs - l->taken < JOBS) {
		l->job[l->jobs++ % JOBS] = (struct job){fn, arg};
		r = 0;
	}
	pthread_mutex_unlock(&l->mutex);
	return r;
}

static bool run_job(struct life *l)
{
	struct job job = {NULL, NULL};

	pthread_mutex_lock(&l->mutex);
	if (l->taken != l->jobs)
		job = l->job[l->taken++ % JOBS];
	pthread_mutex_unlock(&l->mutex);
	if (job.run)
		job.run(job.arg);
	return job.run != NULL;
}

/* Lets some of what has expired run, where that is this thread's to do. */
static void drive(struct life *l)
{
	int r = 0;

	if (l->driver == LIFE_POLLED)
		r = timerthread_dispatch(l->tt);
	else if (l->driver == LIFE_VIRTUAL)
		r = timerthread_advance(l->tt,
					(int64_t)random_below(&l->rng, 2 * MS));
	else if (l->driver == LIFE_EXECUTOR)
		r = run_job(l);
	NEED(l, r >= 0);
	if (l->driver == LIFE_VIRTUAL)
		digest(l, (uint64_t)r);
}

static void set_options(struct life *l)
{
	static const unsigned buckets[] = {1, 2, 3, 64};
	struct timerthread *tt = l->tt;
	uint64_t *rng = &l->rng;
	int r;

	r = timerthread_set_buckets(tt, buckets[random_below(rng, 4)]);
	r |= timerthread_set_slack(tt, random_below(rng, 3) ? 0 : MS / 10);
	r |= timerthread_set_spin(tt, random_below(rng, 8) ? 0 : MS / 50);
	r |= timerthread_set_reserve(tt, random_below(rng, 4) ? 0 : TIMERS);
	r |= timerthread_set_max_timers(tt, random_below(rng, 4) ? 0 : TIMERS);
	if (l->driver == LIFE_EXECUTOR)
		r |= timerthread_set_executor(tt, submit, l);
	NEED(l, r == 0);
}

static void start(struct life *l)
{
	int fd, r;

	NEED(l, timerthread_create(&l->tt) == 0);
	set_options(l);
	if (l->driver == LIFE_POLLED)
		r = timerthread_start_polled(l->tt, &fd);
	else if (l->driver == LIFE_VIRTUAL)
		r = timerthread_start_virtual(l->tt, 0);
	else
		r = timerthread_start(l->tt, NULL);
	NEED(l, r == 0);
}

static int64_t random_delay(struct life *l)
{
	uint64_t octave = random_below(&l->rng, 24);

	return (int64_t)random_below(&l->rng, (uint64_t)2000 << octave);
}

static void schedule(struct life *l)
{
	struct account *a = &l->account[l->n];
	int64_t deadline = timerthread_now(l->tt) + random_delay(l);
	int r;

	if (l->n == TIMERS)
		return;
	a->life = l;
	a->rng = next_random(&l->rng);
	a->period = random_below(&l->rng, 4) ? 0 : 1 + random_delay(l);
	if (random_below(&l->rng, 8) == 0)
		a->period = PREPARED;
	atomic_store(&a->earliest,
		     a->period == PREPARED ? INT64_MAX : deadline);
	if (a->period == PREPARED)
		r = timerthread_prepare(l->tt, run, a, &a->id);
	else if (a->period)
		r = timerthread_schedule_every(l->tt, deadline, a->period, run,
					       a, &a->id);
	else
		r = timerthread_schedule(l->tt, deadline, run, a, &a->id);
	NEED(l, r == 0);
	l->n++;
}

static void note_cancel(struct life *l, struct account *a, int r)
{
	NEED(l, r == 0 || r == 1 || r == -ENOENT);
	/* Once it is gone, no call finds it. */
	NEED(l, !(a->gone && r != -ENOENT));
	a->gone |= r == 0;
	a->ended |= r == 1;
	if (l->driver == LIFE_VIRTUAL)
		digest(l, (uint64_t)(r + 10));
}

static void cancel(struct life *l, struct account *a, uint64_t how)
{
	void *arg = NULL;
	bool was_gone = a->gone;

	switch (how % 3) {
	case 0:
		note_cancel(l, a, timerthread_cancel(l->tt, a->id));
		break;
	case 1:
		note_cancel(l, a, timerthread_cancel_take(l->tt, a->id, &arg));
		NEED(l, arg == (a->gone && !was_gone ? a : NULL));
		break;
	default:
		/* Nobody but this thread runs an executor's callbacks. */
		note_cancel(l, a,
			    timerthread_cancel_wait_until(
				    l->tt, a->id, TIMERTHREAD_NEVER - 1));
		NEED(l, atomic_load(&a->runs) == atomic_load(&a->returned));
	}
}

static void reschedule(struct life *l, struct account *a)
{
	int64_t delay = random_delay(l);
	int r;

	expect_at(a, timerthread_now(l->tt) + delay);
	r = timerthread_reschedule_after(l->tt, a->id, delay);
	NEED(l, r == 0 || r == -ENOENT);
	NEED(l, !(a->gone && r == 0));
	l->moved += r == 0;
}

static void disarm(struct life *l, struct account *a, bool wait)
{
	int r = wait ? timerthread_disarm_wait(l->tt, a->id)
		     : timerthread_disarm(l->tt, a->id);

	NEED(l, r == 0 || r == 1 || r == -ENOENT);
	NEED(l, !(a->gone && r != -ENOENT));
	a->taken += r == 1;
	if (l->driver == LIFE_VIRTUAL)
		digest(l, (uint64_t)(r + 20));
}

static int is_it(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	struct account *a = ctx;

	NEED(a->life, fn == run);
	return arg == a && id == a->id;
}

static void visit_it(timerthread_id id, timerthread_fn *fn, void *arg,
		     void *ctx)
{
	struct account *a = ctx;

	NEED(a->life, fn == run && arg == a && a->id == id && !a->gone);
	a->gone = true;
}

static void cancel_matching(struct life *l, struct account *a)
{
	int r = timerthread_cancel_matching(l->tt, is_it, visit_it, a);

	NEED(l, r == 0 || (r == 1 && a->gone));
	/* Nobody but this thread runs an executor's callbacks. */
	NEED(l, atomic_load(&a->runs) == atomic_load(&a->returned));
	/* It may have met the run that was its last. */
	a->ended |= !a->gone;
}

static void visit(timerthread_id id, timerthread_fn *fn, void *arg,
		  int64_t run_time, void *ctx)
{
	struct life *l = ctx;

	(void)id;
	(void)arg;
	NEED(l, fn == run && run_time >= 0);
}

/* All that only looks. */
static void look(struct life *l, struct account *a)
{
	struct timerthread_snapshot *s;
	int64_t t = 0;
	char text[TEXT];
	int r;

	r = timerthread_get_deadline(l->tt, a->id, &t);
	NEED(l, r == 0 || r == -ENOENT);
	r = timerthread_get_next_deadline(l->tt, &t);
	NEED(l, r == 0 || r == -ENOENT);
	NEED(l, timerthread_visit_running(l->tt, 0, visit, l) >= 0);
	NEED(l, timerthread_take_snapshot(l->tt, &s) == 0);
	r = timerthread_get_quantile(s, NULL, TIMERTHREAD_HISTOGRAM_LATENESS,
				     0.99, &t);
	NEED(l, (r == 0 && t >= 0) || r == -ENOENT);
	timerthread_free_snapshot(s);
	r = timerthread_format_metrics(
		&l->tt, 1, TIMERTHREAD_FORMAT_OPENMETRICS, text, sizeof(text));
	NEED(l, r > 0 && r < TEXT && strstr(text, "\n# EOF\n"));
}

static void drained(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	struct life *l = ctx;
	struct account *a = arg;

	NEED(l, fn == run && a->id == id && !a->gone);
	a->gone = true;
}

static void step(struct life *l)
{
	struct account *a = &l->account[random_below(&l->rng, l->n + 1)];
	uint64_t dice = random_below(&l->rng, 256);

	if (dice < 64 || l->n == 0 || a == &l->account[l->n])
		schedule(l);
	else if (dice < 128)
		cancel(l, a, dice);
	else if (dice < 168)
		reschedule(l, a);
	else if (dice < 180)
		disarm(l, a, dice % 2);
	else if (dice < 252)
		drive(l);
	else if (dice == 252 && random_below(&l->rng, 8) == 0)
		NEED(l, timerthread_cancel_all(l->tt, drained, l) >= 0);
	else if (dice == 253)
		cancel_matching(l, a);
	else
		look(l, a);
}

static uint64_t stat_of(struct life *l, enum timerthread_stat which)
{
	uint64_t value = 0;

	NEED(l, timerthread_get_stat(l->tt, which, &value) == 0);
	return value;
}

/* After the stop, and when no callback can begin. */
static void judge(struct life *l)
{
	uint64_t runs = 0, gone = 0;
	int64_t moved = l->moved;

	for (unsigned i = 0; i < l->n; i++) {
		struct account *a = &l->account[i];
		unsigned n = atomic_load(&a->runs);
		unsigned due = 1 + atomic_load(&a->rearmed);
		bool ended = a->ended || atomic_load(&a->ended_inside);

		note_cancel(l, a, timerthread_cancel(l->tt, a->id));
		if (a->period)
			NEED(l, a->gone != ended);
		else
			NEED(l, n + a->gone <= due &&
					n + a->gone + ended + a->taken >= due);
		runs += n;
		gone += a->gone;
		moved += atomic_load(&a->moved);
	}
	NEED(l, stat_of(l, TIMERTHREAD_STAT_SCHEDULED) == l->n);
	NEED(l, stat_of(l, TIMERTHREAD_STAT_FIRED) == runs);
	NEED(l, stat_of(l, TIMERTHREAD_STAT_CANCELLED) == gone);
	NEED(l, stat_of(l, TIMERTHREAD_STAT_RESCHEDULED) == (uint64_t)moved);
	NEED(l, stat_of(l, TIMERTHREAD_STAT_PENDING) == 0);
	NEED(l, stat_of(l, TIMERTHREAD_STAT_RUNNING) == 0);
	NEED(l, stat_of(l, TIMERTHREAD_STAT_UNARMED) == 0);
	digest(l, runs << 32 | gone);
}

uint64_t life_live(uint64_t *rng, enum life_driver driver)
{
	struct life *l = calloc(1, sizeof(*l));
	uint64_t result;

	if (!l)
		abort();
	l->driver = driver;
	l->seed = l->rng = *rng;
	pthread_mutex_init(&l->mutex, NULL);
	next_random(rng);
	start(l);
	for (int i = 0; i < STEPS; i++)
		step(l);
	NEED(l, timerthread_stop(l->tt) == 0);
	while (run_job(l))
		;
	judge(l);
	timerthread_destroy(l->tt);
	pthread_mutex_destroy(&l->mutex);
	result = l->digest;
	free(l);
	return result;
}
