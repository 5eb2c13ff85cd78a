/* SPDX-License-Identifier: MIT */
/*
 * Instances on each clock: when their timers run.
 */
#include "config.h"

#include "child.h"
#include "on_clock.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

START_TEST(errors)
{
	ck_assert_int_eq(timerthread_set_clock(NULL, CLOCK_MONOTONIC), -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_BOOTTIME), 0);
	for (int i = 0; i < OTHER_CLOCKS; i++)
		ck_assert_int_eq(timerthread_set_clock(tt, other_clocks[i]),
				 -EINVAL);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_MONOTONIC), 0);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), -EBUSY);
	ck_assert_int_eq(timerthread_set_clock(tt, 12345), -EINVAL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_MONOTONIC), -EBUSY);
	timerthread_destroy(tt);
}
END_TEST

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

	if (!enter_time_namespace())
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
		errors,
		never_early,
		earlier_ones_wake_it,
		stop_is_prompt,
		far_and_past_deadlines,
		time_namespace,
	};

	return RUN_TESTS("clock", tests);
}
