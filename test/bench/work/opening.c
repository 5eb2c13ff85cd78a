/* SPDX-License-Identifier: MIT */
/*
 * Timers that were scheduled long before they are due, each for a random moment
 * within a span of time.  How late are those of the first tenth of what is
 * watched, and the others?
 *
 * Each callback touches what it is given; one of 16 looks at the clock.
 */
#include "config.h"

#include "work.h"

#include <errno.h>
#include <stdlib.h>

enum { SAMPLED = 16 };

struct record {
	int64_t deadline; /* 0: its time is not looked at */
	int64_t ran;      /* 0: not yet */
};

static struct timers timers;
static struct record *records;

static void fire(void *arg)
{
	struct record *r = arg;

	r->ran = r->deadline ? now_ns() : 1;
}

static void schedule_all(int64_t first, int64_t span)
{
	uint64_t rng = 88172645463325252u;

	for (size_t i = 0; i < timers.n; i++) {
		int64_t now = now_ns();
		int64_t deadline =
			first + (int64_t)(next_random(&rng) % (uint64_t)span);

		records[i].deadline = i % SAMPLED == 0 ? deadline : 0;
		must_schedule(timer_at(&timers, i), now, deadline - now, fire,
			      &records[i]);
	}
	if (now_ns() >= first)
		skip("the timers were not scheduled in time: more after=");
}

static int64_t *late;

/* Of those that are due from one moment until another. */
static void report(const char *prefix, int64_t from, int64_t until)
{
	size_t n = 0;

	for (size_t i = 0; i < timers.n; i += SAMPLED) {
		const struct record *r = &records[i];

		if (r->deadline >= from && r->deadline < until && r->ran > 0)
			late[n++] = r->ran - r->deadline;
	}
	if (n > 0)
		result_percentiles(prefix, late, n);
}

static double count_lost(int64_t until)
{
	double lost = 0;

	for (size_t i = 0; i < timers.n; i += SAMPLED) {
		const struct record *r = &records[i];

		lost += r->deadline < until && r->ran == 0;
	}
	return lost;
}

int work_opening(void)
{
	int64_t span = argument_ns("span", 10), watched, first, cpu, now;

	timers = timers_new((size_t)argument("count", 5000000));
	watched = argument_ns("watched", (double)span / 1e9);
	records = calloc(timers.n, sizeof(*records));
	late = calloc(timers.n / SAMPLED + 1, sizeof(*late));
	if (span <= 0 || watched <= 0 || watched > span)
		peer_die("span or watched", EINVAL);
	if (!records || !late)
		peer_die("memory for records", ENOMEM);
	start_peer(1, timers.n, 0);
	peer_enter();
	first = now_ns() + argument_ns("after", 3);
	schedule_all(first, span);
	cpu = process_cpu_ns();
	now = first + watched;
	sleep_until_ns(now + BENCH_S / 2);
	cpu = process_cpu_ns() - cpu;
	peer_leave();
	peer_stop();
	report("first_", first, first + watched / 10);
	report("rest_", first + watched / 10, now);
	result("cpu_ns", (double)cpu / ((double)timers.n * (double)watched /
					(double)span));
	result("lost", count_lost(now));
	free(late);
	free(records);
	timers_free(&timers);
	return 0;
}
