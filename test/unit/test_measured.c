/* SPDX-License-Identifier: MIT */
/*
 * What is measured and told of several runs in one turn; and of runs that an
 * executor keeps.  The clock stands still, except where the test moves it.
 */
#include "config.h"

#include "tasks.h"

#define START (20 * HOUR)

enum { PAGE = 1 << 16 };

static int64_t shown; /* 0: the clock goes on */

int64_t __real_clock_now(clockid_t clock);
int64_t __wrap_clock_now(clockid_t clock);
/* At this reading of the clock, counted from 1, this timer is cancelled. */
static timerthread_id cancelled_id;
static int cancelled_at, cancel_result;

/* What a metrics reader has seen of the clock is this much earlier. */
static int64_t held_up;

int64_t __wrap_clock_now(clockid_t clock)
{
	if (held_up)
		return shown - held_up;
	if (cancelled_at > 0 && --cancelled_at == 0)
		cancel_result = timerthread_cancel(tt, cancelled_id);
	return shown ? shown : __real_clock_now(clock);
}

/* Returns the time after that. */
static int64_t linger(int64_t ns)
{
	return shown += ns;
}

/* An event loop: this thread alone decides when a turn begins. */
static void start_polled(void)
{
	shown = START;
	start_driver(POLLED);
}

static void start_with_hook(int64_t threshold, timerthread_slow_fn *fn)
{
	setup();
	ck_assert_int_eq(timerthread_set_slow_hook(tt, threshold, fn, NULL), 0);
	start_polled();
}

static void end_measured(void)
{
	shown = 0;
	end();
}

/* How many runs a histogram has counted: 0, or 1 if there are any. */
static bool has_counted(enum timerthread_histogram which)
{
	struct timerthread_snapshot *s;
	int64_t value;
	int r;

	ck_assert_int_eq(timerthread_take_snapshot(tt, &s), 0);
	r = timerthread_get_quantile(s, NULL, which, 1, &value);
	timerthread_free_snapshot(s);
	ck_assert(r == 0 || r == -ENOENT);
	return r == 0;
}

/* What the slow hook was told, and how often. */
static struct {
	int n;
	int64_t run_time;
} hook;

static void slow_hook(timerthread_id id, timerthread_fn *fn, void *arg,
		      int64_t run_time, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
	hook.n++;
	hook.run_time = run_time;
	linger(1000);
}

/* When a callback began, and what the library tells of that. */
static struct sight {
	int64_t length, began, told;
} sights[4];

static void tell_sight(timerthread_id id, timerthread_fn *fn, void *arg,
		       int64_t run_time, void *ctx)
{
	struct sight *s = ctx;

	(void)id;
	(void)fn;
	(void)arg;
	s->told = shown - run_time;
}

static void look(void *arg)
{
	struct sight *s = arg;

	s->began = shown;
	linger(s->length);
	ck_assert_int_eq(timerthread_visit_running(tt, 0, tell_sight, s),
			 s->length > 0);
}

static void plan(int i, int64_t length)
{
	sights[i].length = length;
	schedule(i - 100, look, &sights[i]);
}

static void check_told(int n)
{
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(sights[i].told, sights[i].began);
}

/* Several slow ones in a turn: the hook's time is nobody's. */
START_TEST(the_hook_is_charged_to_nobody)
{
	start_with_hook(10, slow_hook);
	for (int i = 0; i < 4; i++)
		plan(i, 20 + 10 * i);
	ck_assert_int_eq(timerthread_dispatch(tt), 4);
	ck_assert_int_eq(hook.n, 4);
	check_told(4);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_RUN_TIME), 140);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LONGEST_RUN), 50);
	end_measured();
}
END_TEST

START_TEST(the_hook_in_an_executor)
{
	begin_with(keep);
	ck_assert_int_eq(timerthread_set_slow_hook(tt, 10, slow_hook, NULL), 0);
	start_polled();
	plan(0, 50);
	plan(1, 7);
	ck_assert_int_eq(timerthread_dispatch(tt), 2);
	call_tasks();
	ck_assert_int_eq(hook.n, 1);
	check_told(2);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_RUN_TIME), 57);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LONGEST_RUN), 50);
	end_measured();
}
END_TEST

/* It is told of those that ran for more than the threshold. */
START_TEST(exactly_the_threshold_is_not_slow)
{
	start_with_hook(10, slow_hook);
	plan(0, 10);
	ck_assert_int_eq(timerthread_dispatch(tt), 1);
	ck_assert_int_eq(hook.n, 0);
	plan(0, 11);
	ck_assert_int_eq(timerthread_dispatch(tt), 1);
	ck_assert_int_eq(hook.n, 1);
	ck_assert_int_eq(hook.run_time, 11);
	end_measured();
	/* With 0, of each that took any time. */
	start_with_hook(0, slow_hook);
	plan(0, 0);
	plan(1, 1);
	ck_assert_int_eq(timerthread_dispatch(tt), 2);
	ck_assert_int_eq(hook.n, 2);
	ck_assert_int_eq(hook.run_time, 1);
	end_measured();
}
END_TEST

static int visits;

static void visit(timerthread_id id, timerthread_fn *fn, void *arg,
		  int64_t run_time, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
	ck_assert_int_eq(run_time, 10);
	visits++;
}

static void be_visited(void *arg)
{
	(void)arg;
	linger(10);
	ck_assert_int_eq(timerthread_visit_running(tt, 10, visit, NULL), 0);
	ck_assert_int_eq(timerthread_visit_running(tt, 9, visit, NULL), 1);
}

START_TEST(exactly_the_threshold_is_not_visited)
{
	setup();
	start_polled();
	schedule(0, be_visited, NULL);
	ck_assert_int_eq(timerthread_dispatch(tt), 1);
	ck_assert_int_eq(visits, 1);
	end_measured();
}
END_TEST

/* Between turns nothing runs, however long. */
START_TEST(each_turn_begins_anew)
{
	setup();
	start_polled();
	for (int i = 0; i < 3; i++) {
		plan(i, 10);
		ck_assert_int_eq(timerthread_dispatch(tt), 1);
		linger(HOUR);
	}
	check_told(3);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_RUN_TIME), 30);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS), 0);
	end_measured();
}
END_TEST

/* Late by those before it, and by the hook. */
START_TEST(late_by_those_before)
{
	start_with_hook(10, slow_hook);
	for (int i = 0; i < 3; i++) {
		sights[i].length = 10 + i;
		schedule(START + 1 + i, look, &sights[i]);
	}
	linger(12);
	ck_assert_int_eq(timerthread_dispatch(tt), 3);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS),
			  9 + 10 + 11 + 1000);
	end_measured();
}
END_TEST

static void count_it(void *arg)
{
	++*(int *)arg;
}

/* What was cancelled just before it would have begun is not counted as run. */
START_TEST(a_cancel_while_the_clock_is_read)
{
	bool in_time = true, late = false;

	for (int at = 1; in_time || !late; at++) {
		int runs = 0, r;

		setup();
		start_polled();
		cancelled_id = schedule(START, count_it, &runs);
		cancel_result = -EINVAL;
		cancelled_at = at;
		r = timerthread_dispatch(tt);
		in_time = cancel_result == 0;
		late = late || !in_time;
		cancelled_at = 0;
		ck_assert_int_eq(runs, !in_time);
		ck_assert_int_eq(r, runs);
		ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_FIRED),
				  (uint64_t)runs);
		ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_CANCELLED), in_time);
		end_measured();
		ck_assert_int_lt(at, 100);
	}
}
END_TEST

/* A timer that its own callback moves to long ago, once. */
static struct {
	timerthread_id id;
	int runs;
} mover;

static void move_itself(void *arg)
{
	(void)arg;
	linger(10);
	if (++mover.runs == 1)
		ck_assert_int_eq(timerthread_reschedule(tt, mover.id, 1), 0);
	linger(10);
}

/* That counts as the time of the run's end. */
START_TEST(moved_to_long_ago_by_itself)
{
	for (int i = 0; i < 4; i++) {
		if (i % 2)
			begin_with(keep);
		else
			setup();
		start_polled();
		mover.runs = 0;
		mover.id = i < 2 ? schedule(START, move_itself, NULL)
				 : every(START, HOUR, move_itself, NULL);
		for (int n = 1; n <= 2; n++) {
			ck_assert_int_eq(timerthread_dispatch(tt), 1);
			call_tasks();
			ck_assert_int_eq(mover.runs, n);
		}
		ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS),
				  0);
		end_measured();
	}
}
END_TEST

/* What an executor has, and does not run when it is called. */
START_TEST(what_does_not_run_is_not_counted)
{
	timerthread_id id;

	start_with(VIRTUAL, keep);
	id = schedule(0, never, NULL);
	schedule(0, post, &ran);
	ck_assert_int_eq(advance(0), 2);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	call_task(0);
	ck_assert(!has_counted(TIMERTHREAD_HISTOGRAM_LATENESS));
	ck_assert(!has_counted(TIMERTHREAD_HISTOGRAM_RUN_TIME));
	call_task(1);
	ck_assert(has_counted(TIMERTHREAD_HISTOGRAM_LATENESS));
	ck_assert(has_counted(TIMERTHREAD_HISTOGRAM_RUN_TIME));
	end();

	/* Nor is one that goes back. */
	start_with(VIRTUAL, keep);
	id = schedule(0, never, NULL);
	ck_assert_int_eq(advance(0), 1);
	ck_assert_int_eq(timerthread_reschedule(tt, id, HOUR), 0);
	call_tasks();
	ck_assert(!has_counted(TIMERTHREAD_HISTOGRAM_LATENESS));
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_FIRED), 0);
	end();
}
END_TEST

/* The driver may measure, and each CPU's part of an executor's runs. */
START_TEST(what_several_have_measured)
{
	struct timerthread_snapshot *s;
	struct runs *r;
	int64_t value;

	start_with(VIRTUAL, keep);
	r = &tt->runs;
	histogram_count(&tt->engine.measured->lateness, 961);
	histogram_count(&tt->engine.measured->run_time, 700);
	for (uint32_t i = 0; i < r->cpus.n; i++) {
		histogram_count(&r->part[i].measured.lateness, 50);
		histogram_count(&r->part[i].measured.run_time, 60);
	}
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS), 961);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LONGEST_RUN), 700);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_RUN_TIME),
			  700 + r->cpus.n * 60);
	ck_assert_int_eq(timerthread_take_snapshot(tt, &s), 0);
	ck_assert_int_eq(
		timerthread_get_quantile(
			s, NULL, TIMERTHREAD_HISTOGRAM_LATENESS, 1, &value),
		0);
	ck_assert_int_eq(value, 961);
	timerthread_free_snapshot(s);
	end();
}
END_TEST

/* Each histogram has its own past. */
START_TEST(each_since_its_own_past)
{
	struct timerthread_snapshot *before, *s;
	int64_t value;

	start_with(VIRTUAL, keep);
	histogram_count(&tt->engine.measured->lateness, 961);
	ck_assert_int_eq(timerthread_take_snapshot(tt, &before), 0);
	histogram_count(&tt->engine.measured->run_time, 100000);
	ck_assert_int_eq(timerthread_take_snapshot(tt, &s), 0);
	ck_assert_int_eq(
		timerthread_get_quantile(
			s, before, TIMERTHREAD_HISTOGRAM_RUN_TIME, 1, &value),
		0);
	ck_assert_int_eq(
		timerthread_get_quantile(
			s, before, TIMERTHREAD_HISTOGRAM_LATENESS, 1, &value),
		-ENOENT);
	timerthread_free_snapshot(before);
	timerthread_free_snapshot(s);
	end();
}
END_TEST

static timerthread_id visited[2];

static void note_visit(timerthread_id id, timerthread_fn *fn, void *arg,
		       int64_t run_time, void *ctx)
{
	(void)fn;
	(void)arg;
	(void)run_time;
	(void)ctx;
	visited[visits++ % 2] = id;
}

static void look_at_both(void *arg)
{
	(void)arg;
	if (called == 1) {
		call_task(called++);
		return;
	}
	linger(1);
	visits = 0;
	ck_assert_int_eq(timerthread_visit_running(tt, 0, note_visit, NULL), 2);
}

/* Two that began at the same moment: both are told, in the order of ids. */
START_TEST(both_that_began_at_one_moment)
{
	begin_with(keep);
	start_polled();
	schedule(0, look_at_both, NULL);
	schedule(0, look_at_both, NULL);
	ck_assert_int_eq(timerthread_dispatch(tt), 2);
	called = 1;
	call_task(0);
	ck_assert_uint_eq(called, 2);
	ck_assert_int_eq(visits, 2);
	ck_assert_uint_lt(visited[0], visited[1]);
	end_measured();
}
END_TEST

/* An executor calls it after the wall clock was set back. */
START_TEST(not_early_when_the_clock_is_set_back)
{
	begin_with(keep);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), 0);
	start_polled();
	sights[0].length = 1;
	schedule(START, look, &sights[0]);
	ck_assert_int_eq(timerthread_dispatch(tt), 1);
	linger(-100);
	sights[0].began = 0;
	call_tasks();
	ck_assert_int_eq(sights[0].began, 0);
	linger(100);
	ck_assert_int_eq(timerthread_dispatch(tt), 1);
	call_tasks();
	ck_assert_int_eq(sights[0].began, START);
	end_measured();
}
END_TEST

static uint64_t overrun;

static void look_at_overrun(void *arg)
{
	(void)arg;
	ck_assert_int_eq(timerthread_get_overrun(&overrun), 0);
}

/* What has passed when the run begins is missed, though not when it was due. */
START_TEST(missed_behind_a_long_run)
{
	setup();
	start_polled();
	sights[0].length = 35;
	schedule(START + 1, look, &sights[0]);
	every(START + 2, 10, look_at_overrun, NULL);
	linger(5);
	/* It begins at START + 40. */
	ck_assert_int_eq(timerthread_dispatch(tt), 2);
	ck_assert_uint_eq(overrun, 3);
	end_measured();
}
END_TEST

static void nothing(void *arg)
{
	(void)arg;
}

/* On a virtual clock the lateness is that of the executor, to the digit. */
START_TEST(lateness_in_an_executor)
{
	timerthread_id id;

	start_with(VIRTUAL, keep);
	schedule(100, nothing, NULL);
	id = every(200, 1000, nothing, NULL);
	ck_assert_int_eq(advance(150), 1);
	call_tasks();
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS), 50);
	ck_assert_int_eq(advance(150), 1);
	call_tasks();
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS), 100);
	/* Each run has its own deadline. */
	ck_assert_int_eq(advance(1000), 1);
	call_tasks();
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS), 100);
	/* The greatest stays, and what was moved is late by its new one. */
	ck_assert_int_eq(timerthread_reschedule(tt, id, 2000), 0);
	ck_assert_int_eq(advance(1700), 1);
	call_tasks();
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS), 1000);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_FIRED), 4);
	end();
}
END_TEST

START_TEST(late_by_where_it_was_moved)
{
	timerthread_id id;

	start_with(VIRTUAL, keep);
	id = schedule(100, nothing, NULL);
	ck_assert_int_eq(advance(150), 1);
	ck_assert_int_eq(timerthread_reschedule(tt, id, 1000), 0);
	ck_assert_int_eq(advance(900), 0);
	call_tasks();
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS), 50);
	end();
}
END_TEST

/* Reads the metrics, by a thread that read the clock before this began. */
static void format_late(void *page)
{
	held_up = 5;
	ck_assert_int_gt(
		timerthread_format_metrics(
			&tt, 1, TIMERTHREAD_FORMAT_PROMETHEUS, page, PAGE),
		0);
	held_up = 0;
}

START_TEST(what_has_begun_since_does_not_run_yet)
{
	static char page[PAGE];

	setup();
	start_polled();
	schedule(0, format_late, page);
	ck_assert_int_eq(timerthread_dispatch(tt), 1);
	ck_assert_ptr_nonnull(strstr(
		page, "\ntimerthread_current_run_seconds{name=\"timerthread\"} "
		      "0.000000000\n"));
	end_measured();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_hook_is_charged_to_nobody,
		the_hook_in_an_executor,
		exactly_the_threshold_is_not_slow,
		exactly_the_threshold_is_not_visited,
		each_turn_begins_anew,
		late_by_those_before,
		a_cancel_while_the_clock_is_read,
		moved_to_long_ago_by_itself,
		what_does_not_run_is_not_counted,
		what_several_have_measured,
		each_since_its_own_past,
		both_that_began_at_one_moment,
		not_early_when_the_clock_is_set_back,
		missed_behind_a_long_run,
		lateness_in_an_executor,
		late_by_where_it_was_moved,
		what_has_begun_since_does_not_run_yet,
	};

	return RUN_TESTS("measured", tests);
}
