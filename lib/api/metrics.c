/* SPDX-License-Identifier: MIT */
/*
 * The numbers of instances as text, in one of two formats: OpenMetrics, version
 * 1.0.0, or the text format of Prometheus, version 0.0.4.  They differ in what
 * is said about a metric, and at the end; the samples are the same.
 *
 * A line of a histogram names an inclusive limit.  Durations are whole
 * nanoseconds, so for the durations below a power of two, the limit is one less
 * than the power.
 */
#include "config.h"

#include "api/stats.h"
#include "os/base.h"
#include "os/memory.h"
#include "os/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A name, each byte escaped; and a position, should others have that name. */
#define LABEL_SIZE (2 * THREAD_NAME_SIZE + sizeof("/18446744073709551615"))

/* What a page tells of an instance. */
struct facts {
	struct stats stats;
	struct measured_counts measured;
	char label[LABEL_SIZE];
};

enum kind {
	GAUGE,
	COUNTER,
	HISTOGRAM,
};

static const char *const kind_names[] = {
	[GAUGE] = "gauge",
	[COUNTER] = "counter",
	[HISTOGRAM] = "histogram",
};

enum unit {
	NUMBER,
	BYTES,
	SECONDS, /* counted in nanoseconds */
};

static const char *const unit_names[] = {
	[BYTES] = "bytes",
	[SECONDS] = "seconds",
};

struct metric {
	const char *name; /* of a counter: without _total */
	enum kind kind;
	enum unit unit;
	size_t offset;
	const char *help;
};

#define METRIC(name, kind, unit, member, help)                                 \
	{                                                                      \
		name, kind, unit, offsetof(struct facts, member), help         \
	}

static const struct metric metrics[] = {
	METRIC("pending_timers", GAUGE, NUMBER, stats.pending,
	       "Timers that wait for their callback to begin."),
	METRIC("running_timers", GAUGE, NUMBER, stats.running,
	       "Timers whose callback is running."),
	METRIC("dead_timers", GAUGE, NUMBER, stats.dead,
	       "Cancelled timers whose memory was not yet recycled."),
	METRIC("slots", GAUGE, NUMBER, stats.slots,
	       "Timers that there is memory for."),
	METRIC("memory_bytes", GAUGE, BYTES, stats.bytes,
	       "Memory that the instance has taken."),
	METRIC("scheduled_timers", COUNTER, NUMBER, stats.scheduled,
	       "Timers that were scheduled."),
	METRIC("cancelled_timers", COUNTER, NUMBER, stats.cancelled,
	       "Timers that were cancelled, drained ones included."),
	METRIC("drained_timers", COUNTER, NUMBER, stats.drained,
	       "Timers that were drained."),
	METRIC("recycled_timers", COUNTER, NUMBER, stats.recycled,
	       "Cancelled timers whose memory was recycled."),
	METRIC("fired_callbacks", COUNTER, NUMBER, stats.fired,
	       "Callbacks that have returned."),
	METRIC("rescheduled_calls", COUNTER, NUMBER, stats.rescheduled,
	       "Calls that rescheduled a timer."),
	METRIC("capped_calls", COUNTER, NUMBER, stats.capped,
	       "Calls that scheduled no timer because of the cap."),
	METRIC("no_memory_calls", COUNTER, NUMBER, stats.no_memory,
	       "Calls that scheduled no timer for want of memory."),
	METRIC("wakeups", COUNTER, NUMBER, stats.wakeups,
	       "Sleeps of the driver that have ended."),
	METRIC("early_wakeups", COUNTER, NUMBER, stats.early_wakeups,
	       "Those that ended because an earlier timer was scheduled."),
	METRIC("awake_seconds", COUNTER, SECONDS, stats.awake_time,
	       "Time that the driver was awake."),
	METRIC("longest_run_seconds", GAUGE, SECONDS, stats.longest_run,
	       "The longest time that a callback has run."),
	METRIC("largest_lateness_seconds", GAUGE, SECONDS,
	       stats.largest_lateness,
	       "The longest time from a deadline to its callback."),
	METRIC("current_run_seconds", GAUGE, SECONDS, stats.current_run,
	       "How long the callback that runs the longest runs now."),
	METRIC("lateness_seconds", HISTOGRAM, SECONDS, measured.lateness,
	       "From the deadline to the callback."),
	METRIC("run_seconds", HISTOGRAM, SECONDS, measured.run_time,
	       "How long callbacks have run."),
};

static const struct metric *const metrics_end =
	metrics + sizeof(metrics) / sizeof(metrics[0]);

/* OpenMetrics says more about a metric; Prometheus names it as its samples. */
static void add_head(struct text *t, const struct metric *m, bool openmetrics)
{
	const char *end = m->kind == COUNTER && !openmetrics ? "_total" : "";

	text_add(t, "# TYPE timerthread_%s%s %s\n", m->name, end,
		 kind_names[m->kind]);
	if (openmetrics && m->unit != NUMBER)
		text_add(t, "# UNIT timerthread_%s %s\n", m->name,
			 unit_names[m->unit]);
	text_add(t, "# HELP timerthread_%s%s %s\n", m->name, end, m->help);
}

static void add_number(struct text *t, const struct metric *m,
		       const char *label, uint64_t value)
{
	text_add(t, "timerthread_%s%s{name=\"%s\"} ", m->name,
		 m->kind == COUNTER ? "_total" : "", label);
	if (m->unit == SECONDS)
		text_add_seconds(t, value);
	else
		text_add(t, "%" PRIu64, value);
	text_add(t, "\n");
}

/* A limit for each octave except the last, which has all longer durations. */
static void add_histogram(struct text *t, const char *name, const char *label,
			  const struct histogram_counts *c)
{
	uint64_t all = histogram_number(c);

	for (unsigned i = 1; i < HISTOGRAM_OCTAVES; i++) {
		text_add(t, "timerthread_%s_bucket{name=\"%s\",le=\"", name,
			 label);
		text_add_seconds(
			t, (UINT64_C(1) << (HISTOGRAM_FIRST_LOG2 + i)) - 1);
		text_add(t, "\"} %" PRIu64 "\n",
			 histogram_below(c, (i + 1) * HISTOGRAM_STEPS));
	}
	text_add(t,
		 "timerthread_%s_bucket{name=\"%s\",le=\"+Inf\"} %" PRIu64 "\n",
		 name, label, all);
	text_add(t, "timerthread_%s_count{name=\"%s\"} %" PRIu64 "\n", name,
		 label, all);
	text_add(t, "timerthread_%s_sum{name=\"%s\"} ", name, label);
	text_add_seconds(t, c->sum);
	text_add(t, "\n");
}

static void add_samples(struct text *t, const struct metric *m,
			const struct facts *f)
{
	const void *at = (const char *)f + m->offset;
	const uint64_t *number = at;

	if (m->kind == HISTOGRAM)
		add_histogram(t, m->name, f->label, at);
	else
		add_number(t, m, f->label, *number);
}

/* The text must be UTF-8, and bytes that are not ASCII might not be. */
static void set_label(char *to, struct timerthread *tt)
{
	char name[THREAD_NAME_SIZE];

	instance_copy_name(tt, name);
	for (const char *from = name; *from; from++) {
		unsigned char c = (unsigned char)*from;

		if (c == '"' || c == '\\')
			*to++ = '\\';
		*to++ = c >= ' ' && c < 127 ? (char)c : '_';
	}
	*to = '\0';
}

/*
 * Two instances with the same label would be one to a reader.  So the later one
 * gets its position behind its label, again if the result is taken, too.  A
 * taken result is a name without a position, because no position is there
 * twice; so the last result is at most a name and a position.
 */
static void tell_apart(struct facts *all, size_t i)
{
	char *label = all[i].label;
	size_t j = 0;

	while (j < i) {
		if (strcmp(all[j++].label, label) != 0)
			continue;
		sprintf(label + strlen(label), "/%zu", i + 1);
		j = 0;
	}
}

static void look(struct timerthread *tt, struct facts *f)
{
	f->stats = (struct stats){0};
	if (instance_lives(tt)) {
		stats_count(tt, &f->stats);
		stats_look(tt, &f->stats);
	}
	stats_measured(tt, &f->measured);
	set_label(f->label, tt);
}

static int write_page(const struct facts *facts, size_t n,
		      enum timerthread_format format, char *buf, size_t size)
{
	bool openmetrics = format == TIMERTHREAD_FORMAT_OPENMETRICS;
	struct text t;

	text_begin(&t, buf, size);
	for (const struct metric *m = metrics; n > 0 && m < metrics_end; m++) {
		add_head(&t, m, openmetrics);
		for (size_t i = 0; i < n; i++)
			add_samples(&t, m, &facts[i]);
	}
	if (openmetrics)
		text_add(&t, "# EOF\n");
	return text_end(&t);
}

/* 0, or the error that comes first in the order of instance_check. */
static int check(struct timerthread *const *instances, size_t n,
		 enum timerthread_format format, const char *buf, size_t size)
{
	bool valid = (unsigned)format <= TIMERTHREAD_FORMAT_PROMETHEUS &&
		     (buf || size == 0);
	int r = valid ? 0 : -EINVAL;

	if (!instances && n > 0)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (!instances[i])
			return -EINVAL;
		if (instance_inherited(instances[i]))
			r = -ECHILD;
	}
	return r;
}

static int format_all(struct timerthread *const *instances, size_t n,
		      struct facts *facts, enum timerthread_format format,
		      char *buf, size_t size)
{
	for (size_t i = 0; i < n; i++) {
		look(instances[i], &facts[i]);
		tell_apart(facts, i);
	}
	return write_page(facts, n, format, buf, size);
}

TT_EXPORT int timerthread_format_metrics(struct timerthread *tt,
					 enum timerthread_format format,
					 char *buf, size_t size)
{
	int saved_errno = errno;
	struct facts facts;
	int r = check(&tt, 1, format, buf, size);

	if (r == 0)
		r = format_all(&tt, 1, &facts, format, buf, size);
	errno = saved_errno;
	return r;
}

TT_EXPORT int
timerthread_format_metrics_of(struct timerthread *const *instances, size_t n,
			      enum timerthread_format format, char *buf,
			      size_t size)
{
	int saved_errno = errno;
	struct facts *facts = NULL;
	int r = check(instances, n, format, buf, size);

	if (r < 0)
		return r;
	if (n <= SIZE_MAX / sizeof(*facts))
		facts = memory_alloc(n * sizeof(*facts));
	r = -ENOMEM;
	if (facts || n == 0)
		r = format_all(instances, n, facts, format, buf, size);
	memory_free(facts);
	errno = saved_errno;
	return r;
}
