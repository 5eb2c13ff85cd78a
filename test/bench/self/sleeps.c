/* SPDX-License-Identifier: MIT */
/*
 * How often a timer thread goes to sleep, as the kernel counts it.
 */
#include "config.h"

#include "bench.h"

#include <errno.h>
#include <semaphore.h>
#include <unistd.h>

struct asked {
	struct sleeps *w;
	sem_t told;
};

static void tell(void *arg)
{
	struct asked *a = arg;

	a->w->tid = gettid();
	sem_post(&a->told);
}

void watch_sleeps(struct sleeps *w, struct timerthread *tt)
{
	struct asked a = {.w = w};

	sem_init(&a.told, 0, 0);
	check(timerthread_schedule(tt, 0, tell, &a, NULL),
	      "timerthread_schedule");
	while (sem_wait(&a.told) != 0)
		;
	sem_destroy(&a.told);
}

long sleeps(const struct sleeps *w)
{
	long n = sleeps_of(w->tid);

	check(n < 0 ? -ENOENT : 0, "the timer thread's status in /proc");
	return n;
}
