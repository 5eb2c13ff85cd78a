/* SPDX-License-Identifier: MIT */
/*
 * An instance in an event loop: its descriptor, and when it is readable.
 */
#include "config.h"

#include "polled.h"
#include "sleeper_calls.h"

#include <fcntl.h>

static atom32 sets; /* of what wakes the loop */

static void before_call(void)
{
}

static void after_call(int64_t t)
{
	(void)t;
	atom32_add(&sets, 1);
}

START_TEST(kind_of_descriptor)
{
	for (int i = 0; i < CLOCKS; i++) {
		int before = open_files();

		begin_on(clocks[i]);
#ifdef TT_TIMERFD
		ck_assert_int_eq(open_files(), before + 1);
#else
		ck_assert_int_eq(open_files(), before + 2);
#endif
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
	ck_assert_int_eq(cancel_all(), 3);
	end();
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
 * It says so once, and once to sleep; then there is nothing to wake up for.
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

enum { BURST = 50000 };

static timerthread_id burst[BURST];

static void schedule_burst(int64_t first)
{
	enum { STEP = 600 };

	for (int i = 0; i < BURST; i++) {
		if (timerthread_schedule(tt, first + i * STEP, never, NULL,
					 &burst[i]) != 0)
			abort();
	}
}

static void cancel_burst(void)
{
	for (int i = 0; i < BURST; i++)
		timerthread_cancel(tt, burst[i]);
}

static int64_t time_of_burst(void)
{
	int64_t time;

	begin();
	time = now();
	schedule_burst(TIMERTHREAD_NEVER / 2);
	cancel_burst();
	time = now() - time;
	end();
	return time;
}

/* The thread may be moved while it schedules: a bucket for each of its CPUs. */
static int buckets(void)
{
	struct bucket_set used = intake_used(tt->engine.intake);
	int n = 0;

	while (intake_take(tt->engine.intake, &used))
		n++;
	return n;
}

/*
 * So many that are far from due call for nothing.  When they are due and were
 * cancelled, the calls that find it are short each, and it is quiet again.
 */
START_TEST(a_burst_of_the_cancelled)
{
	enum { BLOCKS_A_CALL = 16 };
	/* A slow machine, too, cancels all before the first is due. */
	int64_t ahead = S + 4 * time_of_burst();
	int n, more, most, times = 0;

	begin();
	atom32_store(&sets, 0);
	schedule_burst(now() + ahead);
	/* For the first, for so many slots, and for a bucket's many blocks. */
	ck_assert_int_le((int)atom32_load(&sets), 2 + buckets());
	lie_down();
	cancel_burst();
	/* Each lane that has some calls once. */
	while (slots_in_use() > 0) {
		ck_assert_int_lt(times++, LANES * buckets());
		wait_readable();
		while (readable()) {
			ck_assert_int_eq(dispatch(), 0);
			ck_assert_uint_lt(tt->engine.effort,
					  (BLOCKS_A_CALL + 4) * BLOCK_ENTRIES);
		}
	}
	/*
	 * When those would have been due that were put back into a lane, or
	 * when their slice of the wheel begins.
	 */
	most = LANES * buckets() + SLICES;
	n = wakeups(150);
	do {
		more = wakeups(30);
		n += more;
	} while (more > 0 && n <= most);
	ck_assert_int_le(n, most);
	schedule(0, note, NULL);
	wait_readable();
	ck_assert_int_eq(dispatch(), 1);
	end();
}
END_TEST

/*
 * fork.
 */
static void use_in_child(void)
{
	NEED(dispatch() == -ECHILD);
	NEED(timerthread_schedule(tt, 0, never, NULL, NULL) == -ECHILD);
	NEED(timerthread_stop(tt) == -ECHILD);
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

int main(void)
{
	const TTest *const tests[] = {
		kind_of_descriptor,       readable_after_stop,
		readable_when_due,        deadlines_in_the_past,
		never_is_never,           cancelled_wakes_once,
		idle_means_asleep,        no_wakeup_is_for_nothing,
		a_burst_of_the_cancelled, inherited,
	};

	return RUN_TESTS("polled", tests);
}
