/* SPDX-License-Identifier: MIT */
#include "view/stats.h"

#include "base/keep.h"
#include "engine/fire.h"
#include "intake/walk.h"
#include "os/call.h"
#include "os/memory.h"

#include <string.h>

#define STAT(which)         TIMERTHREAD_STAT_##which
#define HISTOGRAM_OF(which) TIMERTHREAD_HISTOGRAM_##which

INTERNAL_OBJECT const struct fact stat_table[] = {
	{STAT(PENDING), GAUGE, NUMBER, FROM_SLOTS, "pending_timers",
	 "Timers that wait for their callback to begin."},
	{STAT(RUNNING), GAUGE, NUMBER, FROM_SLOTS, "running_timers",
	 "Timers whose callback is running."},
	{STAT(DEAD), GAUGE, NUMBER, FROM_SLOTS, "dead_timers",
	 "Cancelled timers whose memory was not yet recycled."},
	{STAT(UNARMED), GAUGE, NUMBER, FROM_SLOTS, "unarmed_timers",
	 "Timers that are not armed."},
	{STAT(SLOTS), GAUGE, NUMBER, FROM_COUNTS, "slots",
	 "Timers that there is memory for."},
	{STAT(BYTES), GAUGE, BYTES, FROM_COUNTS, "memory_bytes",
	 "Memory that the instance has taken."},
	{STAT(SCHEDULED), COUNTER, NUMBER, FROM_COUNTS, "scheduled_timers",
	 "Timers that were scheduled."},
	{STAT(CANCELLED), COUNTER, NUMBER, FROM_SLOTS, "cancelled_timers",
	 "Timers that were cancelled."},
	{STAT(DRAINED), COUNTER, NUMBER, FROM_COUNTS, "drained_timers",
	 "Those of them that timerthread_cancel_all() took back."},
	{STAT(RECYCLED), COUNTER, NUMBER, FROM_SLOTS, "recycled_timers",
	 "Cancelled timers whose memory was recycled."},
	{STAT(FIRED), COUNTER, NUMBER, FROM_COUNTS, "fired_callbacks",
	 "Callbacks that have returned."},
	{STAT(RESCHEDULED), COUNTER, NUMBER, FROM_COUNTS, "rescheduled_calls",
	 "Calls that rescheduled a timer."},
	{STAT(CAPPED), COUNTER, NUMBER, FROM_COUNTS, "capped_calls",
	 "Calls that scheduled no timer because of the cap."},
	{STAT(NO_MEMORY), COUNTER, NUMBER, FROM_COUNTS, "no_memory_calls",
	 "Calls that scheduled no timer for want of memory."},
	{STAT(WAKEUPS), COUNTER, NUMBER, FROM_COUNTS, "wakeups",
	 "Sleeps of the driver that have ended."},
	{STAT(EARLY_WAKEUPS), COUNTER, NUMBER, FROM_COUNTS, "early_wakeups",
	 "Those that ended because an earlier timer was scheduled."},
	{STAT(AWAKE_TIME), COUNTER, SECONDS, FROM_COUNTS, "awake_seconds",
	 "Time that the driver was awake."},
	/* The sum of the histogram below. */
	{STAT(RUN_TIME), COUNTER, SECONDS, FROM_RUNS, NULL, NULL},
	{STAT(LONGEST_RUN), GAUGE, SECONDS, FROM_RUNS, "longest_run_seconds",
	 "The longest time that a callback has run."},
	{STAT(LARGEST_LATENESS), GAUGE, SECONDS, FROM_RUNS,
	 "largest_lateness_seconds",
	 "The longest time from a deadline to its callback."},
	/* From here on, what a program cannot ask for. */
	{STAT_CURRENT_RUN, GAUGE, SECONDS, FROM_COUNTS, "current_run_seconds",
	 "How long the callback that runs the longest runs now."},
	{HISTOGRAM_OF(LATENESS), HISTOGRAM, SECONDS, FROM_RUNS,
	 "lateness_seconds", "From the deadline to the callback."},
	{HISTOGRAM_OF(RUN_TIME), HISTOGRAM, SECONDS, FROM_RUNS, "run_seconds",
	 "How long callbacks have run."},
};

static void add_counts(uint64_t *n, struct bucket *b)
{
	n[STAT(RESCHEDULED)] += counter_read(&b->rescheduled);
	lock_acquire(&b->lock);
	n[STAT(FIRED)] += counter_read(&b->repeated) + counter_read(&b->ended);
	n[STAT(SCHEDULED)] += counter_read(&b->scheduled);
	n[STAT(SLOTS)] += slots_room(&b->slots);
	n[STAT(BYTES)] += bucket_bytes(b);
	lock_release(&b->lock);
}

/*
 * Which callbacks are running now, for a thread that looks from outside.
 *
 * They are found one after the other, in the order in which they began.  So no
 * list of them is made, and nothing is locked between two of them.  New
 * callbacks may begin all the time, so the caller looks only for those that had
 * begun by a certain time.
 *
 * Any thread, for an instance that lives.
 */
bool running_next(const struct timerthread *tt, int64_t by, struct run *s)
{
	struct run best = {.id = UINT64_MAX, .since = by};

	runs_next_of(&tt->engine.inside, s, &best);
	runs_next(&tt->runs, s, &best);
	*s = best;
	return best.id != UINT64_MAX;
}

TT_EXPORT_RARE int timerthread_visit_running(struct timerthread *tt,
					     int64_t threshold,
					     timerthread_slow_fn *fn, void *ctx)
{
	KEEP_THREAD;
	const struct slow visit = {threshold, fn, ctx};
	struct run s = RUNNING_BEGIN;
	struct report r = {&visit, &s, 0};
	int64_t now = clock_now(CLOCK_MONOTONIC);
	int n = instance_check(tt, fn && threshold >= 0);

	if (n < 0 || !instance_lives(tt))
		return n;
	while (running_next(tt, now, &s) &&
	       (r.run_time = now - s.since) > threshold) {
		if (!call_to_return(fire_report, &r))
			return -ECHILD;
		n++;
	}
	return n;
}

static void count_all(struct timerthread *tt, uint64_t *n)
{
	struct engine *e = &tt->engine;
	struct bucket_set used = intake_used(e->intake);
	struct run s = RUNNING_BEGIN;
	struct bucket *b;
	int64_t now;

	while ((b = intake_take(e->intake, &used)))
		add_counts(n, b);
	n[STAT(FIRED)] += counter_read(&e->ended);
	n[STAT(DRAINED)] = counter_read(&tt->drained);
	n[STAT(CAPPED)] = counter_read(&tt->capped);
	n[STAT(NO_MEMORY)] = counter_read(&tt->no_memory);
	n[STAT(WAKEUPS)] = counter_read(&e->wakeup.wakeups);
	n[STAT(EARLY_WAKEUPS)] = counter_read(&e->wakeup.early);
	n[STAT(BYTES)] += sizeof(*tt) + atomword_load(&e->pending_bytes) +
			  block_pool_bytes(&e->intake->pool);
	n[STAT(AWAKE_TIME)] = (uint64_t)wakeup_awake(&e->wakeup);
	now = clock_now(CLOCK_MONOTONIC);
	if (running_next(tt, now, &s))
		n[STAT_CURRENT_RUN] = (uint64_t)(now - s.since);
}

static void add_measured(struct histogram_counts *h, const struct measured *m)
{
	histogram_add_to(&h[HISTOGRAM_OF(LATENESS)], &m->lateness);
	histogram_add_to(&h[HISTOGRAM_OF(RUN_TIME)], &m->run_time);
}

/* Several may measure: the driver, and the parts of an executor's runs. */
static void look_at_runs(const struct timerthread *tt, struct figures *f)
{
	struct histogram_counts *h = f->histogram;
	const struct runs *r = &tt->runs;

	add_measured(h, tt->engine.measured);
	for (uint32_t i = 0; r->part && i < r->cpus.n; i++)
		add_measured(h, &r->part[i].measured);
	f->stat[STAT(RUN_TIME)] = h[HISTOGRAM_OF(RUN_TIME)].sum;
	f->stat[STAT(LONGEST_RUN)] = h[HISTOGRAM_OF(RUN_TIME)].longest;
	f->stat[STAT(LARGEST_LATENESS)] = h[HISTOGRAM_OF(LATENESS)].longest;
}

static bool add_timer(const struct seen_timer *t, void *ctx)
{
	uint64_t *n = ctx;

	if (slot_is_pending(t->word))
		n[STAT(PENDING)]++;
	else if (slot_is_dead(t->word))
		n[STAT(DEAD)]++;
	else if (slot_runs(t->word))
		n[STAT(RUNNING)]++;
	else
		n[STAT(UNARMED)]++;
	return true;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Returns the number that was reported before, if that was greater. */
static uint64_t remember(struct counter *told, uint64_t now)
{
	counter_add(told, difference(now, counter_read(told)));
	return counter_read(told);
}

/* After count_all. */
static void look_at_slots(struct timerthread *tt, uint64_t *n)
{
	struct intake *in = tt->engine.intake;
	struct bucket_set used = intake_used(in);
	struct bucket *b;
	uint64_t ended, gone;

	intake_walk(in, false, add_timer, n);
	ended = counter_read(&tt->engine.ended);
	while ((b = intake_take(in, &used)))
		ended += counter_read(&b->ended);
	gone = difference(n[STAT(SCHEDULED)], ended + n[STAT(PENDING)] +
						      n[STAT(RUNNING)] +
						      n[STAT(UNARMED)]);
	pthread_mutex_lock(&tt->mutex);
	n[STAT(CANCELLED)] = remember(&tt->cancelled, gone);
	n[STAT(RECYCLED)] =
		remember(&tt->recycled, difference(gone, n[STAT(DEAD)]));
	pthread_mutex_unlock(&tt->mutex);
}

void stats_read(struct timerthread *tt, enum stat_source source,
		struct figures *f)
{
	memset(f, 0, sizeof(*f));
	if (!instance_lives(tt))
		return;
	look_at_runs(tt, f);
	if (source != FROM_RUNS)
		count_all(tt, f->stat);
	if (source == FROM_SLOTS)
		look_at_slots(tt, f->stat);
}

TT_EXPORT_RARE int timerthread_get_stat(struct timerthread *tt,
					enum timerthread_stat which,
					uint64_t *ret_value)
{
	int r = instance_check(tt, ret_value != NULL);
	const struct fact *f = stat_table;
	struct figures figures;

	if (r < 0)
		return r;
	while (f->which != which && f->which != STAT_CURRENT_RUN)
		f++;
	if (f->which == STAT_CURRENT_RUN)
		return -EINVAL;
	stats_read(tt, f->source, &figures);
	*ret_value = figures.stat[which];
	return 0;
}

/*
 * What was measured, up to one moment or between two.  Histograms are never
 * reset, because others may read them, too.  Those of an interval are the
 * difference of two snapshots.
 */
struct timerthread_snapshot {
	/* Both name the instance: a later one may get the same address. */
	const struct timerthread *tt;
	int64_t created;
	struct figures figures;
};

TT_EXPORT_RARE int
timerthread_take_snapshot(struct timerthread *tt,
			  struct timerthread_snapshot **ret_snapshot)
{
	KEEP_ERRNO;
	struct timerthread_snapshot *s;
	int r = instance_check(tt, ret_snapshot != NULL);

	if (r < 0)
		return r;
	s = memory_alloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->tt = tt;
	s->created = tt->created;
	stats_read(tt, FROM_RUNS, &s->figures);
	*ret_snapshot = s;
	return 0;
}

TT_EXPORT_RARE void
timerthread_free_snapshot(struct timerthread_snapshot *snapshot)
{
	KEEP_ERRNO;

	memory_free(snapshot);
}

TT_EXPORT_RARE int
timerthread_get_quantile(const struct timerthread_snapshot *snapshot,
			 const struct timerthread_snapshot *before,
			 enum timerthread_histogram which, double part,
			 int64_t *ret_value)
{
	struct histogram_counts c;

	if (!snapshot || !ret_value || !(part >= 0 && part <= 1) ||
	    (unsigned)which >= HISTOGRAMS)
		return -EINVAL;
	c = snapshot->figures.histogram[which];
	if (before &&
	    (before->tt != snapshot->tt ||
	     before->created != snapshot->created ||
	     !histogram_subtract(&c, &before->figures.histogram[which])))
		return -EINVAL;
	if (histogram_number(&c) == 0)
		return -ENOENT;
	*ret_value = histogram_quantile(&c, part);
	return 0;
}
