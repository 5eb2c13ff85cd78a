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
static _Atomic bool drains_over;
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

static int64_t later(int64_t time, int64_t delay)
{
	int64_t sum;

	return __builtin_add_overflow(time, delay, &sum) ? INT64_MAX : sum;
}

static int64_t random_delay(uint64_t *rng)
{
	switch (random_below(rng, 40)) {
	case 0:
		return TIMERTHREAD_NEVER;
	case 1:
		return -(int64_t)random_below(rng, 1000);
	default:
		return random_span(rng);
	}
}

/* Where callbacks overlap they must not wait for each other in a circle. */
static bool may_wait(const struct actor *me, const struct account *a)
{
	return round_now.runners == 1 || !me->inside || a <= me->inside;
}

static int cancel_take(struct account *a)
{
	void *arg = NULL;
	int r = timerthread_cancel_take(tt, a->id, &arg);

	return arg == (r == 0 ? a : NULL) ? r : -1;
}

/* Some give up: then it is as a cancel that does not wait. */
static int cancel_wait(struct actor *me, struct account *a, struct event *e)
{
	int64_t until = TIMERTHREAD_NEVER;
	int r;

	if (random_below(&me->rng, 2))
		until = later(timerthread_now(tt), random_delay(&me->rng));
	r = timerthread_cancel_wait_until(tt, a->id, until);
	if (r != -ETIMEDOUT)
		return r;
	e->deed = CANCEL;
	return 1;
}

static int cancel(struct actor *me, struct account *a, struct event *e)
{
	switch (e->deed) {
	case CANCEL_WAIT:
		return random_below(&me->rng, 2)
			       ? timerthread_cancel_wait(tt, a->id)
			       : cancel_wait(me, a, e);
	case CANCEL_TAKE:
		return cancel_take(a);
	default:
		return timerthread_cancel(tt, a->id);
	}
}

int do_cancel(struct actor *me, struct account *a, enum deed deed)
{
	struct event *e;
	int r;

	if (deed == CANCEL_WAIT && !may_wait(me, a))
		deed = CANCEL;
	e = event_start(me, a, deed);
	r = cancel(me, a, e);
	event_end(e, r);
	if (event_tells_over(e))
		e->value = a->runs;
	return r;
}

int do_move(struct actor *me, struct account *a, int64_t deadline)
{
	struct event *e = event_start(me, a, MOVE);
	int r;

	e->value = e->high = deadline;
	r = timerthread_reschedule(tt, a->id, deadline);
	event_end(e, r);
	return r;
}

static void do_move_after(struct actor *me, struct account *a, int64_t delay)
{
	struct event *e = event_start(me, a, MOVE);
	int r;

	e->value = later(timerthread_now(tt), delay);
	r = timerthread_reschedule_after(tt, a->id, delay);
	e->high = later(timerthread_now(tt), delay);
	event_end(e, r);
}

static void do_move_anywhere(struct actor *me, struct account *a)
{
	if (random_below(&me->rng, 3))
		do_move(me, a, random_deadline(&me->rng));
	else
		do_move_after(me, a, random_delay(&me->rng));
}

int do_get_deadline(struct actor *me, struct account *a)
{
	struct event *e = event_start(me, a, GET_DEADLINE);
	int r = timerthread_get_deadline(tt, a->id, &e->value);

	event_end(e, r);
	return r;
}

/* Of all timers; a may tell that it is too late. */
static void do_get_next(struct actor *me, struct account *a)
{
	struct event *e = event_start(me, a, GET_NEXT);
	int64_t before = timerthread_now(tt);
	int r = timerthread_get_next_deadline(tt, &e->value);

	e->high = timerthread_now(tt);
	event_end(e, r == 0 && e->value < before ? -1 : r);
}

static void do_look(struct actor *me, struct account *a)
{
	if (random_below(&me->rng, 3))
		do_get_deadline(me, a);
	else
		do_get_next(me, a);
}

struct drain {
	struct actor *me;
	int64_t start;
	int visits;
};

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	struct account *a = arg;
	struct drain *d = ctx;
	struct event *e = event_start(d->me, a, DRAIN);

	e->start = d->start;
	d->visits++;
	e->value = a->runs;
	event_end(e, id == a->id && fn == a->fn ? 0 : -1);
}

int do_drain(struct actor *me)
{
	struct drain d = {.me = me, .start = stamp()};
	int n = timerthread_cancel_all(tt, visit, &d);

	if (n != d.visits) {
		fprintf(stderr, "stress: %d visits, and drain returned %d\n",
			d.visits, n);
		abort();
	}
	if (me->drains < MAX_DRAINS)
		me->drain[me->drains++] = (struct span){d.start, stamp()};
	return n;
}

/* Each worker has its own flag, so that this puts no drains in order. */
static void drain_now_and_then(struct actor *me)
{
	if (random_below(&me->rng, 200) > 0 || me->drains == MAX_DRAINS)
		return;
	atomic_store(&me->draining, true);
	if (!atomic_load(&drains_over))
		do_drain(me);
	atomic_store(&me->draining, false);
}

static void do_something(struct actor *me, struct account *a)
{
	uint64_t dice = random_below(&me->rng, 10);

	if (account_crowded(a))
		return;
	if (dice < 1)
		do_cancel(me, a, CANCEL);
	else if (dice < 2)
		do_cancel(me, a, CANCEL_TAKE);
	else if (dice < 3)
		do_cancel(me, a, CANCEL_WAIT);
	else if (dice < 8)
		do_move_anywhere(me, a);
	else
		do_look(me, a);
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
	switch (random_below(&me->rng, 8)) {
	case 0:
	case 1:
		do_cancel(me, a, CANCEL_WAIT);
		break;
	case 2:
		do_cancel(me, a, CANCEL);
		break;
	case 3:
		do_cancel(me, a, CANCEL_TAKE);
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

static int schedule_after(struct actor *me, struct account *a)
{
	int64_t delay = random_delay(&me->rng);
	int r;

	a->start = stamp();
	a->low = later(timerthread_now(tt), delay);
	r = timerthread_schedule_after(tt, delay, run, a, &a->id);
	a->high = later(timerthread_now(tt), delay);
	return r;
}

static int schedule_every(struct actor *me, struct account *a)
{
	int64_t delay = random_delay(&me->rng);
	int r;

	a->period = 1 + random_span(&me->rng);
	a->start = stamp();
	if (random_below(&me->rng, 2)) {
		a->low = later(timerthread_now(tt), delay);
		r = timerthread_schedule_every_after(tt, delay, a->period, run,
						     a, &a->id);
		a->high = later(timerthread_now(tt), delay);
		return r;
	}
	a->low = a->high = random_deadline(&me->rng);
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
		do_cancel(me, a,
			  random_below(&me->rng, 2) ? CANCEL : CANCEL_TAKE);
		break;
	case 1:
		do_cancel(me, a, CANCEL_WAIT);
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		do_move_anywhere(me, a);
		break;
	case 6:
	case 7:
	case 8:
		do_look(me, a);
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

/* Is it told that it is in this one's callback? */
static bool is_told(const struct account *a, struct event *e)
{
	struct timerthread *one = NULL;
	timerthread_id id = 0;
	uint64_t overrun = 0;

	if (timerthread_get_current(&one, &id) != 0 || one != tt || id != a->id)
		return false;
	if (timerthread_get_overrun(&overrun) != 0)
		return false;
	e->high = (int64_t)overrun;
	return true;
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
	bool told = is_told(a, e);

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
	told = told && is_told(a, e);
	atomic_store_explicit(&running, NULL, memory_order_relaxed);
	me->inside = NULL;
	atomic_store_explicit(&in_callback, false, memory_order_relaxed);
	if (alone || round_now.runners > 1)
		event_end(e, told ? 0 : -2);
	else
		event_end(e, -1);
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
		drain_now_and_then(me);
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
	atomic_store(&drains_over, false);
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

void actors_end_drains(void)
{
	atomic_store(&drains_over, true);
	for (unsigned i = 0; i < round_now.workers; i++) {
		while (atomic_load(&actors[i].draining))
			linger(1000);
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
