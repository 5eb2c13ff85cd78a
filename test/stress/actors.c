/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "actors.h"
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define REACH_MAX 512
#define HOUR      INT64_C(3600000000000)
#define LATE_MAX  20000

static pthread_t threads[MAX_WORKERS];
static _Atomic(struct account *) reach[REACH_MAX];
static struct plan plan;
static _Atomic(struct account *) running;
static _Atomic bool late, done;
static _Atomic bool in_callback;
static _Atomic unsigned runners;

/* Whom a thread that runs callbacks is in which round. */
static _Thread_local struct {
	struct actor *actor;
	unsigned round;
} runner;

static int64_t random_span(uint64_t *rng)
{
	static const int64_t spans[] = {
		1, 1000, 100000, 1000000, 20000000, HOUR,
	};

	return (int64_t)random_below(rng,
				     (uint64_t)spans[random_below(rng, 6)]);
}

static int64_t random_deadline(uint64_t *rng)
{
	switch (random_below(rng, 40)) {
	case 0:
		return TIMERTHREAD_NEVER;
	case 1:
		return -(int64_t)random_below(rng, 1000);
	case 2:
		return timerthread_now(tt) - random_span(rng);
	case 3:
		return INT64_MIN;
	default:
		return timerthread_now(tt) + random_span(rng);
	}
}

/* Where callbacks overlap they must not wait for each other in a circle. */
static bool may_wait(const struct actor *me, const struct account *a)
{
	return round_now.runners == 1 || !me->inside || a <= me->inside;
}

int do_cancel(struct actor *me, struct account *a, enum deed deed)
{
	struct event *e;
	int r;

	if (deed == CANCEL_WAIT && !may_wait(me, a))
		deed = CANCEL;
	e = event_start(me, a, deed);
	r = deed == CANCEL_WAIT ? timerthread_cancel_wait(tt, a->id)
				: timerthread_cancel(tt, a->id);
	event_end(e, r);
	if (event_tells_over(e))
		e->value = a->runs;
	return r;
}

int do_move(struct actor *me, struct account *a, int64_t deadline)
{
	struct event *e = event_start(me, a, MOVE);
	int r;

	e->value = deadline;
	r = timerthread_reschedule(tt, a->id, deadline);
	event_end(e, r);
	return r;
}

int do_get_deadline(struct actor *me, struct account *a)
{
	struct event *e = event_start(me, a, GET_DEADLINE);
	int r = timerthread_get_deadline(tt, a->id, &e->value);

	event_end(e, r);
	return r;
}

static void do_something(struct actor *me, struct account *a)
{
	uint64_t dice = random_below(&me->rng, 10);

	if (account_crowded(a))
		return;
	if (dice < 2)
		do_cancel(me, a, CANCEL);
	else if (dice < 3)
		do_cancel(me, a, CANCEL_WAIT);
	else if (dice < 8)
		do_move(me, a, random_deadline(&me->rng));
	else
		do_get_deadline(me, a);
}

/* Acquire: pairs with the exchange in put_in_reach, and the store in run. */
static void do_something_to_any(struct actor *me)
{
	struct account *a = NULL;

	if (plan.chase && random_below(&me->rng, 2))
		a = atomic_load_explicit(&running, memory_order_acquire);
	if (!a)
		a = atomic_load_explicit(
			&reach[random_below(&me->rng, plan.reach)],
			memory_order_acquire);

	if (a)
		do_something(me, a);
}

/* One half of those that it takes the place of is left to itself. */
static void put_in_reach(struct actor *me, struct account *a)
{
	a = atomic_exchange_explicit(&reach[random_below(&me->rng, plan.reach)],
				     a, memory_order_acq_rel);
	if (!a)
		return;
	switch (random_below(&me->rng, 4)) {
	case 0:
		do_cancel(me, a, CANCEL_WAIT);
		break;
	case 1:
		do_cancel(me, a, CANCEL);
		break;
	default:
		break;
	}
}

static void run(void *arg);

static int schedule_at(struct actor *me, struct account *a)
{
	a->low = a->high = random_deadline(&me->rng);
	a->start = stamp();
	return timerthread_schedule(tt, a->low, run, a, &a->id);
}

static int64_t later(int64_t time, int64_t delay)
{
	return time < INT64_MAX - delay ? time + delay : INT64_MAX;
}

static int schedule_after(struct actor *me, struct account *a)
{
	int64_t delay = random_below(&me->rng, 40) == 0 ? TIMERTHREAD_NEVER
							: random_span(&me->rng);
	int r;

	a->start = stamp();
	a->low = later(timerthread_now(tt), delay);
	r = timerthread_schedule_after(tt, delay, run, a, &a->id);
	a->high = later(timerthread_now(tt), delay);
	return r;
}

static int schedule_every(struct actor *me, struct account *a)
{
	a->low = a->high = random_deadline(&me->rng);
	a->period = 1 + random_span(&me->rng);
	a->start = stamp();
	return timerthread_schedule_every(tt, a->low, a->period, run, a,
					  &a->id);
}

/* NULL: the cap is reached, the instance stopped, or the record full. */
static struct account *schedule(struct actor *me)
{
	uint64_t dice = random_below(&me->rng, 10);
	struct account *a = account_open(me);

	if (!a)
		return NULL;
	a->fn = run;
	if (dice < 6)
		a->result = schedule_at(me, a);
	else if (dice < 8)
		a->result = schedule_after(me, a);
	else
		a->result = schedule_every(me, a);
	a->end = stamp();
	account_publish(me);
	me->shut_out = a->result == -ESHUTDOWN;
	return a->result == 0 ? a : NULL;
}

static void linger(uint64_t ns)
{
	struct timespec t = {0, (long)ns};

	nanosleep(&t, NULL);
}

/* What a callback does to its own timer. */
static void do_something_inside(struct actor *me, struct account *a)
{
	switch (random_below(&me->rng, 16)) {
	case 0:
		do_cancel(me, a, CANCEL);
		break;
	case 1:
		do_cancel(me, a, CANCEL_WAIT);
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		do_move(me, a, random_deadline(&me->rng));
		break;
	case 6:
	case 7:
	case 8:
		do_get_deadline(me, a);
		break;
	default:
		break;
	}
}

/* What a callback does beside. */
static void do_something_beside(struct actor *me)
{
	struct account *a;

	switch (random_below(&me->rng, 32)) {
	case 0:
	case 1:
	case 2:
	case 3:
		linger(random_below(&me->rng, 20000));
		break;
	case 4:
		a = schedule(me);
		if (a)
			put_in_reach(me, a);
		break;
	case 5:
	case 6:
		do_something_to_any(me);
		break;
	default:
		break;
	}
}

static void act_inside(struct actor *me, struct account *a)
{
	if (account_crowded(a)) {
		do_cancel(me, a, CANCEL);
		return;
	}
	for (uint64_t n = random_below(&me->rng, 4); n > 0; n--) {
		do_something_inside(me, a);
		do_something_beside(me);
	}
}

/* The actor that this thread is while it runs callbacks. */
static struct actor *runner_now(void)
{
	unsigned i;

	if (runner.actor && runner.round == round_now.number)
		return runner.actor;
	i = atomic_fetch_add_explicit(&runners, 1, memory_order_relaxed);
	if (i >= round_now.runners) {
		fprintf(stderr, "stress: another thread runs callbacks\n");
		abort();
	}
	runner.actor = &actors[round_now.workers + i];
	runner.round = round_now.number;
	return runner.actor;
}

/* The callback of all timers. */
static void run(void *arg)
{
	int64_t began = timerthread_now(tt);
	struct actor *me = runner_now();
	struct account *a = arg;
	bool alone = !atomic_exchange_explicit(&in_callback, true,
					       memory_order_relaxed);
	struct event *e = event_start(me, a, RUN);

	e->value = began;
	e->before = me->last_run;
	if (me->last_run)
		me->last_run->behind = e;
	me->last_run = e;
	a->runs++;
	me->inside = a;
	if (plan.chase)
		atomic_store_explicit(&running, a, memory_order_release);
	act_inside(me, a);
	atomic_store_explicit(&running, NULL, memory_order_relaxed);
	me->inside = NULL;
	atomic_store_explicit(&in_callback, false, memory_order_relaxed);
	event_end(e, alone || round_now.runners > 1 ? 0 : -1);
}

static void wait_for_flag(_Atomic bool *flag)
{
	while (!atomic_load(flag))
		linger(100000);
}

static struct account *any_account(struct actor *me)
{
	struct actor *actor = &actors[random_below(&me->rng, round_now.actors)];
	uint32_t n = atomic_load_explicit(&actor->n, memory_order_acquire);
	struct account *a;

	if (n == 0)
		return NULL;
	a = &actor->account[random_below(&me->rng, n)];
	return a->result == 0 ? a : NULL;
}

static void act_late(struct actor *me)
{
	for (int i = 0; i < LATE_MAX && !atomic_load(&done); i++) {
		struct account *a = any_account(me);

		if (a)
			do_something(me, a);
	}
}

/* Others may be in the same call. */
static void stop_too(struct actor *me)
{
	int r = timerthread_stop(tt);

	if (r != 0) {
		fprintf(stderr, "stress: a second stop returned %d\n", r);
		abort();
	}
	me->stopped = stamp();
}

static void *work(void *arg)
{
	struct actor *me = arg;

	/* A reached cap is said before the stop. */
	while (!me->shut_out && !atomic_load(&late)) {
		struct account *a = schedule(me);

		if (a)
			put_in_reach(me, a);
		else if (me->n == MAX_ACCOUNTS)
			linger(1000);
		for (uint64_t n = random_below(&me->rng, 8); n > 0; n--)
			do_something_to_any(me);
	}
	if (me->shut_out && random_below(&me->rng, 2))
		stop_too(me);
	wait_for_flag(&late);
	act_late(me);
	return NULL;
}

void actors_prepare(uint64_t *rng, const struct plan *p)
{
	plan = *p;
	atomic_store(&running, NULL);
	atomic_store(&runners, 0);
	for (unsigned i = 0; i < REACH_MAX; i++)
		atomic_store(&reach[i], NULL);
	atomic_store(&late, false);
	atomic_store(&done, false);
	for (unsigned i = 0; i < round_now.actors; i++)
		actors[i].rng = next_random(rng);
}

void actors_start(void)
{
	for (unsigned i = 0; i < round_now.workers; i++) {
		if (pthread_create(&threads[i], NULL, work, &actors[i]) != 0)
			abort();
	}
}

void actors_come_late(void)
{
	atomic_store(&late, true);
}

void actors_join(void)
{
	atomic_store(&done, true);
	for (unsigned i = 0; i < round_now.workers; i++) {
		pthread_join(threads[i], NULL);
		if (actors[i].stopped < round_now.thread_over)
			round_now.thread_over = actors[i].stopped;
	}
}
