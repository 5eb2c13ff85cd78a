/* SPDX-License-Identifier: MIT */
/*
 * An instance in an event loop: its descriptor, and what a dispatch runs.
 *
 * This program takes over the system calls on timerfds, for the library too,
 * whose parts it links: to count them, and to have them fail or take their
 * time.
 */
#include "config.h"

#include "real.h"
#include "timers.h"

#include "child.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <time.h>

#define S INT64_C(1000000000)

/* Nothing takes so long, however busy the machine is. */
#define LATE     (20 * S)
#define GIVEN_UP 60000 /* milliseconds */

static const clockid_t clocks[] = {
	CLOCK_MONOTONIC,
	CLOCK_REALTIME,
	CLOCK_BOOTTIME,
};

enum { CLOCKS = 3 };

/*
 * System calls.
 */
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

/* Under a tool. */
static bool is_slow(void)
{
	return fork_is_delicate() || getenv("TT_VALGRIND");
}

/*
 * The instance.
 */
static int fd;

static void begin_on(clockid_t clock)
{
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, clock), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	new_sets();
}

static void begin(void)
{
	begin_on(CLOCK_MONOTONIC);
}

static int dispatch(void)
{
	return timerthread_dispatch(tt);
}

static int64_t now(void)
{
	return timerthread_now(tt);
}

static bool readable_within(int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int r;

	do
		r = poll(&p, 1, ms);
	while (r < 0 && errno == EINTR);
	return r == 1;
}

static bool readable(void)
{
	return readable_within(0);
}

static void wait_readable(void)
{
	ck_assert(readable_within(GIVEN_UP));
}

/* The times that a loop wakes up within so many milliseconds. */
static int wakeups(int ms)
{
	int64_t last = now() + ms * MS;
	int n = 0;

	while (now() < last) {
		if (!readable_within(ms / 10 + 1))
			continue;
		n++;
		ck_assert_int_ge(dispatch(), 0);
	}
	return n;
}

/* Who schedules what is earlier than all wakes the loop, to lie down again. */
static void lie_down(void)
{
	while (readable())
		ck_assert_int_ge(dispatch(), 0);
}

static void sleep_until(int64_t t)
{
	while (now() < t)
		usleep(100);
}

static int runs;

static void note(void *arg)
{
	(void)arg;
	runs++;
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

static pthread_t start_thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	ck_assert_int_eq(pthread_create(&t, NULL, fn, arg), 0);
	return t;
}

static void *dispatch_in_thread(void *arg)
{
	*(int *)arg = dispatch();
	return NULL;
}

/*
 * Errors.
 */
START_TEST(start_errors)
{
	int none = 77;

	ck_assert_int_eq(timerthread_start_polled(NULL, &none), -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_start_polled(tt, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &none), -EBUSY);
	ck_assert_int_eq(timerthread_start(tt, NULL), -EBUSY);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), -EBUSY);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &none), -ESHUTDOWN);
	end();

	start();
	ck_assert_int_eq(timerthread_start_polled(tt, &none), -EBUSY);
	end();

	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &none), -ESHUTDOWN);
	end();
	ck_assert_int_eq(none, 77);
}
END_TEST

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

START_TEST(dispatch_errors)
{
	ck_assert_int_eq(timerthread_dispatch(NULL), -EINVAL);
	setup();
	ck_assert_int_eq(dispatch(), -EINVAL);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	ck_assert_int_eq(timerthread_advance(tt, 0), -EINVAL);
	ck_assert_int_eq(dispatch(), 0);
	schedule(0, never, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(dispatch(), -ESHUTDOWN);
	ck_assert_int_eq(dispatch(), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_advance(tt, 0), -EINVAL);
	end();

	start();
	ck_assert_int_eq(dispatch(), -EINVAL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(dispatch(), -EINVAL);
	end();

	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	ck_assert_int_eq(dispatch(), -EINVAL);
	end();
}
END_TEST

START_TEST(it_has_no_thread)
{
	pthread_t self = pthread_self(), thread = self;

	begin();
	ck_assert_int_eq(timerthread_get_pthread(tt, &thread), -EINVAL);
	ck_assert(pthread_equal(thread, self));
	ck_assert_int_eq(timerthread_get_pthread(tt, NULL), -EINVAL);
	end();
}
END_TEST

START_TEST(options_come_before)
{
	begin();
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
	dispatch();
	timerthread_start_polled(tt, &fd);
	timerthread_start_polled(tt, &fd);
	ck_assert_int_eq(errno, E2BIG);
	schedule(0, spoil_errno, NULL);
	errno = E2BIG;
	ck_assert_int_eq(dispatch(), 1);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(dispatch(), -ESHUTDOWN);
	ck_assert_int_eq(errno, E2BIG);
	end();
}
END_TEST

/*
 * The descriptor.
 */
START_TEST(kind_of_descriptor)
{
	for (int i = 0; i < CLOCKS; i++) {
		int before = open_files();

		begin_on(clocks[i]);
		ck_assert_int_eq(open_files(), before + 1);
		ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
		ck_assert(!readable());
		end();
		ck_assert_int_eq(open_files(), before);
		ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	}
}
END_TEST

/* So that a loop that sleeps learns of it; and it stays open. */
START_TEST(readable_after_stop)
{
	begin();
	ck_assert(!readable());
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert(readable());
	end();

	begin();
	schedule(now() + HOUR, never, NULL);
	schedule(now() + HOUR, never, NULL);
	every(now() + HOUR, MS, never, NULL);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable());
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert(readable());
	ck_assert_int_eq(dispatch(), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
			 -ESHUTDOWN);
	ck_assert(readable());
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	ck_assert_int_eq(drain(), 3);
	end();
}
END_TEST

/*
 * When the next timer is due, for a loop that sleeps in its own way.
 */
static int64_t next_deadline(void)
{
	int64_t t = 77;

	ck_assert_int_eq(timerthread_get_next_deadline(tt, &t), 0);
	return t;
}

START_TEST(next_deadline_where_it_lies)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t first;
		timerthread_id id;

		begin_on(clocks[i]);
		ck_assert_int_eq(next_deadline(), TIMERTHREAD_NEVER);
		/* More than two seconds away it may be a bit too early. */
		first = now() + HOUR;
		id = schedule(first, never, NULL);
		ck_assert_int_le(next_deadline(), first);
		ck_assert_int_ge(next_deadline(), first - HOUR / 16);
		first = now() + 3 * S / 2;
		schedule(first, never, NULL);
		ck_assert_int_eq(next_deadline(), first);
		ck_assert_int_eq(dispatch(), 0);
		ck_assert_int_eq(next_deadline(), first);
		/* The slack is not in it. */
		ck_assert_int_eq(timerthread_reschedule(tt, id, first - MS), 0);
		ck_assert_int_eq(next_deadline(), first - MS);
		schedule(1, note, NULL);
		ck_assert_int_le(next_deadline(), now());
		runs = 0;
		ck_assert_int_ge(dispatch(), 1);
		ck_assert_int_eq(runs, 1);
		ck_assert_int_eq(next_deadline(), first - MS);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		end();
	}
}
END_TEST

START_TEST(next_deadline_without_the_slack)
{
	int64_t first;

	setup();
	ck_assert_int_eq(timerthread_set_slack(tt, 300 * MS), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	first = now() + S;
	schedule(first, never, NULL);
	ck_assert_int_eq(next_deadline(), first);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert_int_eq(next_deadline(), first);
	end();
}
END_TEST

/*
 * A loop that looks at nothing else.  It never sleeps beyond a deadline, and
 * each time that it sleeps until is later than the one before.
 */
enum { PLANNED = 300 };

static struct planned {
	timerthread_id id;
	int64_t deadline;
	bool over;
} planned[PLANNED];

static void note_planned(void *arg)
{
	struct planned *p = arg;

	if (p->over || now() < p->deadline)
		abort();
	p->over = true;
}

static int64_t first_planned(void)
{
	int64_t first = TIMERTHREAD_NEVER;

	for (int i = 0; i < PLANNED; i++) {
		if (!planned[i].over && planned[i].deadline < first)
			first = planned[i].deadline;
	}
	return first;
}

static void plan_all(uint64_t *rng)
{
	int64_t base = now();

	for (int i = 0; i < PLANNED; i++) {
		struct planned *p = &planned[i];

		p->over = false;
		p->deadline = base + (int64_t)random_below(rng, 40 * MS);
		p->id = schedule(p->deadline, note_planned, p);
	}
	for (int i = 0; i < PLANNED; i += 3) {
		struct planned *p = &planned[i];

		p->deadline = base + (int64_t)random_below(rng, 40 * MS);
		ck_assert_int_eq(timerthread_reschedule(tt, p->id, p->deadline),
				 0);
		if (i % 2)
			continue;
		ck_assert_int_eq(timerthread_cancel(tt, p->id), 0);
		p->over = true;
	}
}

START_TEST(next_deadline_is_enough)
{
	uint64_t rng = test_seed();

	for (int i = 0; i < CLOCKS; i++) {
		int64_t t, before = INT64_MIN;

		begin_on(clocks[i]);
		plan_all(&rng);
		while ((t = next_deadline()) != TIMERTHREAD_NEVER) {
			int64_t first = first_planned();

			/* What is due is now, which is later than that. */
			if (t > first)
				ck_assert_int_le(first, now());
			ck_assert_int_gt(t, before);
			before = t;
			sleep_until(t);
			ck_assert_int_ge(dispatch(), 0);
		}
		ck_assert_int_eq(first_planned(), TIMERTHREAD_NEVER);
		end();
	}
}
END_TEST

/* Not readable, or else that time has come. */
static void check_not_before(int64_t deadline)
{
	bool was_readable;

	lie_down();
	was_readable = readable();
	if (now() < deadline)
		ck_assert(!was_readable);
}

/* False: it is so late that later is due, too. */
static bool check_next(int64_t deadline, int64_t later)
{
	runs = 0;
	while (now() < deadline) {
		check_not_before(deadline);
		usleep(200);
	}
	while (runs == 0) {
		wait_readable();
		dispatch();
	}
	if (runs == 1)
		return true;
	ck_assert_int_eq(runs, 2);
	ck_assert_int_ge(now(), later);
	return false;
}

START_TEST(readable_when_due)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t first;
		timerthread_id id;

		begin_on(clocks[i]);
		first = now() + 20 * MS;
		schedule(first + 4 * S * 3600, never, NULL);
		id = schedule(first + 3600 * S, note, NULL);
		schedule(first + 20 * MS, note, NULL);
		schedule(first, note, NULL);
		if (check_next(first, first + 20 * MS))
			check_next(first + 20 * MS, first + 3600 * S);
		ck_assert_int_eq(dispatch(), 0);
		ck_assert(!readable());
		/* Moved, to earlier, and then to later. */
		first = now() + 10 * MS;
		ck_assert_int_eq(timerthread_reschedule(tt, id, first), 0);
		check_next(first, first + 3600 * S);
		id = schedule(0, note, NULL);
		first = now() + 10 * MS;
		ck_assert_int_eq(timerthread_reschedule(tt, id, first), 0);
		wait_readable();
		while (now() < first)
			ck_assert_int_le(dispatch(), now() >= first);
		end();
	}
}
END_TEST

START_TEST(deadlines_in_the_past)
{
	static const int64_t past[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, S};

	for (int i = 0; i < CLOCKS * 6; i++) {
		begin_on(clocks[i % CLOCKS]);
		schedule(past[i / CLOCKS], note, NULL);
		wait_readable();
		ck_assert_int_eq(dispatch(), 1);
		ck_assert(!readable());
		schedule(past[i / CLOCKS], note, NULL);
		ck_assert_int_eq(dispatch(), 1);
		ck_assert(!readable());
		end();
	}
}
END_TEST

START_TEST(never_is_never)
{
	begin();
	schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert(!readable_within(10));
	ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable_within(10));
	end();
}
END_TEST

/*
 * It says so once, and once to lie down; then there is nothing to wake up for.
 */
START_TEST(cancelled_wakes_once)
{
	for (int i = 0; i < 2; i++) {
		timerthread_id id;
		int r;

		begin();
		runs = 0;
		id = schedule(now() + 10 * MS, note, NULL);
		if (i)
			dispatch();
		r = timerthread_cancel(tt, id);
		ck_assert_int_eq(r, runs ? -ENOENT : 0);
		ck_assert_int_le(wakeups(100), 2 - i);
		end();
	}
}
END_TEST

START_TEST(idle_means_asleep)
{
	timerthread_id id;

	begin();
	ck_assert_int_eq(wakeups(60), 0);
	id = every(0, MS, note, NULL);
	while (runs < 10) {
		wait_readable();
		ck_assert_int_ge(dispatch(), 0);
	}
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert_int_le(wakeups(60), 1);
	ck_assert_int_eq(wakeups(60), 0);
	schedule(now() + HOUR, never, NULL);
	ck_assert_int_eq(wakeups(60), 1);
	ck_assert_int_eq(wakeups(60), 0);
	dispatch();
	ck_assert_int_eq(wakeups(60), 0);
	end();
}
END_TEST

/* What a timer that waits costs is one set, and one wake-up. */
START_TEST(no_wakeup_is_for_nothing)
{
	enum { N = 20 };
	int64_t first;

	begin();
	first = now() + 50 * MS;
	for (int i = 0; i < N; i++)
		schedule(first + i, note, NULL);
	runs = 0;
	ck_assert_int_ge(wakeups(80), 1);
	while (runs < N) {
		wait_readable();
		dispatch();
	}
	ck_assert_int_eq(wakeups(40), 0);
	end();
}
END_TEST

/*
 * So many that are far from due call for nothing.  When they are due and were
 * cancelled, the calls that find it are short each, and it is quiet again.
 */
START_TEST(a_burst_of_the_cancelled)
{
	enum { N = 50000, STEP = 600, BLOCKS_A_CALL = 16 };
	static timerthread_id id[N];
	int64_t first;

	begin();
	first = now() + S;
	for (int i = 0; i < N; i++) {
		if (timerthread_schedule(tt, first + i * STEP, never, NULL,
					 &id[i]) != 0)
			abort();
	}
	check_sets(1);
	lie_down();
	for (int i = 0; i < N; i++)
		timerthread_cancel(tt, id[i]);
	wait_readable();
	while (readable()) {
		ck_assert_int_eq(dispatch(), 0);
		ck_assert_uint_lt(tt->engine.effort,
				  (BLOCKS_A_CALL + 2) * BLOCK_ENTRIES);
	}
	ck_assert_uint_eq(slots_in_use(), 0);
	/* On a slow machine it may have been set for the last of them. */
	ck_assert_int_le(wakeups(30), 1);
	ck_assert_int_eq(wakeups(30), 0);
	schedule(0, note, NULL);
	wait_readable();
	ck_assert_int_eq(dispatch(), 1);
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

	begin();
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
	/* And by little: not all of them. */
	for (int i = 1; i <= 100; i++)
		schedule(far - 10 * (HOUR / 16) - i, never, NULL);
	ck_assert_uint_le(new_sets(), 20);
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

	begin();
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

/*
 * What a dispatch runs.
 */
static int64_t all_scheduled, last_deadline;
static int disorder;

/*
 * On a slow machine some are due before they are scheduled, or before others
 * are.  They count as due then, in an order that nobody knows.
 */
static void check_order(void *arg)
{
	int64_t deadline = *(int64_t *)arg;

	runs++;
	if (deadline <= all_scheduled)
		return;
	disorder += deadline < last_deadline;
	last_deadline = deadline;
}

/* In portions, so that some are in the buckets and some are not. */
START_TEST(what_is_due_runs_in_order)
{
	enum { N = 3000 };
	static int64_t deadline[N];
	uint64_t rng = test_seed();

	for (int i = 0; i < 30; i++) {
		int64_t base;
		int n = 1 + (int)random_below(&rng, N);

		begin();
		base = now() + 40 * MS;
		runs = disorder = 0;
		all_scheduled = INT64_MAX;
		last_deadline = INT64_MIN;
		for (int j = 0; j < n; j++) {
			deadline[j] = base + (int64_t)random_below(&rng, 1000);
			if (timerthread_schedule(tt, deadline[j], check_order,
						 &deadline[j], NULL) != 0)
				abort();
			if (j % 1000 == i)
				dispatch();
		}
		all_scheduled = now();
		/* Those that ran meanwhile, on a slow machine. */
		n -= runs;
		sleep_until(base + 1000);
		ck_assert_int_eq(dispatch(), n);
		ck_assert_int_eq(disorder, 0);
		ck_assert(!readable());
		ck_assert_int_eq(dispatch(), 0);
		end();
	}
}
END_TEST

/*
 * The first one was looked at before, the second one not.  False: they were
 * due before that.
 */
static bool run_both(int64_t delay)
{
	int64_t base;
	bool waits;

	begin();
	base = now() + delay;
	schedule(base, note, NULL);
	waits = dispatch() == 0;
	schedule(base + 1, note, NULL);
	sleep_until(base + 1);
	ck_assert_int_eq(dispatch(), waits ? 2 : 1);
	ck_assert(!readable());
	end();
	return waits;
}

START_TEST(all_that_is_due_runs)
{
	int64_t delay = 10 * MS;

	while (!run_both(delay))
		delay *= 2;
}
END_TEST

static void *schedule_in_thread(void *arg)
{
	for (int i = 0; i < 10; i++)
		every(*(int64_t *)arg + i, HOUR, note, NULL);
	return NULL;
}

/* The same with periodic ones, and several buckets. */
START_TEST(all_that_is_due_runs_wherever_it_is)
{
	int64_t base;
	int before = 0;

	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, 5), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	base = now() + 50 * MS;
	for (int i = 0; i < 5; i++) {
		pthread_join(start_thread(schedule_in_thread, &base), NULL);
		before += dispatch();
	}
	sleep_until(base + 10);
	ck_assert_int_eq(dispatch(), 50 - before);
	ck_assert_int_eq(runs, 50);
	end();
}
END_TEST

static void plan_for_the_past(void *arg)
{
	note(arg);
	schedule(0, note, NULL);
	schedule(INT64_MIN, note, NULL);
	schedule(now(), note, NULL);
}

START_TEST(planned_by_callbacks_waits)
{
	begin();
	for (int i = 0; i < 10; i++)
		schedule(i, plan_for_the_past, NULL);
	ck_assert_int_eq(dispatch(), 10);
	ck_assert(readable());
	ck_assert_int_eq(dispatch(), 30);
	ck_assert(!readable());
	end();
}
END_TEST

static timerthread_id self;

static void arm_again(void *arg)
{
	note(arg);
	ck_assert_int_eq(timerthread_reschedule(tt, self, runs % 3 - 1), 0);
}

START_TEST(armed_again_waits)
{
	begin();
	self = schedule(0, arm_again, NULL);
	for (int i = 0; i < 1000; i++) {
		ck_assert(readable());
		ck_assert_int_eq(dispatch(), 1);
	}
	ck_assert_int_eq(timerthread_cancel(tt, self), 0);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable());
	end();
}
END_TEST

static void take_a_while(void *arg)
{
	int64_t t = now() + *(int64_t *)arg;

	note(arg);
	while (now() < t)
		;
}

/* Its next run is due before this one is over. */
START_TEST(short_periods_wait)
{
	static int64_t a_while = 2000;
	timerthread_id id, other;

	begin();
	id = every(0, 1, take_a_while, &a_while);
	other = every(0, 1000, take_a_while, &a_while);
	for (int i = 0; i < 300; i++) {
		wait_readable();
		ck_assert_int_le(dispatch(), 2);
	}
	ck_assert_int_ge(runs, 300);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert_int_eq(timerthread_cancel(tt, other), 0);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable());
	end();
}
END_TEST

/*
 * One that waits for the next dispatch is pending, as any other.
 */
static void check_waiting(int64_t deadline, int ran_now)
{
	self = schedule(0, arm_again, NULL);
	runs = 0;
	ck_assert_int_eq(dispatch(), 1);
	ck_assert_int_eq(deadline_of(self), 0);
	ck_assert_int_eq(timerthread_reschedule(tt, self, deadline), 0);
	ck_assert_int_eq(deadline_of(self), deadline);
	ck_assert_int_eq(dispatch(), ran_now);
	ck_assert_int_eq(timerthread_cancel(tt, self), 0);
	ck_assert_int_eq(timerthread_cancel(tt, self), -ENOENT);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable());
}

START_TEST(what_waits_can_be_moved)
{
	begin();
	check_waiting(now() + HOUR, 0);
	check_waiting(INT64_MIN, 1);
	check_waiting(-1, 1);
	check_waiting(1, 1);
	check_waiting(TIMERTHREAD_NEVER, 0);
	end();
}
END_TEST

/* To and fro, with looks and without. */
START_TEST(what_waits_can_be_moved_often)
{
	uint64_t rng = test_seed();

	begin();
	self = schedule(0, arm_again, NULL);
	ck_assert_int_eq(dispatch(), 1);
	for (int i = 0; i < 2000; i++) {
		int64_t far = now() + HOUR;
		int64_t deadline = 0;

		for (uint64_t n = random_below(&rng, 4); n > 0; n--) {
			deadline = random_below(&rng, 2)
					   ? far - i
					   : (int64_t)random_below(&rng, 100);
			ck_assert_int_eq(
				timerthread_reschedule(tt, self, deadline), 0);
		}
		deadline = deadline_of(self);
		ck_assert_int_eq(dispatch(), deadline < far - i);
		if (deadline == far - i)
			ck_assert_int_eq(timerthread_reschedule(tt, self, 0),
					 0);
	}
	end();
}
END_TEST

START_TEST(what_waits_is_drained)
{
	begin();
	self = schedule(0, arm_again, NULL);
	every(0, 1, note, NULL);
	ck_assert_int_eq(dispatch(), 2);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(drain(), 2);
	end();
}
END_TEST

/* It counts, all the time. */
START_TEST(what_waits_counts)
{
	setup();
	ck_assert_int_eq(timerthread_set_max_timers(tt, 1), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	self = schedule(0, arm_again, NULL);
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
				 -EAGAIN);
		ck_assert_int_eq(dispatch(), 1);
	}
	ck_assert_int_eq(timerthread_cancel(tt, self), 0);
	schedule(0, note, NULL);
	ck_assert_int_eq(dispatch(), 1);
	schedule(0, note, NULL);
	ck_assert_int_eq(dispatch(), 1);
	end();
}
END_TEST

static int64_t wait_until;
static bool in_time; /* it was not due when the dispatch began */

static void outlast(void *arg)
{
	note(arg);
	in_time = now() < wait_until;
	while (now() <= wait_until)
		;
}

/* What comes due while callbacks run is for the next one. */
START_TEST(due_meanwhile_waits)
{
	int i;

	for (i = 0; i < 20; i++) {
		int r;

		begin();
		wait_until = now() + 10 * MS;
		schedule(wait_until, note, NULL);
		every(wait_until, HOUR, note, NULL);
		dispatch();
		schedule(0, outlast, NULL);
		r = dispatch();
		if (in_time) {
			ck_assert_int_eq(r, 1);
			ck_assert(readable());
			ck_assert_int_eq(dispatch(), 2);
		}
		end();
		if (in_time)
			break;
	}
	if (i == 20)
		puts("due_meanwhile: too busy, nothing was tested");
}
END_TEST

static timerthread_id others[4];

static void meddle(void *arg)
{
	note(arg);
	ck_assert_int_eq(timerthread_cancel(tt, others[0]), 0);
	ck_assert_int_eq(timerthread_reschedule(tt, others[1], now() + HOUR),
			 0);
	ck_assert_int_eq(timerthread_reschedule(tt, others[2], 0), 0);
}

/* One that is due is cancelled or put off; one that is not becomes so. */
START_TEST(callbacks_meddle_with_others)
{
	begin();
	schedule(0, meddle, NULL);
	others[0] = schedule(1, never, NULL);
	others[1] = schedule(2, never, NULL);
	others[2] = schedule(now() + HOUR, note, NULL);
	ck_assert_int_eq(dispatch(), 1);
	ck_assert(readable());
	ck_assert_int_eq(dispatch(), 1);
	ck_assert(!readable());
	end();
}
END_TEST

/* What other threads schedule while a callback runs. */
START_TEST(planned_by_others_waits)
{
	pthread_t t;
	int r;

	begin();
	schedule(1, hold, &ran);
	schedule(2, post, &ran);
	t = start_thread(dispatch_in_thread, &r);
	wait_for(&ran);
	schedule(0, note, NULL);
	schedule(3, note, NULL);
	sem_post(&go);
	pthread_join(t, NULL);
	ck_assert_int_eq(r, 2);
	ck_assert(readable());
	ck_assert_int_eq(dispatch(), 2);
	end();
}
END_TEST

/*
 * All at once: timers that do this and that when they run, a number of times
 * each.
 */
enum { WALKERS = 300, WALKS = 20 };
static struct walker {
	timerthread_id id;
	int64_t deadline;
	int walks;
} walkers[WALKERS];

static uint64_t dice;
static int walks, early;

static int64_t somewhere(void)
{
	switch (random_below(&dice, 4)) {
	case 0:
		return (int64_t)random_below(&dice, 1000);
	case 1:
		return now();
	default:
		return now() + (int64_t)random_below(&dice, MS);
	}
}

static void walk(void *arg)
{
	struct walker *w = arg;

	early += now() < w->deadline;
	walks++;
	if (++w->walks == WALKS)
		return;
	w->deadline = somewhere();
	if (random_below(&dice, 2))
		ck_assert_int_eq(timerthread_reschedule(tt, w->id, w->deadline),
				 0);
	else
		w->id = schedule(w->deadline, walk, w);
}

START_TEST(nothing_is_lost)
{
	dice = test_seed();
	begin();
	for (int i = 0; i < WALKERS; i++) {
		walkers[i].deadline = somewhere();
		walkers[i].id =
			schedule(walkers[i].deadline, walk, &walkers[i]);
	}
	while (walks < WALKERS * WALKS) {
		int before = walks;

		wait_readable();
		ck_assert_int_eq(dispatch(), walks - before);
		ck_assert_int_le(walks - before, WALKERS);
	}
	ck_assert_int_eq(early, 0);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable());
	end();
}
END_TEST

/*
 * Loops: wait is given a descriptor from open and waits for one event.
 */
static int open_none(void)
{
	return -1;
}

static bool wait_with_poll(int unused, int ms)
{
	(void)unused;
	return readable_within(ms);
}

static bool wait_with_select(int unused, int ms)
{
	struct timeval t = {ms / 1000, ms % 1000 * 1000};
	fd_set set;

	(void)unused;
	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &t) == 1;
}

static int open_epoll(uint32_t events)
{
	struct epoll_event e = {.events = events};
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	ck_assert_int_ge(epoll, 0);
	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e), 0);
	return epoll;
}

static int open_level(void)
{
	return open_epoll(EPOLLIN);
}

static int open_edge(void)
{
	return open_epoll(EPOLLIN | EPOLLET);
}

static bool wait_with_epoll(int epoll, int ms)
{
	struct epoll_event e;

	return epoll_wait(epoll, &e, 1, ms) == 1;
}

static bool wait_once(int epoll, int ms)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLET | EPOLLONESHOT};

	return epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &e) == 0 &&
	       wait_with_epoll(epoll, ms);
}

static const struct loop {
	int (*open)(void);
	bool (*wait)(int, int);
} loops[] = {
	{open_none, wait_with_poll},   {open_none, wait_with_select},
	{open_level, wait_with_epoll}, {open_edge, wait_with_epoll},
	{open_edge, wait_once},
};

enum { LOOPS = sizeof(loops) / sizeof(loops[0]) };

static atom32 in_loop;

static void count_in_loop(void *arg)
{
	(void)arg;
	atom32_add(&in_loop, 1);
}

static void chain(void *arg)
{
	int n = (int)(uintptr_t)arg;

	count_in_loop(NULL);
	if (n > 0)
		schedule(n % 3 ? -n : now() + n * 1000, chain,
			 (void *)(uintptr_t)(n - 1));
}

enum { CHAIN = 200, FROM_OUTSIDE = 500 };

static void *schedule_from_outside(void *arg)
{
	uint64_t rng = test_seed();

	for (int i = 0; i < FROM_OUTSIDE; i++) {
		int64_t delay = (int64_t)random_below(&rng, 200000) - 50000;

		if (timerthread_schedule_after(tt, delay, count_in_loop, NULL,
					       NULL) != 0)
			abort();
		if (i % 8 == 0)
			usleep((unsigned)random_below(&rng, 300));
	}
	return arg;
}

/* One dispatch for each event, and never stuck. */
static void turn_loop(const struct loop *l)
{
	pthread_t t;
	int d;

	begin();
	d = l->open();
	atom32_store(&in_loop, 0);
	t = start_thread(schedule_from_outside, NULL);
	schedule(0, chain, (void *)(uintptr_t)(CHAIN - 1));
	while (atom32_load(&in_loop) < CHAIN + FROM_OUTSIDE) {
		ck_assert(l->wait(d, GIVEN_UP));
		ck_assert_int_ge(dispatch(), 0);
	}
	pthread_join(t, NULL);
	ck_assert(!l->wait(d, 0));
	if (d >= 0)
		close(d);
	end();
}

START_TEST(all_kinds_of_loops)
{
	for (int i = 0; i < LOOPS; i++)
		turn_loop(&loops[i]);
}
END_TEST

static void wait_edge(int epoll)
{
	ck_assert(wait_with_epoll(epoll, GIVEN_UP));
	/* That was it. */
	ck_assert(!wait_with_epoll(epoll, 0));
}

/* Whatever it is that comes, it comes with an edge of its own. */
START_TEST(an_edge_each)
{
	int epoll;

	begin();
	epoll = open_edge();
	ck_assert(!wait_with_epoll(epoll, 0));
	for (int i = 0; i < 20; i++) {
		schedule(0, i % 2 ? plan_for_the_past : note, NULL);
		wait_edge(epoll);
		ck_assert_int_eq(dispatch(), 1);
		if (i % 2) {
			wait_edge(epoll);
			ck_assert_int_eq(dispatch(), 3);
		}
		ck_assert(!wait_with_epoll(epoll, 0));
		schedule(now() + MS, note, NULL);
		do
			wait_edge(epoll);
		while (dispatch() == 0);
	}
	self = every(0, 1, note, NULL);
	for (int i = 0; i < 20; i++) {
		wait_edge(epoll);
		ck_assert_int_eq(dispatch(), 1);
	}
	close(epoll);
	end();
}
END_TEST

/*
 * The loop gets its event while another thread is just about to leave its
 * dispatch.  It must not come too early: there is no other event.
 */
START_TEST(an_edge_is_not_lost_to_another_dispatch)
{
	pthread_t first, second;
	int epoll, r[2];

	begin();
	epoll = open_edge();
	schedule(0, plan_for_the_past, NULL);
	wait_edge(epoll);
	atom32_store(&tarry, TARRY_AFTER);
	first = start_thread(dispatch_in_thread, &r[0]);
	wait_for(&ran);
	wait_edge(epoll);
	second = start_thread(dispatch_in_thread, &r[1]);
	/* Unless it was refused, it waits by now, or comes later. */
	for (int i = 0; i < 100; i++)
		sched_yield();
	sem_post(&go);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	ck_assert_int_eq(r[0], 1);
	ck_assert_int_eq(r[1], 3);
	close(epoll);
	end();
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

static void *dispatch_although_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	*(int *)arg = timerthread_dispatch(tt);
	pthread_testcancel();
	return NULL;
}

/* Not even where it frees the instance, and waits for others to leave. */
START_TEST(no_cancellation_point)
{
	for (int i = 0; i < 50; i++) {
		pthread_t loop, waiter;
		int r[2] = {77, 77};
		void *end_of_loop;

		begin();
		awaited = schedule(0, destroy_awaited, NULL);
		loop = start_thread(dispatch_although_cancelled, &r[0]);
		while (timerthread_get_deadline(tt, awaited, &(int64_t){0}) ==
		       0)
			sched_yield();
		waiter = start_thread(wait_for_its_end, &r[1]);
		pthread_join(loop, &end_of_loop);
		pthread_join(waiter, NULL);
		ck_assert_ptr_eq(end_of_loop, PTHREAD_CANCELED);
		ck_assert_int_eq(r[0], 1);
		ck_assert_int_eq(r[1], 1);
	}
}
END_TEST

/*
 * Who calls.
 */
static struct timerthread *other;
static int result[4];

static void call_inside(void *arg)
{
	note(arg);
	result[0] = dispatch();
	result[1] = timerthread_advance(tt, 0);
	result[2] = timerthread_dispatch(other);
}

START_TEST(not_from_a_callback)
{
	int other_fd;

	begin();
	ck_assert_int_eq(timerthread_create(&other), 0);
	ck_assert_int_eq(timerthread_start_polled(other, &other_fd), 0);
	ck_assert_int_eq(timerthread_schedule(other, 0, post, &ran, NULL), 0);
	schedule(1, call_inside, NULL);
	schedule(2, note, NULL);
	ck_assert_int_eq(dispatch(), 2);
	ck_assert_int_eq(result[0], -EBUSY);
	ck_assert_int_eq(result[1], -EINVAL);
	/* Of another instance it is fine. */
	ck_assert_int_eq(result[2], 1);
	timerthread_destroy(other);
	end();
}
END_TEST

START_TEST(one_thread_at_a_time)
{
	pthread_t t;
	int r;

	begin();
	schedule(1, hold, &ran);
	schedule(2, note, NULL);
	t = start_thread(dispatch_in_thread, &r);
	wait_for(&ran);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(dispatch(), -EBUSY);
	sem_post(&go);
	pthread_join(t, NULL);
	ck_assert_int_eq(r, 2);
	/* In turn, any thread may. */
	for (int i = 0; i < 10; i++) {
		schedule(0, note, NULL);
		pthread_join(start_thread(dispatch_in_thread, &r), NULL);
		ck_assert_int_eq(r, 1);
		schedule(0, note, NULL);
		ck_assert_int_eq(dispatch(), 1);
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
	pthread_getname_np(pthread_self(), seen_name, sizeof(seen_name));
}

/* And no hook is called. */
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
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, never, never, NULL),
			 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	schedule(0, look, NULL);
	ck_assert_int_eq(dispatch(), 1);
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
	result[3] = readable();
}

START_TEST(stopped_by_a_callback)
{
	begin();
	schedule(1, note, NULL);
	schedule(2, stop_inside, NULL);
	schedule(3, never, NULL);
	every(4, 1, never, NULL);
	schedule(now() + HOUR, never, NULL);
	ck_assert_int_eq(dispatch(), 2);
	ck_assert_int_eq(runs, 2);
	ck_assert_int_eq(result[0], 1);
	ck_assert_int_eq(result[1], 1);
	ck_assert_int_eq(result[2], -ESHUTDOWN);
	ck_assert_int_eq(result[3], 1);
	ck_assert_int_eq(dispatch(), -ESHUTDOWN);
	ck_assert(readable());
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(drain(), 3);
	ck_assert_int_eq(drain(), 0);
	end();
}
END_TEST

/* It is armed again, or repeats, and so is left for who drains. */
static void arm_and_stop(void *arg)
{
	if (arg)
		arm_again(NULL);
	timerthread_stop(tt);
}

START_TEST(stopped_by_one_that_was_to_run_again)
{
	for (int i = 0; i < 2; i++) {
		begin();
		if (i)
			self = schedule(0, arm_and_stop, tt);
		else
			every(0, 1, arm_and_stop, NULL);
		ck_assert_int_eq(dispatch(), 1);
		ck_assert(readable());
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(drain(), 1);
		end();
	}
}
END_TEST

/* No callback runs any more: nobody need be waited for by another stop. */
START_TEST(over_when_the_call_is)
{
	begin();
	schedule(1, stop_inside, NULL);
	schedule(2, never, NULL);
	ck_assert_int_eq(dispatch(), 1);
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

	begin();
	schedule(1, hold, &ran);
	schedule(2, never, NULL);
	t = start_thread(dispatch_in_thread, &r);
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
	ck_assert_int_ge(drain(), 1);
	pthread_join(t, NULL);
	ck_assert_int_eq(r, 1);
	ck_assert(readable());
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
		begin();
		schedule(1, note, NULL);
		schedule(2, destroy_inside, i % 2 ? tt : NULL);
		schedule(3, never, NULL);
		every(now() + HOUR, 1, never, NULL);
		errno = E2BIG;
		ck_assert_int_eq(dispatch(), 2);
		ck_assert_int_eq(errno, E2BIG);
		ck_assert_int_eq(open_files(), before);
	}
	/* That would have run again. */
	begin();
	every(0, 1, destroy_inside, NULL);
	ck_assert_int_eq(dispatch(), 1);
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
	begin();
	schedule(0, note, NULL);
	ck_assert_int_eq(dispatch(), 1);
	schedule(0, never, NULL);
	wait_readable();
	pthread_join(start_thread(destroy_in_thread, NULL), NULL);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}
END_TEST

START_TEST(never_dispatched)
{
	begin();
	schedule(0, never, NULL);
	schedule(now() + HOUR, never, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(drain(), 2);
	end();

	begin();
	schedule(0, never, NULL);
	end();
}
END_TEST

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

START_TEST(cancel_wait_waits)
{
	for (int i = 0; i < 50; i++) {
		timerthread_id id;
		pthread_t t, c;
		int r;

		begin();
		atom32_store(&written, 0);
		id = every(0, 1, hold_and_write, &ran);
		t = start_thread(dispatch_in_thread, &r);
		wait_for(&ran);
		c = start_thread(cancel_wait_in_thread, &id);
		for (int j = 0; j < i * 10; j++)
			sched_yield();
		sem_post(&go);
		pthread_join(c, NULL);
		pthread_join(t, NULL);
		/* 0: it waited for its next run. */
		ck_assert(result[0] == 1 || result[0] == 0);
		ck_assert_int_eq(result[1], 1);
		ck_assert_int_eq(r, 1);
		end();
	}
}
END_TEST

/*
 * Races.
 */
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

static void *schedule_far(void *arg)
{
	schedule(now() + HOUR, never, NULL);
	return arg;
}

/* Who has found a later one, and comes last to set it. */
START_TEST(a_later_one_does_not_undo_it)
{
	pthread_t t;

	begin();
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

		begin();
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

/*
 * fork.
 */
static void use_in_child(void)
{
	int none = 77;

	errno = E2BIG;
	NEED(dispatch() == -ECHILD);
	NEED(timerthread_start_polled(tt, &none) == -ECHILD);
	NEED(timerthread_advance(tt, 0) == -ECHILD);
	NEED(timerthread_schedule(tt, 0, never, NULL, NULL) == -ECHILD);
	NEED(timerthread_stop(tt) == -ECHILD);
	NEED(errno == E2BIG && none == 77);
	timerthread_destroy(tt);
	NEED(fcntl(fd, F_GETFD) == -1);
}

/* The descriptor is shared, but the child does not touch what it is set to. */
START_TEST(inherited)
{
	for (int i = 0; i < CLOCKS; i++) {
		begin_on(clocks[i]);
		runs = 0;
		schedule(now() + 30 * MS, note, NULL);
		lie_down();
		in_child(use_in_child);
		while (runs == 0) {
			wait_readable();
			dispatch();
		}
		schedule(0, note, NULL);
		in_child(use_in_child);
		ck_assert(readable());
		ck_assert_int_eq(dispatch(), 1);
		ck_assert(!readable());
		end();
	}
}
END_TEST

static pid_t forked;

static void fork_here(void *arg)
{
	note(arg);
	prepare_fork();
	forked = fork();
	if (forked == 0)
		limit_child();
	errno = EDOM;
}

/* In the child the call is over, in the parent it goes on. */
START_TEST(forked_by_a_callback)
{
	int r;

	begin();
	schedule(1, note, NULL);
	every(2, HOUR, fork_here, NULL);
	schedule(3, note, NULL);
	schedule(now() + 50 * MS, note, NULL);
	errno = E2BIG;
	r = dispatch();
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
	while (runs < 4) {
		wait_readable();
		dispatch();
	}
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		start_errors,
		no_descriptor_to_be_had,
		no_descriptor_left,
		dispatch_errors,
		it_has_no_thread,
		options_come_before,
		errno_is_left_alone,
		kind_of_descriptor,
		readable_after_stop,
		next_deadline_where_it_lies,
		next_deadline_without_the_slack,
		next_deadline_is_enough,
		readable_when_due,
		deadlines_in_the_past,
		never_is_never,
		cancelled_wakes_once,
		idle_means_asleep,
		no_wakeup_is_for_nothing,
		a_burst_of_the_cancelled,
		it_is_set_to_the_earliest,
		slack,
		one_wakeup_runs_all_within_the_slack,
		system_calls,
		no_system_call_from_within,
		what_is_due_runs_in_order,
		all_that_is_due_runs,
		all_that_is_due_runs_wherever_it_is,
		planned_by_callbacks_waits,
		armed_again_waits,
		short_periods_wait,
		what_waits_can_be_moved,
		what_waits_can_be_moved_often,
		what_waits_is_drained,
		what_waits_counts,
		due_meanwhile_waits,
		callbacks_meddle_with_others,
		planned_by_others_waits,
		nothing_is_lost,
		all_kinds_of_loops,
		an_edge_each,
		an_edge_is_not_lost_to_another_dispatch,
		no_cancellation_point,
		not_from_a_callback,
		one_thread_at_a_time,
		callbacks_are_part_of_the_call,
		stopped_by_a_callback,
		stopped_by_one_that_was_to_run_again,
		over_when_the_call_is,
		stopped_by_another_thread,
		destroyed_by_a_callback,
		destroyed_by_another_thread,
		never_dispatched,
		cancel_wait_waits,
		race_with_one_loop,
		race_with_two_loops,
		race_of_two_who_schedule,
		a_later_one_does_not_undo_it,
		nobody_waits_for_who_is_slow,
		race_with_stop,
		inherited,
		forked_by_a_callback,
	};

	return RUN_TESTS("polled", tests);
}
