/* SPDX-License-Identifier: MIT */
/*
 * Random programs on a virtual clock: all runs as in a model, and the same each
 * time.
 */
#include "config.h"

#include "virtual.h"

#include <sched.h>
#include <string.h>

/*
 * A model: all that there is, in no order, and at each run the earliest is
 * looked for.
 */
enum { MODEL = 200, LOG = 20000 };

enum life_of { OVER, PENDING, RUNS, CANCELLED };

struct model {
	timerthread_id id;
	enum life_of life;
	int64_t deadline; /* of the next run */
	int64_t set;      /* the clock then */
	int64_t period;
	bool armed; /* again, while it runs */
};

static struct model model[MODEL];
static uint64_t rng, scale;
static int64_t shown, until; /* the clock, and where it goes */
static int budget;           /* timers that callbacks may still schedule */
static bool inside;
static struct model *current;

static int logged;
static struct {
	int who;
	int64_t when;
} history[2][LOG], *log_to = history[0];

static void add_to_log(int who, int64_t when)
{
	if (logged < LOG) {
		log_to[logged].who = who;
		log_to[logged].when = when;
	}
	logged++;
}

/* One that has passed counts as the time at which it was set. */
static int64_t due(const struct model *m)
{
	return m->deadline > m->set ? m->deadline : m->set;
}

/* NULL: there is none that ever runs. */
static struct model *earliest(void)
{
	struct model *first = NULL;

	for (struct model *m = model; m < model + MODEL; m++) {
		if (m->life == PENDING && m->deadline != TIMERTHREAD_NEVER &&
		    (!first || due(m) < due(first)))
			first = m;
	}
	return first;
}

/* Around the present, mostly; what callbacks do must come to an end. */
static int64_t some_deadline(void)
{
	int64_t distance = (int64_t)random_below(&rng, 3 * scale);

	if (inside && --budget < 0)
		return plus(until, distance + 1);
	switch (random_below(&rng, 16)) {
	case 0:
		return (int64_t)next_random(&rng);
	case 1:
		return random_below(&rng, 2) ? INT64_MIN : TIMERTHREAD_NEVER;
	case 2:
		return TIMERTHREAD_NEVER - (int64_t)random_below(&rng, 3);
	case 3:
		return shown;
	case 4:
	case 5:
		return plus(shown, -distance);
	default:
		return plus(shown, distance);
	}
}

static void model_run(void *arg);

static void model_schedule(struct model *m)
{
	m->deadline = some_deadline();
	m->set = shown;
	m->period = 0;
	m->armed = false;
	m->life = PENDING;
	if (random_below(&rng, 8) == 0) {
		m->period =
			(int64_t)(scale / 4 + 1 + random_below(&rng, scale));
		SAME(timerthread_schedule_every(tt, m->deadline, m->period,
						model_run, m, &m->id),
		     0);
	} else {
		SAME(timerthread_schedule(tt, m->deadline, model_run, m,
					  &m->id),
		     0);
	}
}

static void model_cancel(struct model *m)
{
	static const int expect[] = {
		[OVER] = -ENOENT,
		[PENDING] = 0,
		[RUNS] = 1,
	};

	if (m->life == CANCELLED)
		return;
	SAME(timerthread_cancel(tt, m->id), expect[m->life]);
	m->life = m->life == RUNS ? CANCELLED : OVER;
}

static void model_move(struct model *m)
{
	int64_t deadline = some_deadline();
	int r = timerthread_reschedule(tt, m->id, deadline);

	if (m->life == OVER || m->life == CANCELLED) {
		SAME(r, -ENOENT);
		return;
	}
	SAME(r, 0);
	m->deadline = deadline;
	m->set = shown;
	m->armed = true;
}

static void model_look(const struct model *m)
{
	int64_t deadline;
	int r = timerthread_get_deadline(tt, m->id, &deadline);
	bool has_one = m->life == PENDING ||
		       (m->life == RUNS && (m->period || m->armed));

	SAME(r, has_one ? 0 : -ENOENT);
	if (has_one)
		SAME(deadline, m->deadline);
}

static void model_step(void)
{
	struct model *m = &model[random_below(&rng, MODEL)];

	if (inside && random_below(&rng, 3) == 0)
		m = current;
	if (m->life == OVER && random_below(&rng, 8) != 0) {
		model_schedule(m);
		return;
	}
	switch (random_below(&rng, 4)) {
	case 0:
		model_cancel(m);
		break;
	case 1:
		model_look(m);
		break;
	default:
		model_move(m);
		break;
	}
}

static void model_begin(struct model *m)
{
	uint64_t late;

	SAME(m->life, PENDING);
	SAME(m->deadline <= until, true);
	SAME(due(m), due(earliest()));
	if (m->deadline > shown)
		shown = m->deadline;
	SAME(now(), shown);
	m->life = RUNS;
	m->armed = false;
	if (m->period) {
		late = (uint64_t)shown - (uint64_t)m->deadline;
		late -= late % (uint64_t)m->period;
		m->deadline = plus((int64_t)((uint64_t)m->deadline + late),
				   m->period);
	}
}

static void model_run(void *arg)
{
	struct model *m = arg;

	runs++;
	model_begin(m);
	add_to_log((int)(m - model), shown);
	inside = true;
	current = m;
	for (uint64_t n = random_below(&rng, 4); n > 0; n--)
		model_step();
	inside = false;
	if (m->life == RUNS)
		m->life = m->period || m->armed ? PENDING : OVER;
	else
		m->life = OVER;
}

static int64_t some_step(void)
{
	if (random_below(&rng, 4) == 0)
		return (int64_t)random_below(&rng, 3);
	return (int64_t)random_below(&rng, 2 * scale);
}

static void model_advance(void)
{
	int64_t ns = some_step();
	int n, before = runs;
	const struct model *m;

	until = plus(shown, ns);
	budget = 100;
	n = advance(ns);
	SAME(n, runs - before);
	shown = until;
	SAME(now(), shown);
	m = earliest();
	if (m)
		SAME(due(m) > until, true);
}

/* A random program; the same for the same seed. */
static void run_program(uint64_t seed, int64_t first, uint64_t how_far)
{
	const int rounds = is_slow() ? 20 : 200;

	memset(model, 0, sizeof(model));
	rng = seed;
	scale = how_far;
	shown = first;
	logged = 0;
	begin(first);
	for (int i = 0; i < rounds; i++) {
		for (uint64_t n = random_below(&rng, 20); n > 0; n--)
			model_step();
		model_advance();
	}
	end();
}

static const uint64_t scales[] = {
	1,
	4,
	1000,
	UINT64_C(1000000000),
	UINT64_C(3600000000000),
	UINT64_C(1) << 54,
	UINT64_C(1) << 61,
};

enum { SCALES = sizeof(scales) / sizeof(scales[0]) };

START_TEST(as_the_model)
{
	uint64_t seeds = test_seed();

	for (int i = 0; i < BEGINS * SCALES; i++)
		run_program(next_random(&seeds), begins[i % BEGINS],
			    scales[i % SCALES]);
	ck_assert_int_gt(runs, BEGINS * SCALES * 10);
}
END_TEST

/* With a small scale, most deadlines are those of several. */
START_TEST(the_same_each_time)
{
	uint64_t seeds = test_seed();

	for (int i = 0; i < 3 * SCALES; i++) {
		uint64_t seed = next_random(&seeds);
		int n;

		log_to = history[0];
		run_program(seed, 0, scales[i % SCALES]);
		n = logged;
		change_cpu();
		log_to = history[1];
		run_program(seed, 0, scales[i % SCALES]);
		SAME(logged, n);
		n = n < LOG ? n : LOG;
		for (int j = 0; j < n; j++) {
			SAME(history[0][j].who, history[1][j].who);
			SAME(history[0][j].when, history[1][j].when);
		}
	}
}
END_TEST

/* So many that they do not fit in what a bucket takes before it is emptied. */
enum { TOGETHER = 30000 };
static int order[2][TOGETHER];
static int *order_to;

static void note_order(void *arg)
{
	order_to[runs++] = (int)(uintptr_t)arg;
}

static void run_together(int *to)
{
	uint64_t dice = test_seed();

	begin(0);
	runs = 0;
	order_to = to;
	for (uintptr_t i = 0; i < TOGETHER; i++) {
		timerthread_id id = schedule((int64_t)random_below(&dice, 3),
					     note_order, (void *)i);

		if (i % 3 == 0)
			ck_assert_int_eq(timerthread_reschedule(
						 tt, id, (int64_t)(i % 2)),
					 0);
		if (i % 1000 == 0)
			change_cpu();
	}
	ck_assert_int_eq(advance(3), TOGETHER);
	end();
}

START_TEST(equal_deadlines_have_an_order)
{
	run_together(order[0]);
	run_together(order[1]);
	ck_assert_int_eq(memcmp(order[0], order[1], sizeof(order[0])), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		as_the_model,
		the_same_each_time,
		equal_deadlines_have_an_order,
	};

	return RUN_TESTS("virtual_model", tests);
}
