/* SPDX-License-Identifier: MIT */
/*
 * Each piece of memory, each thread and each descriptor that an instance asks
 * for is refused in turn, and many of them one after the other.  Each call then
 * works or returns the error that its comment names; nothing has changed, and
 * the next call works; no timer is lost, and nothing is kept.
 */
#include "config.h"

#include "failing.h"
#include "timers.h"

#include <stdio.h>

enum { TIMERS = 3000, BUCKETS = 3 };

/* Check writes each assertion to a file, which is slow. */
#define NEED(holds)                                                            \
	do {                                                                   \
		if (!(holds))                                                  \
			ck_abort_msg("%s", #holds);                            \
	} while (0)

/* Which options the instance has. */
static struct variant {
	bool reserve, cap, boottime;
} variant;

static const clockid_t two_clocks[] = {CLOCK_MONOTONIC, CLOCK_BOOTTIME};

static timerthread_id ids[TIMERS];
static unsigned errors; /* of one life */
static atom32 runs;

static void count(void *arg)
{
	(void)arg;
	atom32_add(&runs, 1);
}

static uint64_t need_stat(enum timerthread_stat what)
{
	uint64_t value = 0;

	NEED(timerthread_get_stat(tt, what, &value) == 0);
	return value;
}

static void create(void)
{
	struct timerthread *const unset = (void *)&ran;
	int r;

	while ((tt = unset, r = timerthread_create(&tt)) != 0) {
		ck_assert_int_eq(r, -ENOMEM);
		ck_assert_ptr_eq(tt, unset);
		errors++;
	}
}

/* As long as it has not been started, they can be set. */
static void set_options(void)
{
	ck_assert_int_eq(timerthread_set_buckets(tt, BUCKETS), 0);
	ck_assert_int_eq(
		timerthread_set_reserve(tt, variant.reserve ? TIMERS : 0), 0);
	ck_assert_int_eq(
		timerthread_set_max_timers(tt, variant.cap ? TIMERS + 1 : 0),
		0);
	ck_assert_int_eq(
		timerthread_set_clock(tt, two_clocks[variant.boottime]), 0);
}

static void start_it(void)
{
	timerthread_id id = 5;
	int r;

	for (;;) {
		set_options();
		r = driver_start(tt);
		if (r == 0)
			return;
		ck_assert(r == -ENOMEM || r == -EAGAIN || r == -EMFILE);
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, &id),
				 -EINVAL);
		errors++;
	}
}

/* Due now, soon, and in all lanes; every third runs. */
static int64_t deadline_for(int i)
{
	return i % 3 == 0 ? i : timerthread_now(tt) + (HOUR << i % 20) + i;
}

static void schedule_one(int i)
{
	uint64_t before = need_stat(TIMERTHREAD_STAT_SCHEDULED);
	int r;

	for (;;) {
		ids[i] = 5;
		r = timerthread_schedule(tt, deadline_for(i),
					 i % 3 == 0 ? count : never, &ids[i],
					 &ids[i]);
		if (r == 0)
			break;
		NEED(r == -ENOMEM);
		NEED(!variant.reserve);
		NEED(ids[i] == 5);
		NEED(need_stat(TIMERTHREAD_STAT_SCHEDULED) == before);
		errors++;
	}
	NEED(need_stat(TIMERTHREAD_STAT_SCHEDULED) == before + 1);
}

/* Needs no memory: it works always. */
static void reschedule_some(void)
{
	for (int i = 0; i < TIMERS; i++) {
		if (i % 3 == 1)
			NEED(timerthread_reschedule(tt, ids[i],
						    timerthread_now(tt) +
							    HOUR / 2 + i) == 0);
	}
}

static void look(void)
{
	struct timerthread_snapshot *const unset = (void *)&ran, *s;
	struct timerthread *const twice[] = {tt, tt};
	static char text[65536];
	int r;

	while ((s = unset, r = timerthread_take_snapshot(tt, &s)) != 0) {
		NEED(r == -ENOMEM);
		NEED(s == unset);
		errors++;
	}
	timerthread_free_snapshot(s);
	r = timerthread_format_metrics(twice, 1, TIMERTHREAD_FORMAT_OPENMETRICS,
				       text, sizeof(text));
	NEED(r > 0 && r < (int)sizeof(text));
	text[0] = 'x';
	while ((r = timerthread_format_metrics(twice, 2,
					       TIMERTHREAD_FORMAT_PROMETHEUS,
					       text, sizeof(text))) < 0) {
		NEED(r == -ENOMEM);
		NEED(text[0] == 'x');
		errors++;
	}
}

static unsigned drained;

static void drain_one(timerthread_id id, timerthread_fn *fn, void *arg,
		      void *ctx)
{
	timerthread_id *mine = arg;

	(void)ctx;
	NEED(*mine == id);
	NEED(fn == never);
	*mine = 0;
	drained++;
}

/* One half is cancelled, the rest taken back. */
static void end_them(void)
{
	unsigned cancelled = 0;

	for (int i = 2; i < TIMERS; i += 3) {
		NEED(timerthread_cancel(tt, ids[i]) == 0);
		cancelled++;
	}
	drained = 0;
	NEED(timerthread_cancel_all(tt, drain_one, NULL) >= 0);
	NEED(cancelled + drained == TIMERS - TIMERS / 3);
	NEED(need_stat(TIMERTHREAD_STAT_PENDING) == 0);
}

/*
 * A whole life, in which n calls fail from the one with this number on.
 * Returns how many calls there were that could fail.
 */
static uint32_t live(uint32_t from, uint32_t n)
{
	uint32_t before = atom32_load(&pieces), seen;
	unsigned scheduling;

	errors = 0;
	atom32_store(&runs, 0);
	failing_arm(from, n);
	create();
	start_it();
	scheduling = errors;
	for (int i = 0; i < TIMERS; i++)
		schedule_one(i);
	scheduling = errors - scheduling;
	ck_assert_uint_eq(need_stat(TIMERTHREAD_STAT_NO_MEMORY), scheduling);
	reschedule_some();
	look();
	while (atom32_load(&runs) < TIMERS / 3)
		sched_yield();
	settle();
	seen = failing_disarm();
	ck_assert_uint_eq(atom32_load(&runs), TIMERS / 3);
	end_them();
	driver_destroy(tt);
	ck_assert_uint_eq(atom32_load(&pieces), before);
	return seen;
}

static const struct variant variants[] = {
	{false, false, false},
	{true, false, false},
	{false, true, true},
};

static void setup_semaphores(void)
{
	sem_init(&ran, 0, 0);
	sem_init(&go, 0, 0);
}

START_TEST(each_fails_once)
{
	uint32_t points = 0;
	unsigned failed_calls = 0;

	setup_semaphores();
	for (size_t v = 0; v < sizeof(variants) / sizeof(variants[0]); v++) {
		uint32_t k = 0;

		variant = variants[v];
		while (k < live(k, 1)) {
			failed_calls += errors;
			k++;
		}
		/* The instance, its parts, and blocks and slots. */
		ck_assert_uint_ge(k, 8);
		points += k;
	}
	ck_assert_uint_ge(failed_calls, 20);
	printf("failures: %u points failed in turn, %u calls returned errors\n",
	       points, failed_calls);
}
END_TEST

/* So that what is tried instead fails as well. */
START_TEST(many_fail_in_a_row)
{
	setup_semaphores();
	for (size_t v = 0; v < sizeof(variants) / sizeof(variants[0]); v++) {
		variant = variants[v];
		for (uint32_t from = 0; from < 40; from += 1 + from / 4)
			live(from, 30);
	}
}
END_TEST

/* The first call on a bucket sets it up; it may have no memory to go on. */
START_TEST(a_place_in_the_cap_is_given_back)
{
	timerthread_id id;
	uint64_t failed, scheduled;

	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 1), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	failing_arm(0, UINT32_MAX);
	ck_assert_int_eq(timerthread_schedule(tt, INT64_MAX, never, NULL, &id),
			 -ENOMEM);
	failing_disarm();
	ck_assert_int_eq(timerthread_schedule(tt, INT64_MAX, never, NULL, &id),
			 0);
	ck_assert_int_eq(
		timerthread_get_stat(tt, TIMERTHREAD_STAT_NO_MEMORY, &failed),
		0);
	ck_assert_int_eq(timerthread_get_stat(tt, TIMERTHREAD_STAT_SCHEDULED,
					      &scheduled),
			 0);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(scheduled, 1);
	timerthread_destroy(tt);
}
END_TEST

/* Nothing is left of the driver that could not be started. */
START_TEST(another_driver_after_that)
{
	int64_t then;

	ck_assert_int_eq(timerthread_create(&tt), 0);
	failing_arm(0, 1);
	ck_assert_int_eq(timerthread_start_virtual(tt, 42), -ENOMEM);
	failing_disarm();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	then = timerthread_now(tt);
	while (timerthread_now(tt) <= then)
		;
	timerthread_destroy(tt);
}
END_TEST

static int refuse(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	(void)run;
	(void)arg;
	return -1;
}

/* What one has allocated for an executor is not there for the next. */
START_TEST(one_start_after_the_other_fails)
{
	uint32_t before = atom32_load(&pieces);

	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_int_eq(timerthread_set_executor(tt, refuse, NULL), 0);
	for (int i = 0; i < 3; i++) {
		failing_arm(1, 1);
		ck_assert_int_eq(timerthread_start_virtual(tt, 0), -ENOMEM);
		failing_disarm();
	}
	timerthread_destroy(tt);
	ck_assert_uint_eq(atom32_load(&pieces), before);
}
END_TEST

static void stop_it(void *arg)
{
	count(arg);
	NEED(timerthread_stop(tt) == 1);
}

/* The driver keeps more blocks than it has memory for, and goes on no more. */
START_TEST(what_a_stop_leaves_is_given_back)
{
	enum { BLOCKS = HEAP_MIN + 8, N = BLOCKS * BLOCK_ENTRIES };
	uint32_t before = atom32_load(&pieces);

	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 1), 0);
	for (unsigned i = 0; i < N; i++)
		NEED(timerthread_schedule(tt, 1000 + i, i > 0 ? never : stop_it,
					  NULL, NULL) == 0);
	failing_arm(0, UINT32_MAX);
	atom32_store(&runs, 0);
	ck_assert_int_eq(timerthread_advance(tt, 1000 + N), 1);
	ck_assert_uint_gt(failing_disarm(), 0);
	ck_assert_uint_eq(atom32_load(&runs), 1);
	timerthread_destroy(tt);
	ck_assert_uint_eq(atom32_load(&pieces), before);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_fails_once,
		many_fail_in_a_row,
		a_place_in_the_cap_is_given_back,
		another_driver_after_that,
		one_start_after_the_other_fails,
		what_a_stop_leaves_is_given_back,
	};

	return RUN_TESTS("failures", tests);
}
