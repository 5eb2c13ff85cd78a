/* SPDX-License-Identifier: MIT */
/*
 * watchdog: a daemon that tells systemd that it is ready, and that it is well.
 *
 *     cc watchdog.c -o watchdog \
 *         $(pkg-config --cflags --libs timerthread libsystemd) -pthread
 *
 *     watchdog          works for a moment, and ends
 *     watchdog serve    works until SIGTERM; watchdog.service starts it so
 *     watchdog hang     works for a moment, and then one of its workers hangs
 *
 * A ping that a timer sends proves that the timer thread runs, and no more: it
 * would go on while all workers hang.  So each worker passes a mark whenever it
 * comes back for more work, and the timer sends the ping only if each of them
 * has passed its mark since the last ping.  If one hangs, the pings end, and
 * systemd restarts the daemon.  They also end if the timer thread hangs, in
 * some other callback.
 *
 * What this does not prove: that the work is right, and that parts without a
 * mark are well, such as main here, which only waits for the end.
 *
 * The timer looks four times in the time that systemd allows.  So up to half of
 * that time may pass between two marks of a worker.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <timerthread.h>
#include <unistd.h>

enum { WORKERS = 3, LOOKS = 4 };

static struct worker {
	pthread_t thread;
	atomic_ulong marks; /* how often it has passed its mark */
	unsigned long seen; /* the same at the last ping */
} workers[WORKERS];

static sem_t begun;
static atomic_int over, hang;

static void check(const char *what, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "watchdog: %s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

/* For a time that is limited: a worker without work must pass its mark, too. */
static void wait_for_work(void)
{
	const struct timespec time = {0, 2 * TIMERTHREAD_MSEC};

	nanosleep(&time, NULL);
}

static void work(const struct worker *w)
{
	while (w == &workers[1] && atomic_load(&hang))
		pause();
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	sem_post(&begun);
	while (!atomic_load(&over)) {
		wait_for_work();
		work(w);
		atomic_fetch_add(&w->marks, 1);
	}
	return NULL;
}

/* Runs on the timer thread. */
static void look(void *arg)
{
	unsigned long marks[WORKERS];

	(void)arg;
	for (int i = 0; i < WORKERS; i++) {
		marks[i] = atomic_load(&workers[i].marks);
		if (marks[i] == workers[i].seen) {
			/* systemctl status shows it. */
			sd_notifyf(0, "STATUS=worker %d is late", i);
			return;
		}
	}
	for (int i = 0; i < WORKERS; i++)
		workers[i].seen = marks[i];
	sd_notify(0, "WATCHDOG=1\nSTATUS=all workers are well");
}

/* Ready is who has all that it needs: here, when each worker has begun. */
static void begin(struct timerthread **ret_tt)
{
	struct timerthread *tt;
	uint64_t usec;
	int64_t period;

	check("sem_init", sem_init(&begun, 0, 0) < 0 ? -errno : 0);
	for (int i = 0; i < WORKERS; i++)
		check("pthread_create",
		      -pthread_create(&workers[i].thread, NULL, worker_main,
				      &workers[i]));
	for (int i = 0; i < WORKERS; i++)
		sem_wait(&begun);
	check("timerthread_create", timerthread_create(&tt));
	check("timerthread_start", timerthread_start(tt, NULL));
	if (sd_watchdog_enabled(0, &usec) > 0) {
		period = (int64_t)usec * TIMERTHREAD_USEC / LOOKS;
		check("timerthread_schedule_every_after",
		      timerthread_schedule_every_after(tt, period, period, look,
						       NULL, NULL));
	}
	sd_notify(0, "READY=1");
	*ret_tt = tt;
}

static void end(struct timerthread *tt)
{
	sd_notify(0, "STOPPING=1");
	atomic_store(&over, 1);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	timerthread_destroy(tt);
}

/* After SIGSTOP and SIGCONT the call fails with EINTR. */
static void await(const sigset_t *signals)
{
	while (sigwaitinfo(signals, NULL) < 0)
		continue;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	const struct timespec moment = {0, 300 * TIMERTHREAD_MSEC};
	struct timerthread *tt;
	sigset_t signals;

	/* Before there are threads, which inherit it. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	begin(&tt);
	if (strcmp(how, "serve") == 0) {
		await(&signals);
	} else if (sigtimedwait(&signals, NULL, &moment) < 0 &&
		   strcmp(how, "hang") == 0) {
		atomic_store(&hang, 1);
		await(&signals);
	}
	end(tt);
	return 0;
}
