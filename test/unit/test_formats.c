/* SPDX-License-Identifier: MIT */
/*
 * Metrics in both formats, of one instance and of several.  That others can
 * read them is for others to say: test/formats.sh.
 */
#include "config.h"

#include "timers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define OM   TIMERTHREAD_FORMAT_OPENMETRICS
#define PROM TIMERTHREAD_FORMAT_PROMETHEUS

enum { SIZE = 1 << 17, MOST = 6, MANY = 300 };

static char page[SIZE], other[SIZE], expected[SIZE];

static struct timerthread *make(const char *name)
{
	struct timerthread *made = NULL;

	ck_assert_int_eq(timerthread_create(&made), 0);
	ck_assert_int_eq(timerthread_set_name(made, name), 0);
	return made;
}

static void run(void *arg)
{
	(void)arg;
}

/* With numbers that are not 0, and do not change any more. */
static struct timerthread *make_used(const char *name, int timers)
{
	struct timerthread *made = make(name);
	timerthread_id id;

	ck_assert_int_eq(timerthread_start_virtual(made, 0), 0);
	for (int i = 0; i < timers; i++) {
		ck_assert_int_eq(timerthread_schedule(made, i, run, NULL, &id),
				 0);
		if (i % 3 == 0)
			ck_assert_int_eq(timerthread_cancel(made, id), 0);
	}
	ck_assert_int_ge(timerthread_advance(made, MS), 0);
	ck_assert_int_eq(timerthread_stop(made), 0);
	return made;
}

static void format(struct timerthread *t, enum timerthread_format f, char *to)
{
	int n = timerthread_format_metrics(&t, 1, f, to, SIZE);

	ck_assert_int_gt(n, 0);
	ck_assert_int_lt(n, SIZE);
	ck_assert_uint_eq(strlen(to), (size_t)n);
}

static void format_of(struct timerthread *const *t, size_t n,
		      enum timerthread_format f)
{
	int length = timerthread_format_metrics(t, n, f, page, SIZE);

	ck_assert_int_ge(length, 0);
	ck_assert_int_lt(length, SIZE);
	ck_assert_uint_eq(strlen(page), (size_t)length);
}

static bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

/* Where the line ends, behind its newline. */
static const char *next(const char *line)
{
	const char *end = strchr(line, '\n');

	ck_assert_ptr_nonnull(end);
	return end + 1;
}

static char *copy(char *to, const char *from, const char *end)
{
	while (from < end)
		*to++ = *from++;
	*to = '\0';
	return to;
}

/* Samples, up to the next metric. */
static const char *samples_end(const char *line)
{
	while (*line && *line != '#')
		line = next(line);
	return line;
}

/* What other users of the older format would make of OpenMetrics. */
static void translate(const char *from, char *to)
{
	const char *end;
	bool counter = false;

	for (; *from; from = end) {
		end = next(from);
		if (begins(from, "# EOF") || begins(from, "# UNIT"))
			continue;
		if (begins(from, "# TYPE"))
			counter = begins(end - strlen(" counter\n"),
					 " counter\n");
		if (*from == '#' && counter) {
			const char *name = strchr(from + 7, ' ');

			to = copy(to, from, name);
			to = stpcpy(to, "_total");
			from = name;
		}
		to = copy(to, from, end);
	}
}

/* Two pages as one: each metric once, with the samples of both. */
static void join(const char *a, const char *b, char *to)
{
	while (*a) {
		const char *end = a, *samples = b;

		for (; *end == '#'; end = next(end))
			samples = next(samples);
		ck_assert_int_eq(strncmp(a, b, (size_t)(end - a)), 0);
		to = copy(to, a, end);
		a = samples_end(end);
		to = copy(to, end, a);
		b = samples_end(samples);
		to = copy(to, samples, b);
	}
	ck_assert_int_eq(*b, '\0');
}

START_TEST(two_spellings)
{
	struct timerthread *t = make_used("one", 30);

	format(t, OM, page);
	format(t, PROM, other);
	translate(page, expected);
	ck_assert_str_eq(other, expected);
	ck_assert_ptr_nonnull(strstr(
		other, "\n# TYPE timerthread_scheduled_timers_total counter\n"
		       "# HELP timerthread_scheduled_timers_total Timers that "
		       "were scheduled.\n"
		       "timerthread_scheduled_timers_total{name=\"one\"} "
		       "30\n"));
	ck_assert_ptr_nonnull(
		strstr(page, "\n# TYPE timerthread_awake_seconds counter\n"
			     "# UNIT timerthread_awake_seconds seconds\n"
			     "# HELP timerthread_awake_seconds Time that"));
	timerthread_destroy(t);
}
END_TEST

START_TEST(two_are_joined)
{
	static const enum timerthread_format formats[] = {OM, PROM};
	struct timerthread *const pair[] = {make_used("one", 10),
					    make_used("two", 2000)};

	for (int i = 0; i < 2; i++) {
		format(pair[0], formats[i], page);
		format(pair[1], formats[i], other);
		join(page, other, expected);
		format_of(pair, 2, formats[i]);
		ck_assert_str_eq(page, expected);
	}
	timerthread_destroy(pair[0]);
	timerthread_destroy(pair[1]);
}
END_TEST

START_TEST(none)
{
	format_of(NULL, 0, OM);
	ck_assert_str_eq(page, "# EOF\n");
	format_of(NULL, 0, PROM);
	ck_assert_str_eq(page, "");
	ck_assert_int_eq(timerthread_format_metrics(NULL, 0, OM, NULL, 0),
			 (int)strlen("# EOF\n"));
}
END_TEST

/* The instances of these names have these labels, in this order. */
static void check_labels(const char *const *names, const char *const *labels)
{
	struct timerthread *t[MOST] = {NULL};
	const char *at;
	size_t n = 0;

	for (; names[n]; n++)
		t[n] = make(names[n]);
	format_of(t, n, PROM);
	at = strstr(page, "\ntimerthread_slots{");
	for (size_t i = 0; i < n; i++) {
		char line[100];

		snprintf(line, sizeof(line),
			 "\ntimerthread_slots{name=\"%s\"} 0\n", labels[i]);
		ck_assert_ptr_nonnull(at);
		ck_assert_msg(begins(at, line), "not %s: %.40s", line, at);
		at = strchr(at + 1, '\n');
		timerthread_destroy(t[i]);
	}
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

START_TEST(equal_names)
{
	check_labels(NAMES("a", "b", "c"), NAMES("a", "b", "c"));
	check_labels(NAMES("a", "b", "a", "a"), NAMES("a", "b", "a/3", "a/4"));
	/* What replaces a byte makes them equal. */
	check_labels(NAMES("\n", "\t", "_", "\xc3"),
		     NAMES("_", "_/2", "_/3", "_/4"));
	/* Names that look like a label, before and behind the others. */
	check_labels(NAMES("a", "a", "a/2"), NAMES("a", "a/2", "a/2/3"));
	check_labels(NAMES("a/3", "a", "a"), NAMES("a/3", "a", "a/3/3"));
	check_labels(NAMES("a/4/4", "a/4", "a", "a"),
		     NAMES("a/4/4", "a/4", "a", "a/4/4/4"));
	check_labels(NAMES("\"\\\n", "\"\\\n", "\"", "\\"),
		     NAMES("\\\"\\\\_", "\\\"\\\\_/2", "\\\"", "\\\\"));
}
END_TEST

/* The same one so often has as many labels, and room for the longest. */
START_TEST(many)
{
	static const char line[] = "\ntimerthread_slots{";
	static char much[16384 * MANY];
	struct timerthread *t[MANY],
		*one = make("\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"");
	const char *at;
	int n;

	for (int i = 0; i < MANY; i++)
		t[i] = one;
	n = timerthread_format_metrics(t, MANY, OM, much, sizeof(much));
	ck_assert_int_gt(n, 0);
	ck_assert_uint_lt((size_t)n, sizeof(much));
	at = strstr(much, line);
	for (int i = 0; i < MANY; i++) {
		char end[20];

		snprintf(end, sizeof(end), "/%d\"} 0\n", i + 1);
		ck_assert_ptr_nonnull(at);
		ck_assert(begins(at, line));
		at = next(at + 1) - 1;
		ck_assert(i == 0 || begins(at + 1 - strlen(end), end));
	}
	ck_assert(!begins(at, line));
	timerthread_destroy(one);
}
END_TEST

/* With the exact size, with one less, and with none. */
static void check_sizes(struct timerthread *const *t, size_t n,
			enum timerthread_format f)
{
	size_t length;

	format_of(t, n, f);
	length = strlen(page);
	ck_assert_int_eq(timerthread_format_metrics(t, n, f, NULL, 0),
			 (int)length);
	for (size_t size = length + 2; size >= length; size--) {
		memset(other, 'x', SIZE);
		ck_assert_int_eq(
			timerthread_format_metrics(t, n, f, other, size),
			(int)length);
		ck_assert_int_eq(strncmp(page, other, size - 1), 0);
		ck_assert_uint_eq(strlen(other),
				  size > length ? length : size - 1);
		ck_assert_int_eq(other[size], 'x');
	}
	memset(other, 'x', SIZE);
	ck_assert_int_eq(timerthread_format_metrics(t, n, f, other, 1),
			 (int)length);
	ck_assert(other[0] == '\0' && other[1] == 'x');
}

START_TEST(sizes)
{
	struct timerthread *const t[] = {make_used("a", 10), make("b")};

	for (size_t n = 1; n <= 2; n++) {
		check_sizes(t, n, OM);
		check_sizes(t, n, PROM);
	}
	timerthread_destroy(t[0]);
	timerthread_destroy(t[1]);
}
END_TEST

START_TEST(errors)
{
	static const int wrong[] = {2, -1, INT_MAX, INT_MIN};
	struct timerthread *const t[] = {make("a"), NULL, make("b")};

	strcpy(page, "x");
	errno = EDOM;
	for (int i = 0; i < 4; i++) {
		enum timerthread_format f = (enum timerthread_format)wrong[i];

		ck_assert_int_eq(
			timerthread_format_metrics(t, 1, f, page, SIZE),
			-EINVAL);
		ck_assert_int_eq(
			timerthread_format_metrics(t, 0, f, page, SIZE),
			-EINVAL);
	}
	ck_assert_int_eq(timerthread_format_metrics(t + 1, 1, PROM, page, SIZE),
			 -EINVAL);
	ck_assert_int_eq(timerthread_format_metrics(t, 1, PROM, NULL, 1),
			 -EINVAL);
	ck_assert_int_eq(timerthread_format_metrics(NULL, 1, OM, page, SIZE),
			 -EINVAL);
	for (size_t n = 2; n <= 3; n++)
		ck_assert_int_eq(
			timerthread_format_metrics(t, n, OM, page, SIZE),
			-EINVAL);
	ck_assert_int_eq(timerthread_format_metrics(t + 1, 2, OM, page, SIZE),
			 -EINVAL);
	ck_assert_int_eq(timerthread_format_metrics(t, 1, OM, NULL, 1),
			 -EINVAL);
	ck_assert_int_eq(timerthread_format_metrics(t, 0, OM, NULL, 1),
			 -EINVAL);
	ck_assert_str_eq(page, "x");
	ck_assert_int_eq(errno, EDOM);
	timerthread_destroy(t[0]);
	timerthread_destroy(t[2]);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		two_spellings, two_are_joined, none,   equal_names,
		many,          sizes,          errors,
	};

	return RUN_TESTS("formats", tests);
}
