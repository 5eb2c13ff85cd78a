/* SPDX-License-Identifier: MIT */
/*
 * How late a single timer 1 to 4 ms ahead fires with a spin, and what that
 * takes of a CPU.  The yardsticks, taken in turn with it, are a bare absolute
 * futex wait and a read from a timerfd, on a thread with a timer slack of 1 ns.
 */
#include "config.h"

#include "bench.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SAMPLES = 5000 };

static int64_t deadline, late;
static sem_t fired;
static int timer_fd;

static void fire(void *arg)
{
	(void)arg;
	late = now_ns() - deadline;
	sem_post(&fired);
}

static void by_timer(struct timerthread *tt)
{
	check(timerthread_schedule(tt, deadline, fire, NULL, NULL),
	      "timerthread_schedule");
	while (sem_wait(&fired) != 0)
		;
}

static void by_futex(struct timerthread *none)
{
	struct timespec t = {deadline / BENCH_S, deadline % BENCH_S};
	unsigned word = 0;

	(void)none;
	syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &t,
		NULL, FUTEX_BITSET_MATCH_ANY);
	late = now_ns() - deadline;
}

static void by_timerfd(struct timerthread *none)
{
	struct itimerspec t = {
		.it_value = {deadline / BENCH_S, deadline % BENCH_S},
	};
	uint64_t times;

	(void)none;
	timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &t, NULL);
	check(read(timer_fd, &times, sizeof(times)) < 0 ? -errno : 0, "read");
	late = now_ns() - deadline;
}

static int64_t cpu_of(struct timerthread *tt)
{
	struct timespec t = {0, 0};
	pthread_t thread = pthread_self();
	clockid_t clock;

	if (tt)
		check(timerthread_get_pthread(tt, &thread),
		      "timerthread_get_pthread");
	check(-pthread_getcpuclockid(thread, &clock), "pthread_getcpuclockid");
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * BENCH_S + t.tv_nsec;
}

struct figures {
	struct series p50, p99, p999, cpu;
	unsigned early;
};

static void sample(struct figures *f, void wait(struct timerthread *tt),
		   struct timerthread *tt, size_t n)
{
	static int64_t sampled[MAX_SAMPLES];
	int64_t cpu = cpu_of(tt);

	for (size_t i = 0; i < n; i++) {
		deadline = now_ns() + BENCH_MS + random() % (3 * BENCH_MS);
		wait(tt);
		sampled[i] = late;
		f->early += late < 0;
	}
	series_add(&f->cpu, (double)(cpu_of(tt) - cpu) / 1000 / (double)n);
	series_add(&f->p50, (double)percentile(sampled, n, 0.5) / 1000);
	series_add(&f->p99, (double)percentile(sampled, n, 0.99) / 1000);
	series_add(&f->p999, (double)percentile(sampled, n, 0.999) / 1000);
}

static struct timerthread *start_spinning(int64_t ns)
{
	struct timerthread *tt;

	check(timerthread_create(&tt), "timerthread_create");
	check(timerthread_set_spin(tt, ns), "timerthread_set_spin");
	check(timerthread_start(tt, NULL), "timerthread_start");
	return tt;
}

static void print(const char *name, const struct figures *f)
{
	printf(" %s\n", name);
	print_series("late, p50", &f->p50, "us");
	print_series("late, p99", &f->p99, "us");
	print_series("late, p99.9", &f->p999, "us");
	print_series("CPU for each", &f->cpu, "us");
	print_figure("early", f->early, "", 0);
}

void bench_spin(const struct bench_options *o)
{
	static const int64_t spin[] = {0, 50000, 100000, 200000};
	static struct figures futex, timerfd, timer[4];
	size_t n = o->quick ? 200 : 1000;
	struct timerthread *tt[4];

	sem_init(&fired, 0, 0);
	prctl(PR_SET_TIMERSLACK, 1UL);
	timer_fd = timerfd_create(CLOCK_MONOTONIC, 0);
	srandom(1);
	for (int i = 0; i < 4; i++)
		tt[i] = start_spinning(spin[i]);
	for (int round = 0; round < o->rounds; round++) {
		sample(&futex, by_futex, NULL, n);
		sample(&timerfd, by_timerfd, NULL, n);
		for (int i = 0; i < 4; i++)
			sample(&timer[i], by_timer, tt[i], n);
	}
	print("bare futex wait", &futex);
	print("timerfd", &timerfd);
	for (int i = 0; i < 4; i++) {
		char name[50];

		snprintf(name, sizeof(name), "timer, spin of %d us",
			 (int)(spin[i] / 1000));
		print(name, &timer[i]);
		timerthread_destroy(tt[i]);
	}
	prctl(PR_SET_TIMERSLACK, 0UL);
	close(timer_fd);
	sem_destroy(&fired);
}
