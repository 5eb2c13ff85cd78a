/* SPDX-License-Identifier: MIT */
/*
 * Random steps with an executor, against a model of its timers and runs.
 */
#include "config.h"

#include "jobs.h"

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
		random_against_model,
	};

	return RUN_TESTS("executor_random", tests);
}
