/* SPDX-License-Identifier: MIT */
/*
 * A report on an instance for people.
 */
#include "base/keep.h"
#include "base/text.h"
#include "intake/walk.h"
#include "view/stats.h"

#include <inttypes.h>

static void add_duration(struct text *t, const char *name, int64_t ns)
{
	text_add(t, "  %s: %s s\n", name, text_seconds((uint64_t)ns).text);
}

static void add_number(struct text *t, const char *name, uint64_t n)
{
	text_add(t, "  %s: %" PRIu64 "\n", name, n);
}

static const char *const driver_names[] = {[DRIVER_NONE] = "none",
					   [DRIVER_THREAD] = "thread",
					   [DRIVER_POLLED] = "polled",
					   [DRIVER_VIRTUAL] = "virtual"};

static const char *const life_names[] = {[LIFE_NEW] = "not started",
					 [LIFE_RUNNING] = "running",
					 [LIFE_STOPPING] = "stopping",
					 [LIFE_STOPPED] = "stopped"};

/* With the mutex held. */
static void add_head(struct text *t, struct timerthread *tt)
{
	text_add(t, "timerthread %s, instance \"%s\" at %p\n", PACKAGE_VERSION,
		 tt->options.name, (void *)tt);
	text_add(t, "%s; driver: %s; clock: %s, which shows %" PRId64 " ns\n",
		 life_names[tt->life], driver_names[tt->driver],
		 tt->driver == DRIVER_VIRTUAL ? "virtual"
					      : clock_name(instance_clock(tt)),
		 instance_now(tt));
}

static void add_options(struct text *t, const struct timerthread *tt)
{
	const struct options *o = &tt->options;
	const struct engine *e = &tt->engine;

	text_add(t, "options\n");
	add_number(t, "buckets", o->buckets);
	add_duration(t, "slack", e->wakeup.slack);
	add_duration(t, "spin", o->spin);
	add_number(t, "most timers (0: no cap)", e->cap.max);
	add_number(t, "reserve, timers", o->reserve);
	text_add(t, "  executor: %s\n", o->submitting.fn ? "yes" : "no");
	text_add(t, "  task id: %s\n", e->task_id.fn ? "yes" : "no");
	if (e->slow.hook)
		add_duration(t, "slow hook after", e->slow.threshold);
}

static void add_stats(struct text *t, const uint64_t *n)
{
	text_add(t, "numbers\n");
	for (const struct fact *f = stat_table; f < stat_table + FACTS; f++) {
		if (!f->name || f->kind == HISTOGRAM)
			continue;
		if (f->unit == SECONDS)
			add_duration(t, f->name, (int64_t)n[f->which]);
		else
			add_number(t, f->name, n[f->which]);
	}
}

static void add_quantiles(struct text *t, const char *name,
			  const struct histogram_counts *c)
{
	static const double part[] = {0.5, 0.9, 0.99, 0.999};
	static const char *const names[] = {"50 %", "90 %", "99 %", "99.9 %"};

	text_add(t, "%s\n", name);
	if (histogram_number(c) == 0)
		return;
	for (int i = 0; i < 4; i++)
		add_duration(t, names[i], histogram_quantile(c, part[i]));
	add_duration(t, "longest", (int64_t)c->longest);
	add_duration(t, "together", (int64_t)c->sum);
}

static void add_running(struct text *t, const struct timerthread *tt)
{
	int64_t now = clock_now(CLOCK_MONOTONIC);
	struct run s = RUNNING_BEGIN;

	text_add(t, "running now\n");
	while (running_next(tt, now, &s)) {
		text_add(t, "  %#018" PRIx64 " for %s s: ", s.id,
			 text_seconds((uint64_t)(now - s.since)).text);
		text_add_address(t, (void *)s.fn);
		text_add(t, ", argument %p\n", s.arg);
	}
}

static void add_time(struct text *t, int64_t deadline, int64_t now)
{
	uint64_t away = (uint64_t)deadline - (uint64_t)now;

	if (deadline == TIMERTHREAD_NEVER)
		text_add(t, "never");
	else if (deadline > now)
		text_add(t, "in %s s", text_seconds(away).text);
	else
		text_add(t, "%s s ago", text_seconds(-away).text);
}

static void add_buckets(struct text *t, struct timerthread *tt, int64_t now)
{
	struct intake *in = tt->engine.intake;
	struct bucket_set used = intake_used(in);
	struct bucket *b;

	text_add(t, "buckets\n");
	while ((b = intake_take(in, &used))) {
		size_t slots, used_slots, bytes;
		int64_t nearest;

		lock_acquire(&b->lock);
		slots = slots_room(&b->slots);
		used_slots = b->slots.used;
		bytes = bucket_bytes(b);
		nearest = b->nearest;
		lock_release(&b->lock);
		text_add(t,
			 "  %" PRIu32 ": %zu slots, %zu used; %zu bytes; "
			 "first arrival: ",
			 b->slots.bucket, slots, used_slots, bytes);
		add_time(t, nearest, now);
		text_add(t, "\n");
	}
}

/* The pending timers with the earliest deadlines. */
#define NEAREST_MAX 20

struct nearest {
	size_t n;
	/* The earliest one first; and a place for one that falls out. */
	struct seen_timer first[NEAREST_MAX + 1];
};

/* Keeps it if it is one of the earliest so far. */
static bool keep_if_early(const struct seen_timer *t, void *ctx)
{
	struct nearest *r = ctx;
	size_t i;

	if (!slot_is_pending(t->word))
		return true;
	i = r->n < NEAREST_MAX ? r->n++ : NEAREST_MAX;
	for (; i > 0 && t->timer.deadline < r->first[i - 1].timer.deadline; i--)
		r->first[i] = r->first[i - 1];
	r->first[i] = *t;
	return true;
}

/* Calls go on meanwhile: each timer is shown as it was at some moment. */
static void add_nearest(struct text *t, struct timerthread *tt, int64_t now)
{
	struct nearest r;

	r.n = 0;
	intake_walk(tt->engine.intake, true, keep_if_early, &r);
	text_add(t, "nearest deadlines\n");
	for (size_t i = 0; i < r.n; i++) {
		const struct seen_timer *p = &r.first[i];

		text_add(t, "  %#018" PRIx64 " ", p->id);
		add_time(t, p->timer.deadline, now);
		if (p->timer.period > 0)
			text_add(t, ", every %s s",
				 text_seconds((uint64_t)p->timer.period).text);
		text_add(t, ": ");
		text_add_address(t, (void *)p->timer.fn);
		text_add(t, ", argument %p\n", p->timer.arg);
	}
}

static void add_what_lives(struct text *t, struct timerthread *tt)
{
	struct figures f;
	int64_t now;

	stats_read(tt, FROM_SLOTS, &f);
	add_stats(t, f.stat);
	add_quantiles(t, "lateness",
		      &f.histogram[TIMERTHREAD_HISTOGRAM_LATENESS]);
	add_quantiles(t, "run time of callbacks",
		      &f.histogram[TIMERTHREAD_HISTOGRAM_RUN_TIME]);
	add_running(t, tt);
	now = instance_now(tt);
	add_buckets(t, tt, now);
	add_nearest(t, tt, now);
}

/* The text made under the mutex fits into the buffer, so no write is needed. */
static void add_all(struct text *t, struct timerthread *tt)
{
	bool lives;

	pthread_mutex_lock(&tt->mutex);
	lives = instance_lives(tt);
	add_head(t, tt);
	add_options(t, tt);
	pthread_mutex_unlock(&tt->mutex);
	if (lives)
		add_what_lives(t, tt);
}

TT_EXPORT_RARE int timerthread_dump(struct timerthread *tt, int fd)
{
	KEEP_ERRNO;
	char buffer[4096];
	struct text t = {.to = buffer,
			 .size = sizeof(buffer),
			 .to_file = true,
			 .fd = fd};
	int r = instance_check(tt, true);

	if (r < 0)
		return r;
	add_all(&t, tt);
	return text_end(&t);
}
