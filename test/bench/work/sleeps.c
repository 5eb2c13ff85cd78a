/* SPDX-License-Identifier: MIT */
/*
 * The yardstick of "sparse": a thread with a timer slack of 1 ns that sleeps
 * by itself, by clock_nanosleep (how=0), a futex (1) or a timerfd (2).
 */
#include "config.h"

#include "work.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int fd;

static void by_nanosleep(const struct timespec *at)
{
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, at, NULL);
}

static void by_futex(const struct timespec *at)
{
	static uint32_t word;
	/* As the call takes it, whatever the C library's time_t is. */
	const long long ts[2] = {at->tv_sec, at->tv_nsec};

#ifdef SYS_futex_time64
	syscall(SYS_futex_time64,
#else
	syscall(SYS_futex,
#endif
		&word, FUTEX_WAIT_BITSET_PRIVATE, 0, ts, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

static void by_timerfd(const struct timespec *at)
{
	const struct itimerspec its = {.it_value = *at};
	uint64_t count;

	timerfd_settime(fd, TFD_TIMER_ABSTIME, &its, NULL);
	while (read(fd, &count, sizeof(count)) < 0)
		;
}

int work_sleeps(void)
{
	static void (*const hows[])(const struct timespec *) = {
		by_nanosleep, by_futex, by_timerfd};
	int64_t how = argument("how", 0), cpu;
	size_t n = (size_t)argument("count", 300);
	int64_t *late = malloc(n * sizeof(*late));
	uint64_t rng = 88172645463325252u;

	if (how > 2 || !late)
		peer_die("how or count", EINVAL);
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	prctl(PR_SET_TIMERSLACK, 1UL);
	cpu = process_cpu_ns();
	for (size_t i = 0; i < n; i++) {
		int64_t delay = (int64_t)(next_random(&rng) % 4500000) + 500000;
		int64_t at = now_ns() + delay;

		hows[how](&(struct timespec){at / BENCH_S, at % BENCH_S});
		late[i] = now_ns() - at;
	}
	result("cpu_ns", (double)(process_cpu_ns() - cpu) / (double)n);
	result_percentiles("late_", late, n);
	result("early", late[0] < 0);
	close(fd);
	free(late);
	return 0;
}
