/* SPDX-License-Identifier: MIT */
/*
 * What timerthread_format_metrics writes as OpenMetrics, and timerthread_dump.
 * The other format, and pages of several instances: test_formats.c.  That it is
 * OpenMetrics is for others to say: test/formats.sh and metrics.sh.
 */
#include "config.h"

#include "timers.h"

#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#define OM TIMERTHREAD_FORMAT_OPENMETRICS

enum { SIZE = 1 << 16 };

static char page[SIZE];

static void format(void)
{
	int n = timerthread_format_metrics(&tt, 1, OM, page, SIZE);

	ck_assert_int_gt(n, 0);
	ck_assert_int_lt(n, SIZE);
	ck_assert_uint_eq(strlen(page), (size_t)n);
}

/* The line that begins so, of which there is one; what is behind that. */
static const char *line(const char *text, const char *begin)
{
	const char *found = NULL;

	for (const char *l = text; l; l = strchr(l, '\n')) {
		l += *l == '\n';
		if (strncmp(l, begin, strlen(begin)) == 0) {
			ck_assert_msg(!found, "two lines: %s", begin);
			found = l + strlen(begin);
		}
	}
	ck_assert_msg(found != NULL, "no line: %s", begin);
	return found;
}

static void check_number(const char *name, enum timerthread_stat which)
{
	char begin[80];

	snprintf(begin, sizeof(begin), "timerthread_%s{name=\"timerthread\"} ",
		 name);
	ck_assert_uint_eq(strtoull(line(page, begin), NULL, 10),
			  stat_of(which));
}

static void check_seconds(const char *name, enum timerthread_stat which)
{
	char begin[80], *end;
	uint64_t s, ns;

	snprintf(begin, sizeof(begin), "timerthread_%s{name=\"timerthread\"} ",
		 name);
	s = strtoull(line(page, begin), &end, 10);
	ck_assert_int_eq(*end, '.');
	ns = strtoull(end + 1, &end, 10);
	ck_assert_int_eq(*end, '\n');
	ck_assert_uint_eq(s * 1000000000 + ns, stat_of(which));
}

static void check_page(void)
{
	format();
	check_number("pending_timers", TIMERTHREAD_STAT_PENDING);
	check_number("running_timers", TIMERTHREAD_STAT_RUNNING);
	check_number("dead_timers", TIMERTHREAD_STAT_DEAD);
	check_number("slots", TIMERTHREAD_STAT_SLOTS);
	check_number("memory_bytes", TIMERTHREAD_STAT_BYTES);
	check_number("scheduled_timers_total", TIMERTHREAD_STAT_SCHEDULED);
	check_number("cancelled_timers_total", TIMERTHREAD_STAT_CANCELLED);
	check_number("drained_timers_total", TIMERTHREAD_STAT_DRAINED);
	check_number("recycled_timers_total", TIMERTHREAD_STAT_RECYCLED);
	check_number("fired_callbacks_total", TIMERTHREAD_STAT_FIRED);
	check_number("rescheduled_calls_total", TIMERTHREAD_STAT_RESCHEDULED);
	check_number("capped_calls_total", TIMERTHREAD_STAT_CAPPED);
	check_number("no_memory_calls_total", TIMERTHREAD_STAT_NO_MEMORY);
	check_number("wakeups_total", TIMERTHREAD_STAT_WAKEUPS);
	check_number("early_wakeups_total", TIMERTHREAD_STAT_EARLY_WAKEUPS);
	check_seconds("awake_seconds_total", TIMERTHREAD_STAT_AWAKE_TIME);
	check_seconds("longest_run_seconds", TIMERTHREAD_STAT_LONGEST_RUN);
	check_seconds("largest_lateness_seconds",
		      TIMERTHREAD_STAT_LARGEST_LATENESS);
	check_seconds("run_seconds_sum", TIMERTHREAD_STAT_RUN_TIME);
	check_number("run_seconds_count", TIMERTHREAD_STAT_FIRED);
	check_number("lateness_seconds_count", TIMERTHREAD_STAT_FIRED);
	ck_assert_str_eq(strstr(page, "# EOF"), "# EOF\n");
}

/* After the stop nothing changes any more. */
START_TEST(the_same_as_the_stats)
{
	setup();
	ck_assert_int_eq(timerthread_set_max_timers(tt, 100), 0);
	check_page();
	ck_assert_int_eq(driver_start(tt), 0);
	for (int i = 0; i < 99; i++) {
		timerthread_id id =
			schedule(timerthread_now(tt) + HOUR, never, NULL);

		if (i % 3 == 0)
			ck_assert_int_eq(timerthread_cancel(tt, id), 0);
		if (i % 3 == 1)
			ck_assert_int_eq(timerthread_reschedule(
						 tt, id, TIMERTHREAD_NEVER),
					 0);
	}
	for (int i = 0; i < 10; i++) {
		schedule(0, post, &ran);
		wait_for(&ran);
		wait_for_places(34);
	}
	for (int i = 0; i < 35; i++)
		timerthread_schedule(tt, TIMERTHREAD_NEVER, never, NULL, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_page();
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_CAPPED), 1);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_FIRED), 10);
	end();
}
END_TEST

/* The numbers of a histogram's lines do not get smaller, up to the count. */
START_TEST(histograms_add_up)
{
	static const char bucket[] = "timerthread_run_seconds_bucket";
	uint64_t last = 0;
	int n = 0;

	start();
	for (int i = 0; i < 10; i++) {
		schedule(0, post, &ran);
		wait_for(&ran);
	}
	ck_assert_int_eq(timerthread_stop(tt), 0);
	format();
	for (const char *l = strstr(page, bucket); l; l = strstr(l, bucket)) {
		uint64_t now;

		l = strchr(l, '}') + 2;
		now = strtoull(l, NULL, 10);
		ck_assert_uint_ge(now, last);
		last = now;
		n++;
	}
	ck_assert_int_gt(n, 20);
	ck_assert_uint_eq(last, 10);
	end();
}
END_TEST

static void linger(void *arg)
{
	int64_t until = clock_now(CLOCK_MONOTONIC) + 100000;

	while (clock_now(CLOCK_MONOTONIC) <= until)
		;
	sem_post(arg);
}

/* A line counts what is no longer than its limit. */
START_TEST(limits)
{
	static const char bucket[] = "timerthread_run_seconds_bucket";
	uint64_t longest, limit;
	int n = 0;

	start();
	schedule(0, linger, &ran);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	longest = stat_of(TIMERTHREAD_STAT_LONGEST_RUN);
	ck_assert_uint_gt(longest, 100000);
	format();
	for (const char *l = strstr(page, bucket); l; l = strstr(l, bucket)) {
		char *end;

		l = strstr(l, "le=\"") + strlen("le=\"");
		if (*l == '+')
			continue;
		limit = strtoull(l, &end, 10) * 1000000000;
		limit += strtoull(end + 1, &end, 10);
		ck_assert_uint_eq(strtoull(end + strlen("\"} "), NULL, 10),
				  longest <= limit);
		n++;
	}
	ck_assert_int_gt(n, 20);
	end();
}
END_TEST

START_TEST(sizes)
{
	static char part[SIZE];
	int n;

	start();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	format();
	n = (int)strlen(page);
	ck_assert_int_eq(timerthread_format_metrics(&tt, 1, OM, NULL, 0), n);
	for (int size = 1; size <= n + 1; size += size < n - 2 ? 97 : 1) {
		memset(part, 'x', SIZE);
		ck_assert_int_eq(timerthread_format_metrics(&tt, 1, OM, part,
							    (size_t)size),
				 n);
		ck_assert_int_eq(strncmp(part, page, (size_t)size - 1), 0);
		ck_assert_uint_eq(strlen(part), (size_t)size - 1);
		ck_assert_int_eq(part[size], 'x');
	}
	ck_assert_int_eq(timerthread_format_metrics(NULL, 1, OM, page, SIZE),
			 -EINVAL);
	ck_assert_int_eq(timerthread_format_metrics(&tt, 1, OM, NULL, 1),
			 -EINVAL);
	end();
}
END_TEST

/* The current run is told while it lasts. */
START_TEST(a_callback_that_hangs)
{
	start();
	hold_thread();
	format();
	ck_assert_int_ne(strncmp(line(page, "timerthread_current_run_seconds"
					    "{name=\"timerthread\"} "),
				 "0.000000000", 11),
			 0);
	sem_post(&go);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	format();
	line(page,
	     "timerthread_current_run_seconds{name=\"timerthread\"} 0.0000000");
	end();
}
END_TEST

static int how_often(const char *what)
{
	int n = 0;

	for (const char *at = page; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void check_label(const char *name, const char *label)
{
	char begin[80];

	setup();
	ck_assert_int_eq(timerthread_set_name(tt, name), 0);
	format();
	snprintf(begin, sizeof(begin), "timerthread_slots{name=\"%s\"} 0",
		 label);
	line(page, begin);
	end();
}

START_TEST(labels)
{
	check_label("a b", "a b");
	check_label("\"", "\\\"");
	check_label("\\\\\"\"\\\\\"\"\\\\\"\"\\\\\"",
		    "\\\\\\\\\\\"\\\"\\\\\\\\\\\"\\\"\\\\\\\\\\\"\\\"\\\\\\\\"
		    "\\\"");
	check_label("a\nb\t\x7f", "a_b__");
	check_label("\xc3\xa4", "__");
}
END_TEST

/* A number has twenty digits at most. */
START_TEST(the_longest_page)
{
	check_label("\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"",
		    "\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\""
		    "\\\"");
	ck_assert_uint_lt(strlen(page) + 19 * (size_t)how_often("{name="),
			  16384);
}
END_TEST

/* Whether a report is written while the instance's mutex is held. */
static bool blocks;

ssize_t write(int fd, const void *from, size_t n)
{
	struct iovec one = {(void *)(uintptr_t)from, n};

	if (tt && pthread_mutex_trylock(&tt->mutex) == 0)
		pthread_mutex_unlock(&tt->mutex);
	else
		blocks = true;
	return writev(fd, &one, 1);
}

static void dump(void)
{
	FILE *f = tmpfile();
	int n;

	ck_assert_ptr_nonnull(f);
	n = timerthread_dump(tt, fileno(f));
	ck_assert_int_gt(n, 0);
	ck_assert_int_lt(n, SIZE);
	ck_assert_int_eq((int)lseek(fileno(f), 0, SEEK_END), n);
	rewind(f);
	page[fread(page, 1, SIZE - 1, f)] = '\0';
	fclose(f);
}

/* Twenty of them, the earliest ones, and in order. */
static void check_nearest(void)
{
	const char *l = line(page, "nearest deadlines\n");
	uint64_t s, last = 0;
	int n = 0;

	for (; *l; l = strchr(l, '\n') + 1) {
		s = strtoull(strstr(l, " in ") + strlen(" in "), NULL, 10);
		ck_assert_uint_ge(s, last);
		ck_assert_uint_lt(s, 3600 * (uint64_t)(n + 2));
		last = s;
		n++;
	}
	ck_assert_int_eq(n, 20);
}

static void slow(timerthread_id id, timerthread_fn *fn, void *arg,
		 int64_t run_time, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)run_time;
	(void)ctx;
}

START_TEST(dumps)
{
	timerthread_id held, next, prepared;
	const char *l;
	char begin[80];
	int closed = open_files() + 100;

	ck_assert_int_eq(timerthread_dump(NULL, 1), -EINVAL);
	setup();
	dump();
	line(page, "not started");
	for (int error = 0; error < 2; error++) {
		errno = error;
		ck_assert_int_eq(timerthread_dump(tt, closed), -EBADF);
		ck_assert_int_eq(timerthread_dump(tt, -1), -EBADF);
		ck_assert_int_eq(errno, error);
	}
	ck_assert_int_eq(driver_start(tt), 0);
	held = hold_thread();
	next = every(timerthread_now(tt) + HOUR, 2 * HOUR, never, &next);
	ck_assert_int_eq(timerthread_prepare(tt, never, NULL, &prepared), 0);
	ck_assert_int_eq(timerthread_reschedule(tt, prepared,
						timerthread_now(tt) + HOUR),
			 0);
	for (int i = 99; i-- > 0;)
		schedule(timerthread_now(tt) + (i + 2) * HOUR, never, NULL);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	dump();
	line(page, "running; driver: ");
	line(page, "  scheduled_timers: 103\n");
	snprintf(begin, sizeof(begin), "  %#018" PRIx64 " for 0.", held);
	line(page, begin);
	snprintf(begin, sizeof(begin), "  %#018" PRIx64 " in ", next);
	ck_assert_ptr_nonnull(
		strstr(line(page, begin), "every 7200.000000000 s"));
	/* One that was prepared does not repeat. */
	snprintf(begin, sizeof(begin), "  %#018" PRIx64 " in ", prepared);
	l = line(page, begin);
	ck_assert_int_eq(strncmp(l + strspn(l, "0123456789."), " s: ", 4), 0);
	check_nearest();
	sem_post(&go);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	dump();
	line(page, "stopped");
	end();
}
END_TEST

/* Who reads may be slow, and others need the mutex. */
START_TEST(dumps_without_the_mutex)
{
	setup();
	ck_assert_int_eq(timerthread_set_name(tt, "fifteen letters"), 0);
	ck_assert_int_eq(timerthread_set_slow_hook(tt, 1, slow, NULL), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, INT64_MIN), 0);
	blocks = false;
	dump();
	ck_assert(!blocks);
	end();
}
END_TEST

/* From the present, which the clock does not leave meanwhile. */
START_TEST(dumps_how_far_deadlines_are)
{
	static const struct {
		int64_t deadline;
		const char *text;
	} timers[] = {
		{INT64_MIN, "9223372046.854775808 s ago"},
		{4000000000, "6.000000000 s ago"},
		{9999999999, "0.000000001 s ago"},
		{10000000000, "0.000000000 s ago"},
		{12500000000, "in 2.500000000 s"},
		{TIMERTHREAD_NEVER - 1, "in 9223372026.854775806 s"},
		{TIMERTHREAD_NEVER, "never"},
	};
	const size_t n = sizeof(timers) / sizeof(timers[0]);
	const char *l;

	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, 10000000000), 0);
	for (size_t i = 0; i < n; i++)
		schedule(timers[i].deadline, never, NULL);
	dump();
	ck_assert_ptr_nonnull(
		strstr(page, "first arrival: 9223372046.854775808 s ago\n"));
	l = line(page, "nearest deadlines\n");
	for (size_t i = 0; i < n; i++, l = strchr(l, '\n') + 1) {
		char expected[80];

		/* Behind the id. */
		snprintf(expected, sizeof(expected), " %s: ", timers[i].text);
		ck_assert_msg(strncmp(l + 20, expected, strlen(expected)) == 0,
			      "not %s: %.80s", expected, l);
	}
	timerthread_destroy(tt);
}
END_TEST

/* What is known of a function: its file and name, its file, or nothing. */
START_TEST(dumps_names)
{
	timerthread_fn *const nowhere = (timerthread_fn *)(uintptr_t)16;

	setup();
	ck_assert_int_eq(timerthread_set_slow_hook(tt, 5 * MS, slow, NULL), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	schedule(timerthread_now(tt) + HOUR, free, NULL);
	schedule(timerthread_now(tt) + 2 * HOUR, never, NULL);
	schedule(timerthread_now(tt) + 3 * HOUR, nowhere, NULL);
	dump();
	ck_assert_ptr_nonnull(strstr(page, "free+0)"));
	ck_assert_ptr_nonnull(strstr(page, "test_metrics+0x"));
	ck_assert_ptr_nonnull(strstr(page, ": 0x10,"));
	ck_assert_ptr_nonnull(strstr(page, "slow hook after: 0.005000000 s\n"));
	end();
}
END_TEST

START_TEST(dumps_each_clock)
{
	static const struct {
		clockid_t clock;
		const char *name;
	} clocks[] = {
		{CLOCK_MONOTONIC, "monotonic"},
		{CLOCK_REALTIME, "realtime"},
		{CLOCK_BOOTTIME, HAS_BOOTTIME ? "boottime" : "monotonic"},
	};

	for (size_t i = 0; i < 3; i++) {
		setup();
		ck_assert_int_eq(timerthread_set_clock(tt, clocks[i].clock), 0);
		dump();
		ck_assert_ptr_nonnull(strstr(page, clocks[i].name));
		end();
	}
	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	dump();
	ck_assert_ptr_nonnull(strstr(page, "virtual"));
	end();
}
END_TEST

/* Runs again and again, but not for ever. */
static void busy(void *arg)
{
	unsigned *runs = arg;
	timerthread_id id;
	int64_t until = timerthread_now(NULL) + TIMERTHREAD_USEC;

	while (timerthread_now(NULL) < until)
		continue;
	if (++*runs == 100000 && timerthread_get_current(NULL, &id) == 0)
		timerthread_cancel(tt, id);
	post(&ran);
}

/* Of one timer's runs one at most, though another begins at each look. */
START_TEST(dumps_what_runs_at_one_moment)
{
	unsigned runs = 0;
	timerthread_id id;

	start();
	id = every(0, 1, busy, &runs);
	wait_for(&ran);
	for (int i = 0; i < 100; i++) {
		dump();
		ck_assert_int_le(how_often(" for 0."), 1);
	}
	timerthread_cancel_wait(tt, id);
	end();
}
END_TEST

static atom32 over;

static void *work(void *arg)
{
	while (!atom32_load_acquire(&over)) {
		timerthread_id id =
			schedule(timerthread_now(tt) + MS, post, &ran);

		timerthread_reschedule(tt, id, timerthread_now(tt) + 2 * MS);
		timerthread_cancel(tt, id);
		schedule(0, post, &ran);
	}
	return arg;
}

/* Both look at all while everything else goes on. */
START_TEST(while_others_work)
{
	pthread_t t;

	start();
	ck_assert_int_eq(pthread_create(&t, NULL, work, NULL), 0);
	for (int i = 0; i < 50; i++) {
		format();
		dump();
	}
	atom32_store_release(&over, 1);
	pthread_join(t, NULL);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_same_as_the_stats,
		histograms_add_up,
		limits,
		sizes,
		a_callback_that_hangs,
		labels,
		the_longest_page,
		dumps,
		dumps_without_the_mutex,
		dumps_how_far_deadlines_are,
		dumps_names,
		dumps_each_clock,
		dumps_what_runs_at_one_moment,
		while_others_work,
	};

	return RUN_TESTS("metrics", tests);
}
