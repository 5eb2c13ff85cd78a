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
#include "base/keep.h"
#include "base/text.h"
#include "os/memory.h"
#include "view/stats.h"

#include <inttypes.h>
#include <string.h>

/* A name, each byte escaped; and a position, should others have that name. */
#define LABEL_SIZE (2 * THREAD_NAME_SIZE + sizeof("/18446744073709551615"))

/* What a page tells of an instance. */
struct told {
	struct figures figures;
	char label[LABEL_SIZE];
};

static const char *const kind_names[] = {
	[GAUGE] = "gauge", [COUNTER] = "counter", [HISTOGRAM] = "histogram"};

static const char *const unit_names[] = {
	[BYTES] = "bytes", [SECONDS] = "seconds"};

/* OpenMetrics says more about a metric; Prometheus names it as its samples. */
static void add_metric_head(struct text *t, const struct fact *m,
			    bool openmetrics)
{
	const char *end = m->kind == COUNTER && !openmetrics ? "_total" : "";

	text_add(t, "# TYPE timerthread_%s%s %s\n", m->name, end,
		 kind_names[m->kind]);
	if (openmetrics && m->unit != NUMBER)
		text_add(t, "# UNIT timerthread_%s %s\n", m->name,
			 unit_names[m->unit]);
	text_add(t, "# HELP timerthread_%s%s %s\n", m->name, end, m->help);
}

/* A limit for each octave except the last, which has all longer durations. */
static void add_histogram_samples(struct text *t, const char *name,
				  const char *label,
				  const struct histogram_counts *c)
{
	uint64_t all = histogram_number(c);

	for (unsigned i = 1; i < HISTOGRAM_OCTAVES; i++) {
		uint64_t last = (UINT64_C(1) << (HISTOGRAM_FIRST_LOG2 + i)) - 1;

		text_add(t,
			 "timerthread_%s_bucket{name=\"%s\",le=\"%s\"} %" PRIu64
			 "\n",
			 name, label, text_seconds(last).text,
			 histogram_below(c, (i + 1) * HISTOGRAM_STEPS));
	}
	text_add(t,
		 "timerthread_%s_bucket{name=\"%s\",le=\"+Inf\"} %" PRIu64 "\n"
		 "timerthread_%s_count{name=\"%s\"} %" PRIu64 "\n"
		 "timerthread_%s_sum{name=\"%s\"} %s\n",
		 name, label, all, name, label, all, name, label,
		 text_seconds(c->sum).text);
}

static void add_samples(struct text *t, const struct fact *m,
			const struct told *told)
{
	uint64_t n;

	if (m->kind == HISTOGRAM) {
		add_histogram_samples(t, m->name, told->label,
				      &told->figures.histogram[m->which]);
		return;
	}
	n = told->figures.stat[m->which];
	text_add(t, "timerthread_%s%s{name=\"%s\"} ", m->name,
		 m->kind == COUNTER ? "_total" : "", told->label);
	if (m->unit == SECONDS)
		text_add(t, "%s\n", text_seconds(n).text);
	else
		text_add(t, "%" PRIu64 "\n", n);
}

/*
 * The text must be UTF-8, and bytes that are not ASCII might not be.  Under the
 * mutex: before start, another thread may be setting the name.
 */
static void set_label(char *to, struct timerthread *tt)
{
	pthread_mutex_lock(&tt->mutex);
	for (const char *from = tt->options.name; *from; from++) {
		unsigned char c = (unsigned char)*from;

		if (c == '"' || c == '\\')
			*to++ = '\\';
		*to++ = c >= ' ' && c < 127 ? (char)c : '_';
	}
	*to = '\0';
	pthread_mutex_unlock(&tt->mutex);
}

/*
 * Two instances with the same label would be one to a reader.  So the later one
 * gets its position behind its label, again if the result is taken, too.  A
 * taken result is a name without a position, because no position is there
 * twice; so the last result is at most a name and a position.
 */
static void tell_apart(struct told *all, size_t i)
{
	char *label = all[i].label;
	size_t j = 0;

	while (j < i) {
		size_t n = strlen(label);
		struct text t = {.to = label + n, .size = LABEL_SIZE - n};

		if (strcmp(all[j++].label, label) != 0)
			continue;
		text_add(&t, "/%zu", i + 1);
		text_end(&t);
		j = 0;
	}
}

static int write_page(const struct told *all, size_t n,
		      enum timerthread_format format, char *buf, size_t size)
{
	bool openmetrics = format == TIMERTHREAD_FORMAT_OPENMETRICS;
	struct text t = {.to = buf, .size = size};

	for (const struct fact *m = stat_table; n > 0 && m < stat_table + FACTS;
	     m++) {
		if (!m->name)
			continue;
		add_metric_head(&t, m, openmetrics);
		for (size_t i = 0; i < n; i++)
			add_samples(&t, m, &all[i]);
	}
	if (openmetrics)
		text_add(&t, "# EOF\n");
	return text_end(&t);
}

/* 0, or the error that comes first in the order of instance_check. */
static int check_instances(struct timerthread *const *instances, size_t n,
			   enum timerthread_format format, const char *buf,
			   size_t size)
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
		      struct told *all, enum timerthread_format format,
		      char *buf, size_t size)
{
	for (size_t i = 0; i < n; i++) {
		stats_read(instances[i], FROM_SLOTS, &all[i].figures);
		set_label(all[i].label, instances[i]);
		tell_apart(all, i);
	}
	return write_page(all, n, format, buf, size);
}

/* One instance needs no memory, so it can be read when there is none. */
TT_EXPORT_RARE int
timerthread_format_metrics(struct timerthread *const *instances, size_t n,
			   enum timerthread_format format, char *buf,
			   size_t size)
{
	KEEP_ERRNO;
	struct told one, *many = NULL;
	int r = check_instances(instances, n, format, buf, size);

	if (r < 0)
		return r;
	if (n <= 1)
		return format_all(instances, n, &one, format, buf, size);
	if (n <= PTRDIFF_MAX / sizeof(*many))
		many = memory_alloc(n * sizeof(*many));
	if (!many)
		return -ENOMEM;
	r = format_all(instances, n, many, format, buf, size);
	memory_free(many);
	return r;
}
