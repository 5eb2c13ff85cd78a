/* SPDX-License-Identifier: MIT */
/*
 * The clocks, and the sleep on them.
 *
 * What becomes of timers when the wall clock is stepped, or when the machine
 * comes back from being suspended, is shown with clock_gettime taken over by
 * this program, for the library too, whose parts it links.  What the kernel
 * does then, it must do itself: that it ends the thread's sleep when the clock
 * is set passes a deadline, or moves its end when the clock is set back, is
 * not shown.  A wake-up by hand stands for it here.
 */
#include "config.h"

#include "api/instance.h"
#include "attributes.h"
#include "bare.h"
#include "intake/expiry.h"
#include "os/atomic.h"
#include "os/clock.h"
#include "os/sleeper.h"

#include "child.h"
#include "contents.h"
#include "fixture.h"
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define MS   INT64_C(1000000)
#define S    INT64_C(1000000000)
#define HOUR (3600 * S)

static const clockid_t clocks[] = {
	CLOCK_MONOTONIC,
	CLOCK_REALTIME,
	CLOCK_BOOTTIME,
};

enum { CLOCKS = 3 };

/*
 * A clock under control: this many hours later than the kernel says.
 */
static atom32 shifted_clock, shift_hours;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	/* Threads that come first at the same time find the same. */
	static atomword next;
	int r;

	if (!atomword_load_acquire(&next))
		atomword_store_release(
			&next, (uintptr_t)real_with_times("clock_gettime"));
	r = ((int (*)(clockid_t, struct timespec *))atomword_load_acquire(
		&next))(clock, t);
	real_wrote(t, sizeof(*t));
	if (r == 0 && clock == (clockid_t)atom32_load_acquire(&shifted_clock))
		t->tv_sec += (int32_t)atom32_load(&shift_hours) * 3600;
	return r;
}

/* CLOCK_MONOTONIC, and nothing: none. */
static void step(clockid_t clock, int hours)
{
	atom32_store(&shift_hours, (uint32_t)hours);
	atom32_store_release(&shifted_clock, (uint32_t)clock);
}

/*
 * The sleeper alone.
 */
static struct sleeper sleeper;
static atom32 word, asleep, awake;

static void *sleep_for_ever(void *arg)
{
	(void)arg;
	atom32_store_release(&asleep, 1);
	/* It may end early for no reason, but not change the word. */
	while (atom32_load_acquire(&word) == 0)
		sleeper_sleep(&sleeper, &word, 0, INT64_MAX);
	atom32_store_release(&awake, 1);
	return NULL;
}

static void open_sleeper(clockid_t clock)
{
	ck_assert_int_eq(sleeper_open(&sleeper, clock, false), 0);
	atom32_store(&word, 0);
	atom32_store(&asleep, 0);
	atom32_store(&awake, 0);
}

static void wake(void)
{
	atom32_store_release(&word, 1);
	sleeper_wake(&sleeper, &word);
}

START_TEST(sleeper_clocks)
{
	ck_assert(sleeper_knows(CLOCK_MONOTONIC));
	ck_assert(sleeper_knows(CLOCK_REALTIME));
	ck_assert(sleeper_knows(CLOCK_BOOTTIME));
	ck_assert(!sleeper_knows(CLOCK_PROCESS_CPUTIME_ID));
	ck_assert(!sleeper_knows(CLOCK_TAI));
	ck_assert(!sleeper_knows(-1));
}
END_TEST

START_TEST(a_wake_before_the_sleep_ends_it)
{
	for (int i = 0; i < CLOCKS; i++) {
		open_sleeper(clocks[i]);
		wake();
		sleeper_sleep(&sleeper, &word, 0, INT64_MAX);
		sleeper_sleep(&sleeper, &word, 0, clock_now(clocks[i]) + HOUR);
		sleeper_close(&sleeper, false);
	}
}
END_TEST

/* At all moments around the way to sleep. */
START_TEST(a_wake_ends_the_sleep)
{
	enum { ROUNDS = 200 };

	for (int i = 0; i < CLOCKS * ROUNDS; i++) {
		pthread_t t;

		open_sleeper(clocks[i % CLOCKS]);
		ck_assert_int_eq(pthread_create(&t, NULL, sleep_for_ever, NULL),
				 0);
		while (!atom32_load_acquire(&asleep))
			sched_yield();
		for (volatile int spin = 0; spin < i * 20; spin++)
			;
		ck_assert_uint_eq(atom32_load(&awake), 0);
		wake();
		pthread_join(t, NULL);
		sleeper_close(&sleeper, false);
	}
}
END_TEST

START_TEST(sleeps_time_out)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t then = clock_now(clocks[i]) + 3 * MS;

		open_sleeper(clocks[i]);
		while (clock_now(clocks[i]) < then)
			sleeper_sleep(&sleeper, &word, 0, then);
		sleeper_close(&sleeper, false);
	}
}
END_TEST

START_TEST(past_deadlines_do_not_sleep)
{
	static const int64_t past[] = {
		INT64_MIN, INT64_MIN + 1, -S, -1, 0, 1, 999999999, S,
	};

	for (int i = 0; i < CLOCKS; i++) {
		open_sleeper(clocks[i]);
		for (int j = 0; j < 8; j++)
			sleeper_sleep(&sleeper, &word, 0, past[j]);
		sleeper_sleep(&sleeper, &word, 0, clock_now(clocks[i]));
		sleeper_close(&sleeper, false);
	}
}
END_TEST

/* What the sleep before left behind does not keep the next one from it. */
START_TEST(a_sleep_after_a_wake_waits)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t then;
		int sleeps = 0;

		open_sleeper(clocks[i]);
		sleeper_wake(&sleeper, &word);
		sleeper_sleep(&sleeper, &word, 0, 1);
		then = clock_now(clocks[i]) + 20 * MS;
		while (clock_now(clocks[i]) < then) {
			sleeper_sleep(&sleeper, &word, 0, then);
			sleeps++;
		}
		/* A stop by a debugger, say, ends it, but not often. */
		ck_assert_int_le(sleeps, 10);
		sleeper_close(&sleeper, false);
	}
}
END_TEST

START_TEST(errno_is_left_alone)
{
	for (int i = 0; i < CLOCKS; i++) {
		errno = E2BIG;
		open_sleeper(clocks[i]);
		sleeper_sleep(&sleeper, &word, 0, 1);
		sleeper_sleep(&sleeper, &word, 1, INT64_MAX);
		sleeper_wake(&sleeper, &word);
		sleeper_close(&sleeper, false);
		ck_assert_int_eq(errno, E2BIG);
	}
}
END_TEST

/*
 * Instances.
 */
static void begin(clockid_t clock)
{
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, clock), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
}

static timerthread_id schedule(int64_t deadline, timerthread_fn *fn, void *arg)
{
	timerthread_id id;

	ck_assert_int_eq(timerthread_schedule(tt, deadline, fn, arg, &id), 0);
	return id;
}

static int64_t asleep_until(void)
{
	int64_t t;

	lock_acquire(&tt->engine.wakeup.lock);
	t = tt->engine.wakeup.sleep;
	lock_release(&tt->engine.wakeup.lock);
	return t;
}

static void wait_until_asleep(int64_t until)
{
	while (asleep_until() != until)
		sched_yield();
}

START_TEST(errors)
{
	static const clockid_t others[] = {
		CLOCK_PROCESS_CPUTIME_ID,
		CLOCK_THREAD_CPUTIME_ID,
		CLOCK_MONOTONIC_RAW,
		CLOCK_REALTIME_COARSE,
		CLOCK_MONOTONIC_COARSE,
		CLOCK_REALTIME_ALARM,
		CLOCK_BOOTTIME_ALARM,
		CLOCK_TAI,
		-1,
		12345,
	};

	ck_assert_int_eq(timerthread_set_clock(NULL, CLOCK_MONOTONIC), -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_BOOTTIME), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_int_eq(timerthread_set_clock(tt, others[i]), -EINVAL);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_MONOTONIC), 0);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), -EBUSY);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_TAI), -EINVAL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_MONOTONIC), -EBUSY);
	timerthread_destroy(tt);
}
END_TEST

static void check_now(clockid_t clock)
{
	int64_t before = clock_now(clock), now = timerthread_now(tt);

	ck_assert_int_le(before, now);
	ck_assert_int_le(now, clock_now(clock));
}

/* Of the shifted one too, so that none can be taken for another. */
START_TEST(now_is_of_the_clock)
{
	setup();
	check_now(CLOCK_MONOTONIC);
	timerthread_destroy(tt);
	step(CLOCK_BOOTTIME, 1000);
	for (int i = 0; i < CLOCKS; i++) {
		setup();
		ck_assert_int_eq(timerthread_set_clock(tt, clocks[i]), 0);
		check_now(clocks[i]);
		ck_assert_int_eq(timerthread_start(tt, NULL), 0);
		check_now(clocks[i]);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		check_now(clocks[i]);
		timerthread_destroy(tt);
	}
}
END_TEST

/* Another thread chooses the clock meanwhile: it is one or the other. */
static atom32 chosen;

static void *choose_in_thread(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		if (timerthread_set_clock(tt, i % 2 ? CLOCK_MONOTONIC
						    : CLOCK_BOOTTIME) != 0)
			return arg;
	}
	atom32_store(&chosen, 1);
	return NULL;
}

static void *look_in_thread(void *arg)
{
	while (!atom32_load(&chosen)) {
		int64_t low = clock_now(CLOCK_MONOTONIC);
		int64_t now = timerthread_now(tt);

		/* The clocks are 1000 hours and more apart. */
		if (now < low || (now > clock_now(CLOCK_MONOTONIC) &&
				  now < low + 1000 * HOUR))
			return arg;
	}
	return NULL;
}

static void *choose_or_look(void *arg)
{
	return arg == (void *)1 ? choose_in_thread(arg) : look_in_thread(arg);
}

START_TEST(now_while_another_thread_sets_the_clock)
{
	step(CLOCK_BOOTTIME, 1000);
	setup();
	run_threads(choose_or_look, 3);
	check_now(CLOCK_MONOTONIC);
	timerthread_destroy(tt);
}
END_TEST

/* NULL is no instance of another clock. */
START_TEST(now_without_an_instance)
{
	struct timerthread *one = NULL;

	step(CLOCK_BOOTTIME, 1000);
	begin(CLOCK_BOOTTIME);
	ck_assert_int_lt(timerthread_now(one), timerthread_now(tt));
	timerthread_destroy(tt);
	tt = NULL;
	check_now(CLOCK_MONOTONIC);
}
END_TEST

static void check_timespec(int64_t s, int64_t ns, int64_t expected)
{
	ck_assert_int_eq(timerthread_from_timespec(s, ns), expected);
}

START_TEST(timespecs)
{
	/* The last second that is whole, and what is left of the next. */
	const int64_t last = INT64_MAX / S, rest = INT64_MAX % S;
	static const int64_t in[][3] = {
		{0, 0, 0},
		{0, 1, 1},
		{0, -1, -1},
		{1, 0, S},
		{1, 999999999, 2 * S - 1},
		{1, -1, S - 1},
		{1, S, 2 * S},
		{1, -S, 0},
		{1, -S - 1, -1},
		{-1, 0, -S},
		{-1, 1, -S + 1},
		{-1, 999999999, -1},
		{-1, S + 1, 1},
		{-2, -5, -2 * S - 5},
		{0, INT64_MAX, INT64_MAX},
		{0, INT64_MIN, INT64_MIN},
		{-1, INT64_MAX, INT64_MAX - S},
		{1, INT64_MIN, INT64_MIN + S},
		{1, INT64_MAX, INT64_MAX},
		{-1, INT64_MIN, INT64_MIN},
		{INT64_MAX, 0, INT64_MAX},
		{INT64_MIN, 0, INT64_MIN},
		{INT64_MAX, INT64_MAX, INT64_MAX},
		{INT64_MIN, INT64_MIN, INT64_MIN},
		{INT64_MAX, INT64_MIN, INT64_MAX},
		{INT64_MIN, INT64_MAX, INT64_MIN},
		{INT64_MAX, -1, INT64_MAX},
		{INT64_MIN, 1, INT64_MIN},
		{9223372037, -999999999, INT64_C(9223372036000000001)},
		{-9223372037, 999999999, INT64_C(-9223372036000000001)},
		{9223372037, 0, INT64_MAX},
		{-9223372037, 0, INT64_MIN},
		{9223372037, -145224193, INT64_MAX},
		{9223372037, -145224194, INT64_MAX - 1},
		{-9223372037, 145224192, INT64_MIN},
		{-9223372037, 145224193, INT64_MIN + 1},
		{18446744073, INT64_MIN, INT64_C(9223372036145224192)},
		{-18446744073, INT64_MAX, INT64_C(-9223372036145224193)},
	};

	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
		check_timespec(in[i][0], in[i][1], in[i][2]);
	for (int64_t i = -3; i <= 3; i++) {
		check_timespec(last, rest + i,
			       i > 0 ? INT64_MAX : INT64_MAX + i);
		check_timespec(-last, -rest + i,
			       i < -1 ? INT64_MIN : -INT64_MAX + i);
	}
}
END_TEST

#ifdef __SIZEOF_INT128__
START_TEST(random_timespecs)
{
	uint64_t rng = test_seed();

	for (int i = 0; i < 1000000; i++) {
		int64_t s =
			(int64_t)next_random(&rng) >> random_below(&rng, 64);
		int64_t ns =
			(int64_t)next_random(&rng) >> random_below(&rng, 64);
		__extension__ __int128 sum;

		/* Around where it begins to be too much. */
		if (i % 4 == 0)
			s = (s & 1 ? 1 : -1) * (INT64_MAX / S) + s % 4;
		/* Where the two are nearly the same, with the sign changed. */
		if (i % 16 == 1)
			s = -(ns / S) + s % 3;
		sum = s;
		sum = sum * S + ns;
		if (sum > INT64_MAX)
			sum = INT64_MAX;
		if (sum < INT64_MIN)
			sum = INT64_MIN;
		check_timespec(s, ns, (int64_t)sum);
	}
}
END_TEST
#endif

enum { DEADLINES = 300 };

/* Written by the timer thread, read when it has stopped. */
static int early, late, runs;

static void check_time(void *arg)
{
	int64_t now = timerthread_now(tt);

	early += now < *(const int64_t *)arg;
	/* A bound that no busy machine breaks. */
	late += now > *(const int64_t *)arg + 20 * S;
	if (++runs % DEADLINES == 0)
		post(&ran);
}

START_TEST(never_early)
{
	static int64_t deadline[DEADLINES];
	uint64_t rng = test_seed();

	for (int c = 0; c < CLOCKS; c++) {
		int64_t now;

		begin(clocks[c]);
		now = timerthread_now(tt);
		for (int i = 0; i < DEADLINES; i++) {
			deadline[i] =
				now + (int64_t)random_below(&rng, 60 * MS);
			schedule(deadline[i], check_time, &deadline[i]);
		}
		wait_for(&ran);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(early, 0);
		ck_assert_int_eq(late, 0);
		ck_assert_int_eq(runs, (c + 1) * DEADLINES);
		timerthread_destroy(tt);
	}
}
END_TEST

/* Each finds the thread asleep, or on the way there. */
START_TEST(earlier_ones_wake_it)
{
	enum { ROUNDS = 1000 };

	for (int c = 0; c < CLOCKS; c++) {
		int64_t far;

		begin(clocks[c]);
		wait_until_asleep(INT64_MAX);
		far = timerthread_now(tt) + HOUR;
		schedule(far, never, NULL);
		wait_until_asleep(far);
		schedule(far - 1, never, NULL);
		wait_until_asleep(far - 1);
		for (int i = 0; i < ROUNDS; i++) {
			ck_assert_int_eq(
				timerthread_schedule_after(tt, i % 7 * 3000,
							   post, &ran, NULL),
				0);
			wait_for(&ran);
		}
		timerthread_destroy(tt);
	}
}
END_TEST

START_TEST(stop_is_prompt)
{
	for (int i = 0; i < 20 * CLOCKS; i++) {
		int64_t far;

		begin(clocks[i % CLOCKS]);
		far = timerthread_now(tt) + HOUR;
		schedule(far, never, NULL);
		if (i < 10 * CLOCKS)
			wait_until_asleep(far);
		if (i % 2)
			ck_assert_int_eq(timerthread_stop(tt), 0);
		timerthread_destroy(tt);
	}
}
END_TEST

START_TEST(far_and_past_deadlines)
{
	for (int i = 0; i < CLOCKS; i++) {
		begin(clocks[i]);
		schedule(TIMERTHREAD_NEVER, never, NULL);
		schedule(TIMERTHREAD_NEVER - 1, never, NULL);
		wait_until_asleep(TIMERTHREAD_NEVER - 1);
		schedule(INT64_MIN, post, &ran);
		wait_for(&ran);
		schedule(-1, post, &ran);
		wait_for(&ran);
		schedule(0, post, &ran);
		wait_for(&ran);
		timerthread_destroy(tt);
	}
}
END_TEST

/*
 * Descriptors.
 */
START_TEST(the_descriptor_is_closed)
{
	int before = open_files();

	for (int i = 0; i < CLOCKS; i++) {
		bool has_one = clocks[i] == CLOCK_BOOTTIME;

		begin(clocks[i]);
		ck_assert_int_eq(open_files(), before + has_one);
		if (has_one)
			ck_assert(fcntl(tt->engine.wakeup.sleeper.fd, F_GETFD) &
				  FD_CLOEXEC);
		timerthread_destroy(tt);
		ck_assert_int_eq(open_files(), before);

		/* Never started. */
		setup();
		ck_assert_int_eq(timerthread_set_clock(tt, clocks[i]), 0);
		timerthread_destroy(tt);
		ck_assert_int_eq(open_files(), before);
	}
}
END_TEST

static int files_before;

static void destroy_and_count(void)
{
	NEED(open_files() == files_before + 1);
	timerthread_destroy(tt);
	NEED(open_files() == files_before);
}

START_TEST(the_descriptor_is_closed_in_a_child)
{
	files_before = open_files();
	begin(CLOCK_BOOTTIME);
	in_child(destroy_and_count);
	schedule(0, post, &ran);
	wait_for(&ran);
	timerthread_destroy(tt);
}
END_TEST

/* A thread that cannot be started leaves no descriptor behind. */
START_TEST(no_descriptor_is_left_by_a_failure)
{
	pthread_attr_t attr;
	struct sched_param param = {.sched_priority = 1};
	cpu_set_t none;
	int before = open_files();

	CPU_ZERO(&none);
	pthread_attr_init(&attr);
	pthread_attr_setschedparam(&attr, &param);
	if (!set_affinity(&attr, &none))
		return;
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_BOOTTIME), 0);
	ck_assert_int_eq(timerthread_start(tt, &attr), -EINVAL);
	ck_assert_int_eq(open_files(), before);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(open_files(), before + 1);
	schedule(0, post, &ran);
	wait_for(&ran);
	timerthread_destroy(tt);
	ck_assert_int_eq(open_files(), before);
	pthread_attr_destroy(&attr);
}
END_TEST

START_TEST(no_descriptor_left)
{
	struct rlimit old, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_BOOTTIME), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	errno = E2BIG;
	ck_assert_int_eq(timerthread_start(tt, NULL), -EMFILE);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
			 -EINVAL);
	/* The other clocks need none. */
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	timerthread_destroy(tt);

	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_BOOTTIME), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), -EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	schedule(0, post, &ran);
	wait_for(&ran);
	timerthread_destroy(tt);
}
END_TEST

/*
 * Steps, with the engine turned by hand.
 */
static void engine_begin(clockid_t clock)
{
	step(CLOCK_MONOTONIC, 0);
	bare_begin(1, clock);
	runs = 0;
}

static void count(void *arg)
{
	(void)arg;
	runs++;
}

/* Also CLOCK_BOOTTIME, when the machine was suspended. */
static void step_forward(clockid_t clock)
{
	int64_t now;

	engine_begin(clock);
	now = clock_now(clock);
	bare_schedule(0, now + HOUR, count, NULL);
	bare_schedule(0, now + 2 * HOUR, count, NULL);
	bare_schedule(0, now + 4 * HOUR, never, NULL);
	ck_assert_int_eq(bare_turn(), now + HOUR);
	ck_assert_int_eq(runs, 0);
	step(clock, 3);
	ck_assert_int_eq(bare_turn(), now + 4 * HOUR);
	ck_assert_int_eq(runs, 2);
	bare_end();
}

START_TEST(realtime_stepped_forward)
{
	step_forward(CLOCK_REALTIME);
}
END_TEST

START_TEST(boottime_stepped_forward)
{
	step_forward(CLOCK_BOOTTIME);
}
END_TEST

/* What was due, or all but, has to wait again. */
START_TEST(realtime_stepped_back)
{
	int64_t now;

	engine_begin(CLOCK_REALTIME);
	step(CLOCK_REALTIME, 5);
	now = clock_now(CLOCK_REALTIME);
	/* So that the engine has seen that time. */
	bare_schedule(0, now, count, NULL);
	bare_schedule(0, now + HOUR, count, NULL);
	ck_assert_int_eq(bare_turn(), now + HOUR);
	ck_assert_int_eq(runs, 1);
	bare_schedule(0, now - HOUR, count, NULL);
	bare_schedule(0, now, count, NULL);
	step(CLOCK_REALTIME, 0);
	ck_assert_int_eq(bare_turn(), now - HOUR);
	ck_assert_int_eq(runs, 1);
	step(CLOCK_REALTIME, 4);
	ck_assert_int_eq(bare_turn(), now);
	ck_assert_int_eq(runs, 2);
	step(CLOCK_REALTIME, 3);
	ck_assert_int_eq(bare_turn(), now);
	step(CLOCK_REALTIME, 7);
	ck_assert_int_eq(bare_turn(), INT64_MAX);
	ck_assert_int_eq(runs, 4);
	bare_end();
}
END_TEST

static void count_and_step_back(void *arg)
{
	count(arg);
	step(CLOCK_REALTIME, 0);
}

/* Between two callbacks that both were due. */
START_TEST(realtime_stepped_back_by_a_callback)
{
	int64_t now;

	engine_begin(CLOCK_REALTIME);
	step(CLOCK_REALTIME, 5);
	now = clock_now(CLOCK_REALTIME);
	bare_schedule(0, now - HOUR, count_and_step_back, NULL);
	bare_schedule(0, now - HOUR + 1, count, NULL);
	ck_assert_int_eq(bare_turn(), now - HOUR + 1);
	ck_assert_int_eq(runs, 1);
	bare_end();
}
END_TEST

/* What an executor was given last. */
static timerthread_fn *given;
static void *given_arg;

static int keep(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	given = run;
	given_arg = arg;
	return 0;
}

/* Between its submission and its run; and it may be rescheduled then. */
START_TEST(realtime_stepped_back_before_an_executor_runs_it)
{
	for (int moved = 0; moved < 2; moved++) {
		timerthread_id id;
		int64_t now, deadline;
		int fd;

		step(CLOCK_REALTIME, 5);
		ck_assert_int_eq(timerthread_create(&tt), 0);
		ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), 0);
		ck_assert_int_eq(timerthread_set_executor(tt, keep, NULL), 0);
		ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
		now = timerthread_now(tt);
		ck_assert_int_eq(
			timerthread_schedule(tt, now, count, NULL, &id), 0);
		ck_assert_int_eq(timerthread_dispatch(tt), 1);
		step(CLOCK_REALTIME, 2);
		if (moved)
			ck_assert_int_eq(
				timerthread_reschedule(tt, id, now - HOUR), 0);
		given(given_arg);
		ck_assert_int_eq(runs, moved);
		ck_assert_int_eq(timerthread_get_deadline(tt, id, &deadline),
				 0);
		ck_assert_int_eq(deadline, moved ? now - HOUR : now);
		step(CLOCK_REALTIME, 6);
		ck_assert_int_eq(timerthread_dispatch(tt), 1);
		given(given_arg);
		ck_assert_int_eq(runs, moved + 1);
		timerthread_destroy(tt);
	}
	step(CLOCK_MONOTONIC, 0);
}
END_TEST

/* It neither catches up on what was stepped over nor loses its step. */
START_TEST(realtime_periodic)
{
	int64_t now;

	engine_begin(CLOCK_REALTIME);
	now = clock_now(CLOCK_REALTIME);
	bare_add(0, &(struct timer){now + HOUR, HOUR, count, NULL, 0});
	ck_assert_int_eq(bare_turn(), now + HOUR);
	step(CLOCK_REALTIME, 10);
	ck_assert_int_eq(bare_turn(), now + 11 * HOUR);
	ck_assert_int_eq(runs, 1);
	step(CLOCK_REALTIME, 0);
	ck_assert_int_eq(bare_turn(), now + 11 * HOUR);
	ck_assert_int_eq(runs, 1);
	bare_end();
}
END_TEST

/* Cancelled timers are still found, though the time for that was later. */
START_TEST(realtime_stepped_back_reclaims)
{
	uint64_t id[100];

	engine_begin(CLOCK_REALTIME);
	step(CLOCK_REALTIME, 5);
	bare_schedule(0, 0, count, NULL);
	bare_turn();
	step(CLOCK_REALTIME, 0);
	for (int i = 0; i < 100; i++) {
		const struct timer t = {INT64_MAX - 1, 0, never, NULL, 0};

		ck_assert_int_eq(bucket_schedule(&engine.intake->bucket[0],
						 &engine.wakeup, &t, &id[i]),
				 0);
	}
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(
			slot_cancel(intake_slot(engine.intake, id[i]), id[i]),
			0);
	bare_schedule(0, 0, count, NULL);
	bare_turn();
	ck_assert_uint_eq(engine.pending.heap.n, 0);
	ck_assert_uint_eq(bucket_size(&engine.intake->bucket[0]), 0);
	bare_end();
}
END_TEST

/*
 * Steps, with a timer thread.  The kernel's part is done by hand: its own
 * clock is not stepped.
 */
static void wake_until(sem_t *done)
{
	while (sem_trywait(done) != 0) {
		wakeup_kick(&tt->engine.wakeup);
		sched_yield();
	}
}

static void thread_stepped_forward(clockid_t clock)
{
	int64_t now;

	begin(clock);
	now = timerthread_now(tt);
	schedule(now + HOUR, post, &ran);
	schedule(now + 2 * HOUR, post, &ran);
	schedule(now + 6 * HOUR, never, NULL);
	wait_until_asleep(now + HOUR);
	step(clock, 3);
	wake_until(&ran);
	wait_for(&ran);
	/* What is due at once has its turn after what has become due. */
	schedule(now + 4 * HOUR, post, &ran);
	wait_until_asleep(now + 4 * HOUR);
	step(clock, 5);
	schedule(0, post, &ran);
	wake_until(&ran);
	wait_for(&ran);
	timerthread_destroy(tt);
}

START_TEST(thread_realtime_stepped_forward)
{
	thread_stepped_forward(CLOCK_REALTIME);
}
END_TEST

START_TEST(thread_boottime_stepped_forward)
{
	thread_stepped_forward(CLOCK_BOOTTIME);
}
END_TEST

/*
 * Here the kernel ends the sleep too early, by the clock that was set: nothing
 * runs by that.
 */
START_TEST(thread_realtime_stepped_back)
{
	int64_t deadline;
	timerthread_id id;

	begin(CLOCK_REALTIME);
	deadline = timerthread_now(tt) + 20 * MS;
	schedule(0, hold, &ran);
	wait_for(&ran);
	id = schedule(deadline, never, NULL);
	step(CLOCK_REALTIME, -2);
	sem_post(&go);
	while (clock_now(CLOCK_REALTIME) + 2 * HOUR < deadline + 10 * MS)
		sched_yield();
	schedule(0, post, &ran);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	schedule(deadline, post, &ran);
	step(CLOCK_REALTIME, 0);
	wake_until(&ran);
	timerthread_destroy(tt);
}
END_TEST

/*
 * A time namespace: the clocks of the kernel itself are shifted in it.
 */
enum { NOT_PERMITTED = 9 };
#define SHIFT_S 1000000

static int64_t outside[CLOCKS];

static void in_namespace(void)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t now, deadline;

		NEED(timerthread_create(&tt) == 0);
		NEED(timerthread_set_clock(tt, clocks[i]) == 0);
		NEED(timerthread_start(tt, NULL) == 0);
		now = timerthread_now(tt);
		if (clocks[i] != CLOCK_REALTIME)
			NEED(now >= outside[i] + SHIFT_S * S);
		runs = early = late = 0;
		deadline = now + 20 * MS;
		NEED(timerthread_schedule(tt, deadline, check_time, &deadline,
					  NULL) == 0);
		NEED(timerthread_schedule(tt, now + HOUR, never, NULL, NULL) ==
		     0);
		NEED(timerthread_schedule(tt, deadline + 1, post, &ran, NULL) ==
		     0);
		wait_for(&ran);
		NEED(timerthread_stop(tt) == 0);
		NEED(runs == 1 && early == 0 && late == 0);
		timerthread_destroy(tt);
	}
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 &&
		  write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* The caller's children are in the namespace, it is not. */
static void enter_namespace(void)
{
	char offsets[80];
	pid_t pid;
	int status;

	if (unshare(CLONE_NEWTIME) != 0 &&
	    unshare(CLONE_NEWTIME | CLONE_NEWUSER) != 0)
		_exit(NOT_PERMITTED);
	snprintf(offsets, sizeof(offsets), "monotonic %d 0\nboottime %d 0\n",
		 SHIFT_S, SHIFT_S);
	if (!write_file("/proc/self/timens_offsets", offsets))
		_exit(NOT_PERMITTED);
	pid = fork();
	NEED(pid >= 0);
	if (pid == 0) {
		limit_child();
		in_namespace();
		_exit(EXIT_SUCCESS);
	}
	NEED(waitpid(pid, &status, 0) == pid);
	NEED(status == 0);
}

START_TEST(time_namespace)
{
	int end;

	sem_init(&ran, 0, 0);
	for (int i = 0; i < CLOCKS; i++)
		outside[i] = clock_now(clocks[i]);
	end = end_of(fork_child(enter_namespace));
	if (end == NOT_PERMITTED)
		puts("time_namespace: not permitted, nothing was tested");
	else
		ck_assert_int_eq(end, EXIT_SUCCESS);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		sleeper_clocks,
		a_wake_before_the_sleep_ends_it,
		a_wake_ends_the_sleep,
		sleeps_time_out,
		past_deadlines_do_not_sleep,
		a_sleep_after_a_wake_waits,
		errno_is_left_alone,
		errors,
		now_is_of_the_clock,
		now_while_another_thread_sets_the_clock,
		now_without_an_instance,
		timespecs,
#ifdef __SIZEOF_INT128__
		random_timespecs,
#endif
		never_early,
		earlier_ones_wake_it,
		stop_is_prompt,
		far_and_past_deadlines,
		the_descriptor_is_closed,
		the_descriptor_is_closed_in_a_child,
		no_descriptor_is_left_by_a_failure,
		no_descriptor_left,
		realtime_stepped_forward,
		boottime_stepped_forward,
		realtime_stepped_back,
		realtime_stepped_back_by_a_callback,
		realtime_stepped_back_before_an_executor_runs_it,
		realtime_periodic,
		realtime_stepped_back_reclaims,
		thread_realtime_stepped_forward,
		thread_boottime_stepped_forward,
		thread_realtime_stepped_back,
		time_namespace,
	};

	step(CLOCK_MONOTONIC, 0);
	return RUN_TESTS("clock", tests);
}
