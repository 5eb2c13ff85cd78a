/* SPDX-License-Identifier: MIT */
/*
 * What a timer that expires costs, by who runs it: the CPU time to schedule it
 * and run an empty callback, 100,000 at a time, next to that of the thread.
 * The executor calls what it gets at once, so that its own cost is not in it.
 *
 * And what it costs to schedule a timer that is earlier than all others, where
 * an event loop polls: that is a system call.
 */
#include "config.h"

#include "bench.h"

#include <poll.h>
#include <stdio.h>

enum { TIMERS = 100000, EARLIER = 10000 };

static long ran;

static void count(void *arg)
{
	(void)arg;
	__atomic_add_fetch(&ran, 1, __ATOMIC_RELEASE);
}

static bool all_ran(void)
{
	return __atomic_load_n(&ran, __ATOMIC_ACQUIRE) == TIMERS;
}

static int run_at_once(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	run(arg);
	return 0;
}

static int fd;

static void start_thread(struct timerthread *tt)
{
	check(timerthread_start(tt, NULL), "timerthread_start");
}

static void start_executor(struct timerthread *tt)
{
	check(timerthread_set_executor(tt, run_at_once, NULL),
	      "timerthread_set_executor");
	start_thread(tt);
}

static void start_polled(struct timerthread *tt)
{
	check(timerthread_start_polled(tt, &fd), "timerthread_start_polled");
}

static void start_virtual(struct timerthread *tt)
{
	check(timerthread_start_virtual(tt, now_ns()),
	      "timerthread_start_virtual");
}

static void wait_for_thread(struct timerthread *tt)
{
	struct timespec ms = {0, 1000000};

	(void)tt;
	while (!all_ran())
		nanosleep(&ms, NULL);
}

static void wait_polled(struct timerthread *tt)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	while (!all_ran()) {
		poll(&p, 1, -1);
		check(timerthread_dispatch(tt), "timerthread_dispatch");
	}
}

static void wait_virtual(struct timerthread *tt)
{
	check(timerthread_advance(tt, 20 * BENCH_MS), "timerthread_advance");
}

static const struct {
	const char *name;
	void (*start)(struct timerthread *tt);
	void (*wait)(struct timerthread *tt);
} drivers[] = {
	{"the instance's thread", start_thread, wait_for_thread},
	{"dispatch", start_polled, wait_polled},
	{"advance", start_virtual, wait_virtual},
	{"an executor", start_executor, wait_for_thread},
};

#define DRIVERS (sizeof(drivers) / sizeof(drivers[0]))

static struct timerthread *start(size_t driver)
{
	struct timerthread *tt;

	check(timerthread_create(&tt), "timerthread_create");
	drivers[driver].start(tt);
	return tt;
}

/* They come due while they are scheduled, or soon after. */
static double fire_all(size_t driver)
{
	struct timerthread *tt = start(driver);
	int64_t begin = process_cpu_ns();
	double cost;

	ran = 0;
	for (int i = 0; i < TIMERS; i++)
		check(timerthread_schedule_after(tt, 10 * BENCH_MS, count, NULL,
						 NULL),
		      "timerthread_schedule_after");
	drivers[driver].wait(tt);
	cost = (double)(process_cpu_ns() - begin) / TIMERS;
	timerthread_destroy(tt);
	return cost;
}

static double schedule_ever_earlier(void)
{
	struct timerthread *tt = start(1);
	int64_t far = now_ns() + 3600 * BENCH_S;
	int64_t begin = process_cpu_ns();
	double cost;

	for (int i = 0; i < EARLIER; i++)
		check(timerthread_schedule(tt, far - i, count, NULL, NULL),
		      "timerthread_schedule");
	cost = (double)(process_cpu_ns() - begin) / EARLIER;
	timerthread_destroy(tt);
	return cost;
}

void bench_drivers(const struct bench_options *o)
{
	struct series cost[DRIVERS] = {{.n = 0}}, ratio[DRIVERS] = {{.n = 0}};
	struct series earlier = {.n = 0};

	for (int i = 0; i < o->rounds; i++) {
		for (size_t d = 0; d < DRIVERS; d++) {
			series_add(&cost[d], fire_all(d));
			series_add(&ratio[d],
				   cost[d].value[i] / cost[0].value[i]);
		}
		series_add(&earlier, schedule_ever_earlier());
	}
	for (size_t d = 0; d < DRIVERS; d++) {
		print_series(drivers[d].name, &cost[d], "ns CPU a timer");
		print_series("  next to the thread", &ratio[d], "x");
	}
	print_series("polled: schedule, each a little earlier", &earlier,
		     "ns CPU");
}
