/* SPDX-License-Identifier: MIT */
/*
 * The numbers of an instance, as OpenMetrics text, version 1.0.0.
 *
 * A line of a histogram names an inclusive limit.  Durations are whole
 * nanoseconds, so for the durations below a power of two, the limit is one less
 * than the power.
 */
#include "config.h"

#include "api/stats.h"
#include "os/base.h"
#include "os/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum kind {
	GAUGE,
	COUNTER,
};

enum unit {
	NUMBER,
	BYTES,
	SECONDS, /* counted in nanoseconds */
};

struct metric {
	const char *name; /* without the suffix for the unit */
	enum kind kind;
	enum unit unit;
	size_t offset;
	const char *help;
};

#define METRIC(name, kind, unit, member, help)                                 \
	{                                                                      \
		name, kind, unit, offsetof(struct stats, member), help         \
	}

static const struct metric metrics[] = {
	METRIC("pending_timers", GAUGE, NUMBER, pending,
	       "Timers that wait for their callback to begin."),
	METRIC("running_timers", GAUGE, NUMBER, running,
	       "Timers whose callback is running."),
	METRIC("dead_timers", GAUGE, NUMBER, dead,
	       "Cancelled timers whose memory was not yet recycled."),
	METRIC("slots", GAUGE, NUMBER, slots,
	       "Timers that there is memory for."),
	METRIC("memory", GAUGE, BYTES, bytes,
	       "Memory that the instance has taken."),
	METRIC("scheduled_timers", COUNTER, NUMBER, scheduled,
	       "Timers that were scheduled."),
	METRIC("cancelled_timers", COUNTER, NUMBER, cancelled,
	       "Timers that were cancelled, drained ones included."),
	METRIC("drained_timers", COUNTER, NUMBER, drained,
	       "Timers that were drained."),
	METRIC("recycled_timers", COUNTER, NUMBER, recycled,
	       "Cancelled timers whose memory was recycled."),
	METRIC("fired_callbacks", COUNTER, NUMBER, fired,
	       "Callbacks that have returned."),
	METRIC("rescheduled_calls", COUNTER, NUMBER, rescheduled,
	       "Calls that rescheduled a timer."),
	METRIC("capped_calls", COUNTER, NUMBER, capped,
	       "Calls that scheduled no timer because of the cap."),
	METRIC("no_memory_calls", COUNTER, NUMBER, no_memory,
	       "Calls that scheduled no timer for want of memory."),
	METRIC("wakeups", COUNTER, NUMBER, wakeups,
	       "Sleeps of the driver that have ended."),
	METRIC("early_wakeups", COUNTER, NUMBER, early_wakeups,
	       "Those that ended because an earlier timer was scheduled."),
	METRIC("awake", COUNTER, SECONDS, awake_time,
	       "Time that the driver was awake."),
	METRIC("longest_run", GAUGE, SECONDS, longest_run,
	       "The longest time that a callback has run."),
	METRIC("largest_lateness", GAUGE, SECONDS, largest_lateness,
	       "The longest time from a deadline to its callback."),
	METRIC("current_run", GAUGE, SECONDS, current_run,
	       "How long the callback that runs the longest runs now."),
};

static const char *const unit_names[] = {
	[BYTES] = "bytes",
	[SECONDS] = "seconds",
};

/* A page that is being made, and the label that names the instance. */
struct page {
	struct text text;
	char label[sizeof("name=\"\"") + 2 * THREAD_NAME_SIZE];
};

static void add_unit(struct page *p, enum unit unit)
{
	if (unit_names[unit])
		text_add(&p->text, "_%s", unit_names[unit]);
}

static void add_head(struct page *p, const char *name, const char *type,
		     enum unit unit, const char *help)
{
	struct text *t = &p->text;

	text_add(t, "# TYPE timerthread_%s", name);
	add_unit(p, unit);
	text_add(t, " %s\n", type);
	if (unit_names[unit]) {
		text_add(t, "# UNIT timerthread_%s_%s %s\n", name,
			 unit_names[unit], unit_names[unit]);
	}
	text_add(t, "# HELP timerthread_%s", name);
	add_unit(p, unit);
	text_add(t, " %s\n", help);
}

static void add_metric(struct page *p, const struct metric *m,
		       const struct stats *s)
{
	struct text *t = &p->text;
	uint64_t value;

	memcpy(&value, (const char *)s + m->offset, sizeof(value));
	add_head(p, m->name, m->kind == GAUGE ? "gauge" : "counter", m->unit,
		 m->help);
	text_add(t, "timerthread_%s", m->name);
	add_unit(p, m->unit);
	text_add(t, "%s{%s} ", m->kind == GAUGE ? "" : "_total", p->label);
	if (m->unit == SECONDS)
		text_add_seconds(t, value);
	else
		text_add(t, "%" PRIu64, value);
	text_add(t, "\n");
}

static void add_bucket(struct page *p, const char *name, int log2, uint64_t n)
{
	struct text *t = &p->text;

	text_add(t, "timerthread_%s_seconds_bucket{%s,le=\"", name, p->label);
	text_add_seconds(t, (UINT64_C(1) << log2) - 1);
	text_add(t, "\"} %" PRIu64 "\n", n);
}

/* A limit for each octave except the last, which has all longer durations. */
static void add_histogram(struct page *p, const char *name,
			  const struct histogram_counts *c, const char *help)
{
	struct text *t = &p->text;
	uint64_t all = histogram_number(c);

	add_head(p, name, "histogram", SECONDS, help);
	for (unsigned i = 1; i < HISTOGRAM_OCTAVES; i++)
		add_bucket(p, name, HISTOGRAM_FIRST_LOG2 + (int)i,
			   histogram_below(c, (i + 1) * HISTOGRAM_STEPS));
	text_add(t,
		 "timerthread_%s_seconds_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n",
		 name, p->label, all);
	text_add(t, "timerthread_%s_seconds_count{%s} %" PRIu64 "\n", name,
		 p->label, all);
	text_add(t, "timerthread_%s_seconds_sum{%s} ", name, p->label);
	text_add_seconds(t, c->sum);
	text_add(t, "\n");
}

/* The text must be UTF-8, and bytes that are not ASCII might not be. */
static void set_label(struct page *p, struct timerthread *tt)
{
	char name[THREAD_NAME_SIZE];
	char *to = stpcpy(p->label, "name=\"");

	instance_copy_name(tt, name);
	for (const char *from = name; *from; from++) {
		unsigned char c = (unsigned char)*from;

		if (c == '"' || c == '\\')
			*to++ = '\\';
		*to++ = c >= ' ' && c < 127 ? (char)c : '_';
	}
	stpcpy(to, "\"");
}

static void fill(struct timerthread *tt, struct page *p)
{
	struct measured_counts c;
	struct stats s = {0};

	if (instance_lives(tt)) {
		stats_count(tt, &s);
		stats_look(tt, &s);
	}
	stats_measured(tt, &c);
	set_label(p, tt);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		add_metric(p, &metrics[i], &s);
	add_histogram(p, "lateness", &c.lateness,
		      "From the deadline to the callback.");
	add_histogram(p, "run", &c.run_time, "How long callbacks have run.");
	text_add(&p->text, "# EOF\n");
}

TT_EXPORT int timerthread_format_metrics(struct timerthread *tt, char *buf,
					 size_t size)
{
	int saved_errno = errno;
	struct page p;
	int r = instance_check(tt, buf || size == 0);

	if (r < 0)
		return r;
	text_begin(&p.text, buf, size);
	fill(tt, &p);
	errno = saved_errno;
	return text_end(&p.text);
}
