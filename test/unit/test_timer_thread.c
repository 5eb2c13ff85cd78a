/* SPDX-License-Identifier: MIT */
/*
 * The thread of an instance: its attributes, what it blocks, and its end.
 */
#include "config.h"

#include "attributes.h"
#include "child.h"
#include "early_ends.h"
#include "fixture.h"
#include "mask.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static struct {
	char name[16];
	bool mask_is_right;
	pthread_t self;
	size_t stack;
} thread;

static void inspect(void *arg)
{
	get_thread_name(thread.name, sizeof(thread.name));
	thread.self = pthread_self();
	thread.mask_is_right = mask_is_right();
	thread.stack = stack_size();
	sem_post(arg);
}

START_TEST(the_thread)
{
	sigset_t before, after;
	pthread_t t;

	setup();
	ck_assert_int_eq(timerthread_set_name(tt, "my-timers"), 0);
	ck_assert_int_eq(timerthread_get_pthread(tt, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_get_pthread(tt, &t), -EINVAL);
	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	ck_assert_int_eq(sigismember(&after, SIGUSR2), 1);
	ck_assert_int_eq(sigismember(&after, SIGUSR1), 0);
	ck_assert_int_eq(timerthread_get_pthread(tt, &t), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, inspect, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_str_eq(thread.name, "my-timers");
	ck_assert(thread.mask_is_right);
	ck_assert(pthread_equal(thread.self, t));
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_get_pthread(tt, &t), -ESHUTDOWN);
	timerthread_destroy(tt);
}
END_TEST

START_TEST(thread_attributes)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 20);
	setup();
	ck_assert_int_eq(timerthread_start(tt, &attr), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, inspect, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert(thread.stack == 0 || thread.stack >= 1 << 20);
	ck_assert_str_eq(thread.name, "timerthread");
	timerthread_destroy(tt);

	/* One that fails leaves an instance that can be started. */
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	setup();
	ck_assert_int_eq(timerthread_start(tt, &attr), -EINVAL);
	ck_assert_int_eq(timerthread_set_name(tt, "again"), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(timerthread_start(tt, &attr), -EINVAL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_start(tt, &attr), -EINVAL);
	timerthread_destroy(tt);
	pthread_attr_destroy(&attr);
}
END_TEST

/* The mask that the attributes ask for does not reach the thread. */
START_TEST(attributes_with_a_signal_mask)
{
	pthread_attr_t attr;
	sigset_t none;

	pthread_attr_init(&attr);
	sigemptyset(&none);
	if (!set_signal_mask(&attr, &none))
		return;
	setup();
	ck_assert_int_eq(timerthread_start(tt, &attr), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, inspect, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert(thread.mask_is_right);
	timerthread_destroy(tt);
	pthread_attr_destroy(&attr);
}
END_TEST

static int seen_policy;

static void inspect_scheduling(void *arg)
{
	struct sched_param param;

	pthread_getschedparam(pthread_self(), &seen_policy, &param);
	sem_post(arg);
}

static void inspect_when_started(const pthread_attr_t *attr)
{
	ck_assert_int_eq(timerthread_start(tt, attr), 0);
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, inspect_scheduling, &ran, NULL), 0);
	wait_for(&ran);
	timerthread_destroy(tt);
}

static void *return_arg(void *arg)
{
	return arg;
}

static void real_time(pthread_attr_t *attr)
{
	struct sched_param param = {.sched_priority = 1};

	pthread_attr_init(attr);
	pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(attr, SCHED_FIFO);
	pthread_attr_setschedparam(attr, &param);
}

/* As pthread_create says, whoever runs this. */
START_TEST(attributes_with_a_policy)
{
	pthread_attr_t attr;
	pthread_t t;
	int r;

	real_time(&attr);
	r = pthread_create(&t, &attr, return_arg, NULL);
	setup();
	if (r == 0) {
		pthread_join(t, NULL);
		inspect_when_started(&attr);
		ck_assert_int_eq(seen_policy, SCHED_FIFO);
	} else {
		ck_assert_int_eq(timerthread_start(tt, &attr), -r);
		inspect_when_started(NULL);
		ck_assert_int_eq(seen_policy, SCHED_OTHER);
	}
	pthread_attr_destroy(&attr);
}
END_TEST

static void start_without_privileges(void)
{
	pthread_attr_t attr;

	if (!forbid_real_time() || (geteuid() == 0 && setuid(65534) != 0)) {
		puts("attributes_without_privileges: nothing was tested");
		return;
	}
	real_time(&attr);
	NEED(timerthread_start(tt, &attr) == -EPERM);
	NEED(timerthread_schedule(tt, 0, never, NULL, NULL) == -EINVAL);
	NEED(timerthread_set_name(tt, "again") == 0);
	NEED(timerthread_start(tt, NULL) == 0);
	NEED(timerthread_schedule(tt, 0, post, &ran, NULL) == 0);
	wait_for(&ran);
	timerthread_destroy(tt);
}

START_TEST(attributes_without_privileges)
{
	setup();
	in_child(start_without_privileges);
	timerthread_destroy(tt);
}
END_TEST

/* There is no memory for such a stack. */
START_TEST(a_thread_that_cannot_be_made)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	ck_assert_int_eq(pthread_attr_setstacksize(
				 &attr, SIZE_MAX / 8 & ~(size_t)0xffff),
			 0);
	setup();
	ck_assert_int_eq(timerthread_start(tt, &attr), -EAGAIN);
	pthread_attr_destroy(&attr);
	ck_assert(!tt->turning);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	end();
}
END_TEST

static pthread_key_t key;
static atomic_int ended;

/* The last that the timer thread does, and it takes its time. */
static void end_slowly(void *value)
{
	struct timespec ms50 = {.tv_nsec = 50000000};

	(void)value;
	nanosleep(&ms50, NULL);
	atomic_store(&ended, 1);
}

static void set_value(void *arg)
{
	pthread_setspecific(key, arg);
}

static void *stop_and_see(void *arg)
{
	return timerthread_stop(tt) == 0 && atomic_load(&ended) == 1 ? NULL
								     : arg;
}

/* Whoever stops comes after all that the thread does. */
START_TEST(stop_waits_for_the_end_of_the_thread)
{
	ck_assert_int_eq(pthread_key_create(&key, end_slowly), 0);
	for (int i = 0; i < 5; i++) {
		atomic_store(&ended, 0);
		setup();
		ck_assert_int_eq(
			timerthread_set_thread_hooks(tt, set_value, NULL, tt),
			0);
		ck_assert_int_eq(timerthread_start(tt, NULL), 0);
		run_threads(stop_and_see, 4);
		end();
	}
	pthread_key_delete(key);
}
END_TEST

static sem_t may_end;

static void end_when_told(void *value)
{
	(void)value;
	wait_for(&may_end);
}

static void *destroy(void *arg)
{
	(void)arg;
	timerthread_destroy(tt);
	return NULL;
}

static bool joins(void)
{
	bool joined;

	pthread_mutex_lock(&tt->mutex);
	joined = tt->joined;
	pthread_mutex_unlock(&tt->mutex);
	return joined;
}

/* It joins, and waits for the stop, which waits for the join. */
START_TEST(destroy_tells_a_stop_of_the_join)
{
	pthread_t stop, destroyer;
	void *r;

	sem_init(&stop_goes_on, 0, 0);
	sem_init(&stop_sleeps, 0, 0);
	sem_init(&may_end, 0, 0);
	ck_assert_int_eq(pthread_key_create(&key, end_when_told), 0);
	setup();
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, set_value, NULL, tt),
			 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(pthread_create(&stop, NULL, stop_late, &go), 0);
	wait_for(&stop_sleeps);
	ck_assert_int_eq(pthread_create(&destroyer, NULL, destroy, NULL), 0);
	wait_for_joiners(2);
	sem_post(&go);
	while (!joins())
		sched_yield();
	sem_post(&stop_goes_on);
	wait_for(&stop_sleeps);
	sem_post(&may_end);
	pthread_join(stop, &r);
	ck_assert_ptr_eq(r, &go);
	pthread_join(destroyer, NULL);
	pthread_key_delete(key);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_thread,
		thread_attributes,
		attributes_with_a_signal_mask,
		attributes_with_a_policy,
		attributes_without_privileges,
		a_thread_that_cannot_be_made,
		stop_waits_for_the_end_of_the_thread,
		destroy_tells_a_stop_of_the_join,
	};

	return RUN_TESTS("timer_thread", tests);
}
