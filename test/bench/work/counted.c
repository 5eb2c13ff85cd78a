/* SPDX-License-Identifier: MIT */
/*
 * So many pairs of schedule and cancel, at once (window 0) or with so many in
 * flight, on one thread: for who counts instructions, and not time.  See
 * instructions.sh.
 */
#include "config.h"

#include "work.h"

static struct timers timers;
static size_t window;
static int64_t timeout;
static long failed;

/* Not static, nor inlined: instructions.sh counts what is called from here. */
__attribute__((noinline)) void counted_pairs(long n);

__attribute__((noinline)) void counted_pairs(long n)
{
	int64_t now = now_ns();

	for (size_t k = 0; n > 0; n--, k = k + 1 < window ? k + 1 : 0) {
		void *t = timer_at(&timers, k);

		if (window > 0)
			failed += peer_cancel(t) != 1;
		failed += peer_schedule(t, now, timeout, ignore, NULL) != 0;
		if (window == 0)
			failed += peer_cancel(t) != 1;
	}
}

int work_counted(void)
{
	long pairs = (long)argument("pairs", 20000);

	window = (size_t)argument("window", 0);
	timeout = argument_ns("timeout", 100);
	timers = timers_new(window > 0 ? window : 1);
	start_peer(1, timers.n, timeout);
	peer_enter();
	for (size_t k = 0; k < window; k++)
		must_schedule(timer_at(&timers, k), now_ns(), timeout, ignore,
			      NULL);
	counted_pairs(pairs);
	for (size_t k = 0; k < window; k++)
		peer_cancel(timer_at(&timers, k));
	peer_leave();
	result("failed", (double)failed);
	peer_stop();
	timers_free(&timers);
	return 0;
}
