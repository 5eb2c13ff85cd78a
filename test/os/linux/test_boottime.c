/* SPDX-License-Identifier: MIT */
/*
 * The thread of an instance on CLOCK_BOOTTIME sleeps on a timerfd; that of one
 * on another clock needs no descriptor.
 */
#include "config.h"

#include "attributes.h"
#include "child.h"
#include "on_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

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

int main(void)
{
	const TTest *const tests[] = {
		the_descriptor_is_closed,
		the_descriptor_is_closed_in_a_child,
		no_descriptor_is_left_by_a_failure,
		no_descriptor_left,
	};

	return RUN_TESTS("boottime", tests);
}
