/* SPDX-License-Identifier: MIT */
/*
 * Taking back all that is pending, before a stop and after it.
 */
#include "config.h"

#include "timers.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

/* A timer's argument, and what was seen of it. */
struct seen {
	timerthread_id id;
	timerthread_fn *fn;
	atom32 visits;
	atom32 cancelled;
	atom32 runs;
	bool wrong;
};

static int context;
static int visits;

static void *const ctx = &context;

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *c)
{
	struct seen *s = arg;
	int64_t deadline;

	/* It counts as cancelled by now. */
	if (id != s->id || fn != s->fn || c != ctx ||
	    timerthread_cancel(tt, id) != -ENOENT ||
	    timerthread_get_deadline(tt, id, &deadline) != -ENOENT)
		s->wrong = true;
	atom32_add(&s->visits, 1);
}

static void visit_none(timerthread_id id, timerthread_fn *fn, void *arg,
		       void *c)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)c;
	visits++;
}

static void run(void *arg)
{
	struct seen *s = arg;

	atom32_add(&s->runs, 1);
}

static void plan(struct seen *s, int64_t deadline)
{
	s->fn = run;
	ck_assert_int_eq(timerthread_schedule(tt, deadline, run, s, &s->id), 0);
}

static void check_visits(struct seen *s, uint32_t n)
{
	ck_assert_uint_eq(atom32_load(&s->visits), n);
	ck_assert(!s->wrong);
	ck_assert_int_eq(timerthread_cancel(tt, s->id), -ENOENT);
	ck_assert_int_eq(timerthread_cancel_wait(tt, s->id), -ENOENT);
	check_not_pending(s->id);
}

static int from_inside[2];

static void cancel_all_inside(void *arg)
{
	from_inside[0] = timerthread_cancel_all(tt, visit_none, NULL);
	if (arg) {
		timerthread_stop(tt);
		from_inside[1] = timerthread_cancel_all(tt, visit_none, NULL);
		sem_post(arg);
	}
}

START_TEST(in_each_state)
{
	struct timerthread *shared;

	ck_assert_int_eq(timerthread_cancel_all(NULL, visit_none, NULL),
			 -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_cancel_all(tt, NULL, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL), 0);
	for (int i = 0; i < 2; i++) {
		schedule(TIMERTHREAD_NEVER, never, NULL);
		schedule(timerthread_now(tt) + HOUR, never, NULL);
		if (i == 1)
			ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(timerthread_cancel_all(tt, NULL, NULL),
				 -EINVAL);
		ck_assert_int_eq(visits, 0);
		ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL),
				 2);
		ck_assert_int_eq(visits, 2);
		ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL),
				 0);
		visits = 0;
	}
	end();
	ck_assert_int_eq(timerthread_default(&shared), 0);
	ck_assert_int_eq(timerthread_cancel_all(shared, visit_none, NULL),
			 -EPERM);
}
END_TEST

START_TEST(from_a_hook)
{
	setup();
	ck_assert_int_eq(
		timerthread_set_thread_hooks(tt, NULL, cancel_all_inside, NULL),
		0);
	ck_assert_int_eq(driver_start(tt), 0);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(from_inside[0], 1);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL), 0);
	ck_assert_int_eq(visits, 1);
	end();
}
END_TEST

START_TEST(from_a_callback)
{
	start();
	schedule(TIMERTHREAD_NEVER, never, NULL);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	schedule(0, cancel_all_inside, &ran);
	wait_for(&ran);
	ck_assert_int_eq(from_inside[0], 2);
	ck_assert_int_eq(from_inside[1], 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL), 0);
	ck_assert_int_eq(visits, 2);
	end();
}
END_TEST

/* A timer that is running is not pending, also if it will be again. */
START_TEST(not_what_runs)
{
	timerthread_id once, periodic;

	start();
	once = schedule(0, hold, &ran);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL), 0);
	ck_assert_int_eq(timerthread_cancel(tt, once), 1);
	sem_post(&go);
	periodic = every(0, HOUR, hold, &ran);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL), 0);
	sem_post(&go);
	settle();
	ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL), 1);
	ck_assert_int_eq(timerthread_cancel(tt, periodic), -ENOENT);
	end();
}
END_TEST

/* What they left behind is recycled, and their places are free. */
START_TEST(the_instance_goes_on)
{
	setup();
	ck_assert_int_eq(timerthread_set_max_timers(tt, 100), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	for (int i = 0; i < 50; i++) {
		for (int k = 0; k < 100; k++)
			schedule(timerthread_now(tt) + (k + 1) * HOUR, never,
				 NULL);
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
				 -EAGAIN);
		ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL),
				 100);
		settle();
		wait_for_places(100);
	}
	ck_assert_uint_le(slots_in_use(), 1000);
	end();
}
END_TEST

START_TEST(of_none)
{
	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL), 0);
	ck_assert_int_eq(timerthread_cancel_all(tt, NULL, NULL), -EINVAL);
	end();

	start();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL), 0);
	end();

	start();
	for (int i = 0; i < 1000; i++) {
		timerthread_id id = schedule(TIMERTHREAD_NEVER, never, NULL);

		ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	}
	settle();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit_none, NULL), 0);
	ck_assert_int_eq(visits, 0);
	end();
}
END_TEST

static void run_and_rearm(void *arg)
{
	struct seen *s = arg;

	run(arg);
	if (timerthread_reschedule(tt, s->id, TIMERTHREAD_NEVER) != 0)
		s->wrong = true;
}

static void run_and_plan(void *arg)
{
	struct seen *s = arg;

	run(arg);
	if (timerthread_schedule(tt, TIMERTHREAD_NEVER, run, &s[1], &s[1].id) !=
	    0)
		s->wrong = true;
	s[1].fn = run;
}

static void stop_inside(void *arg)
{
	timerthread_stop(tt);
	sem_post(arg);
}

START_TEST(each_once)
{
	enum {
		FAR,
		NEVER,
		EARLIER,
		LATER,
		TO_AND_FRO,
		PERIODIC,
		PERIODIC_RAN,
		REARMED,
		PLANNER,
		PLANNED,
		CANCELLED,
		OVER,
		LEFT_DUE,
		N
	};
	static const bool drained[N] = {
		[FAR] = true,        [NEVER] = true,    [EARLIER] = true,
		[LATER] = true,      [PERIODIC] = true, [PERIODIC_RAN] = true,
		[REARMED] = true,    [PLANNED] = true,  [LEFT_DUE] = true,
		[TO_AND_FRO] = true,
	};
	static struct seen s[N];
	int64_t base;

	start();
	base = timerthread_now(tt) + HOUR;
	hold_thread();
	plan(&s[FAR], base);
	plan(&s[NEVER], TIMERTHREAD_NEVER);
	plan(&s[EARLIER], base);
	plan(&s[LATER], base);
	plan(&s[TO_AND_FRO], 0);
	plan(&s[CANCELLED], base);
	plan(&s[OVER], 0);
	s[PERIODIC].id = every(base, 1, run, &s[PERIODIC]);
	s[PERIODIC].fn = run;
	s[PERIODIC_RAN].id = every(0, HOUR, run, &s[PERIODIC_RAN]);
	s[PERIODIC_RAN].fn = run;
	s[REARMED].id = schedule(0, run_and_rearm, &s[REARMED]);
	s[REARMED].fn = run_and_rearm;
	s[PLANNER].id = schedule(0, run_and_plan, &s[PLANNER]);
	s[PLANNER].fn = run_and_plan;
	for (int i = 0; i < 10; i++) {
		timerthread_reschedule(tt, s[EARLIER].id, base - 1 - i);
		timerthread_reschedule(tt, s[LATER].id, base + 1 + i);
		timerthread_reschedule(tt, s[TO_AND_FRO].id,
				       i % 2 ? base : TIMERTHREAD_NEVER);
	}
	ck_assert_int_eq(timerthread_cancel(tt, s[CANCELLED].id), 0);
	sem_post(&go);
	settle();
	/* One that is due, behind a callback that stops the instance. */
	hold_thread();
	schedule(0, stop_inside, &ran);
	plan(&s[LEFT_DUE], 1);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit, ctx), 10);
	for (int i = 0; i < N; i++)
		check_visits(&s[i], drained[i]);
	ck_assert_uint_eq(atom32_load(&s[PERIODIC_RAN].runs), 1);
	ck_assert_uint_eq(atom32_load(&s[REARMED].runs), 1);
	ck_assert_uint_eq(atom32_load(&s[LEFT_DUE].runs), 0);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit, ctx), 0);
	for (int i = 0; i < N; i++)
		check_visits(&s[i], drained[i]);
	end();
}
END_TEST

/* What the callback that stop waits for does with timers. */
static struct seen during[3];
static int in_stop[3];

static void held_in_stop(void *arg)
{
	struct seen *s = arg;

	run(arg);
	if (s == &during[1])
		in_stop[0] = timerthread_reschedule(tt, s->id,
						    TIMERTHREAD_NEVER - 1);
	hold(&ran);
	in_stop[1] = timerthread_reschedule(tt, s->id, 0);
	in_stop[2] = timerthread_schedule(tt, 0, never, NULL, NULL);
	if (s == &during[2])
		timerthread_cancel(tt, s->id);
}

static void *stop_in_thread(void *arg)
{
	return timerthread_stop(tt) == 0 ? arg : NULL;
}

/* One that repeats, one that was armed again, one that cancels itself. */
START_TEST(during_stop)
{
	for (int i = 0; i < 3; i++) {
		pthread_t t;
		void *r;

		start();
		during[i].fn = held_in_stop;
		if (i == 1)
			ck_assert_int_eq(
				timerthread_schedule(tt, 0, held_in_stop,
						     &during[i], &during[i].id),
				0);
		else
			ck_assert_int_eq(timerthread_schedule_every(
						 tt, 0, 1, held_in_stop,
						 &during[i], &during[i].id),
					 0);
		wait_for(&ran);
		ck_assert_int_eq(
			pthread_create(&t, NULL, stop_in_thread, &during[i]),
			0);
		/* Until it is shut. */
		while (timerthread_reschedule(tt, during[i].id,
					      TIMERTHREAD_NEVER - 1) == 0)
			sched_yield();
		ck_assert_int_eq(timerthread_cancel_all(tt, visit, ctx), 0);
		sem_post(&go);
		pthread_join(t, &r);
		ck_assert_ptr_eq(r, &during[i]);
		ck_assert_int_eq(in_stop[0], 0);
		ck_assert_int_eq(in_stop[1], -ESHUTDOWN);
		ck_assert_int_eq(in_stop[2], -ESHUTDOWN);
		ck_assert_int_eq(timerthread_cancel_all(tt, visit, ctx), i < 2);
		check_visits(&during[i], i < 2);
		ck_assert_uint_eq(atom32_load(&during[i].runs), 1);
		end();
	}
}
END_TEST

enum { MANY = 6000 };

static struct seen many[MANY];

/* Spread over more buckets than there are CPUs to use them. */
static void start_many(bool stop)
{
	memset(many, 0, sizeof(many));
	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, 5), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	for (int i = 0; i < MANY; i++) {
		plan(&many[i], timerthread_now(tt) + HOUR + i);
		if (i % 3 == 1)
			ck_assert_int_eq(
				timerthread_reschedule(tt, many[i].id,
						       TIMERTHREAD_NEVER - i),
				0);
		if (i % 3 == 2)
			ck_assert_int_eq(
				timerthread_reschedule(tt, many[i].id,
						       timerthread_now(tt) +
							       HOUR - i),
				0);
		if (i % 2000 == 0)
			settle();
	}
	if (stop)
		ck_assert_int_eq(timerthread_stop(tt), 0);
}

static void *cancel_all_in_thread(void *arg)
{
	*(int *)arg = timerthread_cancel_all(tt, visit, ctx);
	return NULL;
}

START_TEST(two_threads_share)
{
	pthread_t t[2];
	int n[2];

	for (int round = 0; round < 4; round++) {
		start_many(round % 2);
		for (int i = 0; i < 2; i++)
			ck_assert_int_eq(pthread_create(&t[i], NULL,
							cancel_all_in_thread,
							&n[i]),
					 0);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		ck_assert_int_eq(n[0] + n[1], MANY);
		for (int i = 0; i < MANY; i++)
			check_visits(&many[i], 1);
		end();
	}
}
END_TEST

static void *cancel_in_thread(void *arg)
{
	for (int i = MANY - 1; i >= 0; i--) {
		int r = timerthread_cancel(tt, many[i].id);

		if (r == 0)
			atom32_add(&many[i].cancelled, 1);
		else if (r != -ENOENT)
			many[i].wrong = true;
	}
	return arg;
}

START_TEST(cancel_meanwhile)
{
	pthread_t t;

	for (int round = 0; round < 4; round++) {
		int n, cancelled = 0;

		start_many(round % 2);
		ck_assert_int_eq(
			pthread_create(&t, NULL, cancel_in_thread, NULL), 0);
		n = timerthread_cancel_all(tt, visit, ctx);
		pthread_join(t, NULL);
		for (int i = 0; i < MANY; i++) {
			uint32_t c = atom32_load(&many[i].cancelled);

			ck_assert_uint_le(c, 1);
			cancelled += (int)c;
			check_visits(&many[i], 1 - c);
		}
		ck_assert_int_eq(n + cancelled, MANY);
		end();
	}
}
END_TEST

/* Cancels the one before and the one behind. */
static void visit_and_cancel(timerthread_id id, timerthread_fn *fn, void *arg,
			     void *c)
{
	struct seen *s = arg;
	long i = s - many;

	visit(id, fn, arg, c);
	if (i > 0 && timerthread_cancel(tt, many[i - 1].id) == 0)
		atom32_add(&many[i - 1].cancelled, 1);
	if (i < MANY - 1 && timerthread_cancel(tt, many[i + 1].id) == 0)
		atom32_add(&many[i + 1].cancelled, 1);
}

START_TEST(visitor_cancels_others)
{
	int n, cancelled = 0;

	start_many(true);
	n = timerthread_cancel_all(tt, visit_and_cancel, ctx);
	for (int i = 0; i < MANY; i++) {
		uint32_t c = atom32_load(&many[i].cancelled);

		cancelled += (int)c;
		check_visits(&many[i], 1 - c);
	}
	ck_assert_int_gt(cancelled, 0);
	ck_assert_int_eq(n + cancelled, MANY);
	end();
}
END_TEST

static int drained_within;

static void visit_and_cancel_all(timerthread_id id, timerthread_fn *fn,
				 void *arg, void *c)
{
	visit(id, fn, arg, c);
	drained_within += timerthread_cancel_all(tt, visit, ctx);
}

START_TEST(visitor_cancels_all)
{
	start_many(true);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit_and_cancel_all, ctx),
			 1);
	ck_assert_int_eq(drained_within, MANY - 1);
	for (int i = 0; i < MANY; i++)
		check_visits(&many[i], 1);
	end();
}
END_TEST

int main(void)
{
	const TTest *const any[] = {
		in_each_state,
		from_a_callback,
		not_what_runs,
		the_instance_goes_on,
		of_none,
		each_once,
		during_stop,
		two_threads_share,
		cancel_meanwhile,
		visitor_cancels_others,
		visitor_cancels_all,
	};
	const TTest *const with_a_thread[] = {
		from_a_hook,
	};
	TCase *tcase = tcase_create("cancel_all");

	ADD_TESTS(tcase, any);
	if (driver_tested() & (ON_THREAD | ON_EXECUTOR))
		ADD_TESTS(tcase, with_a_thread);
	return run_case("cancel_all", tcase);
}
