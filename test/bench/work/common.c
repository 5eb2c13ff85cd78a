/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t most_timers(void)
{
	return peer.timers_limit ? *peer.timers_limit : peer.timers_most;
}

void start_peer(int threads, size_t pending, int64_t timeout)
{
	size_t most = most_timers();

	if (most != 0 && pending > most)
		skip("more timers than it can have");
	peer_start(&(struct peer_setup){threads, pending, timeout});
}

struct timers timers_new(size_t n)
{
	struct timers t = {.n = n};
	/* Whole, so that it is not counted as memory of the facility. */
	size_t size = n * peer.timer_size + 1;

	if (posix_memalign((void **)&t.memory, 64, size) != 0)
		peer_die("memory for timers", ENOMEM);
	memset(t.memory, 0, size);
	return t;
}

void timers_free(struct timers *t)
{
	free(t->memory);
}

void must_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		   void *arg)
{
	int r = peer_schedule(timer, now, delay, fn, arg);

	if (r != 0)
		peer_die("schedule", -r);
}

void ignore(void *arg)
{
	(void)arg;
}

void result_percentiles(const char *prefix, int64_t *values, size_t n)
{
	static const struct {
		const char *name;
		double p;
	} p[] = {{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}};

	for (size_t i = 0; i < 4; i++) {
		char key[64];

		snprintf(key, sizeof(key), "%s%s", prefix, p[i].name);
		result(key, (double)percentile(values, n, p[i].p));
	}
}
