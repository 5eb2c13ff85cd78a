/* SPDX-License-Identifier: MIT */
/*
 * Event loops of all kinds around an instance: those that wait for its
 * descriptor, and one that sleeps until the next deadline.
 */
#include "config.h"

#include "polled.h"
#include "sleeper_calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/select.h>

/*
 * When the next timer is due, for a loop that sleeps in its own way.
 */
static int64_t next_deadline(void)
{
	int64_t t = 77;

	ck_assert_int_eq(timerthread_get_next_deadline(tt, &t), 0);
	return t;
}

START_TEST(next_deadline_where_it_lies)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t first;
		timerthread_id id;

		begin_on(clocks[i]);
		ck_assert_int_eq(next_deadline(), TIMERTHREAD_NEVER);
		/* More than two seconds away it may be a bit too early. */
		first = now() + HOUR;
		id = schedule(first, never, NULL);
		ck_assert_int_le(next_deadline(), first);
		ck_assert_int_ge(next_deadline(), first - HOUR / 16);
		first = now() + 3 * S / 2;
		schedule(first, never, NULL);
		ck_assert_int_eq(next_deadline(), first);
		ck_assert_int_eq(dispatch(), 0);
		ck_assert_int_eq(next_deadline(), first);
		/* The slack is not in it. */
		ck_assert_int_eq(timerthread_reschedule(tt, id, first - MS), 0);
		ck_assert_int_eq(next_deadline(), first - MS);
		schedule(1, note, NULL);
		ck_assert_int_le(next_deadline(), now());
		runs = 0;
		ck_assert_int_ge(dispatch(), 1);
		ck_assert_int_eq(runs, 1);
		ck_assert_int_eq(next_deadline(), first - MS);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		end();
	}
}
END_TEST

START_TEST(next_deadline_without_the_slack)
{
	int64_t first;

	setup();
	ck_assert_int_eq(timerthread_set_slack(tt, 300 * MS), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	first = now() + S;
	schedule(first, never, NULL);
	ck_assert_int_eq(next_deadline(), first);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert_int_eq(next_deadline(), first);
	end();
}
END_TEST

/*
 * A loop that looks at nothing else.  It never sleeps beyond a deadline, and
 * each time that it sleeps until is later than the one before.
 */
enum { PLANNED = 300 };

static struct planned {
	timerthread_id id;
	int64_t deadline;
	bool over;
} planned[PLANNED];

static void note_planned(void *arg)
{
	struct planned *p = arg;

	if (p->over || now() < p->deadline)
		abort();
	p->over = true;
}

static int64_t first_planned(void)
{
	int64_t first = TIMERTHREAD_NEVER;

	for (int i = 0; i < PLANNED; i++) {
		if (!planned[i].over && planned[i].deadline < first)
			first = planned[i].deadline;
	}
	return first;
}

static void plan_all(uint64_t *rng)
{
	int64_t base = now();

	for (int i = 0; i < PLANNED; i++) {
		struct planned *p = &planned[i];

		p->over = false;
		p->deadline = base + (int64_t)random_below(rng, 40 * MS);
		p->id = schedule(p->deadline, note_planned, p);
	}
	for (int i = 0; i < PLANNED; i += 3) {
		struct planned *p = &planned[i];

		p->deadline = base + (int64_t)random_below(rng, 40 * MS);
		ck_assert_int_eq(timerthread_reschedule(tt, p->id, p->deadline),
				 0);
		if (i % 2)
			continue;
		ck_assert_int_eq(timerthread_cancel(tt, p->id), 0);
		p->over = true;
	}
}

START_TEST(next_deadline_is_enough)
{
	uint64_t rng = test_seed();

	for (int i = 0; i < CLOCKS; i++) {
		int64_t t, before = INT64_MIN;

		begin_on(clocks[i]);
		plan_all(&rng);
		while ((t = next_deadline()) != TIMERTHREAD_NEVER) {
			int64_t first = first_planned();

			/* What is due is now, which is later than that. */
			if (t > first)
				ck_assert_int_le(first, now());
			ck_assert_int_gt(t, before);
			before = t;
			sleep_until(t);
			ck_assert_int_ge(dispatch(), 0);
		}
		ck_assert_int_eq(first_planned(), TIMERTHREAD_NEVER);
		end();
	}
}
END_TEST

/*
 * Loops: wait is given a descriptor from open and waits for one event.
 */
static int open_none(void)
{
	return -1;
}

static bool wait_with_poll(int unused, int ms)
{
	(void)unused;
	return readable_within(ms);
}

static bool wait_with_select(int unused, int ms)
{
	struct timeval t = {ms / 1000, ms % 1000 * 1000};
	fd_set set;

	(void)unused;
	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &t) == 1;
}

static int open_level(void)
{
	return epoll_for_one(fd, TOLD_ALWAYS);
}

static int open_edge(void)
{
	return epoll_for_one(fd, TOLD_CHANGES);
}

static bool wait_once(int epoll, int ms)
{
	return epoll_again(epoll, fd, TOLD_ONCE) && epoll_tells(epoll, ms);
}

static const struct loop {
	int (*open)(void);
	bool (*wait)(int, int);
} loops[] = {
	{open_none, wait_with_poll}, {open_none, wait_with_select},
	{open_level, epoll_tells},   {open_edge, epoll_tells},
	{open_edge, wait_once},
};

enum { LOOPS = sizeof(loops) / sizeof(loops[0]), WITHOUT_EPOLL = 2 };

static atom32 in_loop;

static void count_in_loop(void *arg)
{
	(void)arg;
	atom32_add(&in_loop, 1);
}

static void chain(void *arg)
{
	int n = (int)(uintptr_t)arg;

	count_in_loop(NULL);
	if (n > 0)
		schedule(n % 3 ? -n : now() + n * 1000, chain,
			 (void *)(uintptr_t)(n - 1));
}

enum { CHAIN = 200, FROM_OUTSIDE = 500 };

static void *schedule_from_outside(void *arg)
{
	uint64_t rng = test_seed();

	for (int i = 0; i < FROM_OUTSIDE; i++) {
		int64_t delay = (int64_t)random_below(&rng, 200000) - 50000;

		if (timerthread_schedule_after(tt, delay, count_in_loop, NULL,
					       NULL) != 0)
			abort();
		if (i % 8 == 0)
			usleep((unsigned)random_below(&rng, 300));
	}
	return arg;
}

/* One dispatch for each event, and never stuck. */
static void turn_loop(const struct loop *l)
{
	pthread_t t;
	int d;

	begin();
	d = l->open();
	atom32_store(&in_loop, 0);
	t = start_thread(schedule_from_outside, NULL);
	schedule(0, chain, (void *)(uintptr_t)(CHAIN - 1));
	while (atom32_load(&in_loop) < CHAIN + FROM_OUTSIDE) {
		ck_assert(l->wait(d, GIVEN_UP));
		ck_assert_int_ge(dispatch(), 0);
	}
	pthread_join(t, NULL);
	/* Blocks that are no longer used are freed a few at a time. */
	for (int i = 0; i < 100 && l->wait(d, 0); i++)
		ck_assert_int_eq(dispatch(), 0);
	ck_assert(!l->wait(d, 0));
	if (d >= 0)
		close(d);
	end();
}

START_TEST(all_kinds_of_loops)
{
	const int n = has_epoll() ? LOOPS : WITHOUT_EPOLL;

	for (int i = 0; i < n; i++)
		turn_loop(&loops[i]);
}
END_TEST

static void wait_edge(int epoll)
{
	ck_assert(epoll_tells(epoll, GIVEN_UP));
	/* That was it. */
	ck_assert(!epoll_tells(epoll, 0));
}

/* Whatever it is that comes, it comes with an edge of its own. */
START_TEST(an_edge_each)
{
	int epoll;

	if (!has_epoll())
		return;
	begin();
	epoll = open_edge();
	ck_assert(!epoll_tells(epoll, 0));
	for (int i = 0; i < 20; i++) {
		schedule(0, i % 2 ? plan_for_the_past : note, NULL);
		wait_edge(epoll);
		ck_assert_int_eq(dispatch(), 1);
		if (i % 2) {
			wait_edge(epoll);
			ck_assert_int_eq(dispatch(), 3);
		}
		ck_assert(!epoll_tells(epoll, 0));
		schedule(now() + MS, note, NULL);
		do
			wait_edge(epoll);
		while (dispatch() == 0);
	}
	every(0, 1, note, NULL);
	for (int i = 0; i < 20; i++) {
		wait_edge(epoll);
		ck_assert_int_eq(dispatch(), 1);
	}
	close(epoll);
	end();
}
END_TEST

/* Who sets the descriptor next is held behind that. */
static atom32 tarry;

static void before_call(void)
{
}

static void after_call(int64_t t)
{
	(void)t;
	if (atom32_load(&tarry) == 0)
		return;
	atom32_store(&tarry, 0);
	hold(&ran);
}

/*
 * The loop gets its event while another thread is just about to leave its
 * dispatch.  It must not come too early: there is no other event.
 */
START_TEST(an_edge_is_not_lost_to_another_dispatch)
{
	pthread_t first, second;
	int epoll, r[2];

	if (!has_epoll())
		return;
	begin();
	epoll = open_edge();
	schedule(0, plan_for_the_past, NULL);
	wait_edge(epoll);
	atom32_store(&tarry, 1);
	first = start_thread(dispatch_in_thread, &r[0]);
	wait_for(&ran);
	wait_edge(epoll);
	second = start_thread(dispatch_in_thread, &r[1]);
	/* Unless it was refused, it waits by now, or comes later. */
	for (int i = 0; i < 100; i++)
		sched_yield();
	sem_post(&go);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	ck_assert_int_eq(r[0], 1);
	ck_assert_int_eq(r[1], 3);
	close(epoll);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		next_deadline_where_it_lies,
		next_deadline_without_the_slack,
		next_deadline_is_enough,
		all_kinds_of_loops,
		an_edge_each,
		an_edge_is_not_lost_to_another_dispatch,
	};

	return RUN_TESTS("loop", tests);
}
