/* SPDX-License-Identifier: MIT */
/*
 * The table of waiters.  futex.c is compiled again here, so that a test sees
 * who waits; what it asks of condition variables goes through the test, too.
 */
#include "config.h"

#include "clocks.h"
#include "harness.h"

#include "child.h"
#include "os/clock.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#define HOUR (INT64_C(3600) * NS_PER_S)

/* Waits since the test began, and what the last one was for. */
static atom32 waits;
static clockid_t waited_on;
static int64_t waited_until;
/* They end at once; there is no memory for any. */
static bool end_at_once, no_memory;
/* Mutexes that can be made; those that were, and were not destroyed. */
static int mutexes_left = INT_MAX, mutexes;

static int seen_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	if (mutexes_left == 0)
		return ENOMEM;
	mutexes_left--;
	mutexes++;
	return pthread_mutex_init(m, attr);
}

static int seen_mutex_destroy(pthread_mutex_t *m)
{
	mutexes--;
	return pthread_mutex_destroy(m);
}

static int seen_setclock(pthread_condattr_t *attr, clockid_t clock)
{
	if (end_at_once)
		waited_on = clock;
	return pthread_condattr_setclock(attr, clock);
}

/* There is memory, or there is none: nothing between. */
static int seen_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
	if (no_memory)
		return ENOMEM;
	while (pthread_cond_init(c, attr) != 0)
		;
	return 0;
}

/* Waits that end for no reason go on here. */
static bool is_woken(const pthread_cond_t *c);

static int seen_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	atom32_add(&waits, 1);
	if (!end_at_once) {
		while (!is_woken(c))
			pthread_cond_wait(c, m);
		return 0;
	}
	waited_until = INT64_MAX;
	return 0;
}

static int seen_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
			  const struct timespec *t)
{
	int r = 0;

	atom32_add(&waits, 1);
	if (!end_at_once) {
		while (r == 0 && !is_woken(c))
			r = pthread_cond_timedwait(c, m, t);
		return r;
	}
	waited_until = (int64_t)t->tv_sec * NS_PER_S + t->tv_nsec;
	return ETIMEDOUT;
}

/* On some systems they are macros already. */
#undef pthread_mutex_init
#undef pthread_mutex_destroy
#undef pthread_cond_init
#undef pthread_cond_wait
#undef pthread_cond_timedwait
#define pthread_condattr_setclock seen_setclock
#define pthread_mutex_init        seen_mutex_init
#define pthread_mutex_destroy     seen_mutex_destroy
#define pthread_cond_init         seen_init
#define pthread_cond_wait         seen_wait
#define pthread_cond_timedwait    seen_timedwait
#include "os/posix/futex.c"
#undef pthread_condattr_setclock
#undef pthread_mutex_init
#undef pthread_mutex_destroy
#undef pthread_cond_init
#undef pthread_cond_wait
#undef pthread_cond_timedwait

static bool is_woken(const pthread_cond_t *c)
{
	const char *w = (const char *)c - offsetof(struct waiter, woken);

	return !((const struct waiter *)(const void *)w)->word;
}

/* Those that are 512 bytes apart are on one list. */
static _Alignas(4096) atom32 word[1024];
#define ONE     (&word[0])
#define OTHER   (&word[128])
#define THIRD   (&word[2])
#define FOREVER INT64_MAX

static int waiting(const atom32 *w)
{
	struct list *l = list_of(w);
	int n = 0;

	pthread_mutex_lock(&l->mutex);
	for (const struct waiter *p = l->first; p; p = p->next)
		n += p->word == w;
	pthread_mutex_unlock(&l->mutex);
	return n;
}

static void wait_for_waiters(const atom32 *w, int n)
{
	while (waiting(w) != n)
		sched_yield();
}

struct sleeper_thread {
	pthread_t thread;
	atom32 *word;
	sem_t returned;
};

static void *sleep_on_it(void *arg)
{
	struct sleeper_thread *s = arg;

	futex_wait_until(s->word, 0, CLOCK_MONOTONIC, FOREVER);
	sem_post(&s->returned);
	pthread_testcancel();
	return NULL;
}

/* Returns when it waits, as the n-th. */
static void start(struct sleeper_thread *s, atom32 *w, int n)
{
	s->word = w;
	sem_init(&s->returned, 0, 0);
	ck_assert_int_eq(pthread_create(&s->thread, NULL, sleep_on_it, s), 0);
	wait_for_waiters(w, n);
}

static void *join(struct sleeper_thread *s)
{
	void *result;

	ck_assert_int_eq(pthread_join(s->thread, &result), 0);
	ck_assert_int_eq(sem_trywait(&s->returned), 0);
	return result;
}

START_TEST(wake_before_wait)
{
	atom32_store(ONE, 1);
	futex_wake(ONE, 1);
	for (int i = 0; i < CLOCKS; i++)
		futex_wait_until(ONE, 0, clocks[i], FOREVER);
	futex_wait_for(ONE, 0, 1000000000);
	ck_assert_uint_eq(atom32_load(&waits), 0);
}
END_TEST

/* The oldest first, and nobody who waits for another word. */
START_TEST(wakes_those_that_it_must)
{
	struct sleeper_thread one[3], other[2], third;

	ck_assert_ptr_eq(list_of(ONE), list_of(OTHER));
	ck_assert_ptr_ne(list_of(ONE), list_of(THIRD));
	start(&other[0], OTHER, 1);
	start(&third, THIRD, 1);
	for (int i = 0; i < 3; i++)
		start(&one[i], ONE, i + 1);
	start(&other[1], OTHER, 2);

	futex_wake(ONE, 1);
	join(&one[0]);
	ck_assert_int_eq(waiting(ONE), 2);
	ck_assert_int_eq(waiting(OTHER), 2);
	futex_wake(OTHER, 1);
	join(&other[0]);
	ck_assert_int_eq(waiting(ONE), 2);
	futex_wake(ONE, INT_MAX);
	join(&one[1]);
	join(&one[2]);
	ck_assert_int_eq(waiting(OTHER), 1);
	ck_assert_int_eq(waiting(THIRD), 1);
	futex_wake(ONE, 1);
	futex_wake(OTHER, 2);
	join(&other[1]);
	futex_wake(THIRD, 0);
	ck_assert_int_eq(waiting(THIRD), 1);
	futex_wake(THIRD, 1);
	join(&third);
	ck_assert_ptr_null(list_of(ONE)->first);
}
END_TEST

/* As who waits for a time does: until it has come. */
START_TEST(deadlines_come)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t deadline = clock_now(clocks[i]) + NS_PER_S / 50;

		atom32_store(&waits, 0);
		while (clock_now(clocks[i]) < deadline)
			futex_wait_until(ONE, 0, clocks[i], deadline);
		/* One, and some that end for no reason. */
		ck_assert_uint_le(atom32_load(&waits), 5);
		atom32_store(&waits, 0);
		futex_wait_until(ONE, 0, clocks[i], 0);
		futex_wait_until(ONE, 0, clocks[i], INT64_MIN);
		ck_assert_uint_le(atom32_load(&waits), 2);
	}
	ck_assert_ptr_null(list_of(ONE)->first);
}
END_TEST

static bool is_between(int64_t t, int64_t from, int64_t to)
{
	return from <= t && t <= to;
}

/* For that of another clock: not for long, and not for no time at all. */
START_TEST(a_wait_is_on_a_clock_that_conditions_know)
{
	end_at_once = true;
	for (int i = 0; i < CLOCKS; i++) {
		clockid_t c = clocks[i];
		int64_t far = clock_now(c) + HOUR, before, after, soon;

		futex_wait_until(ONE, 0, c, FOREVER);
		ck_assert_int_eq(waited_until, FOREVER);
		before = clock_now(CLOCK_MONOTONIC);
		futex_wait_until(ONE, 0, c, far);
		after = clock_now(CLOCK_MONOTONIC);
		if (is_known(c)) {
			ck_assert_int_eq(waited_on, c);
			ck_assert_int_eq(waited_until, far);
			continue;
		}
		ck_assert_int_eq(waited_on, CLOCK_MONOTONIC);
		ck_assert(is_between(waited_until, before + NS_PER_S,
				     after + NS_PER_S));

		before = clock_now(CLOCK_MONOTONIC);
		soon = clock_now(c) + NS_PER_S / 2;
		futex_wait_until(ONE, 0, c, soon);
		after = clock_now(CLOCK_MONOTONIC);
		ck_assert(
			is_between(waited_until, before, after + NS_PER_S / 2));
		ck_assert_int_ge(waited_until - before,
				 NS_PER_S / 2 - (after - before));
	}
	ck_assert(is_known(CLOCK_MONOTONIC));
}
END_TEST

START_TEST(a_length_of_time)
{
	int64_t before = clock_now(CLOCK_MONOTONIC), after;

	end_at_once = true;
	futex_wait_for(ONE, 0, 5000);
	after = clock_now(CLOCK_MONOTONIC);
	ck_assert(is_between(waited_until, before + 5000, after + 5000));
}
END_TEST

/* The thread goes on waiting, and is cancelled later. */
START_TEST(cancellation_is_no_point)
{
	struct sleeper_thread s;

	start(&s, ONE, 1);
	pthread_cancel(s.thread);
	for (int i = 0; i < 1000; i++)
		sched_yield();
	ck_assert_int_eq(waiting(ONE), 1);
	futex_wake(ONE, 1);
	ck_assert_ptr_eq(join(&s), PTHREAD_CANCELED);
	ck_assert_int_eq(waiting(ONE), 0);
}
END_TEST

static void wait_in_child(void)
{
	struct sleeper_thread s;

	/* No others than the two that were held: each may take memory. */
	NEED(mutexes == LISTS + 2);
	for (int i = 0; i < LISTS; i++)
		NEED(pthread_mutex_trylock(&lists[i].mutex) == 0 &&
		     pthread_mutex_unlock(&lists[i].mutex) == 0);
	NEED(waiting(ONE) == 0);
	futex_wake(ONE, 1);
	start(&s, ONE, 1);
	futex_wake(ONE, 1);
	NEED(join(&s) == NULL);
}

/* Another thread waits, and one has the mutex of a list. */
START_TEST(in_a_child)
{
	struct sleeper_thread s;

	start(&s, ONE, 1);
	pthread_mutex_lock(&list_of(ONE)->mutex);
	pthread_mutex_lock(&list_of(THIRD)->mutex);
	in_child(wait_in_child);
	pthread_mutex_unlock(&list_of(THIRD)->mutex);
	pthread_mutex_unlock(&list_of(ONE)->mutex);
	ck_assert_int_eq(waiting(ONE), 1);
	futex_wake(ONE, 1);
	join(&s);
}
END_TEST

/* It does not wait, nor spin. */
START_TEST(no_memory_for_a_waiter)
{
	int64_t before = clock_now(CLOCK_MONOTONIC);

	no_memory = true;
	futex_wait_until(ONE, 0, CLOCK_MONOTONIC, FOREVER);
	ck_assert_int_ge(clock_now(CLOCK_MONOTONIC) - before, WAIT_NAP_NS);
	ck_assert_ptr_null(list_of(ONE)->first);
	futex_wake(ONE, 1);
}
END_TEST

/* It does not wait, nor spin; and a wake touches nothing. */
static void use_without_mutexes(void)
{
	int64_t before = clock_now(CLOCK_MONOTONIC);

	NEED(!futex_works());
	futex_wait_until(ONE, 0, CLOCK_MONOTONIC, FOREVER);
	NEED(clock_now(CLOCK_MONOTONIC) - before >= WAIT_NAP_NS);
	futex_wake(ONE, 1);
	NEED(atom32_load(&waits) == 0);
}

/* None is kept that was made. */
START_TEST(no_memory_for_a_mutex)
{
	ck_assert_int_eq(mutexes, LISTS);
	for (int i = 0; i < LISTS; i++)
		seen_mutex_destroy(&lists[i].mutex);
	for (int n = 0; n < LISTS; n++) {
		memset(lists, 0xff, sizeof(lists));
		mutexes_left = n;
		begin_waits();
		ck_assert_int_eq(mutexes, 0);
		use_without_mutexes();
	}
}
END_TEST

START_TEST(no_memory_for_a_mutex_in_a_child)
{
	pthread_mutex_lock(&list_of(THIRD)->mutex);
	mutexes_left = 0;
	in_child(use_without_mutexes);
	pthread_mutex_unlock(&list_of(THIRD)->mutex);
	ck_assert(futex_works());
}
END_TEST

START_TEST(errno_is_kept)
{
	errno = E2BIG;
	end_at_once = true;
	futex_wait_until(ONE, 0, CLOCK_BOOTTIME, 1);
	futex_wait_for(ONE, 0, 1);
	futex_wake(ONE, 1);
	ck_assert_int_eq(errno, E2BIG);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		wake_before_wait,
		wakes_those_that_it_must,
		deadlines_come,
		a_wait_is_on_a_clock_that_conditions_know,
		a_length_of_time,
		cancellation_is_no_point,
		in_a_child,
		no_memory_for_a_waiter,
		no_memory_for_a_mutex,
		no_memory_for_a_mutex_in_a_child,
		errno_is_kept,
	};

	return RUN_TESTS("futex", tests);
}
