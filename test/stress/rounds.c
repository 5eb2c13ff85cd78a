/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "drivers.h"

#include "actors.h"
#include "giver.h"
#include "harness.h"
#include "rounds.h"
#include "slots.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static sem_t done;
static char hang_message[80];
static unsigned patience;
static unsigned long given;

static void hang(int signal)
{
	(void)signal;
	if (write(STDERR_FILENO, hang_message, strlen(hang_message)) < 0)
		_exit(EXIT_FAILURE);
	abort();
}

/* What a lost timer or a lost waiter makes of a round. */
static void watch_round(void)
{
	snprintf(hang_message, sizeof(hang_message),
		 "stress: it hangs (TT_SEED=%" PRIu64 ", round %u, %s)\n",
		 round_now.seed, round_now.number, round_now.driver);
	signal(SIGALRM, hang);
	alarm(patience);
}

static void wait_done(void)
{
	while (sem_wait(&done) != 0)
		;
}

static void finish(void *arg)
{
	(void)arg;
	sem_post(&done);
}

/*
 * Later than all that is due by now.  A deadline that has passed counts as the
 * time of the call.  A coarse clock may still show that time, and equal
 * deadlines have no order: so a nanosecond more.  Returns the deadline.
 */
static int64_t finish_next(void)
{
	int64_t deadline = timerthread_now(tt) + 1;

	ck_assert_int_eq(timerthread_schedule(tt, deadline, finish, NULL, NULL),
			 0);
	wait_done();
	return deadline;
}

/*
 * Runs a last timer, so that what was due before it is known to have run.  In
 * the queue of an executor there may be before that one what was moved and goes
 * back, and is behind the next one, but before the one behind that.  Several
 * threads keep no order.
 */
static void run_last_timer(void)
{
	int64_t start = stamp(), deadline = finish_next();

	if (round_now.executor) {
		finish_next();
		finish_next();
	}
	if (round_now.runners == 1) {
		round_now.last_start = start;
		round_now.last_deadline = deadline;
	}
}

static void stop_inside(void *arg)
{
	(void)arg;
	round_now.shut_start = stamp();
	ck_assert_int_eq(timerthread_stop(tt), 1);
	round_now.shut_end = stamp();
	sem_post(&done);
}

static void stop(bool inside)
{
	if (inside) {
		ck_assert_int_eq(timerthread_schedule_after(tt, 0, stop_inside,
							    NULL, NULL),
				 0);
		wait_done();
	} else {
		round_now.shut_start = stamp();
	}
	ck_assert_int_eq(timerthread_stop(tt), 0);
	round_now.thread_over = stamp();
	if (!inside)
		round_now.shut_end = round_now.thread_over;
}

/* While the workers cancel, too; and what was handed back is so once. */
static void drain(void)
{
	do_drain(&actors[MAIN_ACTOR]);
	round_now.drained_by = stamp();
	ck_assert_int_eq(do_drain(&actors[MAIN_ACTOR]), 0);
}

/* What is left has its deadline; a cancel says which those are. */
static void look_at_all(bool cancel)
{
	struct actor *me = &actors[MAIN_ACTOR];

	for (unsigned i = 0; i < round_now.actors; i++) {
		uint32_t n = atomic_load_explicit(&actors[i].n,
						  memory_order_acquire);

		for (uint32_t k = 0; k < n; k++) {
			struct account *a = &actors[i].account[k];

			if (a->result != 0)
				continue;
			if (cancel)
				do_cancel(me, a, CANCEL);
			else
				do_get_deadline(me, a);
		}
	}
}

static void come_late(uint64_t *rng)
{
	uint64_t dice = random_below(rng, 4);

	if (dice < 2)
		look_at_all(false);
	actors_come_late();
	if (dice < 3)
		drain();
	actors_join();
	look_at_all(true);
}

/* Half of the rounds on the timer thread. */
static enum drivers choose_driver(uint64_t *rng)
{
	static const enum drivers drivers[] = {
		ON_THREAD, ON_THREAD,  ON_THREAD,   ON_THREAD,
		ON_POLLED, ON_VIRTUAL, ON_EXECUTOR, ON_EXECUTOR,
	};
	enum drivers driver = drivers[random_below(rng, 8)];
	bool several = random_below(rng, 2);

	driver = driver_tested_or(driver);
	round_now.driver = driver_names[driver];
	round_now.executor = driver == ON_EXECUTOR;
	round_now.runners = driver == ON_EXECUTOR && several ? MAX_RUNNERS : 1;
	return driver;
}

/* An instance with random options. */
static void create(uint64_t *rng)
{
	static const unsigned buckets[] = {1, 2, 3, 64, 1024};
	static const int64_t slacks[] = {0, 0, 10000, 1000000};
	static const int64_t spins[] = {0, 0, 0, 50000};
	static const size_t reserves[] = {0, 0, 1, 300};
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC,
		CLOCK_REALTIME,
		CLOCK_BOOTTIME,
	};
	uint64_t cap = random_below(rng, 3) ? 0 : 1 + random_below(rng, 300);
	int r;

	round_now.cap = cap;
	ck_assert_int_eq(timerthread_create(&tt), 0);
	r = timerthread_set_buckets(tt, buckets[random_below(rng, 5)]);
	r |= timerthread_set_slack(tt, slacks[random_below(rng, 4)]);
	r |= timerthread_set_spin(tt, spins[random_below(rng, 4)]);
	r |= timerthread_set_clock(tt, clocks[random_below(rng, 3)]);
	r |= timerthread_set_max_timers(tt, cap);
	r |= timerthread_set_reserve(tt, reserves[random_below(rng, 4)]);
	ck_assert_int_eq(r, 0);
}

void rounds_run_one(uint64_t *rng, struct totals *totals)
{
	static const unsigned reaches[] = {1, 8, 64, 512};
	const struct plan plan = {
		.reach = reaches[random_below(rng, 4)],
		.chase = random_below(rng, 2),
	};
	struct timespec t = {0, 1000000 + (long)random_below(rng, 40000000)};
	enum drivers driver = choose_driver(rng);
	bool inside, gives = random_below(rng, 2);

	watch_round();
	round_now.workers = 1 + (unsigned)random_below(rng, MAX_WORKERS);
	round_now.actors = round_now.workers + round_now.runners;
	round_now.drained_by = INT64_MAX;
	round_now.last_start = round_now.last_deadline = INT64_MIN;
	create(rng);
	actors_prepare(rng, &plan);
	ck_assert_int_eq(driver_start_on(tt, driver, round_now.runners), 0);
	actors_start();
	if (gives)
		giver_start();
	nanosleep(&t, NULL);
	inside = round_now.cap == 0 && random_below(rng, 2);
	if (round_now.cap == 0) {
		actors_end_drains();
		run_last_timer();
	}
	stop(inside);
	come_late(rng);
	if (gives)
		given += giver_end();
	slots_check_owners(&tt->engine);
	driver_destroy(tt);
	oracle_judge(totals);
	record_clear();
	round_now.number++;
}

bool rounds_have_seen_all(const struct totals *t)
{
	return t->runs > 0 && t->moved > 0 && t->cancelled > 0;
}

void rounds_begin(uint64_t seed, unsigned seconds)
{
	round_now.seed = seed;
	patience = seconds;
	sem_init(&done, 0, 0);
	record_init();
}

void rounds_end(const struct totals *t)
{
	alarm(0);
	record_destroy();
	sem_destroy(&done);
	printf("%u rounds: %lu timers, %lu refused; %lu runs, %lu moves, "
	       "%lu cancelled, %lu drained in %lu drains; %lu cancels met a "
	       "running callback, %lu waited; memory was given back %lu "
	       "times\n",
	       round_now.number, t->timers, t->refused, t->runs, t->moved,
	       t->cancelled, t->drained, t->drains, t->ending, t->waited,
	       given);
	fflush(stdout);
	ck_assert(rounds_have_seen_all(t));
}
