/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/atomic.h"
#include "child.h"
#include "disturb.h"
#include "random.h"

#include <dirent.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define FORK_EVERY 64 /* gusts */

static struct timerthread *inherited;
static uint64_t seed; /* constant from disturb_seed on */
static pthread_t gusts;
static atomic_bool on;
static atomic_ulong points, yields, sleeps_there, signals, moves, forks;
static atomic_ulong handled;

static void sleep_for(long ns)
{
	const struct timespec t = {0, ns};

	nanosleep(&t, NULL);
}

/* Once in 512 points the CPU is given away, once in 16384 for longer. */
void torture_point(const char *name)
{
	static _Thread_local uint64_t rng;
	static atomic_uint threads;
	uint64_t dice;

	(void)name;
	if (!atomic_load_explicit(&on, memory_order_relaxed))
		return;
	if (rng == 0)
		rng = seed + atomic_fetch_add(&threads, 1) + 1;
	dice = random_below(&rng, 16384);
	if (dice == 0) {
		sleep_for((long)random_below(&rng, 100000));
		atomic_fetch_add(&sleeps_there, 1);
	} else if (dice % 512 == 0) {
		sched_yield();
		atomic_fetch_add(&yields, 1);
	}
	if (dice < 16)
		atomic_fetch_add(&points, 1024);
}

/*
 * It stands still for so many nanoseconds, and goes on: another step one day
 * would set it back.
 */
static int64_t clock_step(void)
{
	static const int64_t steps[] = {1, 1000, 100000, 4000000};

	return steps[seed % 4];
}

int64_t torture_clock(int64_t now)
{
	int64_t step = clock_step();

	return now - (now % step + step) % step;
}

static void handle(int signal)
{
	(void)signal;
	atomic_fetch_add(&handled, 1);
}

/*
 * What pthread_join is in this program, by the linker's --wrap.  In its own,
 * ThreadSanitizer calls a handler at once, as in all that may block; but there
 * it frees memory, too: the handler may wait for a lock that this thread has.
 */
int __real_pthread_join(pthread_t t, void **value);
int __wrap_pthread_join(pthread_t t, void **value);
int __wrap_pthread_join(pthread_t t, void **value)
{
	sigset_t mine, before;
	int r;

	if (__tsan_init == NULL)
		return __real_pthread_join(t, value);
	sigemptyset(&mine);
	sigaddset(&mine, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &mine, &before);
	r = __real_pthread_join(t, value);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* One of this process's threads. */
static pid_t any_thread(uint64_t *rng)
{
	DIR *d = opendir("/proc/self/task");
	uint64_t seen = 0;
	struct dirent *e;
	pid_t found = 0;

	while (d && (e = readdir(d)) != NULL) {
		if (e->d_name[0] != '.' && random_below(rng, ++seen) == 0)
			found = atoi(e->d_name);
	}
	if (d)
		closedir(d);
	return found;
}

/* It may be over by now. */
static void disturb_one(uint64_t *rng)
{
	pid_t thread = any_thread(rng);

	if (signal_thread(thread, SIGUSR1))
		atomic_fetch_add(&signals, 1);
	if (move_thread(thread, rng))
		atomic_fetch_add(&moves, 1);
}

static void post(void *arg)
{
	sem_post(arg);
}

/* Nothing here may take a lock that the parent's other threads may hold. */
static void be_a_child(void)
{
	struct timerthread *own;
	timerthread_id id;
	sem_t done;

	atomic_store(&on, false);
	sem_init(&done, 0, 0);
	NEED(timerthread_schedule(inherited, 0, post, &done, &id) == -ECHILD);
	NEED(timerthread_cancel(inherited, 1) == -ECHILD);
	NEED(timerthread_stop(inherited) == -ECHILD);
	timerthread_destroy(inherited);
	NEED(timerthread_create(&own) == 0);
	NEED(timerthread_start(own, NULL) == 0);
	NEED(timerthread_schedule(own, 0, post, &done, &id) == 0);
	while (sem_wait(&done) != 0)
		continue;
	timerthread_destroy(own);
}

static void fork_one(void)
{
	pid_t child;
	int status, r;

	if (fork_is_delicate())
		return;
	child = fork();
	if (child == 0) {
		limit_child();
		be_a_child();
		_exit(EXIT_SUCCESS);
	}
	do
		r = waitpid(child, &status, 0);
	while (r < 0 && errno == EINTR);
	if (r != child || status != 0) {
		fprintf(stderr, "torture: a child ended with status %#x\n",
			status);
		abort();
	}
	atomic_fetch_add(&forks, 1);
}

static void *gust(void *arg)
{
	uint64_t rng = seed;

	for (unsigned n = 1; atomic_load(&on); n++) {
		disturb_one(&rng);
		if (n % FORK_EVERY == 0)
			fork_one();
		sleep_for(200000);
	}
	return arg;
}

void disturb_seed(uint64_t from)
{
	seed = from;
}

void disturb_begin(struct timerthread *tt)
{
	const struct sigaction action = {.sa_handler = handle};

	inherited = tt;
	sigaction(SIGUSR1, &action, NULL);
	atomic_store(&on, true);
	if (pthread_create(&gusts, NULL, gust, NULL) != 0)
		abort();
}

void disturb_end(void)
{
	atomic_store(&on, false);
	pthread_join(gusts, NULL);
	printf("a clock of %" PRId64 " ns; about %lu points, %lu yields, %lu "
	       "sleeps; %lu signals, %lu of them handled; %lu changes of CPU; "
	       "%lu forks\n",
	       clock_step(), atomic_load(&points), atomic_load(&yields),
	       atomic_load(&sleeps_there), atomic_load(&signals),
	       atomic_load(&handled), atomic_load(&moves), atomic_load(&forks));
	/* Or nothing was tortured. */
	if (!atomic_load(&points) || !atomic_load(&yields) ||
	    !atomic_load(&signals) || !atomic_load(&moves))
		abort();
}
