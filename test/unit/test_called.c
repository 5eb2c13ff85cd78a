/* SPDX-License-Identifier: MIT */
/*
 * What is so for each driver that is a call of the program: who may call and
 * when, how it is stopped and destroyed, and what a child has of it.  Each test
 * runs with timerthread_dispatch in an event loop, and with timerthread_advance
 * on a virtual clock.
 */
#include "config.h"

#include "called.h"
#include "cancellers.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

/*
 * The driver that is tested.
 */
enum { POLLED, VIRTUAL, CALLED };

static int driver, fd;

/* How far a call moves a virtual clock, which begins with 0. */
#define STEP 10

static int start_here(struct timerthread *t, int *ret_fd)
{
	return driver == POLLED ? timerthread_start_polled(t, ret_fd)
				: timerthread_start_virtual(t, 0);
}

static int call_of(struct timerthread *t)
{
	return driver == POLLED ? timerthread_dispatch(t)
				: timerthread_advance(t, STEP);
}

/* The call that is for the other driver. */
static int wrong_call(void)
{
	return driver == POLLED ? timerthread_advance(tt, 0)
				: timerthread_dispatch(tt);
}

static int call(void)
{
	return call_of(tt);
}

static void *call_in_thread(void *arg)
{
	*(int *)arg = call();
	return NULL;
}

static void begin(int d)
{
	driver = d;
	runs = 0;
	setup();
	ck_assert_int_eq(start_here(tt, &fd), 0);
}

/* A virtual clock shows this; the others go on by themselves. */
static void check_clock(int64_t t)
{
	if (driver == VIRTUAL)
		ck_assert_int_eq(now(), t);
}

static bool readable_within(int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

/* If it has a descriptor, a loop that sleeps learns of it. */
static bool tells_a_loop(void)
{
	return driver == VIRTUAL || readable_within(0);
}

/* The next call that may run something; sleeps until then. */
static void call_later(void)
{
	if (driver == POLLED)
		readable_within(60000);
	else
		ck_assert_int_ge(timerthread_advance(tt, 50 * MS), 0);
	ck_assert_int_ge(call(), 0);
}

/*
 * Errors.
 */
START_TEST(start_errors)
{
	int none = 77;

	driver = _i;
	ck_assert_int_eq(start_here(NULL, &none), -EINVAL);
	setup();
	if (driver == POLLED)
		ck_assert_int_eq(timerthread_start_polled(tt, NULL), -EINVAL);
	ck_assert_int_eq(start_here(tt, &fd), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &none), -EBUSY);
	ck_assert_int_eq(timerthread_start(tt, NULL), -EBUSY);
	ck_assert_int_eq(timerthread_start_virtual(tt, 6), -EBUSY);
	check_clock(0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(start_here(tt, &none), -ESHUTDOWN);
	check_clock(0);
	end();

	start();
	ck_assert_int_eq(start_here(tt, &none), -EBUSY);
	end();

	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(start_here(tt, &none), -ESHUTDOWN);
	ck_assert_int_eq(call(), -ESHUTDOWN);
	end();
	ck_assert_int_eq(none, 77);
}
END_TEST

START_TEST(call_errors)
{
	driver = _i;
	ck_assert_int_eq(call_of(NULL), -EINVAL);
	setup();
	ck_assert_int_eq(call(), -EINVAL);
	ck_assert_int_eq(start_here(tt, &fd), 0);
	ck_assert_int_eq(wrong_call(), -EINVAL);
	ck_assert_int_eq(call(), 0);
	schedule(0, never, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(call(), -ESHUTDOWN);
	ck_assert_int_eq(call(), -ESHUTDOWN);
	ck_assert_int_eq(wrong_call(), -EINVAL);
	check_clock(STEP);
	end();

	start();
	ck_assert_int_eq(call(), -EINVAL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(call(), -EINVAL);
	end();

	begin(_i == POLLED ? VIRTUAL : POLLED);
	ck_assert_int_eq(wrong_call(), -EINVAL);
	end();
}
END_TEST

START_TEST(it_has_no_thread)
{
	pthread_t self = pthread_self(), thread = self;

	begin(_i);
	ck_assert_int_eq(timerthread_get_pthread(tt, &thread), -EINVAL);
	ck_assert(pthread_equal(thread, self));
	ck_assert_int_eq(timerthread_get_pthread(tt, NULL), -EINVAL);
	end();
}
END_TEST

START_TEST(options_come_before)
{
	begin(_i);
	ck_assert_int_eq(timerthread_set_name(tt, "a"), -EBUSY);
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
	driver = _i;
	setup();
	errno = E2BIG;
	call();
	start_here(tt, &fd);
	start_here(tt, &fd);
	ck_assert_int_eq(errno, E2BIG);
	schedule(0, spoil_errno, NULL);
	errno = E2BIG;
	ck_assert_int_eq(call(), 1);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_eq(call(), 0);
	ck_assert_int_eq(wrong_call(), -EINVAL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(call(), -ESHUTDOWN);
	ck_assert_int_eq(errno, E2BIG);
	end();
}
END_TEST

/*
 * Who calls.
 */
static struct timerthread *other;
static int result[4];

static void begin_other(timerthread_fn *fn, void *arg)
{
	int other_fd;

	ck_assert_int_eq(timerthread_create(&other), 0);
	ck_assert_int_eq(start_here(other, &other_fd), 0);
	ck_assert_int_eq(timerthread_schedule(other, 1, fn, arg, NULL), 0);
}

static void call_inside(void *arg)
{
	note(arg);
	result[0] = call();
	result[1] = wrong_call();
	result[2] = call_of(other);
}

START_TEST(not_from_a_callback)
{
	begin(_i);
	begin_other(post, &ran);
	schedule(1, call_inside, NULL);
	schedule(2, note, NULL);
	ck_assert_int_eq(call(), 2);
	ck_assert_int_eq(result[0], -EBUSY);
	ck_assert_int_eq(result[1], -EINVAL);
	/* Of another instance it is fine. */
	ck_assert_int_eq(result[2], 1);
	check_clock(STEP);
	timerthread_destroy(other);
	end();
}
END_TEST

static void call_the_caller(void *arg)
{
	(void)arg;
	result[0] = call();
}

static void call_other(void *arg)
{
	(void)arg;
	result[1] = call_of(other);
}

/* However deep: a callback of tt that is in one of another instance. */
START_TEST(not_from_deep_inside)
{
	begin(_i);
	begin_other(call_the_caller, NULL);
	schedule(1, call_other, NULL);
	ck_assert_int_eq(call(), 1);
	ck_assert_int_eq(result[0], -EBUSY);
	ck_assert_int_eq(result[1], 1);
	timerthread_destroy(other);
	end();
}
END_TEST

START_TEST(one_thread_at_a_time)
{
	pthread_t t;
	int r;

	begin(_i);
	schedule(1, hold, &ran);
	schedule(2, note, NULL);
	t = start_thread(call_in_thread, &r);
	wait_for(&ran);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(call(), -EBUSY);
	ck_assert_int_eq(wrong_call(), -EINVAL);
	check_clock(1);
	sem_post(&go);
	pthread_join(t, NULL);
	ck_assert_int_eq(r, 2);
	check_clock(STEP);
	/* In turn, any thread may. */
	for (int i = 0; i < 10; i++) {
		schedule(0, note, NULL);
		pthread_join(start_thread(call_in_thread, &r), NULL);
		ck_assert_int_eq(r, 1);
		schedule(0, note, NULL);
		ck_assert_int_eq(call(), 1);
	}
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
	get_thread_name(seen_name, sizeof(seen_name));
}

/* And no hook is called. */
START_TEST(callbacks_are_part_of_the_call)
{
	char name[16];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	get_thread_name(name, sizeof(name));
	driver = _i;
	setup();
	ck_assert_int_eq(timerthread_set_name(tt, "unused"), 0);
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, never, never, NULL),
			 0);
	ck_assert_int_eq(start_here(tt, &fd), 0);
	schedule(1, look, NULL);
	ck_assert_int_eq(call(), 1);
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
	result[3] = tells_a_loop();
}

/* The clock stays where it was then. */
START_TEST(stopped_by_a_callback)
{
	begin(_i);
	schedule(1, note, NULL);
	schedule(2, stop_inside, NULL);
	schedule(3, never, NULL);
	every(4, 1, never, NULL);
	schedule(now() + HOUR, never, NULL);
	ck_assert_int_eq(call(), 2);
	ck_assert_int_eq(runs, 2);
	check_clock(2);
	ck_assert_int_eq(result[0], 1);
	ck_assert_int_eq(result[1], 1);
	ck_assert_int_eq(result[2], -ESHUTDOWN);
	ck_assert_int_eq(result[3], 1);
	ck_assert_int_eq(call(), -ESHUTDOWN);
	ck_assert(tells_a_loop());
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(cancel_all(), 3);
	ck_assert_int_eq(cancel_all(), 0);
	check_clock(2);
	end();
}
END_TEST

static timerthread_id self;

/* It is armed again, or repeats, and so is left for a later cancel_all. */
static void arm_and_stop(void *arg)
{
	note(arg);
	if (arg)
		ck_assert_int_eq(timerthread_reschedule(tt, self, 0), 0);
	timerthread_stop(tt);
}

START_TEST(stopped_by_one_that_was_to_run_again)
{
	for (int i = 0; i < 2; i++) {
		begin(_i);
		if (i)
			self = schedule(0, arm_and_stop, tt);
		else
			every(0, 1, arm_and_stop, NULL);
		ck_assert_int_eq(call(), 1);
		ck_assert(tells_a_loop());
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(cancel_all(), 1);
		end();
	}
}
END_TEST

/* No callback runs any more: nobody need be waited for by another stop. */
START_TEST(over_when_the_call_is)
{
	begin(_i);
	schedule(1, stop_inside, NULL);
	schedule(2, never, NULL);
	ck_assert_int_eq(call(), 1);
	ck_assert_int_eq(cancel_all(), 1);
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

	begin(_i);
	schedule(1, hold, &ran);
	schedule(2, never, NULL);
	t = start_thread(call_in_thread, &r);
	wait_for(&ran);
	s = start_thread(stop_in_thread, &stop_r);
	while (timerthread_schedule(tt, 3, never, NULL, NULL) == 0)
		sched_yield();
	for (int i = 0; i < 1000; i++)
		sched_yield();
	ck_assert_uint_eq(atom32_load_acquire(&stopped), 0);
	sem_post(&go);
	pthread_join(s, NULL);
	ck_assert_int_eq(stop_r, 0);
	ck_assert_int_ge(cancel_all(), 1);
	pthread_join(t, NULL);
	ck_assert_int_eq(r, 1);
	ck_assert(tells_a_loop());
	check_clock(1);
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
	int before = open_files();

	for (int i = 0; i < 20; i++) {
		begin(_i);
		schedule(1, note, NULL);
		schedule(2, destroy_inside, i % 2 ? tt : NULL);
		schedule(3, never, NULL);
		every(now() + HOUR, 1, never, NULL);
		errno = E2BIG;
		ck_assert_int_eq(call(), 2);
		ck_assert_int_eq(errno, E2BIG);
		ck_assert_int_eq(open_files(), before);
	}
}
END_TEST

/* It is the last one, so that it would be armed again. */
START_TEST(destroyed_by_a_periodic_callback)
{
	int before = open_files();

	begin(_i);
	every(5, 1, destroy_inside, NULL);
	ck_assert_int_eq(
		_i == POLLED ? call() : timerthread_advance(tt, INT64_MAX), 1);
	ck_assert_int_eq(open_files(), before);
}
END_TEST

static void *destroy_in_thread(void *arg)
{
	timerthread_destroy(tt);
	return arg;
}

START_TEST(destroyed_by_another_thread)
{
	int before = open_files();

	begin(_i);
	schedule(0, note, NULL);
	schedule(now() + HOUR, never, NULL);
	ck_assert_int_eq(call(), 1);
	schedule(0, never, NULL);
	ck_assert(tells_a_loop());
	pthread_join(start_thread(destroy_in_thread, NULL), NULL);
	ck_assert_int_eq(open_files(), before);
}
END_TEST

START_TEST(never_called)
{
	begin(_i);
	schedule(0, never, NULL);
	schedule(now() + HOUR, never, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(cancel_all(), 2);
	end();

	begin(_i);
	schedule(0, never, NULL);
	end();

	begin(_i);
	end();
}
END_TEST

/*
 * cancel_wait.
 */
static atom32 written;

static void hold_and_write(void *arg)
{
	hold(arg);
	atom32_store(&written, 1);
}

static void *cancel_wait_in_thread(void *arg)
{
	result[0] = timerthread_cancel_wait(tt, *(timerthread_id *)arg);
	result[1] = (int)atom32_load(&written);
	return NULL;
}

/* The other answer is that of one which comes when the callback is over. */
static void cancel_held(timerthread_id id, int yields, int other_answer)
{
	pthread_t t, c;
	int r;

	atom32_store(&written, 0);
	t = start_thread(call_in_thread, &r);
	wait_for(&ran);
	c = start_thread(cancel_wait_in_thread, &id);
	for (int i = 0; i < yields; i++)
		sched_yield();
	sem_post(&go);
	pthread_join(c, NULL);
	pthread_join(t, NULL);
	ck_assert(result[0] == 1 || result[0] == other_answer);
	ck_assert_int_eq(result[1], 1);
	ck_assert_int_eq(r, 1);
}

/* One that repeats, and waits for its next run: in a loop it is due then. */
START_TEST(cancel_wait_waits)
{
	for (int i = 0; i < 50; i++) {
		begin(_i);
		cancel_held(
			every(0, _i == POLLED ? 1 : HOUR, hold_and_write, &ran),
			i * 10, 0);
		end();
	}
}
END_TEST

START_TEST(cancel_wait_sees_what_was_written)
{
	for (int i = 0; i < 50; i++) {
		begin(_i);
		cancel_held(schedule(5, hold_and_write, &ran), i * 10, -ENOENT);
		end();
	}
}
END_TEST

static timerthread_id awaited;

static void *wait_for_its_end(void *arg)
{
	*(int *)arg = timerthread_cancel_wait(tt, awaited);
	return NULL;
}

/* With somebody in cancel_wait.  Nothing here is a cancellation point. */
static void destroy_awaited(void *arg)
{
	note(arg);
	wait_for_cancellers(1);
	timerthread_destroy(tt);
}

static void *call_although_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	*(int *)arg = call();
	pthread_testcancel();
	return NULL;
}

/* Not even where it frees the instance, and waits for others to leave. */
START_TEST(no_cancellation_point)
{
	for (int i = 0; i < 50; i++) {
		pthread_t caller, waiter;
		int r[2] = {77, 77};
		void *end_of_caller;

		begin(_i);
		awaited = schedule(0, destroy_awaited, NULL);
		caller = start_thread(call_although_cancelled, &r[0]);
		while (timerthread_get_deadline(tt, awaited, &(int64_t){0}) ==
		       0)
			sched_yield();
		waiter = start_thread(wait_for_its_end, &r[1]);
		pthread_join(caller, &end_of_caller);
		pthread_join(waiter, NULL);
		ck_assert_ptr_eq(end_of_caller, PTHREAD_CANCELED);
		ck_assert_int_eq(r[0], 1);
		ck_assert_int_eq(r[1], 1);
	}
}
END_TEST

/*
 * fork.
 */
static int64_t at_fork;

static void use_in_child(void)
{
	int none = 77;

	errno = E2BIG;
	NEED(call() == -ECHILD);
	NEED(start_here(tt, &none) == -ECHILD);
	NEED(wrong_call() == -ECHILD);
	NEED(timerthread_schedule(tt, 0, never, NULL, NULL) == -ECHILD);
	NEED(timerthread_stop(tt) == -ECHILD);
	NEED(driver == POLLED || now() == at_fork);
	NEED(errno == E2BIG && none == 77);
	timerthread_destroy(tt);
	NEED(driver == VIRTUAL || fcntl(fd, F_GETFD) == -1);
}

START_TEST(inherited)
{
	begin(_i);
	schedule(1, note, NULL);
	schedule(now() + HOUR, never, NULL);
	at_fork = now();
	in_child(use_in_child);
	ck_assert_int_eq(call(), 1);
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

	begin(_i);
	schedule(1, note, NULL);
	every(2, HOUR, fork_here, NULL);
	schedule(3, note, NULL);
	schedule(now() + 50 * MS, note, NULL);
	errno = E2BIG;
	r = call();
	if (forked == 0) {
		NEED(r == -ECHILD);
		NEED(errno == E2BIG);
		NEED(runs == 2);
		use_in_child();
		_exit(EXIT_SUCCESS);
	}
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_ge(r, 3);
	ck_assert_int_eq(end_of(forked), EXIT_SUCCESS);
	while (runs < 4)
		call_later();
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		start_errors,
		call_errors,
		it_has_no_thread,
		options_come_before,
		errno_is_left_alone,
		not_from_a_callback,
		not_from_deep_inside,
		one_thread_at_a_time,
		callbacks_are_part_of_the_call,
		stopped_by_a_callback,
		stopped_by_one_that_was_to_run_again,
		over_when_the_call_is,
		stopped_by_another_thread,
		destroyed_by_a_callback,
		destroyed_by_a_periodic_callback,
		destroyed_by_another_thread,
		never_called,
		cancel_wait_waits,
		cancel_wait_sees_what_was_written,
		no_cancellation_point,
		inherited,
		forked_by_a_callback,
	};
	TCase *tcase = tcase_create("called");

	ADD_LOOP_TESTS(tcase, tests, CALLED);
	return run_case("called", tcase);
}
