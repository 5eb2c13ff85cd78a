/* SPDX-License-Identifier: MIT */
/*
 * Questions about the instance whose answers are numbers.
 */
#include "config.h"

#include "model.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static uint64_t stat_of(enum timerthread_stat which)
{
	uint64_t value;

	agree(timerthread_get_stat(model->tt, which, &value) == 0);
	return value;
}

static void check_now(void)
{
	uint64_t dead = stat_of(TIMERTHREAD_STAT_DEAD);
	uint64_t recycled = stat_of(TIMERTHREAD_STAT_RECYCLED);
	uint64_t slots = stat_of(TIMERTHREAD_STAT_SLOTS);

	agree(stat_of(TIMERTHREAD_STAT_PENDING) == model->pending.n);
	agree(stat_of(TIMERTHREAD_STAT_RUNNING) == model->calling);
	agree(stat_of(TIMERTHREAD_STAT_UNARMED) == model->unarmed.n);
	agree(dead + recycled == model->counts.cancelled);
	agree(recycled >= model->recycled);
	model->recycled = recycled;
	agree(slots >= model_timers() + dead);
	agree(stat_of(TIMERTHREAD_STAT_BYTES) >= 64 * slots);
	agree(model->started || stat_of(TIMERTHREAD_STAT_BYTES) == 0);
}

static void check_counts(void)
{
	const struct counts *c = &model->counts;

	agree(stat_of(TIMERTHREAD_STAT_SCHEDULED) == c->scheduled);
	agree(stat_of(TIMERTHREAD_STAT_CANCELLED) == c->cancelled);
	agree(stat_of(TIMERTHREAD_STAT_DRAINED) == c->drained);
	agree(stat_of(TIMERTHREAD_STAT_FIRED) == c->fired);
	agree(stat_of(TIMERTHREAD_STAT_RESCHEDULED) == c->rescheduled);
	agree(stat_of(TIMERTHREAD_STAT_CAPPED) == c->capped);
	agree(stat_of(TIMERTHREAD_STAT_NO_MEMORY) == 0);
	/* The driver is the test: it does not sleep. */
	agree(stat_of(TIMERTHREAD_STAT_WAKEUPS) == 0);
	agree(stat_of(TIMERTHREAD_STAT_EARLY_WAKEUPS) == 0);
	agree(stat_of(TIMERTHREAD_STAT_AWAKE_TIME) == 0);
}

/* How late the one is that is running is counted when it has returned. */
static void check_times(void)
{
	uint64_t longest = stat_of(TIMERTHREAD_STAT_LONGEST_RUN);

	agree(stat_of(TIMERTHREAD_STAT_RUN_TIME) >= longest);
	agree(model->counts.fired > 0 || longest == 0);
	agree(!model->chosen.hook || model->counts.fired == 0 || longest > 0);
	agree(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS) ==
	      model->counts.latest);
}

void ask_stats(void)
{
	check_now();
	check_counts();
	check_times();
}

struct visit {
	int64_t threshold;
	int n;
};

static void visited(timerthread_id id, timerthread_fn *fn, void *arg,
		    int64_t run_time, void *ctx)
{
	struct visit *v = ctx;

	agree(model->calling && id == model->running.id);
	agree(fn == property_fired && arg == model->running.key);
	agree(run_time > v->threshold);
	v->n++;
}

static int visit(int64_t threshold)
{
	struct visit v = {.threshold = threshold};
	int r = timerthread_visit_running(model->tt, threshold, visited, &v);

	agree(r == v.n && r <= (int)model->calling);
	return r;
}

/* A callback has soon run for more than no time. */
void ask_running(void)
{
	agree(visit(INT64_MAX) == 0);
	while (visit(0) == 0 && model->calling)
		;
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* As exact as the header says: to 4 ns, or to 6 %; to nine minutes at most. */
static void check_duration(int64_t told, int64_t known)
{
	const int64_t longest = (INT64_C(1) << 39) - 1;
	int64_t error;

	if (known > longest)
		known = longest;
	error = told > known ? told - known : known - told;
	agree(error <= (known < 64 ? 4 : known * 6 / 100));
}

/* Of n callbacks since the snapshot before. */
static void check_lateness(int64_t told, double part, uint64_t n)
{
	int64_t sorted[LATE_MAX];
	double exact = part * (double)n;
	uint64_t rank = (uint64_t)exact;

	rank += (double)rank < exact;
	if (n > LATE_MAX)
		return;
	memcpy(sorted, model->late, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), compare);
	check_duration(told, sorted[rank > 0 ? rank - 1 : 0]);
}

static void check_quantile(const struct timerthread_snapshot *s, double part)
{
	uint64_t n = model->counts.fired - model->fired_before;
	int64_t late = -1, run = -1;
	int r = timerthread_get_quantile(
		s, model->before, TIMERTHREAD_HISTOGRAM_LATENESS, part, &late);

	agree(timerthread_get_quantile(s, model->before,
				       TIMERTHREAD_HISTOGRAM_RUN_TIME, part,
				       &run) == r);
	if (!(part >= 0 && part <= 1))
		agree(r == -EINVAL);
	else
		agree(r == (n > 0 ? 0 : -ENOENT));
	if (r < 0) {
		agree(late == -1 && run == -1);
		return;
	}
	check_lateness(late, part, n);
	agree(run >= 0 &&
	      (uint64_t)run <= stat_of(TIMERTHREAD_STAT_LONGEST_RUN));
}

static double choose_part(void)
{
	static const double parts[] = {0,     0.5,  0.9, 0.99,     1,
				       -1e-9, 1.01, NAN, INFINITY, -0.0};

	if (choose(2))
		return choose(256) / 255.0;
	return parts[choose(sizeof(parts) / sizeof(parts[0]))];
}

/* This one may become the one before. */
void ask_quantile(void)
{
	struct timerthread_snapshot *s;
	int64_t value;

	agree(timerthread_take_snapshot(model->tt, &s) == 0);
	check_quantile(s, choose_part());
	for (int i = 0; i <= 8; i++)
		check_quantile(s, i / 8.0);
	if (model->before && model->counts.fired > model->fired_before)
		agree(timerthread_get_quantile(model->before, s,
					       TIMERTHREAD_HISTOGRAM_LATENESS,
					       1, &value) == -EINVAL);
	if (choose(2)) {
		timerthread_free_snapshot(s);
		return;
	}
	timerthread_free_snapshot(model->before);
	model->before = s;
	model->fired_before = model->counts.fired;
}
