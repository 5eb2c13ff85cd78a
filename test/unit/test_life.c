/* SPDX-License-Identifier: MIT */
/*
 * The life of an instance begins: what it can be set to, and its start.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(null_instance)
{
	pthread_t thread;

	ck_assert_int_eq(timerthread_create(NULL), -EINVAL);
	ck_assert_int_eq(timerthread_set_name(NULL, "a"), -EINVAL);
	ck_assert_int_eq(timerthread_set_buckets(NULL, 1), -EINVAL);
	ck_assert_int_eq(timerthread_start(NULL, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_stop(NULL), -EINVAL);
	ck_assert_int_eq(timerthread_get_pthread(NULL, &thread), -EINVAL);
	timerthread_destroy(NULL);
}
END_TEST

START_TEST(data)
{
	int a, b;

	ck_assert_int_eq(timerthread_set_data(NULL, &a), -EINVAL);
	ck_assert_ptr_null(timerthread_get_data(NULL));
	setup();
	ck_assert_ptr_null(timerthread_get_data(tt));
	ck_assert_int_eq(timerthread_set_data(tt, &a), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_ptr_eq(timerthread_get_data(tt), &a);
	ck_assert_int_eq(timerthread_set_data(tt, &b), 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_ptr_eq(timerthread_get_data(tt), &b);
	end();
}
END_TEST

START_TEST(options)
{
	setup();
	ck_assert_int_eq(timerthread_set_name(tt, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_set_name(tt, ""), -EINVAL);
	ck_assert_int_eq(timerthread_set_name(tt, "sixteen-letters!"), -EINVAL);
	ck_assert_int_eq(timerthread_set_name(tt, "fifteen-letters"), 0);
	ck_assert_int_eq(timerthread_set_buckets(tt, 0), -EINVAL);
	ck_assert_int_eq(timerthread_set_buckets(tt, 1025), -EINVAL);
	ck_assert_int_eq(timerthread_set_buckets(tt, 1024), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(timerthread_set_name(tt, "late"), -EBUSY);
	ck_assert_int_eq(timerthread_set_buckets(tt, 1), -EBUSY);
	ck_assert_int_eq(timerthread_schedule(tt, 0, post, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_name(tt, "late"), -EBUSY);
	ck_assert_int_eq(timerthread_set_buckets(tt, 1), -EBUSY);
	driver_destroy(tt);
}
END_TEST

START_TEST(any_number_of_buckets)
{
	static const unsigned n[] = {1, 2, 3, 12, 1000, 1024};

	for (size_t i = 0; i < 6; i++) {
		timerthread_id id;

		setup();
		ck_assert_int_eq(timerthread_set_buckets(tt, n[i]), 0);
		ck_assert_int_eq(driver_start(tt), 0);
		ck_assert_int_eq(timerthread_schedule(tt, TIMERTHREAD_NEVER,
						      never, NULL, &id),
				 0);
		ck_assert_int_eq(timerthread_schedule(tt, 0, post, &ran, NULL),
				 0);
		wait_for(&ran);
		ck_assert_int_eq(timerthread_cancel(tt, id), 0);
		driver_destroy(tt);
	}
}
END_TEST

START_TEST(starts_once)
{
	start();
	ck_assert_int_eq(driver_start(tt), -EBUSY);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(driver_start(tt), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	driver_destroy(tt);

	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(driver_start(tt), -ESHUTDOWN);
	driver_destroy(tt);
}
END_TEST

static void *schedule_at_start(void *arg)
{
	int r;

	sem_post(&go);
	while ((r = timerthread_schedule(tt, 0, post, &ran, NULL)) == -EINVAL)
		;
	return r == 0 ? arg : NULL;
}

START_TEST(schedule_while_starting)
{
	for (int i = 0; i < 200; i++) {
		pthread_t t;
		void *r;

		setup();
		ck_assert_int_eq(
			pthread_create(&t, NULL, schedule_at_start, &tt), 0);
		wait_for(&go);
		ck_assert_int_eq(driver_start(tt), 0);
		pthread_join(t, &r);
		ck_assert_ptr_eq(r, &tt);
		wait_for(&ran);
		driver_destroy(tt);
	}
}
END_TEST

/* A created instance may be started by the child of a fork. */
START_TEST(start_after_fork)
{
	int status;
	pid_t child;

	setup();
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (driver_start(tt) != 0 ||
		    timerthread_schedule(tt, 0, post, &ran, NULL) != 0)
			_exit(1);
		wait_for(&ran);
		driver_destroy(tt);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	driver_destroy(tt);
}
END_TEST

int main(void)
{
	const TTest *const any[] = {
		null_instance,         data,        options,
		any_number_of_buckets, starts_once, schedule_while_starting,
		start_after_fork,
	};
	const TTest *const of_the_thread[] = {};
	TCase *tcase = tcase_create("life");

	ADD_TESTS(tcase, any);
	if (driver_tested() == ON_THREAD)
		ADD_TESTS(tcase, of_the_thread);
	return run_case("life", tcase);
}
