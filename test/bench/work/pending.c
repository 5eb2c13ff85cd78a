/* SPDX-License-Identifier: MIT */
/*
 * Many pending, an hour ahead and more: what does each take, what does a pair
 * cost on top of them, and how long does it take to cancel them all?
 */
#include "config.h"

#include "work.h"

static struct timers timers;
static void *extra;

static void schedule_all(void)
{
	uint64_t rng = 88172645463325252u;
	long before = resident_bytes();
	int64_t cpu = process_cpu_ns();

	for (size_t i = 0; i + 1 < timers.n; i++) {
		int64_t delay = 3600 * BENCH_S +
				(int64_t)(next_random(&rng) % 3600000000000u);

		must_schedule(timer_at(&timers, i), now_ns(), delay, ignore,
			      NULL);
	}
	result("schedule_ns",
	       (double)(process_cpu_ns() - cpu) / (double)(timers.n - 1));
	/* What the workload gave it counts too. */
	result("bytes",
	       (double)(resident_bytes() - before) / (double)(timers.n - 1) +
		       (double)peer.timer_size);
}

static void cancel_all(void)
{
	int64_t cpu = process_cpu_ns(), wall = now_ns();
	double failed = 0;

	for (size_t i = 0; i + 1 < timers.n; i++)
		failed += peer_cancel(timer_at(&timers, i)) != 1;
	result("cancel_ns",
	       (double)(process_cpu_ns() - cpu) / (double)(timers.n - 1));
	result("cancel_all_ms", (double)(now_ns() - wall) / 1e6);
	result("failed", failed);
}

static void nothing(int i)
{
	(void)i;
}

static long turn(int i)
{
	long n = 0;

	(void)i;
	for (; !team_over(); n++) {
		must_schedule(extra, now_ns(), 10 * BENCH_S, ignore, NULL);
		peer_cancel(extra);
	}
	return n;
}

int work_pending(void)
{
	size_t n = (size_t)argument("count", 1000000);
	struct team team = {1, argument_ns("seconds", 0.5), nothing, turn,
			    nothing};
	struct cost c;

	timers = timers_new(n + 1);
	extra = timer_at(&timers, n);
	start_peer(2, n + 1, 0);
	peer_enter();
	schedule_all();
	c = team_run(&team);
	result_cost(&c);
	cancel_all();
	peer_leave();
	peer_stop();
	timers_free(&timers);
	return 0;
}
