/* SPDX-License-Identifier: MIT */
/*
 * Cancelling all timers that match: which they are, and what is waited for.
 */
#include "config.h"

#include "matched.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define STAT(which) stat_of(TIMERTHREAD_STAT_##which)

/* What is looked for, as ctx.  Where all are NULL or 0, everything is. */
struct wanted {
	timerthread_fn *fn;
	void *arg;
	timerthread_id id;
	pthread_t caller;
	bool wrong;
	int matches, visits;
};

static int match(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	struct wanted *w = ctx;

	w->matches++;
	if (!pthread_equal(pthread_self(), w->caller))
		w->wrong = true;
	if ((w->fn && w->fn != fn) || (w->arg && w->arg != arg) ||
	    (w->id && w->id != id))
		return 0;
	return w->matches % 2 ? -1 : 2;
}

/* It counts as cancelled by now. */
static void count_visit(timerthread_id id, timerthread_fn *fn, void *arg,
			void *ctx)
{
	struct wanted *w = ctx;
	int64_t deadline;

	w->visits++;
	if (!pthread_equal(pthread_self(), w->caller) ||
	    (w->fn && w->fn != fn) || (w->arg && w->arg != arg) ||
	    (w->id && w->id != id) || cancel(id) != -ENOENT ||
	    disarm(id) != -ENOENT ||
	    timerthread_get_deadline(tt, id, &deadline) != -ENOENT)
		w->wrong = true;
}

static void check_wanted(struct wanted w, int n)
{
	w.caller = pthread_self();
	ck_assert_int_eq(
		timerthread_cancel_matching(tt, match, count_visit, &w), n);
	ck_assert_int_eq(w.visits, n);
	ck_assert(!w.wrong);
}

static void check_matches(struct wanted w, int n)
{
	check_wanted(w, n);
	check_wanted(w, 0);
}

static void fn_a(void *arg)
{
	post(arg);
}

static void fn_b(void *arg)
{
	(void)arg;
	note(arg);
}

START_TEST(arguments)
{
	ck_assert_int_eq(
		timerthread_cancel_matching(NULL, match_all, visit, NULL),
		-EINVAL);
	setup();
	ck_assert_int_eq(timerthread_cancel_matching(tt, NULL, visit, NULL),
			 -EINVAL);
	ck_assert_int_eq(take_all(), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(take_all(), 0);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(timerthread_cancel_matching(tt, NULL, NULL, NULL),
			 -EINVAL);
	ck_assert_int_eq(take_all(), 1);
	/* After stop, too. */
	schedule(TIMERTHREAD_NEVER, never, NULL);
	prepare(never, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(take_all(), 2);
	ck_assert_int_eq(take_all(), 0);
	end();
}
END_TEST

static void refused_in_child(void)
{
	NEED(take_all() == -ECHILD);
	NEED(timerthread_cancel_matching(tt, NULL, NULL, NULL) == -ECHILD);
	timerthread_destroy(tt);
}

START_TEST(in_a_child)
{
	start();
	schedule(TIMERTHREAD_NEVER, never, NULL);
	in_child(refused_in_child);
	ck_assert_int_eq(take_all(), 1);
	end();
}
END_TEST

/*
 * Which they are.
 */
START_TEST(by_function_argument_or_id)
{
	static int x, y;
	timerthread_id id;
	int64_t base;

	start();
	base = now() + HOUR;
	for (int i = 0; i < 30; i++)
		schedule(i % 2 ? base + i : TIMERTHREAD_NEVER,
			 i % 3 ? fn_a : fn_b, i % 5 ? &x : &y);
	id = schedule(base, fn_a, NULL);
	check_matches((struct wanted){.id = id}, 1);
	check_gone(id);
	check_matches((struct wanted){.fn = fn_a, .arg = &y}, 4);
	check_matches((struct wanted){.arg = &y}, 2);
	check_matches((struct wanted){.fn = fn_b}, 8);
	ck_assert_uint_eq(STAT(PENDING), 16);
	check_matches((struct wanted){.fn = fn_a}, 16);
	check_matches((struct wanted){0}, 0);
	ck_assert_uint_eq(STAT(PENDING), 0);
	ck_assert_uint_eq(STAT(CANCELLED), 31);
	ck_assert_uint_eq(STAT(DRAINED), 0);
	end();
}
END_TEST

START_TEST(those_that_are_not_armed)
{
	timerthread_id id[4];

	start();
	id[0] = prepare(fn_a, NULL);
	id[1] = prepare(fn_a, NULL);
	id[2] = schedule(now() + HOUR, fn_a, NULL);
	id[3] = every(now() + HOUR, 1, fn_a, NULL);
	ck_assert_int_eq(arm(id[1], now() + HOUR), 0);
	for (int i = 1; i < 4; i++)
		ck_assert_int_eq(disarm(id[i]), 0);
	prepare(fn_b, NULL);
	check_matches((struct wanted){.fn = fn_a}, 4);
	for (int i = 0; i < 4; i++)
		check_gone(id[i]);
	ck_assert_uint_eq(STAT(UNARMED), 1);
	ck_assert_int_eq(take_all(), 1);
	ck_assert_uint_eq(STAT(UNARMED), 0);
	end();
}
END_TEST

START_TEST(those_that_repeat)
{
	timerthread_id id, other;

	start();
	id = every(0, HOUR, fn_a, &ran);
	other = every(0, HOUR, fn_b, NULL);
	wait_for(&ran);
	settle();
	check_matches((struct wanted){.fn = fn_a}, 1);
	check_gone(id);
	ck_assert_int_gt(deadline_of(other), now());
	check_matches((struct wanted){.id = other}, 1);
	check_gone(other);
	end();
}
END_TEST

/* Those that have moved, and such as were over or cancelled before. */
START_TEST(each_once)
{
	enum { N = 500 };
	static struct seen s[N];
	int n = 0, left = 0;
	int64_t base;

	start();
	base = now() + HOUR;
	for (int i = 0; i < N; i++) {
		s[i].id = schedule(base + i, fn_b, &s[i]);
		for (int k = 0; k < i % 5; k++)
			ck_assert_int_eq(arm(s[i].id, base + k * HOUR - i), 0);
		if (i % 7 == 0)
			ck_assert_int_eq(cancel(s[i].id), 0);
		if (i % 7 == 1)
			ck_assert_int_eq(arm(s[i].id, 0), 0);
		left += i % 7 > 2;
		if (i % 100 == 0)
			settle();
	}
	settle();
	/* Their slots are not free yet when the walk comes. */
	for (int i = 2; i < N; i += 7)
		ck_assert_int_eq(cancel(s[i].id), 0);
	ck_assert_int_eq(timerthread_cancel_matching(tt, match_none, visit, &n),
			 0);
	ck_assert_int_eq(n, left);
	check_matches((struct wanted){.fn = fn_b}, left);
	for (int i = 0; i < N; i++)
		check_gone(s[i].id);
	end();
}
END_TEST

/* A match that says no sees all, and all are as before. */
START_TEST(shows_all)
{
	timerthread_id unarmed, once, periodic, held;
	int64_t base;
	int n;

	start();
	base = now() + HOUR;
	held = hold_thread();
	unarmed = prepare(never, NULL);
	once = schedule(base, never, NULL);
	periodic = every(base + 1, 5, never, NULL);
	for (int i = 0; i < 3; i++) {
		n = 0;
		ck_assert_int_eq(
			timerthread_cancel_matching(tt, match_none, visit, &n),
			0);
		ck_assert_int_eq(n, 4);
	}
	ck_assert_uint_eq(STAT(RUNNING), 1);
	ck_assert_uint_eq(STAT(PENDING), 2);
	ck_assert_uint_eq(STAT(UNARMED), 1);
	ck_assert_uint_eq(STAT(CANCELLED), 0);
	sem_post(&go);
	settle();
	check_unarmed(unarmed);
	ck_assert_int_eq(deadline_of(once), base);
	ck_assert_int_eq(deadline_of(periodic), base + 1);
	check_gone(held);
	n = 0;
	ck_assert_int_eq(timerthread_cancel_matching(tt, match_all, NULL, &n),
			 3);
	ck_assert_int_eq(n, 3);
	end();
}
END_TEST

START_TEST(places_come_back)
{
	setup();
	ck_assert_int_eq(timerthread_set_max_timers(tt, 20), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	for (int i = 0; i < 50; i++) {
		for (int k = 0; k < 10; k++) {
			prepare(never, NULL);
			schedule(TIMERTHREAD_NEVER - k, never, NULL);
		}
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
				 -EAGAIN);
		ck_assert_int_eq(take_all(), 20);
		wait_for_places(20);
	}
	end();
}
END_TEST

/* Due, but kept from its turn: it is pending, also if an executor has it. */
START_TEST(what_is_due)
{
	start();
	hold_thread();
	for (int i = 0; i < 10; i++)
		schedule(i, never, &go);
	for (int i = 0; i < 20; i++)
		sched_yield();
	check_matches((struct wanted){.fn = never}, 10);
	sem_post(&go);
	settle();
	end();
}
END_TEST

/* Only those of this process's part that asks. */
START_TEST(on_the_default_instance)
{
	timerthread_id id, other;
	struct wanted w = {.fn = fn_a, .caller = pthread_self()};

	ck_assert_int_eq(timerthread_default(&tt), 0);
	id = schedule(TIMERTHREAD_NEVER, fn_a, NULL);
	other = schedule(TIMERTHREAD_NEVER, fn_b, NULL);
	ck_assert_int_eq(
		timerthread_cancel_matching(tt, match, count_visit, &w), 1);
	ck_assert(!w.wrong);
	check_gone(id);
	ck_assert_int_eq(deadline_of(other), TIMERTHREAD_NEVER);
	ck_assert_int_eq(cancel(other), 0);
}
END_TEST

/*
 * What is waited for.
 */
static int written; /* by callbacks, with no lock */

static void hold_and_write(void *arg)
{
	hold(arg);
	written++;
}

/* A thread that cancels what is wanted. */
static struct canceller {
	pthread_t thread;
	struct wanted wanted;
	sem_t matched;
	timerthread_id running;
	int result, seen;
	atom32 returned;
} canceller;

/* Posted when it has come to the one that runs. */
static int match_and_post(timerthread_id id, timerthread_fn *fn, void *arg,
			  void *ctx)
{
	struct canceller *c = ctx;
	int r = match(id, fn, arg, &c->wanted);

	if (id == c->running)
		sem_post(&c->matched);
	return r;
}

static void visit_for_thread(timerthread_id id, timerthread_fn *fn, void *arg,
			     void *ctx)
{
	struct canceller *c = ctx;

	count_visit(id, fn, arg, &c->wanted);
}

static void *cancel_in_thread(void *arg)
{
	struct canceller *c = arg;

	c->wanted.caller = pthread_self();
	c->result = timerthread_cancel_matching(tt, match_and_post,
						visit_for_thread, c);
	c->seen = written;
	atom32_store(&c->returned, 1);
	return NULL;
}

static void start_canceller(timerthread_id running, struct wanted wanted)
{
	struct canceller *c = &canceller;

	memset(c, 0, sizeof(*c));
	sem_init(&c->matched, 0, 0);
	c->running = running;
	c->wanted = wanted;
	c->thread = start_thread(cancel_in_thread, c);
	wait_for(&c->matched);
	for (int i = 0; i < 50; i++)
		sched_yield();
}

static void check_canceller(int result, int value)
{
	struct canceller *c = &canceller;

	pthread_join(c->thread, NULL);
	ck_assert_int_eq(c->result, result);
	ck_assert_int_eq(c->wanted.visits, result);
	ck_assert(!c->wanted.wrong);
	if (value >= 0)
		ck_assert_int_eq(c->seen, value);
	sem_destroy(&c->matched);
}

static void check_it_waits(int result, int value)
{
	ck_assert_uint_eq(atom32_load(&canceller.returned), 0);
	sem_post(&go);
	check_canceller(result, value);
}

START_TEST(waits_for_one_that_matches)
{
	timerthread_id id;

	start();
	for (int i = 1; i <= 50; i++) {
		id = schedule(0, hold_and_write, &ran);
		wait_for(&ran);
		schedule(TIMERTHREAD_NEVER, hold_and_write, NULL);
		prepare(hold_and_write, NULL);
		start_canceller(id, (struct wanted){.fn = hold_and_write});
		check_it_waits(2, i);
		check_gone(id);
	}
	end();
}
END_TEST

/* False: not yet. */
static bool is_cancelled(timerthread_id id)
{
	int64_t deadline;

	return timerthread_get_deadline(tt, id, &deadline) == -ENOENT;
}

START_TEST(one_that_repeats_ends)
{
	timerthread_id id;

	start();
	for (int i = 1; i <= 20; i++) {
		id = every(0, 1, hold_and_write, &ran);
		wait_for(&ran);
		start_canceller(id, (struct wanted){.fn = hold_and_write});
		while (!is_cancelled(id))
			sched_yield();
		check_it_waits(0, i);
		check_gone(id);
	}
	settle();
	ck_assert_int_eq(written, 20);
	end();
}
END_TEST

START_TEST(one_that_was_armed_meanwhile_ends)
{
	timerthread_id id;

	start();
	for (int i = 1; i <= 20; i++) {
		id = prepare(hold_and_write, &ran);
		ck_assert_int_eq(arm(id, 0), 0);
		wait_for(&ran);
		ck_assert_int_eq(arm(id, 0), 0);
		start_canceller(id, (struct wanted){.fn = hold_and_write});
		while (!is_cancelled(id))
			sched_yield();
		check_it_waits(0, i);
		check_gone(id);
	}
	settle();
	ck_assert_int_eq(written, 20);
	end();
}
END_TEST

/* One that another cancel was too late for is waited for as well. */
START_TEST(one_that_was_cancelled_meanwhile)
{
	timerthread_id id;

	start();
	id = schedule(0, hold_and_write, &ran);
	wait_for(&ran);
	start_canceller(id, (struct wanted){.fn = hold_and_write});
	ck_assert_int_eq(cancel(id), 1);
	check_it_waits(0, 1);
	check_gone(id);
	end();
}
END_TEST

START_TEST(waits_for_no_other)
{
	timerthread_id id;

	start();
	hold_thread();
	id = schedule(TIMERTHREAD_NEVER, fn_a, NULL);
	check_matches((struct wanted){.fn = fn_a}, 1);
	check_gone(id);
	sem_post(&go);
	settle();
	end();
}
END_TEST

/* While it waits, others go on. */
START_TEST(nobody_waits_for_it)
{
	timerthread_id id, other;

	start();
	id = schedule(0, hold_and_write, &ran);
	wait_for(&ran);
	start_canceller(id, (struct wanted){.fn = hold_and_write});
	for (int i = 0; i < 100; i++) {
		other = schedule(TIMERTHREAD_NEVER, fn_a, NULL);
		ck_assert_int_eq(arm(other, TIMERTHREAD_NEVER - 1), 0);
		ck_assert_int_eq(disarm(other), 0);
		ck_assert_int_eq(cancel(other), 0);
		other = prepare(fn_a, NULL);
		check_matches((struct wanted){.fn = fn_a}, 1);
		check_gone(other);
	}
	check_it_waits(0, 1);
	end();
}
END_TEST

/*
 * From callbacks.
 */
static struct {
	timerthread_id id;
	int runs, result;
} inside;

static void cancel_from_inside(void *arg)
{
	inside.runs++;
	inside.result = take_all();
	sem_post(arg);
}

static void check_inside_once(int result)
{
	wait_for(&ran);
	ck_assert_int_eq(inside.result, result);
	settle();
	ck_assert_int_eq(inside.runs, 1);
	check_gone(inside.id);
	ck_assert_int_eq(take_all(), 0);
	memset(&inside, 0, sizeof(inside));
}

/* It does not wait for itself; and its timer, which matches too, ends. */
START_TEST(from_the_callback_of_one_that_matches)
{
	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, cancel_from_inside, &ran,
					      &inside.id),
			 0);
	check_inside_once(0);

	for (int i = 0; i < 5; i++)
		schedule(TIMERTHREAD_NEVER, never, NULL);
	prepare(never, NULL);
	ck_assert_int_eq(timerthread_schedule_every(tt, 0, 1,
						    cancel_from_inside, &ran,
						    &inside.id),
			 0);
	check_inside_once(6);

	inside.id = prepare(cancel_from_inside, &ran);
	ck_assert_int_eq(arm(inside.id, 0), 0);
	check_inside_once(0);
	end();
}
END_TEST

static void arm_and_cancel(void *arg)
{
	inside.runs++;
	inside.result = arm(inside.id, 0);
	if (inside.result == 0)
		inside.result = take_all();
	sem_post(arg);
}

START_TEST(from_a_callback_that_has_armed_its_timer)
{
	start();
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, arm_and_cancel, &ran, &inside.id),
		0);
	check_inside_once(0);
	inside.id = prepare(arm_and_cancel, &ran);
	ck_assert_int_eq(arm(inside.id, 0), 0);
	check_inside_once(0);
	end();
}
END_TEST

static void cancel_others(void *arg)
{
	struct wanted w = {.fn = fn_a, .caller = pthread_self()};

	inside.runs++;
	inside.result = timerthread_cancel_matching(tt, match, count_visit, &w);
	if (w.wrong)
		inside.result = -1;
	sem_post(arg);
}

/* A callback whose own timer does not match goes on. */
START_TEST(from_another_callback)
{
	start();
	schedule(TIMERTHREAD_NEVER, fn_a, NULL);
	inside.id = every(0, HOUR, cancel_others, &ran);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(inside.result, 1);
	ck_assert_int_gt(deadline_of(inside.id), now());
	ck_assert_int_eq(take_all(), 1);
	end();
}
END_TEST

/*
 * Match and visit that call functions on the instance.
 */
enum { MEDDLED = 40 };

static struct seen meddled[MEDDLED];
static int planned;

/* Cancels the one that it is asked about, or its neighbour. */
static int match_and_cancel(timerthread_id id, timerthread_fn *fn, void *arg,
			    void *ctx)
{
	struct seen *s = arg, *other = &meddled[(s - meddled) ^ 1];

	(void)fn;
	(void)ctx;
	if (s->id != id)
		s->wrong = true;
	if (cancel((s - meddled) % 4 < 2 ? id : other->id) == 0)
		atom32_add((s - meddled) % 4 < 2 ? &s->cancelled
						 : &other->cancelled,
			   1);
	return 1;
}

static void plan_meddled(void)
{
	memset(meddled, 0, sizeof(meddled));
	for (int i = 0; i < MEDDLED; i++) {
		struct seen *s = &meddled[i];

		s->fn = never;
		s->id = i % 3 ? schedule(TIMERTHREAD_NEVER - i, never, s)
			      : prepare(never, s);
	}
}

START_TEST(match_cancels)
{
	int n, cancelled = 0;

	start();
	plan_meddled();
	n = timerthread_cancel_matching(tt, match_and_cancel, visit_seen, NULL);
	for (int i = 0; i < MEDDLED; i++) {
		struct seen *s = &meddled[i];
		uint32_t c = atom32_load(&s->cancelled);

		ck_assert(!s->wrong);
		ck_assert_uint_eq(atom32_load(&s->visits) + c, 1);
		cancelled += (int)c;
		check_gone(s->id);
	}
	ck_assert_int_eq(n + cancelled, MEDDLED);
	ck_assert_int_ge(cancelled, MEDDLED / 2);
	end();
}
END_TEST

/* What is scheduled meanwhile may be found. */
static int match_and_plan(timerthread_id id, timerthread_fn *fn, void *arg,
			  void *ctx)
{
	(void)id;
	(void)arg;
	(void)ctx;
	if (planned < 100) {
		planned++;
		schedule(TIMERTHREAD_NEVER, fn_a, NULL);
		disarm(prepare(fn_a, NULL));
	}
	return fn == never;
}

START_TEST(match_schedules)
{
	start();
	plan_meddled();
	ck_assert_int_eq(timerthread_cancel_matching(tt, match_and_plan,
						     visit_seen, NULL),
			 MEDDLED);
	for (int i = 0; i < MEDDLED; i++) {
		ck_assert(!meddled[i].wrong);
		ck_assert_uint_eq(atom32_load(&meddled[i].visits), 1);
		check_gone(meddled[i].id);
	}
	ck_assert_int_ge(planned, MEDDLED);
	check_matches((struct wanted){.fn = fn_a}, 2 * planned);
	end();
}
END_TEST

/* It arms, disarms and moves, and asks for the same again. */
static int match_and_move(timerthread_id id, timerthread_fn *fn, void *arg,
			  void *ctx)
{
	struct seen *s = arg;
	int n = 0;

	(void)fn;
	(void)ctx;
	if (disarm(id) == 0 ? arm(id, TIMERTHREAD_NEVER)
			    : arm(id, TIMERTHREAD_NEVER - 1))
		s->wrong = true;
	if (timerthread_cancel_matching(tt, match_none, NULL, &n) != 0 ||
	    n == 0)
		s->wrong = true;
	return (s - meddled) % 2;
}

START_TEST(match_moves)
{
	start();
	plan_meddled();
	ck_assert_int_eq(timerthread_cancel_matching(tt, match_and_move,
						     visit_seen, NULL),
			 MEDDLED / 2);
	for (int i = 0; i < MEDDLED; i++) {
		ck_assert(!meddled[i].wrong);
		ck_assert_uint_eq(atom32_load(&meddled[i].visits), i % 2);
		if (i % 2)
			check_gone(meddled[i].id);
		else
			ck_assert_int_ge(deadline_of(meddled[i].id),
					 TIMERTHREAD_NEVER - 1);
	}
	end();
}
END_TEST

static void visit_and_schedule(timerthread_id id, timerthread_fn *fn, void *arg,
			       void *ctx)
{
	visit_seen(id, fn, arg, ctx);
	schedule(TIMERTHREAD_NEVER, fn_a, NULL);
	cancel(prepare(fn_a, NULL));
}

static int match_meddled(timerthread_id id, timerthread_fn *fn, void *arg,
			 void *ctx)
{
	(void)id;
	(void)arg;
	(void)ctx;
	return fn == never;
}

START_TEST(visit_schedules)
{
	start();
	plan_meddled();
	ck_assert_int_eq(timerthread_cancel_matching(tt, match_meddled,
						     visit_and_schedule, NULL),
			 MEDDLED);
	for (int i = 0; i < MEDDLED; i++)
		ck_assert_uint_eq(atom32_load(&meddled[i].visits), 1);
	check_matches((struct wanted){.fn = fn_a}, MEDDLED);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		arguments,
		in_a_child,
		by_function_argument_or_id,
		those_that_are_not_armed,
		those_that_repeat,
		each_once,
		shows_all,
		places_come_back,
		what_is_due,
		on_the_default_instance,
		waits_for_one_that_matches,
		one_that_repeats_ends,
		one_that_was_armed_meanwhile_ends,
		one_that_was_cancelled_meanwhile,
		waits_for_no_other,
		nobody_waits_for_it,
		from_the_callback_of_one_that_matches,
		from_a_callback_that_has_armed_its_timer,
		from_another_callback,
		match_cancels,
		match_schedules,
		match_moves,
		visit_schedules,
	};

	return RUN_TESTS("matching", tests);
}
