/* SPDX-License-Identifier: MIT */
/*
 * pair: the CPU time of a timer that is scheduled for some minutes ahead and
 * cancelled, by the calls of FRR's event loop, beside a thousand others.
 */
#include <zebra.h>

#include "thread.h"

enum { OTHERS = 1000, PAIRS = 200000, ROUNDS = 9 };

static void nothing(struct thread *thread)
{
}

static int64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t pairs(struct thread_master *m)
{
	struct thread *timer = NULL;
	int64_t begin = cpu_time();

	for (int i = 0; i < PAIRS; i++) {
		thread_add_timer(m, nothing, NULL, 1 + i % 300, &timer);
		thread_cancel(&timer);
	}
	return (cpu_time() - begin) / PAIRS;
}

int main(void)
{
	struct thread_master *m = thread_master_create(NULL);
	struct thread fetched;
	int64_t best = INT64_MAX;

	for (int i = 0; i < OTHERS; i++)
		thread_add_timer_msec(m, nothing, NULL, 10000 + i * 300, NULL);
	thread_add_timer_msec(m, nothing, NULL, 1, NULL);
	if (!thread_fetch(m, &fetched)) /* the loop has run once */
		return 1;
	thread_call(&fetched);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t ns = pairs(m);

		best = ns < best ? ns : best;
	}
	printf("pair_ns %lld\n", (long long)best);
	thread_master_free(m);
	return 0;
}
