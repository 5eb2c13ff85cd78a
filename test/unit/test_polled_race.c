/* SPDX-License-Identifier: MIT */
/*
 * Threads that schedule, cancel and stop, against the event loops of one
 * instance.
 */
#include "config.h"

#include "polled.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { JOBS = 4000, THREADS = 3 };

struct job {
	int64_t deadline;
	atom32 runs;
	atom32 cancelled;
	atom32 early;
	atom32 late;
};

static struct job jobs[THREADS][JOBS];
static atom32 over; /* runs and cancels, of all jobs */

static void run_job(void *arg)
{
	struct job *j = arg;
	int64_t t = now();

	atom32_add(&j->runs, 1);
	if (t < j->deadline)
		atom32_add(&j->early, 1);
	if (t > j->deadline + LATE)
		atom32_add(&j->late, 1);
	atom32_add(&over, 1);
}

/* Each earlier than those before, by turns, or anywhere. */
static int64_t job_deadline(int i, uint64_t *rng)
{
	if (i % 100 < 50)
		return now() + (100 - i % 100) * 20000;
	return now() + (int64_t)random_below(rng, 3 * MS) - MS;
}

static void *schedule_jobs(void *arg)
{
	struct job *job = arg;
	uint64_t rng = test_seed() + (uintptr_t)arg;
	static _Thread_local timerthread_id id[JOBS];

	for (int i = 0; i < JOBS; i++) {
		int k = (int)random_below(&rng, (uint64_t)i + 1);

		job[i].deadline = job_deadline(i, &rng);
		if (timerthread_schedule(tt, job[i].deadline, run_job, &job[i],
					 &id[i]) != 0)
			abort();
		if (i % 4 == 0 && timerthread_cancel(tt, id[k]) == 0) {
			atom32_add(&job[k].cancelled, 1);
			atom32_add(&over, 1);
		}
		if (i % 4 == 1)
			timerthread_reschedule(tt, id[k], job[k].deadline);
		if (random_below(&rng, 100) == 0)
			usleep(200);
	}
	return NULL;
}

/* True: there is more to come. */
static bool turn(void)
{
	int r;

	if (atom32_load(&over) == THREADS * JOBS)
		return false;
	if (!readable_within(1000)) {
		/* It may be that all is over. */
		return atom32_load(&over) != THREADS * JOBS;
	}
	r = dispatch();
	if (r == -EBUSY)
		sched_yield();
	else if (r < 0)
		abort();
	return true;
}

static void *turn_in_thread(void *arg)
{
	while (turn())
		;
	return arg;
}

static void check_jobs(void)
{
	for (int i = 0; i < THREADS * JOBS; i++) {
		struct job *j = &jobs[i / JOBS][i % JOBS];

		ck_assert_uint_eq(
			atom32_load(&j->runs) + atom32_load(&j->cancelled), 1);
		ck_assert_uint_eq(atom32_load(&j->early), 0);
		ck_assert_uint_eq(atom32_load(&j->late), 0);
	}
	/* Blocks that are no longer used are freed a few at a time. */
	for (int i = 0; i < 100 && readable(); i++)
		ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable());
}

static void race(int turners, int64_t slack_ns)
{
	pthread_t t[THREADS], turner = 0;

	setup();
	ck_assert_int_eq(timerthread_set_slack(tt, slack_ns), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	memset(jobs, 0, sizeof(jobs));
	atom32_store(&over, 0);
	for (int i = 0; i < THREADS; i++)
		t[i] = start_thread(schedule_jobs, jobs[i]);
	if (turners == 2)
		turner = start_thread(turn_in_thread, NULL);
	while (turn())
		;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	if (turners == 2)
		pthread_join(turner, NULL);
	check_jobs();
	end();
}

START_TEST(race_with_one_loop)
{
	race(1, 0);
	race(1, MS);
}
END_TEST

START_TEST(race_with_two_loops)
{
	race(2, 0);
}
END_TEST

/* Of two who schedule, the descriptor goes by the earlier one. */
static int64_t at[2];
static pthread_barrier_t both;

static void *schedule_at(void *arg)
{
	pthread_barrier_wait(&both);
	schedule(*(int64_t *)arg, post, &ran);
	return NULL;
}

START_TEST(race_of_two_who_schedule)
{
	enum { ROUNDS = 500 };

	begin();
	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t t;

		at[0] = now() + HOUR;
		at[1] = now();
		t = start_thread(schedule_at, &at[i % 2]);
		schedule_at(&at[1 - i % 2]);
		pthread_join(t, NULL);
		wait_readable();
		ck_assert_int_eq(dispatch(), 1);
		ck_assert(!readable());
	}
	end();
	pthread_barrier_destroy(&both);
}
END_TEST

/* One that schedules, while another stops. */
static void *schedule_until_stopped(void *arg)
{
	while (timerthread_schedule(tt, 0, never, NULL, NULL) == 0)
		;
	return arg;
}

START_TEST(race_with_stop)
{
	const int rounds = is_slow() ? 10 : 100;

	for (int i = 0; i < rounds; i++) {
		pthread_t t;

		begin();
		t = start_thread(schedule_until_stopped, NULL);
		for (int j = 0; j < i; j++)
			sched_yield();
		ck_assert_int_eq(timerthread_stop(tt), 0);
		pthread_join(t, NULL);
		ck_assert(readable());
		ck_assert_int_eq(dispatch(), -ESHUTDOWN);
		ck_assert(readable());
		end();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		race_with_one_loop,
		race_with_two_loops,
		race_of_two_who_schedule,
		race_with_stop,
	};

	return RUN_TESTS("polled_race", tests);
}
