/* SPDX-License-Identifier: MIT */
/*
 * How late a single timer 1 to 20 ms ahead fires on an idle machine.  The
 * yardstick, taken in turn with it, is a bare absolute futex wait on a thread
 * with a timer slack of 1 ns.
 */
#include "config.h"

#include "bench.h"

#include <linux/futex.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SAMPLES = 1000 };

static int64_t deadline, late;
static sem_t fired;

static void fire(void *arg)
{
	(void)arg;
	late = now_ns() - deadline;
	sem_post(&fired);
}

static int64_t late_timer(struct timerthread *tt)
{
	check(timerthread_schedule(tt, deadline, fire, NULL, NULL),
	      "timerthread_schedule");
	sem_wait(&fired);
	return late;
}

static int64_t late_futex(void)
{
	struct timespec t = {deadline / BENCH_S, deadline % BENCH_S};
	unsigned word = 0;

	syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &t,
		NULL, FUTEX_BITSET_MATCH_ANY);
	return now_ns() - deadline;
}

void bench_sparse(const struct bench_options *o)
{
	static int64_t timer[MAX_SAMPLES], futex[MAX_SAMPLES];
	struct series p50_timer = {.n = 0}, p50_futex = {.n = 0};
	struct series ratio = {.n = 0};
	size_t n = o->quick ? 50 : 150;
	struct timerthread *tt = start_timers();
	unsigned early = 0;

	sem_init(&fired, 0, 0);
	prctl(PR_SET_TIMERSLACK, 1UL);
	srandom(1);
	for (int round = 0; round < o->rounds; round++) {
		for (size_t i = 0; i < n; i++) {
			int64_t ahead = BENCH_MS + random() % (19 * BENCH_MS);

			deadline = now_ns() + ahead;
			futex[i] = late_futex();
			deadline = now_ns() + ahead;
			timer[i] = late_timer(tt);
			early += timer[i] < 0;
		}
		series_add(&p50_timer,
			   (double)percentile(timer, n, 0.5) / 1000);
		series_add(&p50_futex,
			   (double)percentile(futex, n, 0.5) / 1000);
		series_add(&ratio, (double)percentile(timer, n, 0.5) /
					   (double)percentile(futex, n, 0.5));
	}
	prctl(PR_SET_TIMERSLACK, 0UL);
	timerthread_destroy(tt);
	sem_destroy(&fired);
	print_series("bare futex wait, p50 late", &p50_futex, "us");
	print_series("timer, p50 late", &p50_timer, "us");
	print_target("timer / futex wait", &ratio, "x", 1.15);
	print_figure("early", early, "", 0);
}
