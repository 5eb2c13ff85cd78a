/* SPDX-License-Identifier: MIT */
/*
 * The virtual clock, and what runs when it is moved.
 */
#include "config.h"

#include "timers.h"

#include "child.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static void begin(int64_t now)
{
	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, now), 0);
}

static int advance(int64_t ns)
{
	return timerthread_advance(tt, ns);
}

static int64_t now(void)
{
	return timerthread_now(tt);
}

/* Under a tool. */
static bool is_slow(void)
{
	return fork_is_delicate() || getenv("TT_VALGRIND");
}

/* The nearest that exists, as the library's sums. */
static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

static int runs;
static int64_t seen; /* the time of the last run */

static void note(void *arg)
{
	(void)arg;
	runs++;
	seen = now();
}

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
}

static int drain(void)
{
	return timerthread_drain(tt, visit, NULL);
}

/*
 * Errors.
 */
START_TEST(start_errors)
{
	int fd = 77;

	ck_assert_int_eq(timerthread_start_virtual(NULL, 0), -EINVAL);
	begin(5);
	ck_assert_int_eq(timerthread_start_virtual(tt, 6), -EBUSY);
	ck_assert_int_eq(now(), 5);
	ck_assert_int_eq(timerthread_start(tt, NULL), -EBUSY);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), -EBUSY);
	ck_assert_int_eq(fd, 77);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 6), -ESHUTDOWN);
	ck_assert_int_eq(now(), 5);
	end();

	start();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), -EBUSY);
	end();

	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), -ESHUTDOWN);
	end();
}
END_TEST

START_TEST(advance_errors)
{
	int fd;

	ck_assert_int_eq(timerthread_advance(NULL, 0), -EINVAL);
	setup();
	ck_assert_int_eq(advance(0), -EINVAL);
	ck_assert_int_eq(advance(-1), -EINVAL);
	ck_assert_int_eq(timerthread_start_virtual(tt, 100), 0);
	schedule(0, never, NULL);
	ck_assert_int_eq(advance(-1), -EINVAL);
	ck_assert_int_eq(advance(INT64_MIN), -EINVAL);
	ck_assert_int_eq(timerthread_dispatch(tt), -EINVAL);
	ck_assert_int_eq(now(), 100);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(advance(0), -ESHUTDOWN);
	ck_assert_int_eq(advance(1), -ESHUTDOWN);
	ck_assert_int_eq(advance(-1), -EINVAL);
	ck_assert_int_eq(timerthread_dispatch(tt), -EINVAL);
	ck_assert_int_eq(now(), 100);
	end();

	start();
	ck_assert_int_eq(advance(0), -EINVAL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(advance(0), -EINVAL);
	end();

	setup();
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	ck_assert_int_eq(advance(0), -EINVAL);
	end();
}
END_TEST

START_TEST(it_has_no_thread)
{
	pthread_t self = pthread_self(), thread = self;

	begin(0);
	ck_assert_int_eq(timerthread_get_pthread(tt, &thread), -EINVAL);
	ck_assert(pthread_equal(thread, self));
	ck_assert_int_eq(timerthread_get_pthread(tt, NULL), -EINVAL);
	end();
}
END_TEST

START_TEST(options_come_before)
{
	begin(0);
	ck_assert_int_eq(timerthread_set_thread_name(tt, "a"), -EBUSY);
	ck_assert_int_eq(timerthread_set_buckets(tt, 1), -EBUSY);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), -EBUSY);
	ck_assert_int_eq(timerthread_set_slack(tt, 1), -EBUSY);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 1), -EBUSY);
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, NULL, NULL, NULL),
			 -EBUSY);
	end();
}
END_TEST

static void spoil_errno(void *arg)
{
	note(arg);
	errno = EDOM;
}

START_TEST(errno_is_left_alone)
{
	setup();
	errno = E2BIG;
	advance(0);
	timerthread_start_virtual(tt, 0);
	timerthread_start_virtual(tt, 0);
	ck_assert_int_eq(errno, E2BIG);
	schedule(1, spoil_errno, NULL);
	errno = E2BIG;
	ck_assert_int_eq(advance(1), 1);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_eq(advance(-1), -EINVAL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(advance(1), -ESHUTDOWN);
	ck_assert_int_eq(errno, E2BIG);
	end();
}
END_TEST

/*
 * The clock.
 */
static const int64_t begins[] = {
	0,
	1,
	-1,
	1000,
	-1000,
	HOUR,
	-HOUR,
	INT64_MIN,
	INT64_MIN + 1,
	INT64_MAX / 2,
	INT64_MAX - 1000,
	INT64_MAX - 1,
	INT64_MAX,
};

enum { BEGINS = sizeof(begins) / sizeof(begins[0]) };

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
		ck_assert_int_eq(timerthread_set_thread_name(tt, "unused"), 0);
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
 * A model: all that there is, in no order, and at each run the earliest is
 * looked for.
 */
enum { MODEL = 200, LOG = 20000 };

enum life_of { OVER, PENDING, RUNS, CANCELLED };

struct model {
	timerthread_id id;
	enum life_of life;
	int64_t deadline; /* of the next run */
	int64_t set;      /* the clock then */
	int64_t period;
	bool armed; /* again, while it runs */
};

/* The checks of Check write a message each, and here are millions. */
#define SAME(a, b) same(a, b, __LINE__)

static void same(int64_t a, int64_t b, int line)
{
	if (a != b)
		ck_abort_msg("line %d: %" PRId64 " is not %" PRId64
			     ", TT_SEED=%" PRIu64,
			     line, a, b, test_seed());
}

static struct model model[MODEL];
static uint64_t rng, scale;
static int64_t shown, until; /* the clock, and where it goes */
static int budget;           /* timers that callbacks may still schedule */
static bool inside;
static struct model *current;

static int logged;
static struct {
	int who;
	int64_t when;
} history[2][LOG], *log_to = history[0];

static void add_to_log(int who, int64_t when)
{
	if (logged < LOG) {
		log_to[logged].who = who;
		log_to[logged].when = when;
	}
	logged++;
}

/* One that has passed counts as the time at which it was set. */
static int64_t due(const struct model *m)
{
	return m->deadline > m->set ? m->deadline : m->set;
}

/* NULL: there is none that ever runs. */
static struct model *earliest(void)
{
	struct model *first = NULL;

	for (struct model *m = model; m < model + MODEL; m++) {
		if (m->life == PENDING && m->deadline != TIMERTHREAD_NEVER &&
		    (!first || due(m) < due(first)))
			first = m;
	}
	return first;
}

/* Around the present, mostly; what callbacks do must come to an end. */
static int64_t some_deadline(void)
{
	int64_t distance = (int64_t)random_below(&rng, 3 * scale);

	if (inside && --budget < 0)
		return plus(until, distance + 1);
	switch (random_below(&rng, 16)) {
	case 0:
		return (int64_t)next_random(&rng);
	case 1:
		return random_below(&rng, 2) ? INT64_MIN : TIMERTHREAD_NEVER;
	case 2:
		return TIMERTHREAD_NEVER - (int64_t)random_below(&rng, 3);
	case 3:
		return shown;
	case 4:
	case 5:
		return plus(shown, -distance);
	default:
		return plus(shown, distance);
	}
}

static void model_run(void *arg);

static void model_schedule(struct model *m)
{
	m->deadline = some_deadline();
	m->set = shown;
	m->period = 0;
	m->armed = false;
	m->life = PENDING;
	if (random_below(&rng, 8) == 0) {
		m->period =
			(int64_t)(scale / 4 + 1 + random_below(&rng, scale));
		SAME(timerthread_schedule_every(tt, m->deadline, m->period,
						model_run, m, &m->id),
		     0);
	} else {
		SAME(timerthread_schedule(tt, m->deadline, model_run, m,
					  &m->id),
		     0);
	}
}

static void model_cancel(struct model *m)
{
	static const int expect[] = {
		[OVER] = -ENOENT,
		[PENDING] = 0,
		[RUNS] = 1,
	};

	if (m->life == CANCELLED)
		return;
	SAME(timerthread_cancel(tt, m->id), expect[m->life]);
	m->life = m->life == RUNS ? CANCELLED : OVER;
}

static void model_move(struct model *m)
{
	int64_t deadline = some_deadline();
	int r = timerthread_reschedule(tt, m->id, deadline);

	if (m->life == OVER || m->life == CANCELLED) {
		SAME(r, -ENOENT);
		return;
	}
	SAME(r, 0);
	m->deadline = deadline;
	m->set = shown;
	m->armed = true;
}

static void model_look(const struct model *m)
{
	int64_t deadline;
	int r = timerthread_get_deadline(tt, m->id, &deadline);
	bool has_one = m->life == PENDING ||
		       (m->life == RUNS && (m->period || m->armed));

	SAME(r, has_one ? 0 : -ENOENT);
	if (has_one)
		SAME(deadline, m->deadline);
}

static void model_step(void)
{
	struct model *m = &model[random_below(&rng, MODEL)];

	if (inside && random_below(&rng, 3) == 0)
		m = current;
	if (m->life == OVER && random_below(&rng, 8) != 0) {
		model_schedule(m);
		return;
	}
	switch (random_below(&rng, 4)) {
	case 0:
		model_cancel(m);
		break;
	case 1:
		model_look(m);
		break;
	default:
		model_move(m);
		break;
	}
}

static void model_begin(struct model *m)
{
	uint64_t late;

	SAME(m->life, PENDING);
	SAME(m->deadline <= until, true);
	SAME(due(m), due(earliest()));
	if (m->deadline > shown)
		shown = m->deadline;
	SAME(now(), shown);
	m->life = RUNS;
	m->armed = false;
	if (m->period) {
		late = (uint64_t)shown - (uint64_t)m->deadline;
		late -= late % (uint64_t)m->period;
		m->deadline = plus((int64_t)((uint64_t)m->deadline + late),
				   m->period);
	}
}

static void model_run(void *arg)
{
	struct model *m = arg;

	runs++;
	model_begin(m);
	add_to_log((int)(m - model), shown);
	inside = true;
	current = m;
	for (uint64_t n = random_below(&rng, 4); n > 0; n--)
		model_step();
	inside = false;
	if (m->life == RUNS)
		m->life = m->period || m->armed ? PENDING : OVER;
	else
		m->life = OVER;
}

static int64_t some_step(void)
{
	if (random_below(&rng, 4) == 0)
		return (int64_t)random_below(&rng, 3);
	return (int64_t)random_below(&rng, 2 * scale);
}

static void model_advance(void)
{
	int64_t ns = some_step();
	int n, before = runs;
	const struct model *m;

	until = plus(shown, ns);
	budget = 100;
	n = advance(ns);
	SAME(n, runs - before);
	shown = until;
	SAME(now(), shown);
	m = earliest();
	if (m)
		SAME(due(m) > until, true);
}

/* A random program; the same for the same seed. */
static void run_program(uint64_t seed, int64_t first, uint64_t how_far)
{
	const int rounds = is_slow() ? 20 : 200;

	memset(model, 0, sizeof(model));
	rng = seed;
	scale = how_far;
	shown = first;
	logged = 0;
	begin(first);
	for (int i = 0; i < rounds; i++) {
		for (uint64_t n = random_below(&rng, 20); n > 0; n--)
			model_step();
		model_advance();
	}
	end();
}

static const uint64_t scales[] = {
	1,
	4,
	1000,
	UINT64_C(1000000000),
	UINT64_C(3600000000000),
	UINT64_C(1) << 54,
	UINT64_C(1) << 61,
};

enum { SCALES = sizeof(scales) / sizeof(scales[0]) };

START_TEST(as_the_model)
{
	uint64_t seeds = test_seed();

	for (int i = 0; i < BEGINS * SCALES; i++)
		run_program(next_random(&seeds), begins[i % BEGINS],
			    scales[i % SCALES]);
	ck_assert_int_gt(runs, BEGINS * SCALES * 10);
}
END_TEST

/* Where there is another CPU. */
static void change_cpu(void)
{
	cpu_set_t all, one;
	int here = sched_getcpu();

	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		return;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (i == here || !CPU_ISSET(i, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

/* With a small scale, most deadlines are those of several. */
START_TEST(the_same_each_time)
{
	uint64_t seeds = test_seed();

	for (int i = 0; i < 3 * SCALES; i++) {
		uint64_t seed = next_random(&seeds);
		int n;

		log_to = history[0];
		run_program(seed, 0, scales[i % SCALES]);
		n = logged;
		change_cpu();
		log_to = history[1];
		run_program(seed, 0, scales[i % SCALES]);
		SAME(logged, n);
		n = n < LOG ? n : LOG;
		for (int j = 0; j < n; j++) {
			SAME(history[0][j].who, history[1][j].who);
			SAME(history[0][j].when, history[1][j].when);
		}
	}
}
END_TEST

/* So many that they do not fit in what a bucket takes before it is emptied. */
enum { TOGETHER = 30000 };
static int order[2][TOGETHER];
static int *order_to;

static void note_order(void *arg)
{
	order_to[runs++] = (int)(uintptr_t)arg;
}

static void run_together(int *to)
{
	uint64_t dice = test_seed();

	begin(0);
	runs = 0;
	order_to = to;
	for (uintptr_t i = 0; i < TOGETHER; i++) {
		timerthread_id id = schedule((int64_t)random_below(&dice, 3),
					     note_order, (void *)i);

		if (i % 3 == 0)
			ck_assert_int_eq(timerthread_reschedule(
						 tt, id, (int64_t)(i % 2)),
					 0);
		if (i % 1000 == 0)
			change_cpu();
	}
	ck_assert_int_eq(advance(3), TOGETHER);
	end();
}

START_TEST(equal_deadlines_have_an_order)
{
	run_together(order[0]);
	run_together(order[1]);
	ck_assert_int_eq(memcmp(order[0], order[1], sizeof(order[0])), 0);
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

/*
 * Who calls.
 */
static struct timerthread *other;
static int result[3];

static void call_inside(void *arg)
{
	note(arg);
	result[0] = advance(1);
	result[1] = timerthread_dispatch(tt);
	result[2] = timerthread_advance(other, HOUR);
}

START_TEST(not_from_a_callback)
{
	begin(0);
	ck_assert_int_eq(timerthread_create(&other), 0);
	ck_assert_int_eq(timerthread_start_virtual(other, 0), 0);
	ck_assert_int_eq(timerthread_schedule(other, 1, post, &ran, NULL), 0);
	runs = 0;
	schedule(5, call_inside, NULL);
	schedule(6, note, NULL);
	ck_assert_int_eq(advance(10), 2);
	ck_assert_int_eq(result[0], -EBUSY);
	ck_assert_int_eq(result[1], -EINVAL);
	/* Of another instance it is fine. */
	ck_assert_int_eq(result[2], 1);
	ck_assert_int_eq(now(), 10);
	timerthread_destroy(other);
	end();
}
END_TEST

static struct timerthread *caller;

static void call_the_caller(void *arg)
{
	(void)arg;
	result[0] = timerthread_advance(caller, 1);
}

static void advance_other(void *arg)
{
	(void)arg;
	result[1] = timerthread_advance(other, 1);
}

/* However deep: a callback of tt that is in one of another instance. */
START_TEST(not_from_deep_inside)
{
	begin(0);
	caller = tt;
	ck_assert_int_eq(timerthread_create(&other), 0);
	ck_assert_int_eq(timerthread_start_virtual(other, 0), 0);
	ck_assert_int_eq(
		timerthread_schedule(other, 1, call_the_caller, NULL, NULL), 0);
	schedule(1, advance_other, NULL);
	ck_assert_int_eq(advance(1), 1);
	ck_assert_int_eq(result[0], -EBUSY);
	ck_assert_int_eq(result[1], 1);
	timerthread_destroy(other);
	end();
}
END_TEST

static void *advance_in_thread(void *arg)
{
	*(int *)arg = advance(10);
	return NULL;
}

static pthread_t start_thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	ck_assert_int_eq(pthread_create(&t, NULL, fn, arg), 0);
	return t;
}

START_TEST(one_thread_at_a_time)
{
	pthread_t t;
	int r;

	begin(0);
	schedule(5, hold, &ran);
	schedule(6, post, &ran);
	t = start_thread(advance_in_thread, &r);
	wait_for(&ran);
	ck_assert_int_eq(advance(1), -EBUSY);
	ck_assert_int_eq(advance(0), -EBUSY);
	ck_assert_int_eq(advance(-1), -EINVAL);
	ck_assert_int_eq(now(), 5);
	sem_post(&go);
	pthread_join(t, NULL);
	ck_assert_int_eq(r, 2);
	ck_assert_int_eq(now(), 10);
	/* In turn, any thread may. */
	schedule(15, note, NULL);
	pthread_join(start_thread(advance_in_thread, &r), NULL);
	ck_assert_int_eq(r, 1);
	schedule(25, note, NULL);
	ck_assert_int_eq(advance(10), 1);
	end();
}
END_TEST

static pthread_t seen_thread;
static sigset_t seen_mask;
static char seen_name[16];

static void look(void *arg)
{
	note(arg);
	seen_thread = pthread_self();
	pthread_sigmask(SIG_SETMASK, NULL, &seen_mask);
	pthread_getname_np(pthread_self(), seen_name, sizeof(seen_name));
}

START_TEST(callbacks_are_part_of_the_call)
{
	char name[16];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_getname_np(pthread_self(), name, sizeof(name));
	setup();
	ck_assert_int_eq(timerthread_set_thread_name(tt, "unused"), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	schedule(1, look, NULL);
	ck_assert_int_eq(advance(1), 1);
	ck_assert(pthread_equal(seen_thread, pthread_self()));
	ck_assert_int_eq(sigismember(&seen_mask, SIGUSR2), 1);
	ck_assert_int_eq(sigismember(&seen_mask, SIGUSR1), 0);
	ck_assert_int_eq(sigismember(&seen_mask, SIGTERM), 0);
	ck_assert_str_eq(seen_name, name);
	end();
}
END_TEST

/*
 * Stop and destroy.
 */
static void stop_inside(void *arg)
{
	note(arg);
	result[0] = timerthread_stop(tt);
	result[1] = timerthread_stop(tt);
	result[2] = timerthread_schedule(tt, 0, never, NULL, NULL);
}

/* The clock stays where it was then. */
START_TEST(stopped_by_a_callback)
{
	begin(0);
	runs = 0;
	schedule(4, note, NULL);
	schedule(5, stop_inside, NULL);
	schedule(5 + 1, never, NULL);
	every(6, 1, never, NULL);
	schedule(HOUR, never, NULL);
	ck_assert_int_eq(advance(10), 2);
	ck_assert_int_eq(runs, 2);
	ck_assert_int_eq(now(), 5);
	ck_assert_int_eq(result[0], 1);
	ck_assert_int_eq(result[1], 1);
	ck_assert_int_eq(result[2], -ESHUTDOWN);
	ck_assert_int_eq(advance(10), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(drain(), 3);
	ck_assert_int_eq(drain(), 0);
	ck_assert_int_eq(now(), 5);
	end();
}
END_TEST

/* No callback runs any more: nobody need be waited for by another stop. */
START_TEST(over_when_the_call_is)
{
	begin(0);
	schedule(1, stop_inside, NULL);
	schedule(2, never, NULL);
	ck_assert_int_eq(advance(5), 1);
	ck_assert_int_eq(drain(), 1);
	end();
}
END_TEST

static atom32 stopped;

static void *stop_in_thread(void *arg)
{
	*(int *)arg = timerthread_stop(tt);
	atom32_store_release(&stopped, 1);
	return NULL;
}

START_TEST(stopped_by_another_thread)
{
	pthread_t t, s;
	int r, stop_r;

	begin(0);
	schedule(5, hold, &ran);
	schedule(6, never, NULL);
	t = start_thread(advance_in_thread, &r);
	wait_for(&ran);
	s = start_thread(stop_in_thread, &stop_r);
	while (timerthread_schedule(tt, 7, never, NULL, NULL) == 0)
		sched_yield();
	for (int i = 0; i < 1000; i++)
		sched_yield();
	ck_assert_uint_eq(atom32_load_acquire(&stopped), 0);
	sem_post(&go);
	pthread_join(s, NULL);
	ck_assert_int_eq(stop_r, 0);
	ck_assert_int_ge(drain(), 1);
	pthread_join(t, NULL);
	ck_assert_int_eq(r, 1);
	ck_assert_int_eq(now(), 5);
	end();
}
END_TEST

static void destroy_inside(void *arg)
{
	note(arg);
	if (arg)
		timerthread_stop(tt);
	timerthread_destroy(tt);
}

START_TEST(destroyed_by_a_callback)
{
	for (int i = 0; i < 20; i++) {
		begin(0);
		schedule(4, note, NULL);
		schedule(5, destroy_inside, i % 2 ? tt : NULL);
		schedule(6, never, NULL);
		every(HOUR, 1, never, NULL);
		errno = E2BIG;
		ck_assert_int_eq(advance(10), 2);
		ck_assert_int_eq(errno, E2BIG);
	}
}
END_TEST

/* It is the last one, so that it would be armed again. */
START_TEST(destroyed_by_a_periodic_callback)
{
	begin(0);
	every(5, 1, destroy_inside, NULL);
	ck_assert_int_eq(advance(INT64_MAX), 1);
}
END_TEST

static void *destroy_in_thread(void *arg)
{
	timerthread_destroy(tt);
	return arg;
}

START_TEST(destroyed_by_another_thread)
{
	begin(0);
	schedule(5, note, NULL);
	schedule(50, never, NULL);
	ck_assert_int_eq(advance(10), 1);
	pthread_join(start_thread(destroy_in_thread, NULL), NULL);
}
END_TEST

START_TEST(never_advanced)
{
	begin(0);
	schedule(0, never, NULL);
	schedule(HOUR, never, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(drain(), 2);
	end();

	begin(0);
	schedule(0, never, NULL);
	end();

	begin(INT64_MAX);
	end();
}
END_TEST

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

static void *cancel_wait_in_thread(void *arg)
{
	int r = timerthread_cancel_wait(tt, *(timerthread_id *)arg);

	result[0] = r;
	result[1] = (int)atom32_load(&written);
	return NULL;
}

START_TEST(cancel_wait_sees_what_was_written)
{
	for (int i = 0; i < 50; i++) {
		timerthread_id id;
		pthread_t t, c;
		int r;

		begin(0);
		atom32_store(&written, 0);
		id = schedule(5, hold_and_write, &ran);
		t = start_thread(advance_in_thread, &r);
		wait_for(&ran);
		c = start_thread(cancel_wait_in_thread, &id);
		for (int j = 0; j < i * 10; j++)
			sched_yield();
		sem_post(&go);
		pthread_join(c, NULL);
		pthread_join(t, NULL);
		ck_assert(result[0] == 1 || result[0] == -ENOENT);
		ck_assert_int_eq(result[1], 1);
		ck_assert_int_eq(r, 1);
		end();
	}
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

/*
 * fork.
 */
static int64_t at_fork;

static void use_in_child(void)
{
	errno = E2BIG;
	NEED(advance(1) == -ECHILD);
	NEED(advance(-1) == -ECHILD);
	NEED(timerthread_start_virtual(tt, 0) == -ECHILD);
	NEED(timerthread_dispatch(tt) == -ECHILD);
	NEED(now() == at_fork);
	NEED(errno == E2BIG);
	timerthread_destroy(tt);
}

START_TEST(inherited)
{
	begin(0);
	schedule(5, note, NULL);
	schedule(HOUR, never, NULL);
	ck_assert_int_eq(advance(1), 0);
	at_fork = now();
	in_child(use_in_child);
	ck_assert_int_eq(advance(10), 1);
	end();
}
END_TEST

static pid_t forked;

static void fork_here(void *arg)
{
	note(arg);
	at_fork = now();
	prepare_fork();
	forked = fork();
	if (forked == 0) {
		limit_child();
		NEED(timerthread_get_current(NULL, NULL) == -ENOENT);
	}
	errno = EDOM;
}

/* In the child the call is over, in the parent it goes on. */
START_TEST(forked_by_a_callback)
{
	int r;

	begin(0);
	schedule(4, note, NULL);
	every(5, 2, fork_here, NULL);
	schedule(6, note, NULL);
	runs = 0;
	errno = E2BIG;
	r = advance(1 + 5);
	if (forked == 0) {
		NEED(r == -ECHILD);
		NEED(errno == E2BIG);
		NEED(runs == 2);
		use_in_child();
		_exit(EXIT_SUCCESS);
	}
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_eq(r, 3);
	ck_assert_int_eq(end_of(forked), EXIT_SUCCESS);
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

int main(void)
{
	const TTest *const tests[] = {
		start_errors,
		advance_errors,
		it_has_no_thread,
		options_come_before,
		errno_is_left_alone,
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
		as_the_model,
		the_same_each_time,
		equal_deadlines_have_an_order,
		a_million,
		many_long_before,
		random_long_before,
		max_timers,
		not_from_a_callback,
		not_from_deep_inside,
		one_thread_at_a_time,
		callbacks_are_part_of_the_call,
		stopped_by_a_callback,
		over_when_the_call_is,
		stopped_by_another_thread,
		destroyed_by_a_callback,
		destroyed_by_a_periodic_callback,
		destroyed_by_another_thread,
		never_advanced,
		cancel_wait_waits,
		cancel_wait_sees_what_was_written,
		others_schedule_meanwhile,
		inherited,
		forked_by_a_callback,
	};

	return RUN_TESTS("virtual", tests);
}
