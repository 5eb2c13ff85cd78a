/* SPDX-License-Identifier: MIT */
/*
 * What the instance writes about itself: it is well-formed, and its numbers are
 * the known ones.
 */
#include "config.h"

#include "model.h"
#include "systems.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 16 };

#define OM TIMERTHREAD_FORMAT_OPENMETRICS

static char text[TEXT_MAX];

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* The number behind what occurs in the text, which it must. */
static uint64_t number_after(const char *what)
{
	const char *at = strstr(text, what);
	uint64_t value;
	char *end;

	agree(at != NULL);
	value = strtoull(at + strlen(what), &end, 10);
	agree(end > at + strlen(what) && (*end == '\n' || *end == '.'));
	return value;
}

/* name="...", as it is in the metrics. */
static void make_label(char *to)
{
	to += sprintf(to, "name=\"");
	for (const char *from = model->chosen.name; *from; from++) {
		if (*from == '"' || *from == '\\')
			*to++ = '\\';
		*to++ = *from >= ' ' && *from < 127 ? *from : '_';
	}
	sprintf(to, "\"");
}

static uint64_t metric(const char *name, const char *more)
{
	char what[160], label[64];

	make_label(label);
	snprintf(what, sizeof(what), "\ntimerthread_%s{%s%s} ", name, label,
		 more);
	return number_after(what);
}

/* A comment, or a sample: a name, labels, and a number. */
static void check_line(const char *line, const char *end)
{
	const char *open = memchr(line, '{', (size_t)(end - line));
	char label[64], *rest;

	if (begins(line, "# TYPE timerthread_") ||
	    begins(line, "# UNIT timerthread_") ||
	    begins(line, "# HELP timerthread_") || begins(line, "# EOF\n"))
		return;
	make_label(label);
	agree(begins(line, "timerthread_") && open && begins(open + 1, label));
	open += 1 + strlen(label);
	agree(*open == '}' || begins(open, ",le=\""));
	while (*open != '}')
		open++;
	agree(begins(open, "} "));
	agree(strtod(open + 2, &rest) >= 0 && rest == end);
}

static void check_lines(void)
{
	const char *line = text, *end;

	while (*line) {
		end = strchr(line, '\n');
		agree(end != NULL);
		check_line(line, end);
		line = end + 1;
	}
	agree(begins(line - strlen("# EOF\n"), "# EOF\n"));
}

static void check_metrics(void)
{
	const struct counts *c = &model->counts;

	agree(metric("pending_timers", "") == model->pending.n);
	agree(metric("running_timers", "") == model->calling);
	agree(metric("unarmed_timers", "") == model->unarmed.n);
	agree(metric("scheduled_timers_total", "") == c->scheduled);
	agree(metric("cancelled_timers_total", "") == c->cancelled);
	agree(metric("drained_timers_total", "") == c->drained);
	agree(metric("fired_callbacks_total", "") == c->fired);
	agree(metric("rescheduled_calls_total", "") == c->rescheduled);
	agree(metric("capped_calls_total", "") == c->capped);
	agree(metric("lateness_seconds_count", "") == c->fired);
	agree(metric("run_seconds_count", "") == c->fired);
	agree(metric("lateness_seconds_bucket", ",le=\"+Inf\"") == c->fired);
	agree(metric("largest_lateness_seconds", "") == c->latest / 1000000000);
}

/* As much as fits, and not a byte beyond. */
static void check_short_buffer(void)
{
	size_t size = (size_t)choose(256) << choose(6);
	int length;

	memset(text, 'x', TEXT_MAX);
	length = timerthread_format_metrics(&model->tt, 1, OM,
					    size ? text : NULL, size);
	agree(length > 0 && text[size] == 'x');
	agree(size == 0 ||
	      strlen(text) ==
		      ((size_t)length < size ? (size_t)length : size - 1));
}

void ask_metrics(void)
{
	int length =
		timerthread_format_metrics(&model->tt, 1, OM, text, TEXT_MAX);

	agree(length > 0 && length < TEXT_MAX &&
	      strlen(text) == (size_t)length);
	check_lines();
	check_metrics();
	check_short_buffer();
}

/* What dump writes, in text. */
static void dump(void)
{
	int fd = memory_file();
	int length;

	agree(fd >= 0);
	length = timerthread_dump(model->tt, fd);
	agree(length > 0 && length < TEXT_MAX);
	agree(pread(fd, text, TEXT_MAX - 1, 0) == length);
	text[length] = '\0';
	agree(strlen(text) == (size_t)length && text[length - 1] == '\n');
	close(fd);
}

/* They are those with the first deadlines, in that order. */
static void check_nearest(void)
{
	const char *line = strstr(text, "\nnearest deadlines\n");
	size_t i, n = 0;

	agree(line != NULL);
	line += strlen("\nnearest deadlines\n");
	for (; *line; line = strchr(line, '\n') + 1) {
		timerthread_id id = strtoull(line, NULL, 16);

		i = list_find_id(&model->pending, id);
		agree(i < model->pending.n);
		agree(model->pending.item[i].deadline ==
		      model->pending.item[n].deadline);
		n++;
	}
	agree(n == (model->pending.n < 20 ? model->pending.n : 20));
}

static void check_running(void)
{
	char line[64];

	snprintf(line, sizeof(line), "running now\n  %#018" PRIx64 " for ",
		 model->running.id);
	agree((strstr(text, line) != NULL) == model->calling);
}

void ask_dump(void)
{
	const struct counts *c = &model->counts;
	char line[64];

	dump();
	snprintf(line, sizeof(line), "instance \"%s\" at ", model->chosen.name);
	agree(strstr(text, line) != NULL);
	agree(number_after("  most timers (0: no cap): ") == model->chosen.cap);
	agree(number_after("  reserve, timers: ") == model->chosen.reserve);
	if (!model->started)
		return;
	snprintf(line, sizeof(line), "which shows %" PRId64 " ns\n",
		 model->now);
	agree(strstr(text, line) != NULL);
	agree(number_after("\n  pending_timers: ") == model->pending.n);
	agree(number_after("\n  running_timers: ") == model->calling);
	agree(number_after("\n  scheduled_timers: ") == c->scheduled);
	agree(number_after("\n  cancelled_timers: ") == c->cancelled);
	agree(number_after("\n  drained_timers: ") == c->drained);
	agree(number_after("\n  fired_callbacks: ") == c->fired);
	agree(number_after("\n  rescheduled_calls: ") == c->rescheduled);
	agree(number_after("\n  capped_calls: ") == c->capped);
	check_running();
	check_nearest();
}
