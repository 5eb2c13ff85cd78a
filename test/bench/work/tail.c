/* SPDX-License-Identifier: MIT */
/*
 * How long a single schedule and a single cancel can take, with many in flight
 * a thread.  A reading of the clock is in each, as it is in the loop's own.
 */
#include "config.h"

#include "work.h"

#include <errno.h>
#include <stdlib.h>

/* Of each thread; the last that were measured. */
enum { SAMPLES = 1 << 20 };

static struct timers timers;
static size_t window;
static int64_t *schedule_took, *cancel_took;
static _Atomic size_t turns_of[64];

static void fill(int i)
{
	for (size_t k = 0; k < window; k++)
		must_schedule(timer_at(&timers, (size_t)i * window + k),
			      now_ns(), 10 * BENCH_S, ignore, NULL);
}

static long turn(int i)
{
	int64_t *s = schedule_took + (size_t)i * SAMPLES;
	int64_t *c = cancel_took + (size_t)i * SAMPLES;
	size_t n = 0;

	for (; !team_over(); n++) {
		void *t = timer_at(&timers, (size_t)i * window + n % window);
		int64_t a, b;

		a = now_ns();
		peer_cancel(t);
		b = now_ns();
		c[n % SAMPLES] = b - a;
		must_schedule(t, b, 10 * BENCH_S, ignore, NULL);
		s[n % SAMPLES] = now_ns() - b;
	}
	turns_of[i] = n;
	return (long)n;
}

static void empty(int i)
{
	for (size_t k = 0; k < window; k++)
		peer_cancel(timer_at(&timers, (size_t)i * window + k));
}

/* Moves all threads' samples together; returns how many there are. */
static size_t join(int64_t *samples, int threads)
{
	size_t n = 0;

	for (int i = 0; i < threads; i++) {
		size_t from = (size_t)i * SAMPLES, some = turns_of[i];

		if (some > SAMPLES)
			some = SAMPLES;
		for (size_t k = 0; k < some; k++)
			samples[n++] = samples[from + k];
	}
	return n;
}

int work_tail(void)
{
	struct team team = {.begin = fill, .turn = turn, .end = empty};
	struct cost c;
	size_t size;

	team.threads = (int)argument("threads", 2);
	window = (size_t)argument("window", 1000);
	team.ns = argument_ns("seconds", 0.5);
	if (team.threads < 1 || team.threads > 64 || window == 0)
		peer_die("threads or window", EINVAL);
	size = (size_t)team.threads * SAMPLES * sizeof(int64_t);
	schedule_took = calloc(1, size);
	cancel_took = calloc(1, size);
	if (!schedule_took || !cancel_took)
		peer_die("memory for samples", ENOMEM);
	timers = timers_new((size_t)team.threads * window);
	start_peer(team.threads, timers.n, 10 * BENCH_S);
	c = team_run(&team);
	result_cost(&c);
	result_percentiles("schedule_", schedule_took,
			   join(schedule_took, team.threads));
	result_percentiles("cancel_", cancel_took,
			   join(cancel_took, team.threads));
	peer_stop();
	free(schedule_took);
	free(cancel_took);
	timers_free(&timers);
	return 0;
}
