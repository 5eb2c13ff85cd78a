/* SPDX-License-Identifier: MIT */
/*
 * The virtual clock, and what runs when it is moved.
 */
#include "config.h"

#include "virtual.h"

#include <pthread.h>
#include <string.h>

/* It does not go back. */
START_TEST(advance_errors)
{
	ck_assert_int_eq(timerthread_advance(NULL, -1), -EINVAL);
	setup();
	ck_assert_int_eq(advance(0), -EINVAL);
	ck_assert_int_eq(advance(-1), -EINVAL);
	ck_assert_int_eq(timerthread_start_virtual(tt, 100), 0);
	schedule(0, never, NULL);
	ck_assert_int_eq(advance(-1), -EINVAL);
	ck_assert_int_eq(advance(INT64_MIN), -EINVAL);
	ck_assert_int_eq(now(), 100);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(advance(0), -ESHUTDOWN);
	ck_assert_int_eq(advance(1), -ESHUTDOWN);
	ck_assert_int_eq(advance(-1), -EINVAL);
	ck_assert_int_eq(now(), 100);
	end();
}
END_TEST

static const int64_t steps[] = {
	0,         1, 0, 999,       HOUR,      INT64_MAX - 5,
	INT64_MAX, 1, 0, INT64_MAX, INT64_MAX,
};

enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

START_TEST(it_moves_when_told_to)
{
	for (int i = 0; i < BEGINS; i++) {
		int64_t t = begins[i];

		begin(t);
		ck_assert_int_eq(now(), t);
		for (int j = 0; j < STEPS; j++) {
			ck_assert_int_eq(advance(steps[j]), 0);
			t = plus(t, steps[j]);
			ck_assert_int_eq(now(), t);
		}
		ck_assert_int_eq(t, INT64_MAX);
		end();
	}
}
END_TEST

/* Also at the end of time. */
START_TEST(never_is_never)
{
	for (int i = 0; i < BEGINS; i++) {
		timerthread_id id, moved;

		begin(begins[i]);
		id = schedule(TIMERTHREAD_NEVER, never, NULL);
		moved = schedule(TIMERTHREAD_NEVER - 1, never, NULL);
		ck_assert_int_eq(
			timerthread_reschedule(tt, moved, TIMERTHREAD_NEVER),
			0);
		every(TIMERTHREAD_NEVER, 1, never, NULL);
		ck_assert_int_eq(
			timerthread_schedule_after(tt, INT64_MAX,
						   begins[i] > 0 ? never : note,
						   NULL, NULL),
			0);
		for (int j = 0; j < STEPS; j++)
			ck_assert_int_ge(advance(steps[j]), 0);
		ck_assert_int_eq(timerthread_cancel(tt, id), 0);
		ck_assert_int_eq(timerthread_cancel(tt, moved), 0);
		end();
	}
}
END_TEST

START_TEST(the_last_moment)
{
	begin(INT64_MAX - 10);
	runs = 0;
	schedule(INT64_MAX - 1, note, NULL);
	ck_assert_int_eq(advance(8), 0);
	ck_assert_int_eq(advance(1), 1);
	ck_assert_int_eq(seen, INT64_MAX - 1);
	ck_assert_int_eq(advance(HOUR), 0);
	ck_assert_int_eq(now(), INT64_MAX);
	schedule(INT64_MIN, note, NULL);
	schedule(INT64_MAX - 1, note, NULL);
	ck_assert_int_eq(advance(0), 2);
	ck_assert_int_eq(seen, INT64_MAX);
	end();
}
END_TEST

/* One nanosecond before, nothing runs. */
static void check_exact(int64_t deadline)
{
	int64_t left = deadline - now();

	runs = 0;
	ck_assert_int_eq(advance(left - 1), 0);
	ck_assert_int_eq(runs, 0);
	ck_assert_int_eq(now(), deadline - 1);
	ck_assert_int_eq(advance(1), 1);
	ck_assert_int_eq(runs, 1);
	ck_assert_int_eq(seen, deadline);
	ck_assert_int_eq(now(), deadline);
	ck_assert_int_eq(advance(0), 0);
}

static const int64_t moments[] = {
	1, 2, 1000, MS, HOUR, HOUR + 1, INT64_C(1) << 60, INT64_MAX / 2,
};

enum { MOMENTS = sizeof(moments) / sizeof(moments[0]) };

static const int64_t early_begins[] = {
	0, 1, -1, -HOUR, INT64_MIN / 2, INT64_MAX / 2 - 10,
};

enum { EARLY_BEGINS = sizeof(early_begins) / sizeof(early_begins[0]) };

static void check_plain(int64_t deadline)
{
	schedule(deadline, note, NULL);
	check_exact(deadline);
}

static void check_moved_later(int64_t deadline)
{
	timerthread_id id =
		schedule(now() + (deadline - now()) / 2, note, NULL);

	ck_assert_int_eq(timerthread_reschedule(tt, id, deadline), 0);
	check_exact(deadline);
}

static void check_moved_earlier(int64_t deadline)
{
	timerthread_id id = schedule(plus(deadline, HOUR), note, NULL);

	ck_assert_int_eq(advance(0), 0);
	ck_assert_int_eq(timerthread_reschedule(tt, id, deadline), 0);
	check_exact(deadline);
}

static void check_to_and_fro(int64_t deadline)
{
	timerthread_id id = schedule(deadline, note, NULL);

	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(timerthread_reschedule(tt, id, INT64_MIN), 0);
		ck_assert_int_eq(timerthread_reschedule(tt, id, deadline + i),
				 0);
	}
	ck_assert_int_eq(timerthread_reschedule(tt, id, deadline), 0);
	check_exact(deadline);
}

static void check_periodic(int64_t deadline)
{
	/* Unsigned: the whole of time is more than a half of it. */
	const int64_t step =
		(int64_t)(((uint64_t)INT64_MAX - (uint64_t)deadline) / 8);
	timerthread_id id = every(deadline, step, note, NULL);

	check_exact(deadline);
	check_exact(deadline + step);
	check_exact(deadline + 2 * step);
	ck_assert_int_eq(
		timerthread_reschedule(tt, id, deadline + 3 * step + 1), 0);
	check_exact(deadline + 3 * step + 1);
	check_exact(deadline + 4 * step + 1);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
}

START_TEST(not_a_nanosecond_early)
{
	static void (*const checks[])(int64_t) = {
		check_plain,      check_moved_later, check_moved_earlier,
		check_to_and_fro, check_periodic,
	};

	for (int i = 0; i < EARLY_BEGINS * MOMENTS * 5; i++) {
		int64_t first = early_begins[i % EARLY_BEGINS];

		begin(first);
		checks[i % 5](plus(first, moments[i / 5 % MOMENTS]));
		end();
	}
}
END_TEST

static timerthread_id self;
static int64_t again;

static void arm_again(void *arg)
{
	note(arg);
	ck_assert_int_eq(timerthread_reschedule(tt, self, again), 0);
}

START_TEST(armed_again_not_a_nanosecond_early)
{
	begin(-100);
	self = schedule(-50, arm_again, NULL);
	again = -7;
	check_exact(-50);
	again = 2000;
	check_exact(-7);
	again = TIMERTHREAD_NEVER;
	check_exact(2000);
	ck_assert_int_eq(deadline_of(self), TIMERTHREAD_NEVER);
	end();
}
END_TEST

/* What was due before does not turn the clock back. */
START_TEST(deadlines_in_the_past)
{
	static const int64_t past[] = {INT64_MIN, -HOUR, -1, 0, 1, 999, 1000};

	for (int i = 0; i < 7; i++) {
		begin(1000);
		schedule(past[i], note, NULL);
		ck_assert_int_eq(advance(i % 2 ? HOUR : 0), 1);
		ck_assert_int_eq(seen, 1000);
		ck_assert_int_eq(now(), i % 2 ? HOUR + 1000 : 1000);
		end();
	}
}
END_TEST

START_TEST(schedule_after_is_exact)
{
	begin(-30);
	ck_assert_int_eq(timerthread_schedule_after(tt, 50, note, NULL, NULL),
			 0);
	check_exact(20);
	ck_assert_int_eq(timerthread_schedule_after(tt, -50, note, NULL, NULL),
			 0);
	ck_assert_int_eq(advance(0), 1);
	ck_assert_int_eq(seen, 20);
	end();
}
END_TEST

/* None of these may show. */
START_TEST(options_make_no_difference)
{
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC,
		CLOCK_REALTIME,
		CLOCK_BOOTTIME,
	};
	static const int64_t slacks[] = {0, 1, HOUR, INT64_MAX};

	for (int i = 0; i < 12; i++) {
		setup();
		ck_assert_int_eq(timerthread_set_clock(tt, clocks[i % 3]), 0);
		ck_assert_int_eq(timerthread_set_slack(tt, slacks[i / 3]), 0);
		ck_assert_int_eq(timerthread_set_buckets(tt, 7), 0);
		ck_assert_int_eq(timerthread_set_name(tt, "unused"), 0);
		ck_assert_int_eq(
			timerthread_set_thread_hooks(tt, never, never, NULL),
			0);
		ck_assert_int_eq(timerthread_start_virtual(tt, 5), 0);
		ck_assert_int_eq(now(), 5);
		check_plain(HOUR);
		check_moved_later(2 * HOUR);
		check_moved_earlier(3 * HOUR);
		end();
	}
}
END_TEST

/*
 * Timers that repeat.
 */
static int64_t expected, period;

static void check_period(void *arg)
{
	(void)arg;
	ck_assert_int_eq(now(), expected);
	expected += period;
	runs++;
}

/* Anything may be the time, and an instance that is stopped keeps it. */
START_TEST(now_is_any_number)
{
	static const int64_t at[] = {INT64_MIN, -ECHILD, -EINVAL, -1,
				     INT64_MAX};

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		begin(at[i]);
		ck_assert_int_eq(now(), at[i]);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(now(), at[i]);
		end();
	}
}
END_TEST

/* However the time is cut up, all run, each at its own. */
START_TEST(no_period_is_missed)
{
	uint64_t rng = test_seed();

	for (int i = 0; i < 20; i++) {
		int64_t left = 100000;

		begin(-1000);
		runs = 0;
		expected = -300 + i;
		period = 1 + i * i;
		every(expected, period, check_period, NULL);
		while (left > 0) {
			int64_t ns = (int64_t)random_below(&rng, 3000);
			int before = runs;

			ns = ns < left ? ns : left;
			ck_assert_int_eq(advance(ns), runs - before);
			left -= ns;
		}
		ck_assert_int_eq(runs,
				 (100000 - 1000 - (-300 + i)) / period + 1);
		end();
	}
}
END_TEST

/* From the beginning of time to its end; then there is none after it. */
START_TEST(long_periods)
{
	static const int64_t to_go[] = {INT64_MAX, INT64_MAX, 1, INT64_MAX};
	timerthread_id id;
	int sum = 0;

	begin(INT64_MIN);
	runs = 0;
	period = INT64_C(1) << 59;
	id = every(INT64_MIN, period, note, NULL);
	for (int i = 0; i < 4; i++)
		sum += advance(to_go[i]);
	ck_assert_int_eq(sum, 32);
	ck_assert_int_eq(runs, 32);
	ck_assert_int_eq(seen, INT64_MAX - period + 1);
	ck_assert_int_eq(deadline_of(id), TIMERTHREAD_NEVER);
	end();
}
END_TEST

/* They are missed only by who comes too late. */
START_TEST(periods_before_the_call_are_skipped)
{
	timerthread_id id;

	begin(1000);
	runs = 0;
	id = every(5, 10, note, NULL);
	ck_assert_int_eq(advance(0), 1);
	ck_assert_int_eq(seen, 1000);
	ck_assert_int_eq(deadline_of(id), 1005);
	ck_assert_int_eq(advance(4), 0);
	ck_assert_int_eq(advance(11), 2);
	ck_assert_int_eq(seen, 1015);
	end();
}
END_TEST

/*
 * What callbacks schedule.
 */
static int64_t plan[8];

static void schedule_plan(void *arg)
{
	note(arg);
	for (int i = 0; i < 8; i++)
		schedule(plan[i], note, NULL);
}

START_TEST(scheduled_within_the_span_run)
{
	static const int64_t planned[8] = {
		100, 101, 150, 199, 200, 201, HOUR, TIMERTHREAD_NEVER,
	};

	begin(0);
	runs = 0;
	memcpy(plan, planned, sizeof(plan));
	schedule(100, schedule_plan, NULL);
	ck_assert_int_eq(advance(200), 6);
	ck_assert_int_eq(runs, 6);
	ck_assert_int_eq(seen, 200);
	ck_assert_int_eq(advance(1), 1);
	ck_assert_int_eq(seen, 201);
	ck_assert_int_eq(advance(HOUR), 1);
	ck_assert_int_eq(seen, HOUR);
	end();
}
END_TEST

/* They run at once, and the clock does not go back for them. */
START_TEST(scheduled_for_the_past_run)
{
	static const int64_t planned[8] = {
		INT64_MIN, -HOUR, -1, 0, 1, 50, 99, 100,
	};

	begin(0);
	runs = 0;
	memcpy(plan, planned, sizeof(plan));
	schedule(100, schedule_plan, NULL);
	schedule(101, note, NULL);
	ck_assert_int_eq(advance(100), 9);
	ck_assert_int_eq(seen, 100);
	ck_assert_int_eq(advance(1), 1);
	end();
}
END_TEST

static int left;

static void arm_for_now(void *arg)
{
	note(arg);
	if (--left > 0)
		ck_assert_int_eq(timerthread_reschedule(tt, self, now()), 0);
}

START_TEST(armed_again_for_now)
{
	begin(0);
	left = 1000;
	self = schedule(3, arm_for_now, NULL);
	ck_assert_int_eq(advance(3), 1000);
	ck_assert_int_eq(seen, 3);
	ck_assert_int_eq(advance(1), 0);
	end();
}
END_TEST

/*
 * Many.
 */
static int64_t last;
static int disorder;

static void check_order(void *arg)
{
	int64_t t = now();

	disorder += t < last || t != *(const int64_t *)arg;
	last = t;
	runs++;
}

START_TEST(a_million)
{
	const int n = is_slow() ? 100000 : 1000000;
	const int64_t span = is_slow() ? HOUR / 60 : HOUR;
	int64_t *deadline = calloc((size_t)n, sizeof(*deadline));
	uint64_t dice = test_seed();

	ck_assert_ptr_nonnull(deadline);
	begin(0);
	runs = 0;
	last = INT64_MIN;
	for (int i = 0; i < n; i++) {
		deadline[i] = (int64_t)random_below(&dice, (uint64_t)span);
		SAME(timerthread_schedule(tt, deadline[i], check_order,
					  &deadline[i], NULL),
		     0);
	}
	ck_assert_int_eq(advance(span), n);
	ck_assert_int_eq(runs, n);
	ck_assert_int_eq(disorder, 0);
	end();
	free(deadline);
}
END_TEST

START_TEST(max_timers)
{
	timerthread_id id;

	setup();
	ck_assert_int_eq(timerthread_set_max_timers(tt, 2), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	id = every(1, 1, note, NULL);
	schedule(1, note, NULL);
	ck_assert_int_eq(timerthread_schedule(tt, 1, never, NULL, NULL),
			 -EAGAIN);
	ck_assert_int_eq(advance(1), 2);
	schedule(HOUR, never, NULL);
	ck_assert_int_eq(timerthread_schedule(tt, 1, never, NULL, NULL),
			 -EAGAIN);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	schedule(2, note, NULL);
	ck_assert_int_eq(advance(1), 1);
	end();
}
END_TEST

static void *advance_in_thread(void *arg)
{
	*(int *)arg = advance(10);
	return NULL;
}

/*
 * Other threads.
 */
static atom32 written;

static void hold_and_write(void *arg)
{
	hold(arg);
	atom32_store(&written, 1);
}

START_TEST(cancel_wait_waits)
{
	timerthread_id id;
	pthread_t t;
	int r;

	begin(0);
	id = every(5, 1, hold_and_write, &ran);
	t = start_thread(advance_in_thread, &r);
	wait_for(&ran);
	ck_assert_int_eq(deadline_of(id), 6);
	sem_post(&go);
	/* By now it may hold again. */
	for (int i = 0; i < 10; i++)
		sem_post(&go);
	ck_assert_int_ge(timerthread_cancel_wait(tt, id), 0);
	ck_assert_uint_eq(atom32_load(&written), 1);
	ck_assert_int_eq(timerthread_cancel_wait(tt, id), -ENOENT);
	pthread_join(t, NULL);
	ck_assert_int_ge(r, 1);
	ck_assert_int_eq(now(), 10);
	end();
}
END_TEST

/* Written by the thread that advances, but for the first. */
struct job {
	int64_t deadline;
	atom32 runs;
	atom32 cancelled;
	atom32 early;
};

enum { JOBS = 3000, THREADS = 3 };
static struct job jobs[THREADS][JOBS];
static atom32 finished;

static void run_job(void *arg)
{
	struct job *j = arg;

	atom32_add(&j->runs, 1);
	if (now() < j->deadline)
		atom32_add(&j->early, 1);
}

static void *schedule_jobs(void *arg)
{
	struct job *job = arg;
	uint64_t dice = test_seed() + (uintptr_t)arg;
	timerthread_id id[JOBS];

	for (int i = 0; i < JOBS; i++) {
		job[i].deadline =
			now() - 50 + (int64_t)random_below(&dice, 1000);
		if (timerthread_schedule(tt, job[i].deadline, run_job, &job[i],
					 &id[i]) != 0)
			abort();
		if (i % 4 == 0 && timerthread_cancel(tt, id[i / 2]) == 0)
			atom32_add(&job[i / 2].cancelled, 1);
		if (i % 4 == 1)
			timerthread_reschedule(tt, id[i], job[i].deadline + 90);
	}
	atom32_add(&finished, 1);
	return NULL;
}

START_TEST(others_schedule_meanwhile)
{
	pthread_t t[THREADS];
	int total = 0;

	begin(0);
	for (int i = 0; i < THREADS; i++)
		t[i] = start_thread(schedule_jobs, jobs[i]);
	while (atom32_load_acquire(&finished) < THREADS)
		total += advance(10);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	total += advance(2000);
	for (int i = 0; i < THREADS * JOBS; i++) {
		const struct job *j = &jobs[i / JOBS][i % JOBS];

		ck_assert_uint_eq(
			atom32_load(&j->runs) + atom32_load(&j->cancelled), 1);
		ck_assert_uint_eq(atom32_load(&j->early), 0);
		total -= (int)atom32_load(&j->runs);
	}
	ck_assert_int_eq(total, 0);
	end();
}
END_TEST

/* What is next is found without regard to how far it is. */
START_TEST(many_long_before)
{
	static const int64_t far[] = {1, 100, 530, 540, 700, 1000, 40000};
	static const int many[] = {63, 65, 100, 1000};
	int64_t next = 0;

	for (int f = 0; f < 7; f++) {
		for (int m = 0; m < 4; m++) {
			const int64_t first = far[f] * MS;

			begin(0);
			runs = 0;
			for (int i = 0; i < many[m]; i++)
				schedule(first + i % 5 * MS, note, NULL);
			ck_assert_int_eq(
				timerthread_get_next_deadline(tt, &next), 0);
			ck_assert_int_eq(next, first);
			ck_assert_int_eq(advance(first), (many[m] + 4) / 5);
			ck_assert_int_eq(advance(HOUR),
					 many[m] - (many[m] + 4) / 5);
			end();
		}
	}
}
END_TEST

/* As that, with deadlines that are far apart and near. */
START_TEST(random_long_before)
{
	enum { N = 300, ROUNDS = 60 };
	uint64_t dice = test_seed();

	for (int round = 0; round < ROUNDS; round++) {
		int64_t latest = 0;
		int n = 0;

		begin(0);
		runs = 0;
		for (int i = 0; i < N; i++) {
			uint64_t bits = 20 + random_below(&dice, 20);

			schedule((int64_t)(next_random(&dice) >> (64 - bits)),
				 note, NULL);
		}
		while (n < N) {
			int64_t next = 0;

			ck_assert_int_eq(
				timerthread_get_next_deadline(tt, &next), 0);
			ck_assert_int_ge(next, latest);
			n += advance(next - now() +
				     (int64_t)random_below(&dice, 1 << 20));
			ck_assert_int_eq(runs, n);
			latest = next;
		}
		end();
	}
}
END_TEST

/*
 * The linker puts these in the place of futex_wait_until and clock_now: who
 * waits for the end of a callback notes until when it would wait, and finds
 * that this time has come.
 */
void __real_futex_wait_until(atom32 *word, uint32_t value, clockid_t clock,
			     int64_t deadline);
void __wrap_futex_wait_until(atom32 *word, uint32_t value, clockid_t clock,
			     int64_t deadline);
int64_t __real_clock_now(clockid_t clock);
int64_t __wrap_clock_now(clockid_t clock);

static __thread bool gives_up, has_waited;
static int64_t waits_until;
static int64_t passed; /* so much real time, as a test says */

void __wrap_futex_wait_until(atom32 *word, uint32_t value, clockid_t clock,
			     int64_t deadline)
{
	if (!gives_up || word != &tt->changes) {
		__real_futex_wait_until(word, value, clock, deadline);
		return;
	}
	ck_assert_int_eq(clock, CLOCK_MONOTONIC);
	waits_until = deadline;
	has_waited = true;
}

int64_t __wrap_clock_now(clockid_t clock)
{
	return has_waited ? waits_until : __real_clock_now(clock) + passed;
}

/* Whatever the clock shows, as much time is left until a deadline. */
START_TEST(a_stop_waits_for_as_long_as_is_left)
{
	for (int i = 0; i < BEGINS; i++) {
		int64_t deadline = plus(begins[i], HOUR), before;
		int64_t away = deadline - begins[i];
		pthread_t t;
		int r;

		begin(begins[i]);
		schedule(INT64_MIN, hold, &ran);
		t = start_thread(advance_in_thread, &r);
		wait_for(&ran);
		before = timerthread_now(NULL);
		gives_up = true;
		ck_assert_int_eq(timerthread_stop_until(tt, deadline),
				 -ETIMEDOUT);
		gives_up = has_waited = false;
		if (deadline == TIMERTHREAD_NEVER) {
			ck_assert_int_eq(waits_until, TIMERTHREAD_NEVER);
		} else {
			/* A nanosecond: the first time has no negative. */
			ck_assert_int_ge(waits_until, before + away - 1);
			ck_assert_int_le(waits_until,
					 timerthread_now(NULL) + away);
		}
		sem_post(&go);
		pthread_join(t, NULL);
		ck_assert_int_eq(r, 1);
		end();
	}
}
END_TEST

static char order[2];

static void must_be_next(void *arg)
{
	ck_assert_ptr_eq(arg, &order[runs++]);
}

/* Although it is time to look for the dead, behind which they wait. */
START_TEST(equal_deadlines_keep_their_order)
{
	enum { DEAD = 1800 };
	timerthread_id dead[DEAD];

	begin(0);
	runs = 0;
	schedule(100 * TIMERTHREAD_SEC, must_be_next, &order[0]);
	schedule(100 * TIMERTHREAD_SEC, must_be_next, &order[1]);
	for (int i = 0; i < DEAD; i++)
		dead[i] = schedule(110 * TIMERTHREAD_SEC, never, NULL);
	for (int i = 0; i < DEAD; i++)
		ck_assert_int_eq(timerthread_cancel(tt, dead[i]), 0);
	passed = HOUR;
	ck_assert_int_eq(advance(TIMERTHREAD_SEC), 0);
	ck_assert_int_eq(advance(200 * TIMERTHREAD_SEC), 2);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		advance_errors,
		it_moves_when_told_to,
		never_is_never,
		the_last_moment,
		not_a_nanosecond_early,
		armed_again_not_a_nanosecond_early,
		deadlines_in_the_past,
		schedule_after_is_exact,
		options_make_no_difference,
		now_is_any_number,
		no_period_is_missed,
		long_periods,
		periods_before_the_call_are_skipped,
		scheduled_within_the_span_run,
		scheduled_for_the_past_run,
		armed_again_for_now,
		a_million,
		many_long_before,
		random_long_before,
		max_timers,
		cancel_wait_waits,
		others_schedule_meanwhile,
		a_stop_waits_for_as_long_as_is_left,
		equal_deadlines_keep_their_order,
	};

	return RUN_TESTS("virtual", tests);
}
