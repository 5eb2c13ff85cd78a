/* SPDX-License-Identifier: MIT */
/*
 * Many threads schedule, cancel and stop at random, and an oracle keeps the
 * accounts.
 *
 * A job is a timer's argument, a piece of memory of its own.  Exactly one
 * party frees it: the callback, a cancel that returned 0, or the account after
 * the stop; a memory checker sees any second one.  The outcome of each job is
 * kept by number, and so is its timer's id: after the stop a cancel of each
 * id must agree with the outcome.  Before the stop a last timer runs, and what
 * was scheduled before it and due before it must not be left.
 *
 * TT_STRESS_SECONDS says how long (2), TT_SEED which random numbers.
 */
#include "config.h"

#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <timerthread.h>

enum {
	MAX_THREADS = 6,
	MAX_JOBS = 300000, /* a thread and round */
	TICKETS = 512,
};

enum outcome {
	PENDING,
	RAN,
	CANCELLED,
};

struct worker;

struct job {
	struct worker *worker;
	uint32_t number;
	int64_t deadline;
};

/* What a cancel needs; passed from thread to thread. */
struct ticket {
	timerthread_id id;
	struct job *job; /* to be used only after a cancel that returned 0 */
};

struct worker {
	pthread_t thread;
	uint64_t rng;
	_Atomic uint32_t jobs;
	uint32_t jobs_before_last; /* jobs when the last timer was scheduled */
	bool shut_out;             /* its last schedule said -ESHUTDOWN */
	timerthread_id id[MAX_JOBS];
	struct job *job[MAX_JOBS];
	int64_t deadline[MAX_JOBS];
	_Atomic uint8_t outcome[MAX_JOBS];
};

static struct timerthread *tt;
static struct worker workers[MAX_THREADS];
static struct ticket *_Atomic tickets[TICKETS];
static _Atomic unsigned early, twice, odd_result, running_seen;
static unsigned long total_ran, total_cancelled, total_left;
static int64_t last_deadline;
static sem_t done;

static void settle(struct job *job, enum outcome outcome)
{
	_Atomic uint8_t *o = &job->worker->outcome[job->number];

	if (atomic_exchange(o, (uint8_t)outcome) != PENDING)
		atomic_fetch_add(&twice, 1);
	free(job);
}

static void run_job(void *arg)
{
	struct job *job = arg;

	if (timerthread_now(tt) < job->deadline)
		atomic_fetch_add(&early, 1);
	settle(job, RAN);
}

static int64_t random_deadline(struct worker *w)
{
	static const int64_t spans[] = {
		1, 1000, 100000, 1000000, 20000000, 3600000000000,
	};
	uint64_t dice = random_below(&w->rng, 40);
	int64_t span = spans[random_below(&w->rng, 6)];

	if (dice == 0)
		return TIMERTHREAD_NEVER;
	if (dice == 1)
		return -(int64_t)random_below(&w->rng, 1000);
	return timerthread_now(tt) +
	       (int64_t)random_below(&w->rng, (uint64_t)span);
}

static void cancel(struct ticket *ticket)
{
	int r;

	if (!ticket)
		return;
	r = timerthread_cancel(tt, ticket->id);
	if (r == 0)
		settle(ticket->job, CANCELLED);
	else if (r == 1)
		atomic_fetch_add(&running_seen, 1);
	else if (r != -ENOENT)
		atomic_fetch_add(&odd_result, 1);
	free(ticket);
}

/* False: the instance is stopped. */
static bool schedule(struct worker *w)
{
	struct ticket *ticket = malloc(sizeof(*ticket));
	struct job *job = malloc(sizeof(*job));
	uint32_t n = w->jobs;
	size_t at = random_below(&w->rng, TICKETS);
	int r;

	*job = (struct job){w, n, random_deadline(w)};
	w->job[n] = job;
	w->deadline[n] = job->deadline;
	r = timerthread_schedule(tt, job->deadline, run_job, job, &w->id[n]);
	if (r != 0) {
		free(job);
		free(ticket);
		if (r != -ESHUTDOWN)
			atomic_fetch_add(&odd_result, 1);
		return false;
	}
	atomic_store(&w->jobs, n + 1);
	*ticket = (struct ticket){w->id[n], job};
	ticket = atomic_exchange(&tickets[at], ticket);
	if (random_below(&w->rng, 4) == 0)
		free(ticket); /* that timer is left to itself */
	else
		cancel(ticket);
	return true;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	while (w->jobs < MAX_JOBS) {
		if (random_below(&w->rng, 3) == 0) {
			size_t at = random_below(&w->rng, TICKETS);

			cancel(atomic_exchange(&tickets[at], NULL));
		}
		if (!schedule(w)) {
			w->shut_out = true;
			break;
		}
	}
	return NULL;
}

static void stop(void *arg)
{
	(void)arg;
	if (timerthread_stop(tt) != 1)
		atomic_fetch_add(&odd_result, 1);
	sem_post(&done);
}

static void finish(void *arg)
{
	(void)arg;
	sem_post(&done);
}

static void wait_done(void)
{
	while (sem_wait(&done) != 0)
		;
}

/* Runs a last timer, so that what was due before it is known to have run. */
static void run_last_timer(int threads)
{
	for (int i = 0; i < threads; i++)
		workers[i].jobs_before_last = atomic_load(&workers[i].jobs);
	last_deadline = timerthread_now(tt);
	ck_assert_int_eq(
		timerthread_schedule(tt, last_deadline, finish, NULL, NULL), 0);
	wait_done();
}

/* Stops it at a random moment, from here or from a callback. */
static void stop_sometime(uint64_t *rng, int threads)
{
	int64_t delay = (int64_t)random_below(rng, 150000000);
	struct timespec t = {0, (long)delay};

	nanosleep(&t, NULL);
	run_last_timer(threads);
	if (random_below(rng, 2)) {
		ck_assert_int_eq(timerthread_schedule_after(tt, delay / 64,
							    stop, NULL, NULL),
				 0);
		wait_done();
	}
	ck_assert_int_eq(timerthread_stop(tt), 0);
}

/* After the stop: what has not run and was not cancelled is still there. */
static void account(const struct worker *w)
{
	for (uint32_t n = 0; n < w->jobs; n++) {
		uint8_t outcome = atomic_load(&w->outcome[n]);
		int r = timerthread_cancel(tt, w->id[n]);

		if (outcome == PENDING) {
			ck_assert_int_eq(r, 0);
			ck_assert(n >= w->jobs_before_last ||
				  w->deadline[n] >= last_deadline);
			free(w->job[n]);
			total_left++;
		} else {
			ck_assert_int_eq(r, -ENOENT);
			total_ran += outcome == RAN;
			total_cancelled += outcome == CANCELLED;
		}
	}
}

static void drop_tickets(void)
{
	for (size_t i = 0; i < TICKETS; i++)
		free(atomic_exchange(&tickets[i], NULL));
}

static void round_of(uint64_t *rng)
{
	static const unsigned buckets[] = {1, 2, 3, 64};
	int threads = 1 + (int)random_below(rng, MAX_THREADS);

	ck_assert_int_eq(timerthread_create(&tt), 0);
	timerthread_set_buckets(tt, buckets[random_below(rng, 4)]);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	for (int i = 0; i < threads; i++) {
		struct worker *w = &workers[i];

		w->jobs = 0;
		w->shut_out = false;
		w->rng = next_random(rng);
		for (uint32_t n = 0; n < MAX_JOBS; n++)
			atomic_init(&w->outcome[n], PENDING);
		ck_assert_int_eq(pthread_create(&w->thread, NULL, work, w), 0);
	}
	stop_sometime(rng, threads);
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	drop_tickets();
	for (int i = 0; i < threads; i++) {
		ck_assert(workers[i].shut_out || workers[i].jobs == MAX_JOBS);
		account(&workers[i]);
	}
	timerthread_destroy(tt);
}

START_TEST(accounts_agree)
{
	const char *s = getenv("TT_STRESS_SECONDS");
	uint64_t rng = test_seed();
	time_t end = time(NULL) + (s ? atoi(s) : 2);
	unsigned rounds = 0;

	sem_init(&done, 0, 0);
	do {
		round_of(&rng);
		rounds++;
		ck_assert_uint_eq(early, 0);
		ck_assert_uint_eq(twice, 0);
		ck_assert_uint_eq(odd_result, 0);
	} while (time(NULL) < end);
	printf("%u rounds: %lu ran, %lu cancelled, %lu left, "
	       "%u cancels met a running callback\n",
	       rounds, total_ran, total_cancelled, total_left, running_seen);
	fflush(stdout);
	ck_assert_uint_gt(total_ran, 0);
	ck_assert_uint_gt(total_cancelled, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		accounts_agree,
	};

	return RUN_TESTS("stress", tests);
}
