/* SPDX-License-Identifier: MIT */
/*
 * The system calls on the descriptor of an instance in an event loop: what it
 * is set to, how often, who waits for that, and what comes of a failure.
 *
 * This program takes over the system calls on timerfds, for the library too,
 * whose parts it links: to count them, and to have them fail or take their
 * time.
 */
#include "config.h"

#include "polled.h"
#include "real.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

static int create_errno; /* 0: it may succeed */
static atom32 sets;      /* timerfd_settime, so far */
/* The next timerfd_settime holds its thread, before or after it is made. */
enum { TARRY_BEFORE = 1, TARRY_AFTER };
static atom32 tarry;
/* What it was called with last. */
static struct timespec set_to;
static pthread_mutex_t set_mutex = PTHREAD_MUTEX_INITIALIZER;

int timerfd_create(clockid_t clock, int flags)
{
	int (*next)(clockid_t, int) =
		(int (*)(clockid_t, int))dlsym(RTLD_NEXT, "timerfd_create");

	if (!create_errno)
		return next(clock, flags);
	errno = create_errno;
	return -1;
}

static void tarry_here(uint32_t when)
{
	if (atom32_load(&tarry) != when)
		return;
	atom32_store(&tarry, 0);
	hold(&ran);
}

int timerfd_settime(int timer, int flags, const struct itimerspec *new,
		    struct itimerspec *old)
{
	int r;

	tarry_here(TARRY_BEFORE);
	r = real_timerfd_settime(timer, flags, new, old);
	atom32_add(&sets, 1);
	pthread_mutex_lock(&set_mutex);
	set_to = new->it_value;
	pthread_mutex_unlock(&set_mutex);
	tarry_here(TARRY_AFTER);
	return r;
}

/* Since this was called last. */
static uint32_t new_sets(void)
{
	static uint32_t before;
	uint32_t n = atom32_load(&sets) - before;

	before += n;
	return n;
}

static void check_sets(uint32_t n)
{
	ck_assert_uint_eq(new_sets(), n);
}

static void begin_counted(void)
{
	begin();
	new_sets();
}

/* After a failure it can be started as if nothing had been. */
START_TEST(no_descriptor_to_be_had)
{
	static const int errors[][2] = {
		{EMFILE, EMFILE}, {ENFILE, ENFILE}, {ENOMEM, ENOMEM},
		{ENOSYS, ENOSYS}, {EPERM, ENOSYS},
	};
	int none = 77, before = open_files();

	for (int i = 0; i < 5; i++) {
		setup();
		create_errno = errors[i][0];
		errno = E2BIG;
		ck_assert_int_eq(timerthread_start_polled(tt, &none),
				 -errors[i][1]);
		ck_assert_int_eq(errno, E2BIG);
		create_errno = 0;
		ck_assert_int_eq(none, 77);
		ck_assert_int_eq(dispatch(), -EINVAL);
		ck_assert_int_eq(open_files(), before);
		ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
		schedule(0, note, NULL);
		ck_assert_int_eq(dispatch(), 1);
		end();
		ck_assert_int_eq(open_files(), before);
	}
}
END_TEST

START_TEST(no_descriptor_left)
{
	struct rlimit old, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	setup();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), -EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	end();
}
END_TEST

/*
 * Slack.  What the descriptor is set to tells more than a clock can.
 */
static int64_t last_set(void)
{
	return set_to.tv_sec * S + set_to.tv_nsec;
}

START_TEST(it_is_set_to_the_earliest)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t far;

		begin_on(clocks[i]);
		far = now() + HOUR;
		schedule(far, never, NULL);
		ck_assert(readable());
		ck_assert_int_eq(dispatch(), 0);
		ck_assert(!readable());
		ck_assert_int_eq(last_set(), far);
		schedule(far + 1, never, NULL);
		ck_assert_int_eq(last_set(), far);
		schedule(far - 1, never, NULL);
		ck_assert(readable());
		ck_assert_int_eq(dispatch(), 0);
		ck_assert_int_eq(last_set(), far - 1);
		schedule(0, note, NULL);
		ck_assert_int_eq(dispatch(), 1);
		ck_assert_int_eq(last_set(), far - 1);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(last_set(), 1);
		end();
	}
}
END_TEST

START_TEST(slack)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t far;

		setup();
		ck_assert_int_eq(timerthread_set_clock(tt, clocks[i]), 0);
		ck_assert_int_eq(timerthread_set_slack(tt, 30 * MS), 0);
		ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
		new_sets();
		far = now() + HOUR;
		schedule(far, never, NULL);
		lie_down();
		ck_assert_int_eq(last_set(), far + 30 * MS);
		/* It wakes in time for these. */
		schedule(far + 1, never, NULL);
		ck_assert_uint_eq(new_sets(), 2);
		schedule(far - 1, never, NULL);
		ck_assert_uint_eq(new_sets(), 1);
		lie_down();
		ck_assert_int_eq(last_set(), far - 1 + 30 * MS);
		ck_assert_int_eq(dispatch(), 0);
		ck_assert_int_eq(last_set(), far - 1 + 30 * MS);
		end();
	}
}
END_TEST

/* By the time that it is readable, all are due. */
START_TEST(one_wakeup_runs_all_within_the_slack)
{
	int64_t first;
	bool early;

	setup();
	ck_assert_int_eq(timerthread_set_slack(tt, 50 * MS), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	runs = 0;
	first = now() + 10 * MS;
	for (int i = 0; i < 50; i++)
		schedule(first + i * MS, note, NULL);
	lie_down();
	early = now() < first;
	/* Else this thread was so slow that some ran before. */
	if (early) {
		wait_readable();
		ck_assert_int_ge(now(), first + 50 * MS);
		ck_assert_int_eq(dispatch(), 50);
	}
	while (runs < 50) {
		wait_readable();
		dispatch();
	}
	end();
}
END_TEST

/*
 * System calls.
 */
START_TEST(system_calls)
{
	timerthread_id first, id;
	int64_t far;

	begin_counted();
	far = now() + HOUR;
	first = schedule(far, never, NULL);
	check_sets(1);
	for (int i = 0; i < 1000; i++)
		id = schedule(far + i, never, NULL);
	every(far + 1, 1, never, NULL);
	check_sets(0);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert_int_eq(timerthread_cancel_wait(tt, first), 0);
	check_sets(0);
	id = schedule(far + MS, never, NULL);
	ck_assert_int_eq(timerthread_reschedule(tt, id, far + HOUR), 0);
	ck_assert_int_eq(timerthread_reschedule(tt, id, far + 1), 0);
	deadline_of(id);
	now();
	check_sets(0);
	ck_assert_int_eq(timerthread_reschedule(tt, id, far - 1), 0);
	check_sets(1);
	schedule(far - 2, never, NULL);
	check_sets(1);
	for (int i = 1; i < 10; i++) {
		ck_assert_int_eq(dispatch(), 0);
		check_sets(1);
	}
	/* Each is earlier than all, by much. */
	for (int i = 1; i <= 10; i++)
		schedule(far - i * (HOUR / 16), never, NULL);
	check_sets(10);
	/* And by little: not all of them; in each bucket, if this moves. */
	for (int i = 1; i <= 100; i++)
		schedule(far - 10 * (HOUR / 16) - i, never, NULL);
	ck_assert_uint_le(new_sets(), 20 * tt->options.buckets);
	end();
}
END_TEST

static timerthread_id moved;

static void schedule_inside(void *arg)
{
	note(arg);
	for (int i = 0; i < 10; i++)
		schedule(i % 2 ? now() + HOUR - i : -i, note, NULL);
	timerthread_reschedule(tt, moved, 0);
	check_sets(0);
}

/* Also by other threads, while a callback runs. */
START_TEST(no_system_call_from_within)
{
	pthread_t t;
	int r;

	begin_counted();
	moved = schedule(now() + HOUR, note, NULL);
	schedule(0, schedule_inside, NULL);
	new_sets();
	runs = 0;
	ck_assert_int_eq(dispatch(), 1);
	check_sets(1);
	ck_assert_int_eq(dispatch(), 6);
	check_sets(1);
	ck_assert(!readable());

	schedule(0, hold, &ran);
	new_sets();
	t = start_thread(dispatch_in_thread, &r);
	wait_for(&ran);
	for (int i = 0; i < 10; i++)
		schedule(-i, note, NULL);
	check_sets(0);
	sem_post(&go);
	pthread_join(t, NULL);
	ck_assert_int_eq(r, 1);
	check_sets(1);
	ck_assert(readable());
	ck_assert_int_eq(dispatch(), 10);
	end();
}
END_TEST

static void *schedule_far(void *arg)
{
	schedule(now() + HOUR, never, NULL);
	return arg;
}

/* Who has found a later one, and comes last to set it. */
START_TEST(a_later_one_does_not_undo_it)
{
	pthread_t t;

	begin_counted();
	atom32_store(&tarry, TARRY_BEFORE);
	t = start_thread(schedule_far, NULL);
	wait_for(&ran);
	schedule(0, note, NULL);
	ck_assert(readable());
	sem_post(&go);
	pthread_join(t, NULL);
	ck_assert(readable());
	ck_assert_int_eq(dispatch(), 1);
	ck_assert(!readable());
	end();
}
END_TEST

/*
 * Two threads schedule.  The one that is later in its system call is held
 * there, and then again behind it: the other's timer does not wait for that.
 */
START_TEST(nobody_waits_for_who_is_slow)
{
	for (uint32_t when = TARRY_BEFORE; when <= TARRY_AFTER; when++) {
		pthread_t t;

		begin_counted();
		atom32_store(&tarry, when);
		t = start_thread(schedule_far, NULL);
		wait_for(&ran);
		runs = 0;
		schedule(now() + 5 * MS, note, NULL);
		if (when == TARRY_BEFORE) {
			atom32_store(&tarry, TARRY_AFTER);
			sem_post(&go);
			wait_for(&ran);
		}
		while (runs == 0) {
			wait_readable();
			dispatch();
		}
		sem_post(&go);
		pthread_join(t, NULL);
		lie_down();
		end();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		no_descriptor_to_be_had,
		no_descriptor_left,
		it_is_set_to_the_earliest,
		slack,
		one_wakeup_runs_all_within_the_slack,
		system_calls,
		no_system_call_from_within,
		a_later_one_does_not_undo_it,
		nobody_waits_for_who_is_slow,
	};

	return RUN_TESTS("timerfd", tests);
}
