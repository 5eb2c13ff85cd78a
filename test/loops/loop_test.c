/* SPDX-License-Identifier: MIT */
/*
 * Nothing here is expected within less than many seconds: what must happen is
 * waited for, and what does not is found by the time limit of the tests.
 */
#include "loop_test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <timerthread.h>
#include <unistd.h>

#define MS   INT64_C(1000000)
#define HOUR INT64_C(3600000000000)

/*
 * An instance in the loop, and a pipe on which other threads tell something.
 */

static struct timerthread *tt;
static pthread_t loop_thread;
static struct watch timers, messages;
static int tell_fd;
static bool stopped; /* the loop has learned of it */

/* How often each was heard of.  Only the loop's thread counts. */
static int readied, dispatched, most, received, beats, fired;

static bool (*until)(void);

static void look(void)
{
	ck_assert(pthread_equal(pthread_self(), loop_thread));
	if (until && until())
		loop_quit();
}

/* The loop ends by what "enough" says, which is asked after each event. */
static void run_until(bool (*enough)(void))
{
	until = enough;
	loop_run();
	until = NULL;
}

void beat(void)
{
	beats++;
	look();
}

/* After a stop it stays readable, so it is taken out. */
static void dispatch(struct watch *w)
{
	int r = timerthread_dispatch(tt);

	readied++;
	if (r == -ESHUTDOWN) {
		stopped = true;
		loop_unwatch(w);
	} else {
		ck_assert_int_ge(r, 0);
		dispatched += r;
		most = r > most ? r : most;
	}
	look();
}

/* All of it, because an edge comes once. */
static void receive(struct watch *w)
{
	char bytes[64];
	ssize_t n;

	while ((n = read(w->fd, bytes, sizeof(bytes))) > 0)
		received += (int)n;
	ck_assert(n < 0 && errno == EAGAIN);
	look();
}

/* From any thread. */
static void tell(void)
{
	ck_assert_int_eq(write(tell_fd, "", 1), 1);
}

static void begin(void)
{
	int fd[2];

	loop_thread = pthread_self();
	loop_open();
	ck_assert_int_eq(pipe2(fd, O_CLOEXEC | O_NONBLOCK), 0);
	tell_fd = fd[1];
	messages = (struct watch){.fd = fd[0], .readable = receive};
	loop_watch(&messages);
	ck_assert_int_eq(timerthread_create(&tt), 0);
	timers.readable = dispatch;
	ck_assert_int_eq(timerthread_start_polled(tt, &timers.fd), 0);
	loop_watch(&timers);
}

static void end_loop(void)
{
	close(messages.fd);
	close(tell_fd);
	loop_close();
}

static void end(void)
{
	if (!stopped)
		loop_unwatch(&timers);
	timerthread_destroy(tt);
	loop_unwatch(&messages);
	end_loop();
}

static void nap(int64_t ns)
{
	struct timespec t = {ns / (1000 * MS), ns % (1000 * MS)};

	while (nanosleep(&t, &t) != 0)
		;
}

static pthread_t start_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, fn, arg), 0);
	return thread;
}

static void join(pthread_t thread)
{
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static timerthread_id schedule(int64_t deadline, timerthread_fn *fn, void *arg)
{
	timerthread_id id = 0;

	ck_assert_int_eq(timerthread_schedule(tt, deadline, fn, arg, &id), 0);
	return id;
}

static timerthread_id every(int64_t first, int64_t period, timerthread_fn *fn)
{
	timerthread_id id = 0;

	ck_assert_int_eq(
		timerthread_schedule_every(tt, first, period, fn, NULL, &id),
		0);
	return id;
}

static void never(void *arg)
{
	(void)arg;
	abort();
}

static void fire(void *arg)
{
	(void)arg;
	fired++;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* A timer, and what came of it. */
struct timer {
	timerthread_id id;
	int64_t deadline, ran_at;
	int runs;
	bool cancelled;
};

static void fire_timer(void *arg)
{
	struct timer *t = arg;

	ck_assert(pthread_equal(pthread_self(), loop_thread));
	t->ran_at = timerthread_now(tt);
	t->runs++;
	fired++;
}

static void check_timer(const struct timer *t)
{
	ck_assert_int_eq(t->runs, !t->cancelled);
	if (!t->cancelled)
		ck_assert_int_ge(t->ran_at, t->deadline);
}

/*
 * In the order of deadlines, many of which are the same.
 */

enum { MANY = 400 };

static struct timer many[MANY];
static int64_t all_scheduled, last_deadline = INT64_MIN;

/*
 * On a slow machine some are due before they are scheduled, or before others
 * are.  They count as due then, in an order that nobody knows.
 */
static void fire_in_order(void *arg)
{
	struct timer *t = arg;

	fire_timer(t);
	if (t->deadline <= all_scheduled)
		return;
	ck_assert_int_ge(t->deadline, last_deadline);
	last_deadline = t->deadline;
}

static bool many_fired(void)
{
	return fired == MANY;
}

START_TEST(in_order)
{
	uint64_t random = test_seed();
	int64_t now;

	begin();
	now = timerthread_now(tt);
	for (int i = 0; i < MANY; i++) {
		many[i].deadline =
			now + (10 + (int64_t)random_below(&random, 60)) * MS;
		schedule(many[i].deadline, fire_in_order, &many[i]);
	}
	all_scheduled = timerthread_now(tt);
	run_until(many_fired);
	for (int i = 0; i < MANY; i++)
		check_timer(&many[i]);
	ck_assert_int_eq(dispatched, MANY);
	end();
}
END_TEST

/*
 * The loop's own timers and other descriptors go on beside.
 */

enum { SOME = 20 };

static void *tell_some(void *arg)
{
	(void)arg;
	for (int i = 0; i < SOME; i++) {
		tell();
		nap(MS);
	}
	return NULL;
}

static bool some_of_each(void)
{
	return fired >= SOME && received == SOME && beats >= SOME;
}

START_TEST(beside_others)
{
	pthread_t teller;

	begin();
	loop_start_clock(3);
	teller = start_thread(tell_some, NULL);
	every(timerthread_now(tt), 2 * MS, fire);
	run_until(some_of_each);
	ck_assert(some_of_each());
	join(teller);
	loop_stop_clock();
	end();
}
END_TEST

/*
 * Callbacks that always have something due do not keep the loop from the
 * rest: each dispatch runs only what was there before.
 */

static timerthread_id own;

static void again_new(void *arg)
{
	(void)arg;
	fired++;
	schedule(INT64_MIN, again_new, NULL);
}

static void again_same(void *arg)
{
	(void)arg;
	fired++;
	ck_assert_int_eq(timerthread_reschedule(tt, own, 0), 0);
}

START_TEST(past_does_not_starve)
{
	pthread_t teller;

	begin();
	loop_start_clock(3);
	teller = start_thread(tell_some, NULL);
	schedule(0, again_new, NULL);
	own = schedule(0, again_same, NULL);
	every(0, 1, fire);
	run_until(some_of_each);
	ck_assert(some_of_each());
	ck_assert_int_eq(dispatched, fired);
	ck_assert_int_le(most, 3);
	join(teller);
	loop_stop_clock();
	end();
}
END_TEST

/*
 * Another thread has the loop woken for timers earlier than the one that it
 * waits for, and for that one moved.
 */

enum { ROUNDS = 200 };

static sem_t answered;

static void answer(void *arg)
{
	struct timer *t = arg;

	fire_timer(t);
	sem_post(&answered);
}

static void *ask(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		struct timer t = {
			.deadline = timerthread_now(tt) + i % 4 * MS / 4,
		};

		if (i % 3 == 0) {
			t.id = schedule(HOUR + t.deadline, answer, &t);
			ck_assert_int_eq(
				timerthread_reschedule(tt, t.id, t.deadline),
				0);
		} else {
			schedule(t.deadline, answer, &t);
		}
		while (sem_wait(&answered) != 0)
			;
		check_timer(&t);
		/* So that the loop waits again, or is just about to. */
		if (i % 2 == 0)
			nap(MS / 2);
	}
	tell();
	return NULL;
}

static bool told(void)
{
	return received > 0;
}

START_TEST(woken_by_others)
{
	pthread_t asker;

	begin();
	schedule(timerthread_now(tt) + HOUR, never, NULL);
	sem_init(&answered, 0, 0);
	asker = start_thread(ask, NULL);
	run_until(told);
	join(asker);
	sem_destroy(&answered);
	ck_assert_int_eq(fired, ROUNDS);
	ck_assert_int_eq(dispatched, ROUNDS);
	end();
}
END_TEST

/*
 * Threads schedule, cancel and move as they like.  Each timer runs once, or
 * was cancelled.
 */

enum { WORKERS = 3, EACH = 300 };

static struct timer work[WORKERS][EACH];

static void cancel(struct timer *t, bool wait)
{
	int r = wait ? timerthread_cancel_wait(tt, t->id)
		     : timerthread_cancel(tt, t->id);

	ck_assert(r == 0 || r == 1 || r == -ENOENT);
	t->cancelled = r == 0;
}

static void move(struct timer *t, int64_t deadline)
{
	int r = timerthread_reschedule(tt, t->id, deadline);

	ck_assert(r == 0 || r == -ENOENT);
	if (r == 0)
		t->deadline = deadline;
}

static void work_on(struct timer *t, uint64_t *random)
{
	t->deadline = timerthread_now(tt) +
		      (int64_t)random_below(random, 3 * MS) - MS;
	t->id = schedule(t->deadline, fire_timer, t);
	if (random_below(random, 4) == 0)
		nap(MS / 5);
	switch (random_below(random, 5)) {
	case 0:
		cancel(t, false);
		break;
	case 1:
		cancel(t, true);
		break;
	case 2:
		move(t, t->deadline + 2 * MS);
		break;
	case 3:
		move(t, t->deadline - 2 * MS);
		break;
	default:
		break;
	}
}

static void *work_all(void *arg)
{
	struct timer *timer = arg;
	uint64_t random = test_seed() + (uint64_t)(timer - work[0]);

	for (int i = 0; i < EACH; i++)
		work_on(&timer[i], &random);
	tell();
	return NULL;
}

static bool work_done(void)
{
	int left = WORKERS * EACH;

	/* What a worker wrote can be read once it has told. */
	if (received < WORKERS)
		return false;
	for (int i = 0; i < WORKERS * EACH; i++)
		left -= work[i / EACH][i % EACH].cancelled;
	return fired >= left;
}

START_TEST(many_threads)
{
	pthread_t worker[WORKERS];

	begin();
	for (int i = 0; i < WORKERS; i++)
		worker[i] = start_thread(work_all, work[i]);
	run_until(work_done);
	for (int i = 0; i < WORKERS; i++)
		join(worker[i]);
	for (int i = 0; i < WORKERS * EACH; i++)
		check_timer(&work[i / EACH][i % EACH]);
	ck_assert_int_eq(dispatched, fired);
	end();
}
END_TEST

/*
 * Nothing due: the loop is not woken.
 */

/* Lets the loop wait; returns how often the timers' descriptor was readable. */
static int readied_within(int ms)
{
	int turns = 0, before = readied;

	beats = 0;
	loop_start_clock(ms);
	while (beats == 0 && loop_turn())
		turns++;
	loop_stop_clock();
	/* The end of this time, and of what was done before it, may be seen. */
	ck_assert_int_le(turns - (readied - before), 5);
	return readied - before;
}

static void *schedule_far(void *arg)
{
	int64_t now = timerthread_now(tt);

	for (int i = 0; i < 10; i++) {
		schedule(now + (20 - i) * HOUR, never, NULL);
		nap(MS);
	}
	every(now + HOUR, HOUR, never);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	tell();
	return arg;
}

static bool fired_once(void)
{
	return fired == 1;
}

START_TEST(idle)
{
	pthread_t thread;
	timerthread_id id;

	begin();
	ck_assert_int_eq(readied_within(100), 0);
	thread = start_thread(schedule_far, NULL);
	run_until(told);
	join(thread);
	/* Each that was earlier than all woke it once, at most. */
	ck_assert_int_le(readied, 12);
	readied_within(100);
	ck_assert_int_eq(readied_within(100), 0);

	id = schedule(timerthread_now(tt) + MS, fire, NULL);
	run_until(fired_once);
	ck_assert_int_eq(timerthread_cancel(tt, id), -ENOENT);
	ck_assert_int_eq(readied_within(100), 0);
	end();
}
END_TEST

/* One that is moved away each time before it is due wakes the loop seldom. */
START_TEST(moved_away)
{
	timerthread_id id;

	begin();
	id = schedule(timerthread_now(tt) + 20 * MS, never, NULL);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(timerthread_reschedule(
					 tt, id, timerthread_now(tt) + HOUR),
				 0);
	ck_assert_int_le(readied_within(100), 2);
	ck_assert_int_eq(readied_within(50), 0);
	end();
}
END_TEST

/*
 * A timer that repeats.
 */

enum { PERIODS = 10 };

static int64_t first;

static void tick(void *arg)
{
	const int64_t period = 3 * MS;
	int64_t next = 0;

	(void)arg;
	ck_assert_int_ge(timerthread_now(tt), first + fired * period);
	ck_assert_int_eq(timerthread_get_deadline(tt, own, &next), 0);
	ck_assert_int_eq((next - first) % period, 0);
	fired++;
	if (fired == PERIODS)
		ck_assert_int_eq(timerthread_cancel(tt, own), 1);
}

static bool all_periods(void)
{
	return fired == PERIODS;
}

START_TEST(periodic)
{
	begin();
	first = timerthread_now(tt) + MS;
	own = every(first, 3 * MS, tick);
	run_until(all_periods);
	ck_assert_int_eq(readied_within(50), 0);
	ck_assert_int_eq(fired, PERIODS);
	ck_assert_int_eq(dispatched, PERIODS);
	end();
}
END_TEST

/*
 * What is readable before the loop gets to know the descriptor; one that it
 * gets to know a second time.
 */

START_TEST(watched_late)
{
	begin();
	loop_unwatch(&timers);
	schedule(0, fire, NULL);
	nap(MS);
	loop_watch(&timers);
	run_until(fired_once);
	ck_assert_int_eq(fired, 1);
	end();
}
END_TEST

/*
 * The end of it, from all sides.
 */

static void stop_inside(void *arg)
{
	(void)arg;
	fired++;
	ck_assert_int_eq(timerthread_stop(tt), 1);
}

static void count_drained(timerthread_id id, timerthread_fn *fn, void *arg,
			  void *ctx)
{
	int *n = ctx;

	(void)id;
	(void)arg;
	ck_assert(fn == never);
	++*n;
}

static bool is_stopped(void)
{
	return stopped;
}

static void check_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	ck_assert_int_eq(poll(&p, 1, 0), 1);
}

START_TEST(stopped_by_callback)
{
	int drained = 0, fd;

	begin();
	fd = timers.fd;
	schedule(-3, stop_inside, NULL);
	schedule(-2, never, NULL);
	schedule(timerthread_now(tt) + 20 * MS, never, NULL);
	run_until(is_stopped);
	ck_assert_int_eq(dispatched, 1);
	ck_assert_int_eq(readied, 2);
	check_readable(fd);

	loop_unwatch(&messages);
	loop_run(); /* has nothing to do, and returns */
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_cancel_all(tt, count_drained, &drained),
			 2);
	ck_assert_int_eq(drained, 2);
	ck_assert(is_open(fd));
	timerthread_destroy(tt);
	ck_assert(!is_open(fd));
	end_loop();
}
END_TEST

static void *stop_elsewhere(void *arg)
{
	(void)arg;
	nap(5 * MS);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	return NULL;
}

/* A loop that sleeps for an hour learns of it. */
START_TEST(stopped_by_another_thread)
{
	pthread_t thread;

	begin();
	schedule(timerthread_now(tt) + 3600000 * MS, never, NULL);
	thread = start_thread(stop_elsewhere, NULL);
	run_until(is_stopped);
	join(thread);
	/* Once because it was the earliest. */
	ck_assert_int_le(readied, 2);
	check_readable(timers.fd);
	end();
}
END_TEST

static void destroy_inside(void *arg)
{
	(void)arg;
	fired++;
	loop_unwatch(&timers);
	loop_unwatch(&messages);
	timerthread_destroy(tt);
}

START_TEST(destroyed_by_callback)
{
	int fd;

	begin();
	fd = timers.fd;
	schedule(0, destroy_inside, NULL);
	schedule(1, never, NULL);
	loop_run(); /* ends by itself when nothing is left in it */
	ck_assert_int_eq(readied, 1);
	ck_assert_int_eq(dispatched, 1);
	ck_assert(!is_open(fd));
	end_loop();
}
END_TEST

int run_loop_tests(const char *name)
{
	const TTest *const tests[] = {
		in_order,
		beside_others,
		past_does_not_starve,
		woken_by_others,
		many_threads,
		idle,
		moved_away,
		periodic,
		watched_late,
		stopped_by_callback,
		stopped_by_another_thread,
		destroyed_by_callback,
	};

	return RUN_TESTS(name, tests);
}
