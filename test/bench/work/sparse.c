/* SPDX-License-Identifier: MIT */
/*
 * One timer at a time, half a millisecond to five ahead, in a process that has
 * nothing else to do: how late, and for how much CPU time?  The yardstick is
 * "sleeps".
 */
#include "config.h"

#include "work.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

static int64_t ran_at;
static sem_t ran;

static void fire(void *arg)
{
	(void)arg;
	ran_at = now_ns();
	sem_post(&ran);
}

static int64_t fire_one(void *timer, int64_t delay)
{
	int64_t now = now_ns();

	must_schedule(timer, now, delay, fire, NULL);
	while (sem_wait(&ran) != 0)
		;
	return ran_at - now - delay;
}

int work_sparse(void)
{
	size_t n = (size_t)argument("count", 300);
	int64_t *late = malloc(n * sizeof(*late)), cpu;
	struct timers timers = timers_new(1);
	uint64_t rng = 88172645463325252u;
	double early = 0;

	if (!late)
		peer_die("memory for results", ENOMEM);
	sem_init(&ran, 0, 0);
	start_peer(1, 1, 0);
	peer_enter();
	fire_one(timers.memory, BENCH_MS);
	cpu = process_cpu_ns();
	for (size_t i = 0; i < n; i++) {
		int64_t delay = (int64_t)(next_random(&rng) % 4500000) + 500000;

		late[i] = fire_one(timers.memory, delay);
		early += late[i] < 0;
	}
	result("cpu_ns", (double)(process_cpu_ns() - cpu) / (double)n);
	peer_leave();
	peer_stop();
	result_percentiles("late_", late, n);
	result("early", early);
	sem_destroy(&ran);
	free(late);
	timers_free(&timers);
	return 0;
}
