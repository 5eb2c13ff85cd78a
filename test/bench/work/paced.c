/* SPDX-License-Identifier: MIT */
/*
 * A server under a steady load: so many requests a second, each with a timer
 * that is cancelled 10 ms later.  One thread wakes each millisecond and does
 * what has come up since.  What does the facility's thread cost meanwhile, how
 * often does it wake, and what becomes of the memory?
 */
#include "config.h"

#include "work.h"

enum { LIFE_MS = 10 };

static struct timers timers;
static size_t scheduled, cancelled;
static int64_t timeout, failures;
static double rate;

/* All that is to be scheduled until then, and cancelled. */
static void catch_up(int64_t elapsed)
{
	size_t to_schedule = (size_t)(rate * (double)elapsed / 1e9);
	size_t to_cancel = 0;

	if (elapsed > LIFE_MS * BENCH_MS)
		to_cancel =
			(size_t)(rate * (double)(elapsed - LIFE_MS * BENCH_MS) /
				 1e9);
	while (cancelled < to_cancel && cancelled < scheduled)
		failures += peer_cancel(timer_at(&timers,
						 cancelled++ % timers.n)) != 1;
	while (scheduled < to_schedule && scheduled - cancelled < timers.n)
		must_schedule(timer_at(&timers, scheduled++ % timers.n),
			      now_ns(), timeout, ignore, NULL);
}

static void cancel_rest(void)
{
	while (cancelled < scheduled)
		peer_cancel(timer_at(&timers, cancelled++ % timers.n));
}

static void run(int64_t ns)
{
	int64_t start = now_ns(), cpu = process_cpu_ns();
	long before = resident_bytes(), early = 0, most = 0, sleeps;

	sleeps = others_sleeps();
	for (int64_t t = BENCH_MS; t <= ns; t += BENCH_MS) {
		long now;

		sleep_until_ns(start + t);
		catch_up(now_ns() - start);
		/* Not each time: it reads a file. */
		if (t % (50 * BENCH_MS) != 0)
			continue;
		now = resident_bytes();
		most = now > most ? now : most;
		if (t <= ns / 10)
			early = now;
	}
	result("cpu_ns", (double)(process_cpu_ns() - cpu) / (double)scheduled);
	result("wakeups_s", (double)(others_sleeps() - sleeps) * 1e9 /
				    (double)(now_ns() - start));
	result("memory", (double)(most - before));
	result("growth", (double)(resident_bytes() - early));
	result("turns", (double)scheduled);
}

int work_paced(void)
{
	int64_t ns;

	rate = (double)argument("rate", 20000);
	timeout = argument_ns("timeout", 1);
	ns = argument_ns("seconds", 3);
	/* Room for a pause of 20 ms. */
	timers = timers_new((size_t)(rate / 1000 * LIFE_MS * 3) + 100);
	start_peer(1, timers.n, timeout);
	peer_enter();
	run(ns);
	cancel_rest();
	peer_leave();
	result("failed", (double)failures);
	peer_stop();
	timers_free(&timers);
	return 0;
}
