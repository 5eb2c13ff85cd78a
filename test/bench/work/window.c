/* SPDX-License-Identifier: MIT */
/*
 * What "pair", "spread" and "mixed" share: many timers in flight a thread, of
 * which the oldest is cancelled, and a new one scheduled.
 */
#include "config.h"

#include "work.h"

#include <errno.h>

static const struct window *w;
static struct timers timers;
static _Atomic uint64_t draws;
static _Atomic long failures;

/* Others each time, or a timer would be followed by one of its own timeout. */
static uint64_t new_random(void)
{
	return 88172645463325252u + draws++;
}

static inline int64_t choose(uint64_t *rng)
{
	const uint64_t range = (uint64_t)(w->most - w->least);

	if (range == 0)
		return w->least;
	return w->least + (int64_t)(next_random(rng) % (range + 1));
}

static void fill(int i)
{
	uint64_t rng = new_random();

	for (size_t k = 0; k < w->size; k++) {
		int64_t timeout = choose(&rng);

		must_schedule(timer_at(&timers, (size_t)i * w->size + k),
			      now_ns(), timeout, ignore, NULL);
	}
}

static long turn_over(int i)
{
	const size_t first = (size_t)i * w->size, end = first + w->size;
	uint64_t rng = new_random();
	long n = 0, failed = 0;

	for (size_t k = first; !team_over(); n++) {
		void *t = timer_at(&timers, k);
		int64_t timeout;

		failed += peer_cancel(t) != 1;
		timeout = choose(&rng);
		failed +=
			peer_schedule(t, now_ns(), timeout, ignore, NULL) != 0;
		if (++k == end)
			k = first;
	}
	failures += failed;
	return n;
}

static long turn(int i)
{
	long n;

	if (i == 0 && w->watch)
		w->watch();
	n = turn_over(i);
	if (i == 0 && w->watch)
		w->watch();
	return n;
}

static void empty(int i)
{
	for (size_t k = 0; k < w->size; k++)
		peer_cancel(timer_at(&timers, (size_t)i * w->size + k));
}

int window_run(const struct window *window)
{
	const struct team team = {window->threads, window->ns, fill, turn,
				  empty};
	const size_t n = (size_t)window->threads * window->size;
	struct cost c;

	w = window;
	if (w->size == 0 || w->least > w->most)
		peer_die("window or timeouts", EINVAL);
	timers = timers_new(n);
	start_peer(w->threads + 1, n + w->beside,
		   w->least == w->most ? w->least : 0);
	if (w->begin)
		w->begin();
	c = team_run(&team);
	if (w->end)
		w->end();
	result_cost(&c);
	result("failed", (double)failures);
	peer_stop();
	timers_free(&timers);
	return 0;
}
