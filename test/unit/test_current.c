/* SPDX-License-Identifier: MIT */
/*
 * What a callback can ask about its own run: which timer it is, and how many
 * deadlines of it were skipped.
 */
#include "config.h"

#include "timers.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

/* What somebody was told. */
struct answer {
	int current, overrun_result;
	struct timerthread *tt;
	timerthread_id id;
	uint64_t overrun;
};

static struct answer ask(void)
{
	struct answer a = {.tt = NULL, .id = 5, .overrun = 7};

	a.current = timerthread_get_current(&a.tt, &a.id);
	a.overrun_result = timerthread_get_overrun(&a.overrun);
	return a;
}

static void check_outside(struct answer a)
{
	ck_assert_int_eq(a.current, -ENOENT);
	ck_assert_int_eq(a.overrun_result, -ENOENT);
	ck_assert_ptr_null(a.tt);
	ck_assert_uint_eq(a.id, 5);
	ck_assert_uint_eq(a.overrun, 7);
}

static void check_inside(struct answer a, const struct timerthread *instance,
			 timerthread_id id, uint64_t overrun)
{
	ck_assert_int_eq(a.current, 0);
	ck_assert_int_eq(a.overrun_result, 0);
	ck_assert_ptr_eq(a.tt, instance);
	ck_assert_uint_eq(a.id, id);
	ck_assert_uint_eq(a.overrun, overrun);
}

static struct answer answer;

static void ask_inside(void *arg)
{
	answer = ask();
	if (arg)
		sem_post(arg);
}

static struct {
	timerthread_id id;
	int results[4];
} partly;

static void ask_in_part(void *arg)
{
	struct timerthread *one = NULL;
	timerthread_id id = 5;

	partly.results[0] = timerthread_get_current(NULL, NULL);
	partly.results[1] = timerthread_get_current(&one, NULL);
	partly.results[2] = timerthread_get_current(NULL, &id);
	partly.results[3] = timerthread_get_overrun(NULL);
	partly.id = one == tt ? id : 0;
	sem_post(arg);
}

START_TEST(arguments)
{
	timerthread_id id;

	ck_assert_int_eq(timerthread_get_current(NULL, NULL), -ENOENT);
	ck_assert_int_eq(timerthread_get_overrun(NULL), -EINVAL);
	start();
	id = schedule(0, ask_in_part, &ran);
	wait_for(&ran);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(partly.results[i], 0);
	ck_assert_int_eq(partly.results[3], -EINVAL);
	ck_assert_uint_eq(partly.id, id);
	end();
}
END_TEST

START_TEST(in_a_callback)
{
	start();
	for (int i = 0; i < 1000; i++) {
		timerthread_id id = schedule(0, ask_inside, &ran);

		wait_for(&ran);
		check_inside(answer, tt, id, 0);
	}
	end();
}
END_TEST

START_TEST(outside)
{
	check_outside(ask());
	start();
	check_outside(ask());
	hold_thread();
	/* Another thread is in one. */
	check_outside(ask());
	sem_post(&go);
	settle();
	check_outside(ask());
	end();
	check_outside(ask());
}
END_TEST

/* A timer that repeats, or was armed again, is the same one each time. */
static struct {
	timerthread_id id;
	int runs;
	bool wrong, repeats;
} again;

static void ask_again(void *arg)
{
	struct answer a = ask();

	if (a.current != 0 || a.tt != tt || a.id != again.id)
		again.wrong = true;
	if (++again.runs == 20) {
		timerthread_cancel(tt, again.id);
		sem_post(arg);
	} else if (!again.repeats) {
		timerthread_reschedule(tt, again.id, 0);
	}
	/* Whatever becomes of the timer, its callback is running. */
	a = ask();
	if (a.current != 0 || a.id != again.id)
		again.wrong = true;
}

START_TEST(each_run)
{
	start();
	for (int i = 0; i < 2; i++) {
		memset(&again, 0, sizeof(again));
		again.repeats = i;
		hold_thread();
		again.id = i ? every(0, 1, ask_again, &ran)
			     : schedule(0, ask_again, &ran);
		sem_post(&go);
		wait_for(&ran);
		settle();
		ck_assert_int_eq(again.runs, 20);
		ck_assert(!again.wrong);
	}
	end();
}
END_TEST

/*
 * One callback within another: that of a second instance, which the first
 * one's callback drives.
 */
static struct timerthread *second;
static struct answer before, after;

static void drive_second(void *arg)
{
	before = ask();
	timerthread_advance(second, 100);
	after = ask();
	sem_post(arg);
}

START_TEST(the_inner_one_counts)
{
	timerthread_id outer, inner;

	start();
	ck_assert_int_eq(timerthread_create(&second), 0);
	ck_assert_int_eq(timerthread_start_virtual(second, 0), 0);
	for (int i = 0; i < 3; i++) {
		memset(&answer, 0, sizeof(answer));
		ck_assert_int_eq(timerthread_schedule_every(
					 second,
					 timerthread_now(second) - 10 * i, 10,
					 ask_inside, NULL, &inner),
				 0);
		ck_assert_int_eq(timerthread_reschedule(
					 second, inner,
					 timerthread_now(second) + 95 - i * 25),
				 0);
		hold_thread();
		outer = every(timerthread_now(tt), HOUR, drive_second, &ran);
		sem_post(&go);
		wait_for(&ran);
		check_inside(before, tt, outer, 0);
		check_inside(answer, second, inner, 0);
		check_inside(after, tt, outer, 0);
		ck_assert_int_eq(timerthread_cancel(second, inner), 0);
		ck_assert_int_ge(timerthread_cancel_wait(tt, outer), 0);
	}
	timerthread_destroy(second);
	end();
}
END_TEST

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	*(struct answer *)ctx = ask();
}

static void cancel_all_inside(void *arg)
{
	timerthread_cancel_all(tt, visit, &after);
	sem_post(arg);
}

/* A visit is no callback: what counts is who has called cancel_all. */
START_TEST(in_a_visit)
{
	timerthread_id id;

	start();
	schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit, &answer), 1);
	check_outside(answer);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	id = schedule(0, cancel_all_inside, &ran);
	wait_for(&ran);
	check_inside(after, tt, id, 0);
	end();
}
END_TEST

static struct answer hooked[2];

static void on_start(void *arg)
{
	(void)arg;
	hooked[0] = ask();
}

static void on_exit_(void *arg)
{
	(void)arg;
	hooked[1] = ask();
}

START_TEST(in_a_hook)
{
	setup();
	ck_assert_int_eq(
		timerthread_set_thread_hooks(tt, on_start, on_exit_, NULL), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	schedule(0, post, &ran);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_outside(hooked[0]);
	check_outside(hooked[1]);
	end();
}
END_TEST

/*
 * Executors.
 */
static struct {
	enum {
		KEEP,   /* for run_kept */
		INLINE, /* run it within submit */
		REFUSE
	} way;
	struct answer submit[2];
	timerthread_fn *run;
	void *arg;
} executor;

static int submit(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	executor.submit[0] = ask();
	executor.run = run;
	executor.arg = arg;
	if (executor.way == INLINE)
		run(arg);
	executor.submit[1] = ask();
	return executor.way == REFUSE ? -1 : 0;
}

static void start_executor(int64_t now)
{
	setup();
	ck_assert_int_eq(timerthread_set_executor(tt, submit, NULL), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, now), 0);
}

static void *run_kept(void *arg)
{
	executor.run(executor.arg);
	check_outside(ask());
	return arg == (void *)1 ? NULL : arg;
}

START_TEST(in_submit)
{
	timerthread_id id;

	for (int way = KEEP; way <= REFUSE; way++) {
		memset(&answer, 0, sizeof(answer));
		executor.way = way;
		start_executor(0);
		id = every(-25, 10, ask_inside, NULL);
		ck_assert_int_eq(timerthread_advance(tt, 0), 1);
		check_outside(executor.submit[0]);
		check_outside(executor.submit[1]);
		/* On another thread. */
		if (way == KEEP)
			run_threads(run_kept, 1);
		check_inside(answer, tt, id, 2);
		end();
	}
}
END_TEST

/* As many at a time as there are threads; each finds its own. */
enum { CROWD = 3000 };

static struct member {
	timerthread_id id;
	bool wrong;
} crowd[CROWD];

static void ask_in_a_crowd(void *arg)
{
	struct member *m = arg;

	for (int i = 0; i < 3; i++) {
		struct answer a = ask();

		if (a.current != 0 || a.tt != tt || a.id != m->id ||
		    a.overrun_result != 0 || a.overrun != 0)
			m->wrong = true;
		sched_yield();
	}
	sem_post(&ran);
}

START_TEST(several_at_a_time)
{
	setup();
	ck_assert_int_eq(driver_start_on(tt, driver_tested(), POOL_THREADS), 0);
	for (int i = 0; i < CROWD; i++)
		ck_assert_int_eq(timerthread_schedule(tt, 0, ask_in_a_crowd,
						      &crowd[i], &crowd[i].id),
				 0);
	for (int i = 0; i < CROWD; i++)
		wait_for(&ran);
	end();
	for (int i = 0; i < CROWD; i++)
		ck_assert(!crowd[i].wrong);
}
END_TEST

/*
 * Overruns.
 */
static void begin(int64_t now)
{
	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, now), 0);
}

/* Late by so many periods: the first run, too. */
START_TEST(overrun_is_exact)
{
	static const struct {
		int64_t first, period, now;
		uint64_t overrun;
	} in[] = {
		{0, 10, 0, 0},
		{-9, 10, 0, 0},
		{-10, 10, 0, 1},
		{-11, 10, 0, 1},
		{-20, 10, 0, 2},
		{-95, 10, 5, 10},
		{-HOUR, 1, 0, (uint64_t)HOUR},
		{INT64_MIN, INT64_MAX, INT64_MAX - 1, 2},
		{INT64_MIN, 1, INT64_MAX - 1, UINT64_MAX - 1},
		{INT64_MIN, 2, INT64_MAX - 1, UINT64_MAX / 2},
	};

	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		timerthread_id id;

		begin(in[i].now);
		id = every(in[i].first, in[i].period, ask_inside, NULL);
		ck_assert_int_eq(timerthread_advance(tt, 0), 1);
		check_inside(answer, tt, id, in[i].overrun);
		/* The next one is in time. */
		if (in[i].now < HOUR) {
			ck_assert_int_eq(timerthread_advance(tt, in[i].period),
					 1);
			check_inside(answer, tt, id, 0);
		}
		end();
	}
}
END_TEST

START_TEST(overrun_of_a_moved_one)
{
	timerthread_id id;

	begin(1000);
	id = every(2000, 10, ask_inside, NULL);
	ck_assert_int_eq(timerthread_reschedule(tt, id, 1000 - 35), 0);
	ck_assert_int_eq(timerthread_advance(tt, 0), 1);
	check_inside(answer, tt, id, 3);
	ck_assert_int_eq(deadline_of(id), 1005);
	ck_assert_int_eq(timerthread_reschedule(tt, id, 1003), 0);
	ck_assert_int_eq(timerthread_advance(tt, 3), 1);
	check_inside(answer, tt, id, 0);
	ck_assert_int_eq(timerthread_advance(tt, 10), 1);
	check_inside(answer, tt, id, 0);
	end();
}
END_TEST

/* However late it is, also behind one that has skipped some. */
START_TEST(no_overrun_of_what_runs_once)
{
	timerthread_id id;

	begin(0);
	every(-1005, 10, ask_inside, NULL);
	ck_assert_int_eq(timerthread_advance(tt, 0), 1);
	ck_assert_uint_eq(answer.overrun, 100);
	id = schedule(-1000, ask_inside, NULL);
	ck_assert_int_eq(timerthread_advance(tt, 0), 1);
	check_inside(answer, tt, id, 0);
	id = schedule(500, ask_inside, NULL);
	ck_assert_int_eq(timerthread_reschedule(tt, id, -500), 0);
	ck_assert_int_eq(timerthread_advance(tt, 0), 1);
	check_inside(answer, tt, id, 0);
	end();
}
END_TEST

/* The executor takes its time before it calls the run. */
START_TEST(overrun_in_an_executor)
{
	timerthread_id id;

	executor.way = KEEP;
	start_executor(0);
	id = every(0, 10, ask_inside, NULL);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(timerthread_advance(tt, 0), 1);
		ck_assert_int_eq(timerthread_advance(tt, 10 * i + 9), 0);
		run_threads(run_kept, 1);
		check_inside(answer, tt, id, (uint64_t)i);
		ck_assert_int_eq(timerthread_advance(tt, 1), 1);
		run_threads(run_kept, 1);
		check_inside(answer, tt, id, 0);
		ck_assert_int_eq(timerthread_advance(tt, 9), 0);
		ck_assert_int_eq(
			timerthread_reschedule(tt, id, timerthread_now(tt)), 0);
	}
	end();
}
END_TEST

/* The last run's callback takes its time. */
static void ask_and_hold(void *arg)
{
	ask_inside(NULL);
	hold(arg);
}

START_TEST(overrun_behind_a_long_run)
{
	struct pool *pool = pool_open(1);
	timerthread_id id;

	setup();
	ck_assert_int_eq(timerthread_set_executor(tt, pool_submit, pool), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	id = every(0, 10, ask_and_hold, &ran);
	for (int i = 0; i < 5; i++) {
		/* Until the run before is over. */
		while (timerthread_advance(tt, 0) == 0)
			sched_yield();
		wait_for(&ran);
		check_inside(answer, tt, id, i == 0 ? 0 : (uint64_t)i + 1);
		ck_assert_int_eq(timerthread_advance(tt, 10 * (i + 3)), 0);
		sem_post(&go);
	}
	end();
	pool_close(pool);
}
END_TEST

int main(void)
{
	const TTest *const any[] = {
		arguments,         in_a_callback,        outside,
		each_run,          the_inner_one_counts, in_a_visit,
		several_at_a_time,
	};
	const TTest *const with_a_thread[] = {
		in_a_hook,
	};
	/* The driver makes no difference. */
	const TTest *const once[] = {
		in_submit,
		overrun_is_exact,
		overrun_of_a_moved_one,
		no_overrun_of_what_runs_once,
		overrun_in_an_executor,
		overrun_behind_a_long_run,
	};
	TCase *tcase = tcase_create("current");

	ADD_TESTS(tcase, any);
	if (driver_tested() & (ON_THREAD | ON_EXECUTOR))
		ADD_TESTS(tcase, with_a_thread);
	if (driver_tested() == ON_THREAD)
		ADD_TESTS(tcase, once);
	return run_case("current", tcase);
}
