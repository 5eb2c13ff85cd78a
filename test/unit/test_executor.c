/* SPDX-License-Identifier: MIT */
/*
 * Executors, one step after another: mostly on a virtual clock, and with runs
 * that the test calls.
 */
#include "config.h"

#include "fail_alloc.h"
#include "os/clock.h"

#include "tasks.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>

/* What a callback has seen. */
struct job {
	timerthread_id id;
	int runs;
	int64_t at;
	pthread_t on;
};

static void work(void *arg)
{
	struct job *j = arg;

	j->runs++;
	j->at = timerthread_now(tt);
	j->on = pthread_self();
}

static void plan(struct job *j, int64_t deadline)
{
	j->id = schedule(deadline, work, j);
}

static int reschedule(timerthread_id id, int64_t deadline)
{
	return timerthread_reschedule(tt, id, deadline);
}

static int cancel(timerthread_id id)
{
	return timerthread_cancel(tt, id);
}

static void check_over(timerthread_id id)
{
	ck_assert_int_eq(cancel(id), -ENOENT);
	ck_assert_int_eq(timerthread_cancel_wait(tt, id), -ENOENT);
	ck_assert_int_eq(reschedule(id, 0), -ENOENT);
	check_not_pending(id);
}

static int refuse(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	(void)run;
	(void)arg;
	return -EAGAIN;
}

static int call_inside(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	run(arg);
	return 0;
}

START_TEST(option)
{
	struct timerthread *shared;
	struct job j = {0};

	ck_assert_int_eq(timerthread_set_executor(NULL, keep, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_set_executor(NULL, NULL, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_default(&shared), 0);
	ck_assert_int_eq(timerthread_set_executor(shared, keep, NULL), -EBUSY);
	/* The last one counts; NULL removes it. */
	begin_with(keep);
	ck_assert_int_eq(timerthread_set_executor(tt, NULL, NULL), 0);
	start_driver(VIRTUAL);
	plan(&j, 5);
	ck_assert_int_eq(advance(5), 1);
	ck_assert_int_eq(j.runs, 1);
	ck_assert_uint_eq(kept, 0);
	ck_assert_int_eq(timerthread_set_executor(tt, keep, NULL), -EBUSY);
	plan(&j, 6);
	ck_assert_int_eq(advance(5), 1);
	ck_assert_uint_eq(kept, 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_executor(tt, keep, NULL), -EBUSY);
	end();

	begin_with(keep);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_executor(tt, NULL, NULL), -EBUSY);
	end();
}
END_TEST

static int context;
static bool wrong_context;

static int keep_in_context(void *ctx, timerthread_fn *run, void *arg)
{
	wrong_context |= ctx != &context;
	return keep(NULL, run, arg);
}

/* Whichever way it was moved there: it is in no queue to wait in. */
START_TEST(moved_to_a_time_that_has_come)
{
	struct job j = {0}, k = {0};

	start_with(VIRTUAL, keep);
	plan(&j, 100);
	ck_assert_int_eq(advance(100), 1);
	ck_assert_int_eq(reschedule(j.id, 105), 0);
	ck_assert_int_eq(advance(10), 0);
	call_tasks();
	ck_assert_int_eq(j.runs, 1);
	check_over(j.id);

	plan(&k, 200);
	ck_assert_int_eq(advance(90), 1);
	ck_assert_int_eq(reschedule(k.id, 1000), 0);
	ck_assert_int_eq(reschedule(k.id, 201), 0);
	ck_assert_int_eq(advance(1), 0);
	call_tasks();
	ck_assert_int_eq(k.runs, 1);
	check_over(k.id);
	ck_assert_uint_eq(kept, 2);
	end();
}
END_TEST

/* The instance is this thread's alone meanwhile. */
START_TEST(on_each_driver)
{
	for (int d = 0; d < DRIVERS; d++) {
		struct job j[3] = {{0}};

		begin_with(keep);
		ck_assert_int_eq(
			timerthread_set_executor(tt, keep_in_context, &context),
			0);
		start_driver(d);
		for (int i = 0; i < 3; i++)
			plan(&j[i], -i);
		submit_due(3);
		ck_assert_uint_eq(kept, 3);
		ck_assert(!wrong_context);
		for (int i = 0; i < 3; i++) {
			ck_assert_int_eq(j[i].runs, 0);
			ck_assert_int_eq(deadline_of(j[i].id), -i);
		}
		call_tasks();
		for (int i = 0; i < 3; i++) {
			ck_assert_int_eq(j[i].runs, 1);
			ck_assert(pthread_equal(j[i].on, pthread_self()));
			check_over(j[i].id);
		}
		end();
	}
}
END_TEST

static int sequence[1000], noted;

static void note(void *arg)
{
	sequence[noted++] = (int)(intptr_t)arg;
}

/* False: the machine was too busy, and a deadline may have passed before. */
static bool schedule_from(int64_t soon, int64_t *at, int n)
{
	uint64_t rng = test_seed();

	for (int i = 0; i < n; i++) {
		at[i] = soon + (int64_t)random_below(&rng, 700);
		schedule(at[i], note, (void *)(intptr_t)i);
	}
	return timerthread_now(tt) < soon;
}

/* Equal deadlines come in any order. */
START_TEST(in_order_of_deadlines)
{
	enum { N = 1000 };
	static int64_t at[N];

	for (int d = POLLED; d < DRIVERS; d++) {
		int64_t soon, ahead = 10 * MS;

		start_with(d, keep);
		noted = 0;
		soon = d == VIRTUAL ? -700 : timerthread_now(tt) + ahead;
		while (!schedule_from(soon, at, N) && d != VIRTUAL) {
			end();
			start_with(d, keep);
			ahead *= 2;
			soon = timerthread_now(tt) + ahead;
		}
		while (timerthread_now(tt) < soon + 700)
			sched_yield();
		submit_due(N);
		call_tasks();
		ck_assert_int_eq(noted, N);
		for (int i = 1; i < N; i++)
			ck_assert_int_le(at[sequence[i - 1]], at[sequence[i]]);
		end();
	}
}
END_TEST

START_TEST(counts_what_is_submitted)
{
	struct job j[6] = {{0}};

	start_with(VIRTUAL, keep);
	for (int i = 0; i < 6; i++)
		plan(&j[i], 10 + i);
	ck_assert_int_eq(cancel(j[0].id), 0);
	ck_assert_int_eq(advance(9), 0);
	ck_assert_int_eq(advance(3), 2);
	/* Again when it is submitted again; not for what is cancelled. */
	ck_assert_int_eq(reschedule(j[1].id, 15), 0);
	ck_assert_int_eq(cancel(j[2].id), 0);
	call_tasks();
	ck_assert_int_eq(j[1].runs + j[2].runs, 0);
	ck_assert_int_eq(advance(100), 4);
	call_tasks();
	ck_assert_int_eq(advance(100), 0);
	ck_assert_uint_eq(kept, 6);
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(j[i].runs, i != 0 && i != 2);
	end();
}
END_TEST

/*
 * Submitted, and moved or not: who cancels owns the argument at once, and the
 * run that is outstanding does nothing.
 */
static void cancel_submitted(int64_t move, bool wait)
{
	struct job *j = calloc(1, sizeof(*j));

	j->id = schedule(timerthread_now(tt) + 10, never, j);
	ck_assert_int_eq(advance(20), 1);
	if (move)
		ck_assert_int_eq(reschedule(j->id, timerthread_now(tt) + move),
				 0);
	ck_assert_int_eq(
		wait ? timerthread_cancel_wait(tt, j->id) : cancel(j->id), 0);
	check_over(j->id);
	free(j);
	call_tasks();
	ck_assert_int_eq(advance(1000), 0);
	check_inside();
}

START_TEST(cancelled_before_its_run)
{
	static const int64_t moves[] = {0,   5,      -1,
					-15, 100000, TIMERTHREAD_NEVER / 2};

	start_with(VIRTUAL, keep);
	for (int i = 0; i < 60; i++)
		cancel_submitted(moves[i % 6], i / 6 % 2);
	/* Not one slot for each. */
	ck_assert_uint_le(slots_in_use(), 4);
	end();
}
END_TEST

/* The same timer's place may have the next one by then. */
START_TEST(cancelled_and_called_much_later)
{
	enum { N = 500 };
	static struct job j[N];

	start_with(VIRTUAL, keep);
	for (int i = 0; i < N; i++) {
		plan(&j[i], i);
		ck_assert_int_eq(advance(1), 1);
		ck_assert_int_eq(cancel(j[i].id), 0);
	}
	for (int i = 0; i < N; i++) {
		plan(&j[i], 2 * N);
		call_task((size_t)(i * 7 % N));
	}
	called = kept;
	ck_assert_int_eq(advance(2 * N), N);
	call_tasks();
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(j[i].runs, 1);
	check_inside();
	end();
}
END_TEST

/* Moved to a later time it is submitted again, exactly then. */
START_TEST(moved_later)
{
	struct job j = {0};

	start_with(VIRTUAL, keep);
	plan(&j, 10);
	ck_assert_int_eq(advance(10), 1);
	for (int64_t to = 100; to < 1000; to += 100) {
		ck_assert_int_eq(reschedule(j.id, to - 50), 0);
		ck_assert_int_eq(reschedule(j.id, to), 0);
		ck_assert_int_eq(deadline_of(j.id), to);
		call_tasks();
		ck_assert_int_eq(j.runs, 0);
		ck_assert_int_eq(deadline_of(j.id), to);
		ck_assert_int_eq(advance(to - 1 - timerthread_now(tt)), 0);
		ck_assert_int_eq(advance(1), 1);
		ck_assert_int_eq(deadline_of(j.id), to);
	}
	call_tasks();
	ck_assert_int_eq(j.runs, 1);
	ck_assert_int_eq(advance(10000), 0);
	check_over(j.id);
	end();
}
END_TEST

/* Nothing comes of the time that passes before its run is called. */
START_TEST(moved_later_and_due_by_then)
{
	struct job j = {0};

	start_with(VIRTUAL, keep);
	plan(&j, 10);
	ck_assert_int_eq(advance(10), 1);
	ck_assert_int_eq(reschedule(j.id, 50), 0);
	/* It is not submitted twice. */
	ck_assert_int_eq(advance(100), 0);
	ck_assert_uint_eq(kept, 1);
	while (called < kept) {
		call_tasks();
		advance(0);
	}
	ck_assert_int_eq(j.runs, 1);
	check_over(j.id);
	end();
}
END_TEST

/* To an earlier time: it runs as soon as the executor gets to it. */
START_TEST(moved_earlier)
{
	static const int64_t to[] = {9, 0, -1, INT64_MIN, 10};

	for (int i = 0; i < 5; i++) {
		struct job j = {0};

		start_with(VIRTUAL, keep);
		plan(&j, 10);
		ck_assert_int_eq(advance(10), 1);
		ck_assert_int_eq(reschedule(j.id, to[i]), 0);
		ck_assert_int_eq(deadline_of(j.id), to[i]);
		ck_assert_int_eq(advance(5), 0);
		ck_assert_int_eq(j.runs, 0);
		call_tasks();
		ck_assert_int_eq(j.runs, 1);
		ck_assert_int_eq(advance(1000), 0);
		ck_assert_uint_eq(kept, 1);
		check_over(j.id);
		end();
	}
}
END_TEST

START_TEST(moved_later_then_earlier)
{
	static const int64_t to[] = {10, 9, -5};

	for (int i = 0; i < 3; i++) {
		struct job j = {0};

		start_with(VIRTUAL, keep);
		plan(&j, 10);
		ck_assert_int_eq(advance(10), 1);
		ck_assert_int_eq(reschedule(j.id, TIMERTHREAD_NEVER), 0);
		ck_assert_int_eq(reschedule(j.id, 100), 0);
		ck_assert_int_eq(reschedule(j.id, to[i]), 0);
		call_tasks();
		ck_assert_int_eq(j.runs, 1);
		ck_assert_int_eq(advance(1000), 0);
		end();
	}
}
END_TEST

/* Earlier, and then later than that, but not than it was at first. */
START_TEST(moved_earlier_then_later)
{
	struct job j = {0};

	start_with(VIRTUAL, keep);
	plan(&j, 10);
	ck_assert_int_eq(advance(10), 1);
	ck_assert_int_eq(reschedule(j.id, 2), 0);
	ck_assert_int_eq(reschedule(j.id, 8), 0);
	while (called < kept) {
		call_tasks();
		advance(0);
	}
	ck_assert_int_eq(j.runs, 1);
	/* And later than now. */
	plan(&j, 20);
	ck_assert_int_eq(advance(10), 1);
	ck_assert_int_eq(reschedule(j.id, 2), 0);
	ck_assert_int_eq(reschedule(j.id, 25), 0);
	call_tasks();
	ck_assert_int_eq(j.runs, 1);
	ck_assert_int_eq(advance(4), 0);
	ck_assert_int_eq(advance(1), 1);
	call_tasks();
	ck_assert_int_eq(j.runs, 2);
	end();
}
END_TEST

START_TEST(moved_to_never)
{
	struct job j[2] = {{0}};

	start_with(VIRTUAL, keep);
	for (int i = 0; i < 2; i++)
		plan(&j[i], 10);
	ck_assert_int_eq(advance(10), 2);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(reschedule(j[i].id, TIMERTHREAD_NEVER), 0);
	call_tasks();
	ck_assert_int_eq(advance(INT64_MAX / 2), 0);
	ck_assert_int_eq(deadline_of(j[1].id), TIMERTHREAD_NEVER);
	ck_assert_int_eq(cancel(j[0].id), 0);
	ck_assert_int_eq(reschedule(j[1].id, INT64_MAX / 2 + 20), 0);
	ck_assert_int_eq(advance(9), 0);
	ck_assert_int_eq(advance(1), 1);
	call_tasks();
	ck_assert_int_eq(j[0].runs, 0);
	ck_assert_int_eq(j[1].runs, 1);
	end();
}
END_TEST

/* Puts the timer that is submitted on its way back, to be due at `to`. */
static void send_back(timerthread_id id, int64_t to)
{
	ck_assert_int_eq(reschedule(id, to), 0);
	call_task(called++);
}

/* Between the run that puts it back and the next advance. */
START_TEST(moved_on_the_way_back)
{
	static const int64_t to[] = {
		11, 20, 99, 100, 101, 300, TIMERTHREAD_NEVER - 1};

	for (int i = 0; i < 14; i++) {
		int64_t t = to[i % 7];
		struct job j = {0};

		start_with(VIRTUAL, keep);
		plan(&j, 10);
		ck_assert_int_eq(advance(10), 1);
		send_back(j.id, 100);
		ck_assert_int_eq(deadline_of(j.id), 100);
		/* Twice, perhaps: to and fro. */
		if (i >= 7)
			ck_assert_int_eq(reschedule(j.id, i % 2 ? 15 : 5000),
					 0);
		ck_assert_int_eq(reschedule(j.id, t), 0);
		ck_assert_int_eq(deadline_of(j.id), t);
		ck_assert_int_eq(advance(t - 11), 0);
		ck_assert_int_eq(advance(1), 1);
		call_tasks();
		ck_assert_int_eq(j.runs, 1);
		ck_assert_int_eq(j.at, t);
		ck_assert_int_eq(advance(6000), 0);
		check_inside();
		end();
	}
}
END_TEST

START_TEST(moved_to_the_past_on_the_way_back)
{
	static const int64_t to[] = {10, 9, 0, -1, INT64_MIN};

	for (int i = 0; i < 5; i++) {
		struct job j = {0};

		start_with(VIRTUAL, keep);
		plan(&j, 10);
		ck_assert_int_eq(advance(10), 1);
		send_back(j.id, i % 2 ? 100 : TIMERTHREAD_NEVER);
		ck_assert_int_eq(reschedule(j.id, to[i]), 0);
		ck_assert_int_eq(advance(0), 1);
		call_tasks();
		ck_assert_int_eq(j.runs, 1);
		end();
	}
}
END_TEST

START_TEST(cancelled_on_the_way_back)
{
	start_with(VIRTUAL, keep);
	for (int i = 0; i < 100; i++) {
		int64_t now = timerthread_now(tt);
		struct job *j = calloc(1, sizeof(*j));

		j->id = schedule(now, never, j);
		ck_assert_int_eq(advance(0), 1);
		send_back(j->id, i % 5 ? now + 100 : TIMERTHREAD_NEVER);
		if (i % 3 == 1)
			ck_assert_int_eq(reschedule(j->id, now - 1), 0);
		if (i % 3 == 2)
			ck_assert_int_eq(reschedule(j->id, now + 999), 0);
		/* It has arrived, perhaps. */
		if (i % 2 && i % 3 != 1) {
			schedule(now, post, &ran);
			ck_assert_int_eq(advance(0), 1);
			call_tasks();
		}
		ck_assert_int_eq(cancel(j->id), 0);
		check_over(j->id);
		free(j);
		ck_assert_int_eq(advance(2000), 0);
		check_inside();
	}
	/* Their slots come back too. */
	ck_assert_uint_le(slots_in_use(), 40);
	end();
}
END_TEST

static bool readable(void)
{
	struct pollfd p = {.fd = polled_fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* Who turns the engine learns of what is rearmed, and of its deadlines. */
START_TEST(comes_back_in_time)
{
	for (int d = OWN_THREAD; d <= POLLED; d++) {
		struct job j = {0};
		int64_t then;

		start_with(d, keep);
		then = timerthread_now(tt) + HOUR;
		plan(&j, 0);
		submit_due(1);
		send_back(j.id, then);
		if (d == OWN_THREAD)
			wait_for_sleep();
		else if (readable())
			ck_assert_int_eq(timerthread_dispatch(tt), 0);
		if (d == POLLED)
			ck_assert(!readable());
		ck_assert_int_eq(reschedule(j.id, 1), 0);
		ck_assert(d == OWN_THREAD || readable());
		submit_due(1);
		then = timerthread_now(tt) + MS;
		send_back(j.id, then);
		while (d == POLLED && timerthread_now(tt) < then)
			sched_yield();
		if (d == POLLED)
			ck_assert_int_eq(
				poll(&(struct pollfd){polled_fd, POLLIN, 0}, 1,
				     -1),
				1);
		submit_due(1);
		call_tasks();
		ck_assert_int_eq(j.runs, 1);
		end();
	}
}
END_TEST

/* What a callback does with its own timer, and what it was told. */
static struct self {
	timerthread_id id;
	int runs, move, cancelled, waited;
	int64_t to, at, seen;
	bool moves, cancels;
} self;

static void look_at_self(void *arg)
{
	struct self *s = arg;

	s->runs++;
	s->at = timerthread_now(tt);
	s->waited = timerthread_cancel_wait(tt, s->id);
	if (s->moves)
		s->move = reschedule(s->id, s->to);
	s->seen = -77;
	timerthread_get_deadline(tt, s->id, &s->seen);
	if (s->cancels)
		s->cancelled = cancel(s->id);
}

static void run_self(bool moves, int64_t to, bool cancels)
{
	int64_t now = timerthread_now(tt);

	self = (struct self){.moves = moves, .to = to, .cancels = cancels};
	self.id = schedule(now, look_at_self, &self);
	ck_assert_int_eq(advance(0), 1);
	call_tasks();
	ck_assert_int_eq(self.runs, 1);
	ck_assert_int_eq(self.waited, -EDEADLK);
	ck_assert_int_eq(self.seen, moves ? to : -77);
	ck_assert_int_eq(self.move, 0);
	ck_assert_int_eq(self.cancelled, cancels);
}

START_TEST(inside_its_callback)
{
	start_with(VIRTUAL, keep);
	for (int i = 0; i < 3; i++) {
		run_self(i == 2, 5, i > 0);
		check_over(self.id);
		ck_assert_int_eq(advance(100), 0);
		ck_assert_int_eq(self.runs, 1);
	}
	check_inside();
	end();
}
END_TEST

START_TEST(armed_again_inside)
{
	static const int64_t past[] = {999, 1000, 0, INT64_MIN};

	start_with(VIRTUAL, keep);
	ck_assert_int_eq(advance(1000), 0);
	for (int i = 0; i < 4; i++) {
		run_self(true, past[i], false);
		self.moves = false;
		ck_assert_int_eq(deadline_of(self.id), past[i]);
		ck_assert_int_eq(advance(0), 1);
		call_tasks();
		ck_assert_int_eq(self.runs, 2);
		check_over(self.id);
	}
	run_self(true, 1500, false);
	self.moves = false;
	ck_assert_int_eq(advance(499), 0);
	ck_assert_int_eq(advance(1), 1);
	call_tasks();
	ck_assert_int_eq(self.at, 1500);
	check_over(self.id);
	/* It can be cancelled and moved then, as any other. */
	run_self(true, TIMERTHREAD_NEVER, false);
	ck_assert_int_eq(reschedule(self.id, 1600), 0);
	ck_assert_int_eq(advance(99), 0);
	ck_assert_int_eq(cancel(self.id), 0);
	ck_assert_int_eq(advance(1000), 0);
	ck_assert_int_eq(self.runs, 1);
	end();
}
END_TEST

START_TEST(periodic)
{
	struct job j = {0};

	start_with(VIRTUAL, keep);
	j.id = every(10, 10, work, &j);
	for (int i = 1; i <= 5; i++) {
		ck_assert_int_eq(advance(9), 0);
		ck_assert_int_eq(advance(1), 1);
		ck_assert_int_eq(deadline_of(j.id), i * 10);
		call_tasks();
		ck_assert_int_eq(j.runs, i);
		ck_assert_int_eq(deadline_of(j.id), (i + 1) * 10);
	}
	/* Not again before it has run; what has passed then is skipped. */
	ck_assert_int_eq(advance(37), 1);
	ck_assert_uint_eq(kept, 6);
	call_tasks();
	ck_assert_int_eq(j.runs, 6);
	ck_assert_int_eq(deadline_of(j.id), 90);
	ck_assert_int_eq(advance(2), 0);
	ck_assert_int_eq(advance(1), 1);
	/* Exactly one period late. */
	ck_assert_int_eq(advance(10), 0);
	call_tasks();
	ck_assert_int_eq(deadline_of(j.id), 110);
	ck_assert_int_eq(cancel(j.id), 0);
	ck_assert_int_eq(advance(100), 0);
	ck_assert_int_eq(j.runs, 7);
	end();
}
END_TEST

/* Submitted, running, on the way back, and back. */
START_TEST(periodic_cancelled)
{
	start_with(VIRTUAL, keep);
	for (int stage = 0; stage < 4; stage++) {
		int64_t now = timerthread_now(tt);

		self = (struct self){.cancels = stage == 1};
		self.id = every(now, 10, look_at_self, &self);
		ck_assert_int_eq(advance(0), 1);
		if (stage == 0)
			ck_assert_int_eq(cancel(self.id), 0);
		call_tasks();
		ck_assert_int_eq(self.runs, stage > 0);
		ck_assert_int_eq(self.cancelled, stage == 1);
		if (stage > 0)
			ck_assert_int_eq(self.seen, now + 10);
		if (stage == 3)
			ck_assert_int_eq(advance(9), 0);
		if (stage > 1)
			ck_assert_int_eq(cancel(self.id), 0);
		check_over(self.id);
		ck_assert_int_eq(advance(1000), 0);
		check_inside();
	}
	end();
}
END_TEST

/* It goes on from where it was moved to. */
START_TEST(periodic_moved)
{
	start_with(VIRTUAL, keep);
	self = (struct self){.moves = true, .to = 25};
	self.id = every(10, 10, look_at_self, &self);
	ck_assert_int_eq(advance(10), 1);
	ck_assert_int_eq(reschedule(self.id, 13), 0);
	call_tasks();
	ck_assert_int_eq(self.runs, 0);
	ck_assert_int_eq(advance(2), 0);
	ck_assert_int_eq(advance(1), 1);
	/* To the past: its steps count from there. */
	ck_assert_int_eq(reschedule(self.id, -4), 0);
	call_tasks();
	ck_assert_int_eq(self.runs, 1);
	ck_assert_int_eq(deadline_of(self.id), 25);
	self.moves = false;
	ck_assert_int_eq(advance(12), 1);
	ck_assert_int_eq(reschedule(self.id, 2), 0);
	call_tasks();
	ck_assert_int_eq(deadline_of(self.id), 32);
	ck_assert_int_eq(reschedule(self.id, 26), 0);
	ck_assert_int_eq(advance(1), 1);
	call_tasks();
	ck_assert_int_eq(self.at, 26);
	ck_assert_int_eq(deadline_of(self.id), 36);
	ck_assert_int_eq(self.runs, 3);
	end();
}
END_TEST

static void work_and_arm(void *arg)
{
	struct job *j = arg;

	work(arg);
	if (j->runs < 5)
		reschedule(j->id, j->at - 1);
}

START_TEST(called_within_submit)
{
	for (int d = POLLED; d < DRIVERS; d++) {
		struct job j = {0}, again = {0}, repeats = {0};
		int more = d == VIRTUAL ? 4 : 0;

		start_with(d, call_inside);
		plan(&j, -1);
		again.id = schedule(-2, work_and_arm, &again);
		repeats.id = every(-20, HOUR, work, &repeats);
		submit_due(3 + more);
		ck_assert_int_eq(j.runs, 1);
		ck_assert(pthread_equal(j.on, pthread_self()));
		ck_assert_int_eq(again.runs, 1 + more);
		ck_assert_int_eq(repeats.runs, 1);
		/* A dispatch leaves it to the next one. */
		for (int i = more; i < 4; i++) {
			ck_assert(readable());
			submit_due(1);
		}
		ck_assert_int_eq(again.runs, 5);
		submit_due(0);
		check_over(again.id);
		end();
	}
}
END_TEST

/* While the callback runs inside, the clock shows its deadline. */
START_TEST(called_within_submit_on_time)
{
	struct job j[5] = {{0}};

	start_with(VIRTUAL, call_inside);
	for (int i = 0; i < 5; i++)
		plan(&j[i], 10 * i);
	ck_assert_int_eq(advance(1000), 5);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(j[i].at, 10 * i);
	end();
}
END_TEST

START_TEST(refused)
{
	for (int d = 0; d < DRIVERS; d++) {
		struct job j = {0}, repeats = {0};
		pthread_t on = pthread_self();

		start_with(d, refuse);
		if (d == OWN_THREAD)
			ck_assert_int_eq(timerthread_get_pthread(tt, &on), 0);
		plan(&j, 0);
		repeats.id = every(1, HOUR, work, &repeats);
		if (d == VIRTUAL)
			ck_assert_int_eq(advance(1), 2);
		else if (d == POLLED)
			ck_assert_int_eq(timerthread_dispatch(tt), 2);
		else
			settle();
		ck_assert_int_eq(timerthread_cancel_wait(tt, repeats.id), 0);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(j.runs, 1);
		ck_assert_int_eq(repeats.runs, 1);
		ck_assert(pthread_equal(j.on, on));
		ck_assert(pthread_equal(repeats.on, on));
		end();
	}
}
END_TEST

static int keep_every_second(void *ctx, timerthread_fn *run, void *arg)
{
	static int offers;

	return ++offers % 2 ? -1 : keep(ctx, run, arg);
}

START_TEST(refused_now_and_then)
{
	enum { N = 300 };
	static struct job j[N];

	start_with(VIRTUAL, keep_every_second);
	for (int i = 0; i < N; i++)
		plan(&j[i], i);
	ck_assert_int_eq(advance(N), N);
	ck_assert_uint_eq(kept, N / 2);
	for (int i = 0; i < N; i += 2)
		ck_assert_int_eq(j[i].at, i);
	call_tasks();
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(j[i].runs, 1);
	check_inside();
	end();
}
END_TEST

/* A submit that does something with the instance, once. */
static struct {
	void (*what)(void);
	struct job target;
	int result, answer;
	bool keeps;
} within;

/* What comes after a destroy is no business of the test's. */
static int do_within(void *ctx, timerthread_fn *run, void *arg)
{
	void (*what)(void) = within.what;
	bool keeps = within.keeps;
	int answer = within.answer;

	within.what = NULL;
	if (what)
		what();
	return keeps ? keep(ctx, run, arg) : answer;
}

static void start_within(int d, void (*what)(void), bool keeps)
{
	memset(&within, 0, sizeof(within));
	within.what = what;
	within.keeps = keeps;
	within.answer = -1;
	start_with(d, do_within);
}

static void schedule_within(void)
{
	plan(&within.target, -5);
}

START_TEST(submit_schedules)
{
	struct job j = {0};

	for (int keeps = 0; keeps < 2; keeps++) {
		start_within(VIRTUAL, schedule_within, keeps);
		plan(&j, 0);
		submit_due(2);
		call_tasks();
		ck_assert_int_eq(within.target.runs, 1);
		end();
		start_within(POLLED, schedule_within, keeps);
		plan(&j, 0);
		submit_due(1);
		ck_assert(readable());
		submit_due(1);
		call_tasks();
		ck_assert_int_eq(within.target.runs, 1);
		end();
	}
	ck_assert_int_eq(j.runs, 4);
}
END_TEST

static void cancel_within(void)
{
	within.result = timerthread_cancel_wait(tt, within.target.id);
}

static void move_within(void)
{
	within.result = reschedule(within.target.id, 50);
}

/* What it is just given is pending as ever. */
START_TEST(submit_cancels_or_moves)
{
	for (int i = 0; i < 4; i++) {
		bool moves = i / 2;

		start_within(VIRTUAL, moves ? move_within : cancel_within,
			     i % 2);
		plan(&within.target, 0);
		ck_assert_int_eq(advance(0), 1);
		call_tasks();
		ck_assert_int_eq(within.result, 0);
		ck_assert_int_eq(within.target.runs, 0);
		ck_assert_int_eq(advance(100), moves);
		call_tasks();
		ck_assert_int_eq(within.target.runs, moves);
		check_over(within.target.id);
		check_inside();
		end();
	}
}
END_TEST

static int turns[2];

static void turn_within(void)
{
	turns[0] = timerthread_dispatch(tt);
	turns[1] = timerthread_advance(tt, 0);
}

static void turn_inside(void *arg)
{
	(void)arg;
	turn_within();
}

/* Neither from submit nor from a callback, though none is in it. */
START_TEST(no_turn_within)
{
	for (int i = 0; i < 4; i++) {
		int d = i % 2 ? POLLED : VIRTUAL;

		start_within(d, i < 2 ? turn_within : NULL, true);
		schedule(0, turn_inside, NULL);
		submit_due(1);
		if (i >= 2)
			call_tasks();
		ck_assert_int_eq(turns[d == VIRTUAL], -EBUSY);
		ck_assert_int_eq(turns[d != VIRTUAL], -EINVAL);
		call_tasks();
		end();
	}
}
END_TEST

/* What is drained, each once. */
static void count_drained(timerthread_id id, timerthread_fn *fn, void *arg,
			  void *ctx)
{
	struct job *j = arg;

	ck_assert_ptr_eq((void *)fn, (void *)work);
	ck_assert_uint_eq(id, j->id);
	j->runs -= 1000;
	(void)ctx;
}

static int drain(void)
{
	return timerthread_drain(tt, count_drained, NULL);
}

static void stop_within(void)
{
	within.result = timerthread_stop(tt);
}

START_TEST(submit_stops)
{
	for (int i = 0; i < 2 * DRIVERS; i++) {
		struct job j[3] = {{0}};

		begin_with(do_within);
		memset(&within, 0, sizeof(within));
		within.what = stop_within;
		within.keeps = i < DRIVERS;
		within.answer = -1;
		within.result = -77;
		start_driver(i % DRIVERS);
		for (int k = 0; k < 3; k++)
			plan(&j[k], TIMERTHREAD_NEVER - 3 + k);
		/* The thread stops as soon as one is due. */
		for (int k = 0; k < (driver == OWN_THREAD ? 1 : 3); k++)
			ck_assert_int_eq(reschedule(j[k].id, -3 + k), 0);
		if (driver == POLLED)
			ck_assert_int_eq(timerthread_dispatch(tt), 1);
		if (driver == VIRTUAL)
			ck_assert_int_eq(advance(10), 1);
		while (driver == OWN_THREAD &&
		       reschedule(j[2].id, TIMERTHREAD_NEVER) != -ESHUTDOWN)
			sched_yield();
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(within.result, 1);
		ck_assert_uint_eq(kept, within.keeps);
		call_tasks();
		ck_assert_int_eq(drain(), 3);
		for (int k = 0; k < 3; k++)
			ck_assert_int_eq(j[k].runs, -1000);
		end();
	}
}
END_TEST

static void destroy_within(void)
{
	timerthread_destroy(tt);
	tt = NULL;
	if (driver == OWN_THREAD)
		sem_post(&ran);
}

static void check_closed(void)
{
	if (driver == POLLED)
		ck_assert_int_eq(fcntl(polled_fd, F_GETFD), -1);
}

/*
 * The instance is gone with the last run that is outstanding, or at once.  No
 * call of the test's may go on then: what is submitted has come back.
 */
START_TEST(submit_destroys)
{
	for (int i = 0; i < 2 * DRIVERS; i++) {
		start_within(i % DRIVERS, NULL, true);
		every(0, 1, post, &ran);
		schedule(TIMERTHREAD_NEVER, never, NULL);
		submit_due(1);
		within.keeps = i < DRIVERS;
		within.what = destroy_within;
		call_task(called++);
		if (driver == POLLED)
			ck_assert_int_eq(timerthread_dispatch(tt), 1);
		else if (driver == VIRTUAL)
			ck_assert_int_eq(advance(10), 1);
		wait_for(&ran);
		if (driver == OWN_THREAD)
			wait_for(&ran);
		if (driver == OWN_THREAD && i < DRIVERS)
			wait_for(&came);
		call_tasks();
		check_closed();
	}
}
END_TEST

/* Stopped with runs outstanding: some are called before it is drained. */
START_TEST(stopped_with_runs_outstanding)
{
	for (int i = 0; i < 2 * DRIVERS; i++) {
		struct job j[8] = {{0}};
		bool at_once = i < DRIVERS;

		start_with(i % DRIVERS, keep);
		for (int k = 0; k < 8; k++)
			plan(&j[k], -8 + k);
		submit_due(8);
		ck_assert_int_eq(reschedule(j[1].id, TIMERTHREAD_NEVER), 0);
		call_task(1);
		ck_assert_int_eq(reschedule(j[3].id, 77), 0);
		ck_assert_int_eq(cancel(j[5].id), 0);
		call_task(6);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		if (at_once)
			call_tasks();
		ck_assert_int_eq(deadline_of(j[0].id), -8);
		ck_assert_int_eq(cancel(j[0].id), 0);
		ck_assert_int_eq(timerthread_cancel_wait(tt, j[3].id), 0);
		ck_assert_int_eq(drain(), 4);
		call_tasks();
		ck_assert_int_eq(drain(), 0);
		for (int k = 0; k < 8; k++) {
			bool is_drained = k == 1 || k == 2 || k == 4 || k == 7;

			ck_assert_int_eq(j[k].runs,
					 k == 6 ? 1 : -1000 * is_drained);
			check_not_pending(j[k].id);
			ck_assert_int_eq(cancel(j[k].id), -ENOENT);
		}
		end();
	}
}
END_TEST

/* Runs may be called when the instance is destroyed, and its args freed. */
START_TEST(destroyed_with_runs_outstanding)
{
	for (int i = 0; i < 2 * DRIVERS; i++) {
		start_with(i % DRIVERS, keep);
		for (int k = 0; k < 200; k++)
			schedule(0, never, NULL);
		every(0, 1, never, NULL);
		schedule(TIMERTHREAD_NEVER, never, NULL);
		submit_due(201);
		if (i >= DRIVERS)
			ck_assert_int_eq(timerthread_stop(tt), 0);
		timerthread_destroy(tt);
		tt = NULL;
		call_tasks();
		check_closed();
	}
}
END_TEST

/* A callback that destroys, called by hand. */
static void destroy_inside(void *arg)
{
	(void)arg;
	destroy_within();
}

START_TEST(destroyed_by_a_callback)
{
	for (int i = 0; i < 2 * DRIVERS; i++) {
		start_with(i % DRIVERS, keep);
		/* As the first or the last of those that are called. */
		if (i < DRIVERS)
			schedule(-9, destroy_inside, NULL);
		schedule(TIMERTHREAD_NEVER, never, NULL);
		for (int k = 0; k < 4; k++)
			schedule(-8 + k, i < DRIVERS ? never : post, &ran);
		if (i >= DRIVERS)
			schedule(0, destroy_inside, NULL);
		submit_due(5);
		call_tasks();
		ck_assert_ptr_null(tt);
		check_closed();
	}
}
END_TEST

/* In an advance or a dispatch, which goes on to say how many there were. */
START_TEST(destroyed_by_a_callback_within_submit)
{
	for (int i = 0; i < 4; i++) {
		start_with(i % 2 ? POLLED : VIRTUAL,
			   i < 2 ? call_inside : refuse);
		schedule(-2, post, &ran);
		schedule(-1, destroy_inside, NULL);
		schedule(0, never, NULL);
		submit_due(2);
		ck_assert_ptr_null(tt);
		check_closed();
	}
}
END_TEST

static struct {
	int inside[2];
	timerthread_id id;
} places;

static int take_place(timerthread_id *ret_id)
{
	return timerthread_schedule(tt, TIMERTHREAD_NEVER, never, NULL, ret_id);
}

static void take_inside(void *arg)
{
	places.inside[0] = take_place(NULL);
	if (arg)
		places.inside[1] = cancel(places.id);
}

/* A place is taken until the callback has returned, or a cancel returned 0. */
START_TEST(places_are_exact)
{
	timerthread_id id;

	begin_with(keep);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 2), 0);
	start_driver(VIRTUAL);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	for (int i = 0; i < 50; i++) {
		id = schedule(0, take_inside, NULL);
		ck_assert_int_eq(take_place(&id), -EAGAIN);
		ck_assert_int_eq(advance(0), 1);
		ck_assert_int_eq(take_place(&id), -EAGAIN);
		if (i % 2) {
			ck_assert_int_eq(cancel(id), 0);
		} else {
			call_tasks();
			ck_assert_int_eq(places.inside[0], -EAGAIN);
		}
		ck_assert_int_eq(take_place(&id), 0);
		ck_assert_int_eq(take_place(NULL), -EAGAIN);
		/* The run of the one that was cancelled gives none back. */
		call_tasks();
		ck_assert_int_eq(take_place(NULL), -EAGAIN);
		ck_assert_int_eq(cancel(id), 0);
	}
	end();
}
END_TEST

START_TEST(places_of_the_rearmed)
{
	begin_with(keep);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 1), 0);
	start_driver(VIRTUAL);
	places.id = every(0, 10, take_inside, NULL);
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(advance(10), 1);
		if (i % 2)
			send_back(places.id, timerthread_now(tt) + 3);
		else
			call_tasks();
		ck_assert_int_eq(take_place(NULL), -EAGAIN);
	}
	ck_assert_int_eq(cancel(places.id), 0);
	/* Cancelled inside: until it has returned. */
	places.id = every(0, 10, take_inside, &places);
	ck_assert_int_eq(take_place(NULL), -EAGAIN);
	advance(10);
	call_tasks();
	ck_assert_int_eq(places.inside[0], -EAGAIN);
	ck_assert_int_eq(places.inside[1], 1);
	ck_assert_int_eq(take_place(&places.id), 0);
	ck_assert_int_eq(take_place(NULL), -EAGAIN);
	end();
}
END_TEST

/*
 * Very many.
 */
enum { CROWD = 100000 };

static struct job crowd[CROWD];

START_TEST(crowd_comes_back)
{
	start_with(VIRTUAL, keep);
	for (int i = 0; i < CROWD; i++)
		plan(&crowd[i], i % 100);
	ck_assert_int_eq(advance(100), CROWD);
	check_inside();
	for (int i = 0; i < CROWD; i++)
		ck_assert_int_eq(reschedule(crowd[i].id, 1000 - i % 500), 0);
	call_tasks();
	check_inside();
	/* New ones come in between. */
	for (int i = 0; i < CROWD / 10; i++)
		schedule(500 + i % 500, post, &ran);
	ck_assert_int_eq(advance(399), 0);
	check_inside();
	ck_assert_int_eq(advance(501), CROWD + CROWD / 10);
	check_inside();
	call_tasks();
	for (int i = 0; i < CROWD; i++)
		ck_assert_int_eq(crowd[i].runs, 1);
	ck_assert_int_eq(advance(1), 0);
	check_inside();
	end();
}
END_TEST

/* When all are over, their slots are free. */
START_TEST(crowd_is_over)
{
	for (int i = 0; i < 2; i++) {
		start_with(VIRTUAL, keep);
		for (int k = 0; k < CROWD; k++)
			plan(&crowd[k], 0);
		ck_assert_int_eq(advance(0), CROWD);
		for (int k = 0; i && k < CROWD; k++)
			ck_assert_int_eq(cancel(crowd[k].id), 0);
		call_tasks();
		for (int k = 0; k < 3; k++) {
			schedule(1, post, &ran);
			ck_assert_int_eq(advance(20 * MS), 1);
			call_tasks();
			check_inside();
		}
		end();
	}
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

static int repeats_left;

static void repeat(void *arg)
{
	struct job *j = arg;

	work(arg);
	if (--repeats_left < 0)
		abort();
	if (j->runs == 3)
		ck_assert_int_eq(cancel(j->id), 1);
}

/* What could be scheduled before memory ran out. */
static void plan_for_want(int n)
{
	for (int i = 0; i < n; i++) {
		crowd[i] = (struct job){0};
		if (i % 3)
			plan(&crowd[i], 1 + i % 7);
		else
			crowd[i].id = every(1 + i % 7, 10, repeat, &crowd[i]);
	}
	repeats_left = (n + 2) / 3 * 3;
}

/* From the first, the second ... allocation on; in steps, or all at once. */
static void live_without_memory(int n, uint32_t from, bool growing)
{
	start_with(VIRTUAL, keep);
	if (!growing)
		plan_for_want(n);
	fail_arm(from, growing ? 0 : UINT32_MAX);
	if (growing) {
		plan_for_want(n);
		fail_arm(0, UINT32_MAX);
	}
	for (int i = 0; i < 60; i++) {
		advance(1);
		if (from % 2 || i % 4 == 0)
			call_tasks();
		check_inside();
	}
	call_tasks();
	ck_assert_int_eq(advance(10), 0);
	fail_disarm();
	for (int i = 0; i < n; i++) {
		ck_assert_int_eq(crowd[i].runs, i % 3 ? 1 : 3);
		check_over(crowd[i].id);
	}
	check_inside();
	end();
}

START_TEST(without_memory)
{
	static const int some[] = {10, 1000, 1030, 5000};

	for (int i = 0; i < 4; i++) {
		for (uint32_t from = 0; from < 6; from++)
			live_without_memory(some[i], from, false);
		live_without_memory(some[i], 0, true);
		live_without_memory(some[i], 1, true);
	}
}
END_TEST

/* They are handed over when it runs out, and are moved: all are rearmed. */
START_TEST(back_without_memory)
{
	enum { N = 4000 };

	for (int i = 0; i < 2; i++) {
		start_with(VIRTUAL, keep);
		for (int k = 0; k < N; k++) {
			crowd[k].runs = 0;
			plan(&crowd[k], 0);
		}
		ck_assert_int_eq(advance(0), N);
		for (int k = 0; k < N; k++)
			ck_assert_int_eq(reschedule(crowd[k].id, 5 + k % 9), 0);
		fail_arm(0, UINT32_MAX);
		call_tasks();
		for (int k = 0; k < 20; k++) {
			advance(1);
			check_inside();
			if (i)
				call_tasks();
		}
		fail_disarm();
		call_tasks();
		for (int k = 0; k < N; k++)
			ck_assert_int_eq(crowd[k].runs, 1);
		end();
	}
}
END_TEST

#endif

/*
 * Random steps against a model.
 */
enum { MODELLED = 300 };

enum where { NOWHERE, WAITS, AWAY, RUNS };

static struct modelled {
	timerthread_id id;
	enum where where;
	int64_t deadline, queued, period;
	bool cancelled; /* while it is handed over, or runs */
	int begun;
} model[MODELLED];

static uint64_t rng;
static int64_t submitted_last;
static bool out_of_order, unexpected;
static size_t outstanding;

/* Whose run it is. */
static struct modelled *whose(void *arg)
{
	return slot_arg(arg);
}

static int keep_modelled(void *ctx, timerthread_fn *run, void *arg)
{
	struct modelled *m = whose(arg);

	unexpected |= m->where != WAITS || m->deadline > timerthread_now(tt);
	out_of_order |= m->deadline < submitted_last;
	submitted_last = m->deadline;
	m->where = AWAY;
	m->cancelled = false;
	m->queued = m->deadline;
	outstanding++;
	return keep(ctx, run, arg);
}

static int64_t some_time(void)
{
	int64_t now = timerthread_now(tt);

	if (random_below(&rng, 50) == 0)
		return TIMERTHREAD_NEVER;
	return now - 100 + (int64_t)random_below(&rng, 400);
}

static void move_modelled(struct modelled *m)
{
	int64_t to = some_time();

	ck_assert_int_eq(reschedule(m->id, to), 0);
	m->deadline = to;
	if (to < m->queued)
		m->queued = to;
}

static void run_modelled(void *arg)
{
	struct modelled *m = arg;
	int64_t now = timerthread_now(tt);

	unexpected |= m->where != AWAY || m->cancelled || m->deadline > now;
	m->begun++;
	m->where = RUNS;
	if (m->period) {
		m->deadline += (now - m->deadline) / m->period * m->period;
		m->deadline += m->period;
	} else {
		ck_assert_int_eq(
			timerthread_get_deadline(tt, m->id, &m->queued),
			-ENOENT);
	}
	ck_assert_int_eq(timerthread_cancel_wait(tt, m->id), -EDEADLK);
	if (random_below(&rng, 4) == 0) {
		m->deadline = some_time();
		ck_assert_int_eq(reschedule(m->id, m->deadline), 0);
		m->where = WAITS;
	}
	if (m->period)
		m->where = WAITS;
	if (random_below(&rng, 6) == 0) {
		ck_assert_int_eq(cancel(m->id), 1);
		m->where = NOWHERE;
	}
	if (m->where == RUNS)
		m->where = NOWHERE;
}

static void call_modelled(void)
{
	size_t i = called + random_below(&rng, kept - called);
	struct modelled *m;
	struct task t;
	int begun;

	/* The first of the rest, by and by, so that the array moves on. */
	if (!tasks[i].run || random_below(&rng, 2))
		i = called;
	t = tasks[i];
	if (t.run) {
		m = whose(t.arg);
		begun = m->begun;
		outstanding--;
		call_task(i);
		if (m->begun == begun && m->where == AWAY && !m->cancelled) {
			/* It goes back, and must have reason to. */
			unexpected |= m->deadline <= m->queued;
			m->where = WAITS;
		} else if (m->begun == begun) {
			m->where = NOWHERE;
		}
	}
	while (called < kept && !tasks[called].run)
		called++;
}

static void advance_modelled(int64_t ns)
{
	int64_t end = clock_add(timerthread_now(tt), ns);
	int due = 0;

	for (int i = 0; i < MODELLED; i++)
		due += model[i].where == WAITS && model[i].deadline <= end;
	submitted_last = INT64_MIN;
	ck_assert_int_eq(advance(ns), due);
	ck_assert(!out_of_order);
	ck_assert(!unexpected);
}

static void schedule_modelled(struct modelled *m)
{
	m->deadline = some_time();
	m->queued = m->deadline;
	m->period = 0;
	if (random_below(&rng, 3) == 0) {
		m->period = 1 + (int64_t)random_below(&rng, 90);
		m->id = every(m->deadline, m->period, run_modelled, m);
	} else {
		m->id = schedule(m->deadline, run_modelled, m);
	}
	m->where = WAITS;
}

static void step_modelled(struct modelled *m)
{
	if (m->where == NOWHERE) {
		if (m->id)
			check_over(m->id);
		schedule_modelled(m);
	} else if (m->where == AWAY && m->cancelled) {
		check_over(m->id);
	} else if (random_below(&rng, 5)) {
		move_modelled(m);
	} else {
		ck_assert_int_eq(random_below(&rng, 2)
					 ? cancel(m->id)
					 : timerthread_cancel_wait(tt, m->id),
				 0);
		m->cancelled = true;
		if (m->where == WAITS)
			m->where = NOWHERE;
	}
}

static void check_modelled(const struct modelled *m)
{
	if (m->where == WAITS || (m->where == AWAY && !m->cancelled))
		ck_assert_int_eq(deadline_of(m->id), m->deadline);
	else if (m->id)
		check_not_pending(m->id);
}

START_TEST(random_against_model)
{
	enum { STEPS = 60000 };
	int n;

	rng = test_seed();
	start_with(VIRTUAL, keep_modelled);
	for (int step = 0; step < STEPS; step++) {
		uint64_t some = step / 5000 % 2 ? MODELLED : 10;
		struct modelled *m = &model[random_below(&rng, some)];
		uint64_t dice = random_below(&rng, 100);

		if (dice < 8)
			advance_modelled((int64_t)random_below(&rng, 60));
		else if (dice < 50 && called < kept)
			call_modelled();
		else
			step_modelled(m);
		ck_assert(!unexpected);
		check_modelled(m);
		if (step % 8 == 0)
			check_inside();
	}
	for (int i = 0; i < MODELLED; i++)
		check_modelled(&model[i]);
	n = 0;
	for (int i = 0; i < MODELLED; i++)
		n += model[i].where == WAITS ||
		     (model[i].where == AWAY && !model[i].cancelled);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	for (size_t i = called; i < kept; i++)
		call_task(i);
	ck_assert(!unexpected);
	for (int i = 0; i < MODELLED; i++)
		n -= cancel(model[i].id) == 0;
	ck_assert_int_eq(n, 0);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		option,
		on_each_driver,
		moved_to_a_time_that_has_come,
		in_order_of_deadlines,
		counts_what_is_submitted,
		cancelled_before_its_run,
		cancelled_and_called_much_later,
		moved_later,
		moved_later_and_due_by_then,
		moved_earlier,
		moved_later_then_earlier,
		moved_earlier_then_later,
		moved_to_never,
		moved_on_the_way_back,
		moved_to_the_past_on_the_way_back,
		cancelled_on_the_way_back,
		comes_back_in_time,
		inside_its_callback,
		armed_again_inside,
		periodic,
		periodic_cancelled,
		periodic_moved,
		called_within_submit,
		called_within_submit_on_time,
		refused,
		refused_now_and_then,
		submit_schedules,
		submit_cancels_or_moves,
		no_turn_within,
		submit_stops,
		submit_destroys,
		stopped_with_runs_outstanding,
		destroyed_with_runs_outstanding,
		destroyed_by_a_callback,
		destroyed_by_a_callback_within_submit,
		places_are_exact,
		places_of_the_rearmed,
		crowd_comes_back,
		crowd_is_over,
#ifndef FAIL_ALLOC_UNAVAILABLE
		without_memory,
		back_without_memory,
#endif
		random_against_model,
	};

	return RUN_TESTS("executor", tests);
}
