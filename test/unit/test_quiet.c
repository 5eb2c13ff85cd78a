/* SPDX-License-Identifier: MIT */
/*
 * Which timers are in the quiet bucket: those that repeat often, and those that
 * callbacks on the timer thread schedule.
 */
#include "config.h"

#include "cpus.h"
#include "fixture.h"
#include "os/cpu.h"

#define SECOND INT64_C(1000000000)

enum { OTHER, QUIET };

/* Which bucket is it in?  The test has one for each CPU, and one more. */
static int place_of(uint64_t id)
{
	const struct intake *in = tt->engine.intake;

	return (slot_index(id) & in->mask) == (uint32_t)cpu_count();
}

static uint64_t schedule_every(int64_t period)
{
	uint64_t id;

	ck_assert_int_eq(timerthread_schedule_every(tt, TIMERTHREAD_NEVER,
						    period, post, &ran, &id),
			 0);
	return id;
}

static void ignore(void *arg)
{
	(void)arg;
}

static uint64_t schedule(int64_t deadline)
{
	uint64_t id;

	ck_assert_int_eq(timerthread_schedule(tt, deadline, ignore, NULL, &id),
			 0);
	return id;
}

static uint64_t prepare(void)
{
	uint64_t id;

	ck_assert_int_eq(timerthread_prepare(tt, post, &ran, &id), 0);
	return id;
}

/* What a callback has seen. */
static int passed, near, far, last, repeats, prepared;

static void look(void *arg)
{
	(void)arg;
	passed = place_of(schedule(INT64_MIN));
	near = place_of(schedule(tt->engine.until + SECOND));
	far = place_of(schedule(tt->engine.until + SECOND + 1));
	last = place_of(schedule(TIMERTHREAD_NEVER));
	repeats = place_of(schedule_every(INT64_MAX));
	prepared = place_of(prepare());
	sem_post(&ran);
}

static void check_places(int in_callback)
{
	ck_assert_int_eq(passed, in_callback);
	ck_assert_int_eq(near, in_callback);
	ck_assert_int_eq(far, OTHER);
	ck_assert_int_eq(last, OTHER);
	ck_assert_int_eq(repeats, OTHER);
	ck_assert_int_eq(prepared, OTHER);
	ck_assert_int_eq(place_of(schedule(0)), OTHER);
	ck_assert_int_eq(place_of(prepare()), OTHER);
	ck_assert_int_eq(place_of(schedule_every(1)), QUIET);
	ck_assert_int_eq(place_of(schedule_every(1000000000)), QUIET);
	ck_assert_int_eq(place_of(schedule_every(1000000001)), OTHER);
	ck_assert_int_eq(place_of(schedule_every(INT64_MAX)), OTHER);
}

static void begin(void)
{
	unsigned n = (unsigned)cpu_count() + 1;

	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, n), 0);
}

/*
 * All threads are on one CPU.  In its bucket are others, a little earlier: so
 * what fn schedules for a second from now could go the short way.
 */
static void run_on_thread(timerthread_fn *fn)
{
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	for (int i = 0; i < 10; i++)
		schedule(timerthread_now(tt) + SECOND * 9 / 10);
	ck_assert_int_eq(timerthread_schedule(tt, 0, fn, NULL, NULL), 0);
	wait_for(&ran);
}

/* With a cap, all calls go the long way. */
START_TEST(of_callbacks_on_the_timer_thread)
{
	for (int capped = 0; capped < 2; capped++) {
		begin();
		if (capped)
			timerthread_set_max_timers(tt, 1000);
		run_on_thread(look);
		check_places(QUIET);
		timerthread_stop(tt);
		end();
	}
}
END_TEST

static struct timerthread *inner;

/* Another instance's callback runs in the midst of this one. */
static void advance_inner(void *arg)
{
	(void)arg;
	ck_assert_int_eq(timerthread_advance(inner, 1), 1);
	look(NULL);
}

static void look_from_outside(void *arg)
{
	*(int *)arg = place_of(schedule(0));
}

START_TEST(of_an_inner_callback)
{
	int seen = QUIET;

	ck_assert_int_eq(timerthread_create(&inner), 0);
	ck_assert_int_eq(timerthread_start_virtual(inner, 0), 0);
	ck_assert_int_eq(
		timerthread_schedule(inner, 1, look_from_outside, &seen, NULL),
		0);
	begin();
	run_on_thread(advance_inner);
	ck_assert_int_eq(seen, OTHER);
	check_places(QUIET);
	timerthread_destroy(inner);
	end();
}
END_TEST

/* It is the loop's own thread, and most loops have no other. */
START_TEST(not_of_callbacks_in_a_loop)
{
	int fd;

	begin();
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, look, NULL, NULL), 0);
	ck_assert_int_eq(timerthread_dispatch(tt), 1);
	check_places(OTHER);
	end();
}
END_TEST

/* It has little of that. */
START_TEST(not_if_there_is_a_reserve)
{
	begin();
	ck_assert_int_eq(timerthread_set_reserve(tt, 1000), 0);
	run_on_thread(look);
	check_places(OTHER);
	end();
}
END_TEST

static int submit(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	run(arg);
	return 0;
}

/* These may run on any thread. */
START_TEST(not_of_callbacks_on_an_executor)
{
	begin();
	ck_assert_int_eq(timerthread_set_executor(tt, submit, NULL), 0);
	run_on_thread(look);
	check_places(OTHER);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		of_callbacks_on_the_timer_thread, of_an_inner_callback,
		not_of_callbacks_in_a_loop,       not_if_there_is_a_reserve,
		not_of_callbacks_on_an_executor,
	};

	return RUN_TESTS("quiet", tests);
}
