/* SPDX-License-Identifier: MIT */
/*
 * Timers that are moved or cancelled while an executor has their runs, in
 * these, or on their way back; also those that repeat.
 */
#include "config.h"

#include "jobs.h"

#include <poll.h>
#include <sched.h>

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

int main(void)
{
	const TTest *const tests[] = {
		moved_to_a_time_that_has_come,
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
	};

	return RUN_TESTS("executor_moved", tests);
}
