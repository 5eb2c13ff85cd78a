/* SPDX-License-Identifier: MIT */
/*
 * connection-timers: one timer for each connection, for all its requests.
 *
 *     cc connection-timers.c pool.c -o connection-timers \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * The timer is made when the connection is opened, and its argument is the
 * connection.  The worker that serves a request arms it with the deadline of
 * the request, and disarms it when there is an answer.  If the deadline passes,
 * the callback gives the request up, and closes the connection if that happens
 * too often.  Any thread may close a connection, even while it is served: a
 * worker, the callback, or a thread that has nothing to do with it.
 *
 * Who frees a connection?  The table has one reference to it, until the
 * connection is closed, and the worker that serves it has one.  The timer has
 * none.  The thread that gives back the last reference cancels the timer, and
 * then frees the connection.
 *
 * Why does no callback meet a connection that was freed?
 *
 *  - The thread with the last reference cancels with timerthread_cancel_wait.
 *    So a callback that is running has returned before the connection is freed,
 *    and none begins after that.  It needs no reference.
 *  - Only who has a reference arms the timer.  So nobody arms it again while
 *    the last one cancels it.
 *  - The callback may give back the last reference itself, when it closes the
 *    connection.  It cannot wait for its own end: the call fails with -EDEADLK.
 *    Then it calls timerthread_cancel, which returns 1: this is the last run,
 *    and the library does not use the argument again.  Nobody else waits for
 *    this run, because only the last reference leads there.  So the callback
 *    frees the connection, and must not touch it any more.
 *
 * What is waited for must be able to end: nobody holds the table's lock, which
 * the callback takes, in a call that waits.
 *
 * Which request does a run of the callback belong to?  A request ends with
 * timerthread_disarm, which does not wait: its callback may still run.  But a
 * disarm returns 1 while any run goes on, also an earlier one.  So a request
 * begins with timerthread_disarm_wait: after that, earlier runs have returned.
 *
 * All is done twice: with the callbacks on the timer thread, and in the threads
 * of a pool, where callbacks of different connections run at the same time.
 */
#include "pool.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timerthread.h>
#include <unistd.h>

enum {
	WORKERS = 4,
	REQUESTS = 500, /* by each worker */
	CLOSES = 100,   /* by a thread that serves nothing */
	SLOTS = 8,
	TOO_OFTEN = 3, /* after so many timeouts a connection is closed */
	PATIENCE_S = 60
};

struct connection {
	timerthread_id timer;
	int slot;
	sem_t given_up; /* the callback posts it at each timeout */

	/* Guarded by the table's lock. */
	int references;
	bool busy; /* a worker serves it */

	int late;     /* used by the worker that serves it */
	int timeouts; /* used by the callback: its runs never overlap */
};

/* How long a worker waits for the answer, and when that comes. */
enum answer {
	SOON,  /* long before the deadline */
	CLOSE, /* about when the deadline passes */
	NEVER
};

static struct timerthread *tt;
static struct pool pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection *table[SLOTS];

static atomic_int opened, freed, freed_by_callback, in_time, late;
static atomic_int failures;

static void check(const char *what, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "connection-timers: %s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

static void expect(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "connection-timers: not so: %s\n", what);
	failures++;
}

static void await(sem_t *sem)
{
	while (sem_wait(sem) < 0 && errno == EINTR)
		continue; /* a signal handler ran */
}

/* The life of a connection. */

static void expired(void *arg);

/* With the table's lock; the reference is the table's. */
static void open_connection(int slot)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		check("calloc", -ENOMEM);
	c->slot = slot;
	c->references = 1;
	sem_init(&c->given_up, 0, 0);
	check("timerthread_prepare",
	      timerthread_prepare(tt, expired, c, &c->timer));
	table[slot] = c;
	opened++;
}

/* Nobody has a reference.  The caller holds no lock. */
static void free_connection(struct connection *c)
{
	int r = timerthread_cancel_wait(tt, c->timer);
	bool in_callback = r == -EDEADLK;

	if (in_callback)
		r = timerthread_cancel(tt, c->timer);
	expect(r == 0 || r == 1, "nobody else cancels the timer");
	expect(c->late == c->timeouts,
	       "each request was answered or timed out, and not both");
	sem_destroy(&c->given_up);
	free(c);
	freed_by_callback += in_callback;
	freed++;
}

static void give_back(struct connection *c)
{
	bool last;

	pthread_mutex_lock(&lock);
	last = --c->references == 0;
	pthread_mutex_unlock(&lock);
	if (last)
		free_connection(c);
}

/*
 * Takes the connection out of the table, if it is there; NULL: whichever is in
 * that slot.  Who has taken it out gives the table's reference back.
 */
static void close_connection(int slot, struct connection *which)
{
	struct connection *c;

	pthread_mutex_lock(&lock);
	c = table[slot];
	if (c && (!which || c == which))
		table[slot] = NULL;
	else
		c = NULL;
	pthread_mutex_unlock(&lock);
	if (c)
		give_back(c);
}

/*
 * The callback.  From the post on, the worker may go on, give its reference
 * back, and even wait in free_connection until this has returned.
 */
static void expired(void *arg)
{
	struct connection *c = arg;
	bool too_often = ++c->timeouts == TOO_OFTEN;

	sem_post(&c->given_up);
	if (too_often)
		close_connection(c->slot, c);
}

/* The workers. */

/* A reference to an idle connection; NULL: there is a worker that serves it. */
static struct connection *begin_to_serve(int slot)
{
	struct connection *c;

	pthread_mutex_lock(&lock);
	if (!table[slot])
		open_connection(slot);
	c = table[slot];
	if (c->busy) {
		c = NULL;
	} else {
		c->busy = true;
		c->references++;
	}
	pthread_mutex_unlock(&lock);
	return c;
}

static void end_to_serve(struct connection *c)
{
	pthread_mutex_lock(&lock);
	c->busy = false;
	pthread_mutex_unlock(&lock);
	give_back(c);
}

/* What the worker waits for, while the timer guards it. */
static void await_answer(struct connection *c, enum answer answer)
{
	if (answer == NEVER)
		await(&c->given_up);
	if (answer == CLOSE)
		sched_yield();
}

static void serve_request(struct connection *c, enum answer answer)
{
	static const int64_t deadline[] = {
		[SOON] = 3600 * TIMERTHREAD_SEC,
		[CLOSE] = 5 * TIMERTHREAD_USEC,
		[NEVER] = 200 * TIMERTHREAD_USEC,
	};
	int r = timerthread_disarm_wait(tt, c->timer);

	expect(r == 1 || r == -ENOENT, "only a request arms the timer");
	check("timerthread_reschedule_after",
	      timerthread_reschedule_after(tt, c->timer, deadline[answer]));
	await_answer(c, answer);
	if (timerthread_disarm(tt, c->timer) == 0) {
		expect(answer != NEVER, "the callback came once");
		in_time++;
		return;
	}
	/* The callback has run, or is running: it posts, or has posted. */
	expect(answer != SOON, "the callback came in due time");
	if (answer != NEVER)
		await(&c->given_up);
	c->late++;
	late++;
}

static enum answer choose(unsigned number)
{
	if (number % 16 == 0)
		return NEVER;
	return number % 2 == 0 ? CLOSE : SOON;
}

static void *worker_main(void *arg)
{
	const unsigned *first = arg;

	for (unsigned i = *first; i < *first + REQUESTS; i++) {
		int slot = (int)(i * 7 % 31 % SLOTS);
		struct connection *c = begin_to_serve(slot);

		if (!c)
			continue;
		serve_request(c, choose(i));
		if (i % 23 == 0) /* its peer has closed it, say */
			close_connection(slot, c);
		end_to_serve(c);
	}
	return NULL;
}

/* It closes connections that it knows nothing of. */
static void close_some(void)
{
	for (int i = 0; i < CLOSES; i++) {
		close_connection(i % SLOTS, NULL);
		usleep(100);
	}
}

static void run_workers(void)
{
	pthread_t worker[WORKERS];
	unsigned first[WORKERS];

	for (unsigned i = 0; i < WORKERS; i++) {
		int error;

		first[i] = i * 5;
		error = pthread_create(&worker[i], NULL, worker_main,
				       &first[i]);
		check("pthread_create", -error);
	}
	close_some();
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
}

/* A callback that frees its connection may not be through with it. */
static void close_all(void)
{
	for (int i = 0; i < SLOTS; i++)
		close_connection(i, NULL);
	while (freed != opened)
		sched_yield();
}

/*
 * Now and then the callback has the last reference.  Here it surely has: the
 * only one is the table's.  To arm the timer without one of its own is safe
 * only because no other thread works any more.
 */
static void callback_frees(void)
{
	int before = freed_by_callback;
	struct connection *c;

	pthread_mutex_lock(&lock);
	open_connection(0);
	c = table[0];
	pthread_mutex_unlock(&lock);
	c->timeouts = TOO_OFTEN - 1;
	c->late = TOO_OFTEN;
	check("timerthread_reschedule_after",
	      timerthread_reschedule_after(tt, c->timer, 0));
	while (freed != opened)
		sched_yield();
	expect(freed_by_callback == before + 1, "the callback has freed it");
}

/* With the pool or without; stopped, and nothing is left. */

static void expect_none(enum timerthread_stat which, const char *what)
{
	uint64_t n;

	check("timerthread_get_stat", timerthread_get_stat(tt, which, &n));
	expect(n == 0, what);
}

static void begin(bool with_pool)
{
	opened = freed = freed_by_callback = in_time = late = 0;
	check("timerthread_create", timerthread_create(&tt));
	if (with_pool) {
		check("pool_start", pool_start(&pool));
		check("timerthread_set_executor",
		      timerthread_set_executor(tt, pool_submit, &pool));
	}
	check("timerthread_start", timerthread_start(tt, NULL));
}

static void end(bool with_pool)
{
	/* A callback that has freed its connection may not have returned. */
	check("timerthread_stop", timerthread_stop(tt));
	if (with_pool)
		pool_finish(&pool);
	expect(opened == freed, "each connection was freed");
	expect_none(TIMERTHREAD_STAT_PENDING, "no timer is pending");
	expect_none(TIMERTHREAD_STAT_UNARMED, "no timer is left");
	expect_none(TIMERTHREAD_STAT_RUNNING, "no callback runs");
	timerthread_destroy(tt);
}

static void show(bool with_pool)
{
	begin(with_pool);
	run_workers();
	close_all();
	callback_frees();
	end(with_pool);
	printf("callbacks %s:\n",
	       with_pool ? "in a pool" : "on the timer thread");
	printf("  requests in time       %6d\n", in_time);
	printf("  requests timed out     %6d\n", late);
	printf("  connections            %6d\n", opened);
	printf("  freed by the callback  %6d\n", freed_by_callback);
}

int main(void)
{
	alarm(PATIENCE_S); /* if something that is awaited never comes */
	show(false);
	show(true);
	return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
