/* SPDX-License-Identifier: MIT */
#include "view/stats.h"

#include "intake/walk.h"
#include "view/running.h"

#include <string.h>

#define STAT(which) TIMERTHREAD_STAT_##which

const struct fact stat_table[] = {
	{STAT(PENDING), GAUGE, NUMBER, true, "pending_timers",
	 "Timers that wait for their callback to begin."},
	{STAT(RUNNING), GAUGE, NUMBER, true, "running_timers",
	 "Timers whose callback is running."},
	{STAT(DEAD), GAUGE, NUMBER, true, "dead_timers",
	 "Cancelled timers whose memory was not yet recycled."},
	{STAT(UNARMED), GAUGE, NUMBER, true, "unarmed_timers",
	 "Timers that are not armed."},
	{STAT(SLOTS), GAUGE, NUMBER, false, "slots",
	 "Timers that there is memory for."},
	{STAT(BYTES), GAUGE, BYTES, false, "memory_bytes",
	 "Memory that the instance has taken."},
	{STAT(SCHEDULED), COUNTER, NUMBER, false, "scheduled_timers",
	 "Timers that were scheduled."},
	{STAT(CANCELLED), COUNTER, NUMBER, true, "cancelled_timers",
	 "Timers that were cancelled, drained ones included."},
	{STAT(DRAINED), COUNTER, NUMBER, false, "drained_timers",
	 "Timers that were drained."},
	{STAT(RECYCLED), COUNTER, NUMBER, true, "recycled_timers",
	 "Cancelled timers whose memory was recycled."},
	{STAT(FIRED), COUNTER, NUMBER, false, "fired_callbacks",
	 "Callbacks that have returned."},
	{STAT(RESCHEDULED), COUNTER, NUMBER, false, "rescheduled_calls",
	 "Calls that rescheduled a timer."},
	{STAT(CAPPED), COUNTER, NUMBER, false, "capped_calls",
	 "Calls that scheduled no timer because of the cap."},
	{STAT(NO_MEMORY), COUNTER, NUMBER, false, "no_memory_calls",
	 "Calls that scheduled no timer for want of memory."},
	{STAT(WAKEUPS), COUNTER, NUMBER, false, "wakeups",
	 "Sleeps of the driver that have ended."},
	{STAT(EARLY_WAKEUPS), COUNTER, NUMBER, false, "early_wakeups",
	 "Those that ended because an earlier timer was scheduled."},
	{STAT(AWAKE_TIME), COUNTER, SECONDS, false, "awake_seconds",
	 "Time that the driver was awake."},
	/* The sum of the histogram below. */
	{STAT(RUN_TIME), COUNTER, SECONDS, false, NULL, NULL},
	{STAT(LONGEST_RUN), GAUGE, SECONDS, false, "longest_run_seconds",
	 "The longest time that a callback has run."},
	{STAT(LARGEST_LATENESS), GAUGE, SECONDS, false,
	 "largest_lateness_seconds",
	 "The longest time from a deadline to its callback."},
	/* From here on, what a program cannot ask for. */
	{STAT_CURRENT_RUN, GAUGE, SECONDS, false, "current_run_seconds",
	 "How long the callback that runs the longest runs now."},
	{TIMERTHREAD_HISTOGRAM_LATENESS, HISTOGRAM, SECONDS, false,
	 "lateness_seconds", "From the deadline to the callback."},
	{TIMERTHREAD_HISTOGRAM_RUN_TIME, HISTOGRAM, SECONDS, false,
	 "run_seconds", "How long callbacks have run."},
};

const struct fact *const stat_end =
	stat_table + sizeof(stat_table) / sizeof(stat_table[0]);

static void add_counts(uint64_t *n, struct bucket *b)
{
	n[STAT(RESCHEDULED)] += counter_read(&b->rescheduled);
	n[STAT(FIRED)] += counter_read(&b->repeated) + counter_read(&b->ended);
	lock_acquire(&b->lock);
	n[STAT(SCHEDULED)] += counter_read(&b->scheduled);
	n[STAT(SLOTS)] += slots_room(&b->slots);
	n[STAT(BYTES)] += bucket_bytes(b);
	lock_release(&b->lock);
}

/* Makes *n no smaller than this. */
static void keep_larger(uint64_t *n, const struct counter *c)
{
	uint64_t m = counter_read(c);

	if (m > *n)
		*n = m;
}

/* Several may measure: the driver, and the parts of an executor's runs. */
static const struct measured *measured_by(const struct timerthread *tt,
					  uint32_t i)
{
	const struct runs *r = &tt->runs;

	if (i == 0)
		return tt->engine.measured;
	return r->part && i <= r->cpus.n ? &r->part[i - 1].measured : NULL;
}

static void count_all(struct timerthread *tt, uint64_t *n)
{
	struct engine *e = &tt->engine;
	const struct measured *m;
	struct bucket_set used = intake_used(e->intake);
	struct bucket *b;

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
	for (uint32_t i = 0; (m = measured_by(tt, i)); i++) {
		n[STAT(RUN_TIME)] += counter_read(&m->run_time.sum);
		keep_larger(&n[STAT(LONGEST_RUN)], &m->run_time.longest);
		keep_larger(&n[STAT(LARGEST_LATENESS)], &m->lateness.longest);
	}
	n[STAT_CURRENT_RUN] = (uint64_t)running_longest(tt);
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

void stats_read(struct timerthread *tt, bool look, uint64_t *n)
{
	memset(n, 0, STATS * sizeof(*n));
	if (!instance_lives(tt))
		return;
	count_all(tt, n);
	if (look)
		look_at_slots(tt, n);
}

void stats_measured(const struct timerthread *tt, struct histogram_counts *c)
{
	const struct measured *m;

	memset(c, 0, HISTOGRAMS * sizeof(*c));
	if (!instance_lives(tt))
		return;
	for (uint32_t i = 0; (m = measured_by(tt, i)); i++) {
		histogram_add_to(&c[TIMERTHREAD_HISTOGRAM_LATENESS],
				 &m->lateness);
		histogram_add_to(&c[TIMERTHREAD_HISTOGRAM_RUN_TIME],
				 &m->run_time);
	}
}

TT_EXPORT_RARE int timerthread_get_stat(struct timerthread *tt,
					enum timerthread_stat which,
					uint64_t *ret_value)
{
	int r = instance_check(tt, ret_value != NULL);
	const struct fact *f = stat_table;
	uint64_t n[STATS];

	if (r < 0)
		return r;
	while (f->which != which && f->which != STAT_CURRENT_RUN)
		f++;
	if (f->which == STAT_CURRENT_RUN)
		return -EINVAL;
	stats_read(tt, f->looks, n);
	*ret_value = n[which];
	return 0;
}
