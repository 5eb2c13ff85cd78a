/* SPDX-License-Identifier: MIT */
/*
 * The list of all instances, which debuggers read.
 */
#include "config.h"

#include "api/instance.h"
#include "os/fork.h"
#include "timers.h"

#include "child.h"

#include <pthread.h>

/* Is it on the list, which is sound?  With the lock held for that. */
static bool find(const struct timerthread *wanted)
{
	const struct instance_link *l = &timerthread_instances;
	bool found = false;

	lock_acquire(&fork_page.lock);
	while (l->next != 0) {
		const struct instance_link *previous = l;

		/* Who looks for leaks must not find it. */
		l = (const struct instance_link *)-l->next;
		found = found || l->instance == wanted;
		if (-l->previous != (uintptr_t)previous)
			abort();
	}
	lock_release(&fork_page.lock);
	return found;
}

static bool is_empty(void)
{
	return timerthread_instances.next == 0;
}

enum { N = 4 };

static struct timerthread *create(void)
{
	struct timerthread *t = NULL;

	if (timerthread_create(&t) != 0)
		abort();
	return t;
}

/* In all orders of the four. */
START_TEST(from_create_to_destroy)
{
	for (int order = 0; order < N * N * N * N; order++) {
		struct timerthread *t[N];

		ck_assert(is_empty());
		for (int i = 0; i < N; i++)
			t[i] = create();
		for (int i = 0, o = order; i < N; i++, o /= N) {
			struct timerthread *gone = t[o % N];

			if (!gone)
				continue;
			ck_assert(find(gone));
			timerthread_destroy(gone);
			t[o % N] = NULL;
			ck_assert(!find(gone));
		}
		for (int i = 0; i < N; i++) {
			ck_assert(!t[i] || find(t[i]));
			timerthread_destroy(t[i]);
		}
	}
	ck_assert(is_empty());
}
END_TEST

START_TEST(started_once)
{
	setup();
	ck_assert(find(tt));
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert(find(tt));
	end();
	ck_assert(is_empty());
}
END_TEST

enum { ROUNDS = 500 };

static void *create_and_destroy(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		struct timerthread *a = create(), *b = create();

		if (!find(a) || !find(b))
			abort();
		timerthread_destroy(i % 2 ? a : b);
		if (!find(i % 2 ? b : a))
			abort();
		timerthread_destroy(i % 2 ? b : a);
	}
	return NULL;
}

START_TEST(by_threads)
{
	run_threads(create_and_destroy, 4);
	ck_assert(is_empty());
}
END_TEST

/* In a child: its list is its own, and begins empty. */
static void use_in_child(struct timerthread *created)
{
	struct timerthread *own = create();

	NEED(find(own));
	NEED(!find(tt) && !find(created));
	/* What was created before is the child's when it is started there. */
	NEED(timerthread_start_virtual(created, 0) == 0);
	NEED(find(created));
	timerthread_destroy(tt);
	NEED(find(own) && find(created));
	timerthread_destroy(created);
	timerthread_destroy(own);
	NEED(is_empty());
	run_threads(create_and_destroy, 2);
	_exit(EXIT_SUCCESS);
}

static atom32 over;

static void *create_for_long(void *arg)
{
	while (!atom32_load(&over))
		timerthread_destroy(create());
	return arg;
}

/* While others may have the lock. */
START_TEST(forked)
{
	const int forks = fork_is_delicate() ? 1 : 50;
	struct timerthread *created;
	pthread_t t;

	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	created = create();
	if (!fork_is_delicate())
		ck_assert_int_eq(
			pthread_create(&t, NULL, create_for_long, NULL), 0);
	for (int i = 0; i < forks; i++) {
		pid_t child = fork();

		ck_assert_int_ge(child, 0);
		if (child == 0)
			use_in_child(created);
		ck_assert_int_eq(end_of(child), EXIT_SUCCESS);
	}
	atom32_store(&over, 1);
	if (!fork_is_delicate())
		pthread_join(t, NULL);
	ck_assert(find(tt) && find(created));
	timerthread_destroy(created);
	end();
}
END_TEST

/* Somebody has the lock, who is not in the child. */
START_TEST(forked_under_the_lock)
{
	struct timerthread *created;
	pid_t child;

	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	created = create();
	lock_acquire(&fork_page.lock);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		use_in_child(created);
	ck_assert_int_eq(end_of(child), EXIT_SUCCESS);
	lock_release(&fork_page.lock);
	timerthread_destroy(created);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		from_create_to_destroy, started_once, by_threads, forked,
		forked_under_the_lock,
	};

	return RUN_TESTS("instances", tests);
}
