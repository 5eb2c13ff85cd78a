/* SPDX-License-Identifier: MIT */
/*
 * several-pollers: threads that wait in one epoll instance for requests and for
 * timers, and share all the work.
 *
 *     cc several-pollers.c -o several-pollers \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * The timers' descriptor is there with EPOLLONESHOT: one thread gets the event,
 * calls timerthread_dispatch and arms the descriptor again.
 *
 * A callback that takes long would keep that thread in timerthread_dispatch,
 * and all other timers waiting.  So there is an executor, which is these same
 * threads: submit puts what is to be called on a queue, and adds 1 to an
 * eventfd that they wait for as well.  Then a callback keeps one thread busy.
 *
 * Once the timers are stopped, their descriptor stays readable.  Each thread
 * that sees this arms it again, for the next one, and ends.
 *
 * Here main is the client.  The callbacks of its first requests, one fewer than
 * there are threads, do not return until all others have been answered.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <timerthread.h>
#include <unistd.h>

enum { THREADS = 4, SLOW = THREADS - 1, ALL = 100, QUEUE = 128 };

static struct timerthread *tt;
static int epoll, timers, queued, server, client;

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "several-pollers: failed: %s\n", what);
	exit(EXIT_FAILURE);
}

static void watch(int op, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	check(epoll_ctl(epoll, op, fd, &event) == 0, "epoll_ctl");
}

/* From here to the end of poll_all: the part to copy. */

static void serve(void);

static struct work {
	timerthread_fn *run;
	void *arg;
} queue[QUEUE];
static unsigned in, out; /* so many have come and gone */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int submit(void *ctx, timerthread_fn *run, void *arg)
{
	int ret = -EAGAIN; /* no room: timerthread_dispatch runs the callback */

	(void)ctx;
	pthread_mutex_lock(&lock);
	if (in - out < QUEUE) {
		queue[in++ % QUEUE] = (struct work){run, arg};
		ret = 0;
	}
	pthread_mutex_unlock(&lock);
	if (ret == 0)
		eventfd_write(queued, 1);
	return ret;
}

/* Whoever reads 1 from the eventfd takes one.  False: there was none left. */
static bool run_one(void)
{
	struct work work;
	eventfd_t one;

	if (eventfd_read(queued, &one) < 0)
		return false;
	pthread_mutex_lock(&lock);
	work = queue[out++ % QUEUE];
	pthread_mutex_unlock(&lock);
	work.run(work.arg);
	return true;
}

/* False: the timers were stopped. */
static bool run_timers(void)
{
	int ret = timerthread_dispatch(tt);

	if (ret == -EBUSY)
		return true; /* the thread that is in there arms it again */
	check(ret >= 0 || ret == -ESHUTDOWN, "timerthread_dispatch");
	watch(EPOLL_CTL_MOD, timers, EPOLLIN | EPOLLONESHOT);
	return ret >= 0;
}

/* Takes one event at a time: a second one would wait for the first. */
static void *poll_all(void *arg)
{
	struct epoll_event event;
	bool on = true;

	while (on) {
		if (epoll_wait(epoll, &event, 1, -1) < 1)
			continue; /* a signal handler ran */
		if (event.data.fd == timers)
			on = run_timers();
		else if (event.data.fd == queued)
			run_one();
		else
			serve();
	}
	/* All that was submitted must be called; nothing more will come. */
	while (run_one())
		continue;
	return arg;
}

/* The server answers a request when it is due. */

static int64_t due[ALL];          /* by the number of the request */
static pthread_barrier_t barrier; /* of the slow callbacks and the client */

static void answer(void *arg)
{
	int number = (int)((int64_t *)arg - due);

	if (number < SLOW) {
		pthread_barrier_wait(&barrier); /* all slow ones run */
		pthread_barrier_wait(&barrier); /* all others are answered */
	}
	check(send(server, &number, sizeof(number), 0) > 0, "send");
}

static void serve(void)
{
	int number, ret;

	if (recv(server, &number, sizeof(number), MSG_DONTWAIT) < 0)
		return; /* another thread was quicker */
	ret = timerthread_schedule(tt, due[number], answer, &due[number], NULL);
	check(ret == 0 || ret == -ESHUTDOWN, "timerthread_schedule");
}

/* The client. */

static void ask(int number, int64_t delay)
{
	due[number] = timerthread_now(tt) + delay;
	check(send(client, &number, sizeof(number), 0) > 0, "send");
}

/* Gets n answers.  Returns how many came once, and not too early. */
static int hear(int n)
{
	int number, good = 0;

	for (int i = 0; i < n; i++) {
		check(recv(client, &number, sizeof(number), 0) > 0, "recv");
		good += timerthread_now(tt) >= due[number];
		due[number] = TIMERTHREAD_NEVER;
	}
	return good;
}

static bool talk(void)
{
	int quick, slow;

	for (int i = 0; i < SLOW; i++)
		ask(i, 0);
	pthread_barrier_wait(&barrier);
	printf("slow callbacks that run at a time %4d\n", SLOW);
	for (int i = SLOW; i < ALL; i++)
		ask(i, i * 10 * TIMERTHREAD_MSEC);
	quick = hear(ALL - SLOW);
	printf("other requests answered meanwhile %4d\n", quick);
	pthread_barrier_wait(&barrier);
	slow = hear(SLOW);
	printf("then the slow ones                %4d\n", slow);
	return quick + slow == ALL;
}

static void start(void)
{
	int fd[2];

	check(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd) == 0, "socketpair");
	server = fd[0];
	client = fd[1];
	queued = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	check(queued >= 0 && epoll >= 0, "eventfd and epoll");
	check(timerthread_create(&tt) == 0 &&
		      timerthread_set_executor(tt, submit, NULL) == 0 &&
		      timerthread_start_polled(tt, &timers) == 0,
	      "timerthread_start_polled");
	watch(EPOLL_CTL_ADD, timers, EPOLLIN | EPOLLONESHOT);
	watch(EPOLL_CTL_ADD, queued, EPOLLIN);
	watch(EPOLL_CTL_ADD, server, EPOLLIN);
}

int main(void)
{
	pthread_t thread[THREADS];
	bool good;

	alarm(60); /* if something that is awaited never comes */
	pthread_barrier_init(&barrier, NULL, SLOW + 1);
	start();
	for (int i = 0; i < THREADS; i++)
		check(pthread_create(&thread[i], NULL, poll_all, NULL) == 0,
		      "pthread_create");
	good = talk();
	timerthread_stop(tt); /* no callback runs, and the threads end */
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("threads that ended at the stop    %4d\n", THREADS);
	close(epoll); /* before destroy closes a descriptor that is in it */
	timerthread_destroy(tt);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
