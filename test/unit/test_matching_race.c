/* SPDX-License-Identifier: MIT */
/*
 * Cancelling all timers that match, while other threads cancel and callbacks
 * run.
 */
#include "config.h"

#include "matched.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { MANY = 4000 };

static struct seen many[MANY];

static void run_seen(void *arg)
{
	struct seen *s = arg;

	atom32_add(&s->runs, 1);
}

/* Half of them are due while they are taken; some are not armed. */
static void plan_many(void)
{
	memset(many, 0, sizeof(many));
	for (int i = 0; i < MANY; i++) {
		struct seen *s = &many[i];

		s->fn = run_seen;
		if (i % 4 == 3)
			s->id = prepare(run_seen, s);
		else
			s->id = schedule(now() + (i % 2 ? i * 1000 : HOUR + i),
					 run_seen, s);
		if (i % 16 == 3)
			ck_assert_int_eq(arm(s->id, now() + HOUR), 0);
	}
}

static int match_many(timerthread_id id, timerthread_fn *fn, void *arg,
		      void *ctx)
{
	(void)id;
	(void)arg;
	(void)ctx;
	return fn == run_seen;
}

static void *cancel_many(void *arg)
{
	*(int *)arg =
		timerthread_cancel_matching(tt, match_many, visit_seen, NULL);
	return NULL;
}

static void *cancel_each(void *arg)
{
	for (int i = MANY - 1; i >= 0; i--) {
		int r = cancel(many[i].id);

		if (r == 0)
			atom32_add(&many[i].cancelled, 1);
		else if (r != -ENOENT && r != 1)
			many[i].wrong = true;
	}
	return arg;
}

/* Each was visited, was cancelled or ran: one of these. */
static int check_many(void)
{
	int visits = 0;

	settle();
	for (int i = 0; i < MANY; i++) {
		struct seen *s = &many[i];

		ck_assert(!s->wrong);
		if (atom32_load(&s->visits) + atom32_load(&s->cancelled) +
			    atom32_load(&s->runs) !=
		    1)
			ck_abort_msg("timer %d: %u visits, %u cancels, %u runs",
				     i, (unsigned)atom32_load(&s->visits),
				     (unsigned)atom32_load(&s->cancelled),
				     (unsigned)atom32_load(&s->runs));
		check_no_cancel(s->id);
		visits += (int)atom32_load(&s->visits);
	}
	return visits;
}

START_TEST(two_threads_share)
{
	pthread_t t[2];
	int n[2];

	start();
	for (int round = 0; round < 3; round++) {
		plan_many();
		for (int i = 0; i < 2; i++)
			t[i] = start_thread(cancel_many, &n[i]);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		ck_assert_int_eq(check_many(), n[0] + n[1]);
	}
	end();
}
END_TEST

START_TEST(others_cancel_meanwhile)
{
	pthread_t t;
	int n;

	start();
	for (int round = 0; round < 3; round++) {
		plan_many();
		t = start_thread(cancel_each, &n);
		cancel_many(&n);
		pthread_join(t, NULL);
		ck_assert_int_eq(check_many(), n);
	}
	end();
}
END_TEST

/* When it has returned none runs, though many did until then. */
static atom32 running, often;

static void run_often(void *arg)
{
	(void)arg;
	atom32_store(&running, 1);
	atom32_add(&often, 1);
	atom32_store(&running, 0);
}

START_TEST(none_runs_when_it_has_returned)
{
	uint32_t before;

	start();
	for (int round = 0; round < (is_slow() ? 20 : 100); round++) {
		for (int i = 1; i <= 5; i++)
			every(0, i * 10000, run_often, NULL);
		before = atom32_load(&often);
		while (atom32_load(&often) - before < (uint32_t)round)
			sched_yield();
		ck_assert_int_le(take_all(), 5);
		ck_assert_uint_eq(atom32_load(&running), 0);
		before = atom32_load(&often);
		settle();
		ck_assert_uint_eq(atom32_load(&often), before);
	}
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		two_threads_share,
		others_cancel_meanwhile,
		none_runs_when_it_has_returned,
	};

	return RUN_TESTS("matching_race", tests);
}
