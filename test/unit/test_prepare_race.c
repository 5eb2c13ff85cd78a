/* SPDX-License-Identifier: MIT */
/*
 * Several threads, and the callbacks, arm, disarm and cancel the same timers.
 *
 * Each call and each run is written down with a time before and one behind it.
 * Where one ends before another begins, the library owes that order; where they
 * overlap, either is right.  The judge looks at it when all is over.
 */
#include "config.h"

#include "prepared.h"

#include <pthread.h>

enum { TIMERS = 6, THREADS = 3, CALLS = 500, ROUNDS = 100, RUNS_MAX = 8000 };

#define US INT64_C(1000)

enum deed { ARM, DISARM, DISARM_WAIT, CANCEL, CANCEL_WAIT };

struct event {
	int64_t start;
	int64_t end;
	enum deed deed;
	int result;
};

struct span {
	int64_t start;
	int64_t end;
};

/* Written by one thread at a time. */
struct log {
	struct event event[CALLS + RUNS_MAX];
	size_t n;
};

static struct timer_log {
	timerthread_id id;
	uint64_t rng; /* of the callback */
	/* Not atomic, so that the library must order the runs. */
	struct span run[RUNS_MAX];
	size_t runs;
	struct log inside; /* what its callback did to it */
	struct log by[THREADS];
	struct log at_the_end;
	atom32 ran;
} timers[TIMERS];

static uint64_t seed;

static int call(struct timer_log *t, enum deed deed, int64_t delay)
{
	switch (deed) {
	case ARM:
		return timerthread_reschedule_after(tt, t->id, delay);
	case DISARM:
		return disarm(t->id);
	case DISARM_WAIT:
		return disarm_wait(t->id);
	case CANCEL:
		return cancel(t->id);
	default:
		return timerthread_cancel_wait(tt, t->id);
	}
}

static int do_it(struct timer_log *t, struct log *l, enum deed deed,
		 int64_t delay)
{
	struct event *e = &l->event[l->n++];

	*e = (struct event){.start = driver_time(), .deed = deed};
	e->result = call(t, deed, delay);
	e->end = driver_time();
	return e->result;
}

static int64_t random_delay(uint64_t *rng)
{
	return (int64_t)random_below(rng, random_below(rng, 4) ? 50 : 500) * US;
}

static void run(void *arg)
{
	struct timer_log *t = arg;
	struct span *r = &t->run[t->runs++];

	*r = (struct span){driver_time(), INT64_MAX};
	if (t->runs == RUNS_MAX)
		abort();
	switch (random_below(&t->rng, 12)) {
	case 0:
		do_it(t, &t->inside, ARM, random_delay(&t->rng));
		break;
	case 1:
		do_it(t, &t->inside, DISARM, 0);
		break;
	case 2:
	case 3:
	case 4:
		while (driver_time() < r->start + 30 * US)
			;
		break;
	default:
		break;
	}
	atom32_add(&t->ran, 1);
	r->end = driver_time();
}

static enum deed choose(uint64_t *rng)
{
	uint64_t dice = random_below(rng, 1000);

	if (dice < 600)
		return ARM;
	if (dice < 900)
		return DISARM;
	if (dice < 998)
		return DISARM_WAIT;
	return dice < 999 ? CANCEL : CANCEL_WAIT;
}

static void *act(void *arg)
{
	size_t who = (size_t)(uintptr_t)arg;
	uint64_t rng = seed + who;

	for (int i = 0; i < CALLS; i++) {
		struct timer_log *t = &timers[random_below(&rng, TIMERS)];
		enum deed deed = choose(&rng);

		do_it(t, &t->by[who], deed, random_delay(&rng));
	}
	return NULL;
}

/* Each that lives runs again, for certain. */
static void run_all_once_more(void)
{
	for (size_t i = 0; i < TIMERS; i++) {
		struct timer_log *t = &timers[i];
		uint32_t before;

		disarm_wait(t->id);
		before = atom32_load(&t->ran);
		if (do_it(t, &t->at_the_end, ARM, 100 * US) == -ENOENT)
			continue;
		while (atom32_load(&t->ran) == before)
			sched_yield();
		disarm_wait(t->id);
	}
}

/* Calls fn for each event of the timer. */
static void each_event(const struct timer_log *t,
		       void (*fn)(const struct timer_log *t,
				  const struct event *e, void *ctx),
		       void *ctx)
{
	const struct log *logs[THREADS + 2] = {&t->inside, &t->at_the_end};

	for (size_t i = 0; i < THREADS; i++)
		logs[2 + i] = &t->by[i];
	for (size_t k = 0; k < THREADS + 2; k++) {
		for (size_t i = 0; i < logs[k]->n; i++)
			fn(t, &logs[k]->event[i], ctx);
	}
}

struct question {
	int64_t after; /* an arming that ends no earlier */
	int64_t by;    /* and begins no later */
	size_t n;      /* how many there are */
};

static void count_arming(const struct timer_log *t, const struct event *e,
			 void *ctx)
{
	struct question *q = ctx;

	(void)t;
	q->n += e->deed == ARM && e->result == 0 && e->end >= q->after &&
		e->start <= q->by;
}

static size_t armings(const struct timer_log *t, int64_t after, int64_t by)
{
	struct question q = {after, by, 0};

	each_event(t, count_arming, &q);
	return q.n;
}

static void check_result(const struct event *e)
{
	bool ends = e->deed == CANCEL || e->deed == CANCEL_WAIT;

	switch (e->result) {
	case 0:
	case -ENOENT:
		break;
	case 1:
		ck_assert_int_ne(e->deed, ARM);
		break;
	default:
		ck_abort_msg("%d from %s", e->result, ends ? "cancel" : "arm");
	}
}

/*
 * A run that starts after a disarm needs an arming of its own, as does one that
 * is going on when a disarm that waits returns.  Exception: after 1, the run
 * that the disarm has met may tell its start late.
 */
static void check_disarm(const struct timer_log *t, const struct event *e,
			 void *ctx)
{
	bool waits = e->deed == DISARM_WAIT || e->deed == CANCEL_WAIT;
	size_t met = e->result == 1 && !waits;

	(void)ctx;
	check_result(e);
	if (e->deed == ARM)
		return;
	for (size_t i = 0; i < t->runs; i++) {
		const struct span *r = &t->run[i];

		if (r->start <= e->end && (!waits || r->end <= e->end))
			continue;
		if (armings(t, e->start, r->start) > 0)
			break;
		ck_assert_msg(met > 0, "it runs after a disarm: seed %" PRIu64,
			      seed);
		met--;
	}
}

static void judge(const struct timer_log *t)
{
	for (size_t i = 0; i < t->runs; i++) {
		ck_assert(i == 0 || t->run[i - 1].end <= t->run[i].start);
		ck_assert_uint_gt(armings(t, INT64_MIN, t->run[i].start), i);
	}
	ck_assert_uint_eq(t->runs, atom32_load(&t->ran));
	each_event(t, check_disarm, NULL);
}

static void set_up(uint64_t round)
{
	seed = test_seed() + round * 100;
	memset(timers, 0, sizeof(timers));
	for (size_t i = 0; i < TIMERS; i++) {
		timers[i].rng = seed + THREADS + i;
		timers[i].id = prepare(run, &timers[i]);
	}
}

START_TEST(threads_arm_and_disarm_the_same_timers)
{
	pthread_t threads[THREADS];
	uint64_t all = 0;

	start();
	for (uint64_t round = 0; round < ROUNDS; round++) {
		set_up(round);
		for (size_t i = 0; i < THREADS; i++)
			ck_assert_int_eq(pthread_create(&threads[i], NULL, act,
							(void *)(uintptr_t)i),
					 0);
		for (size_t i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		run_all_once_more();
		for (size_t i = 0; i < TIMERS; i++) {
			timerthread_cancel_wait(tt, timers[i].id);
			judge(&timers[i]);
			all += timers[i].runs;
		}
	}
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_UNARMED), 0);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_PENDING), 0);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_FIRED), all);
	ck_assert_uint_gt(all, 0);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		threads_arm_and_disarm_the_same_timers,
	};
	TCase *tcase = tcase_create("all");

	ADD_TESTS(tcase, tests);
	return run_case("prepare_race", tcase);
}
