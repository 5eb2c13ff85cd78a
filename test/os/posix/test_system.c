/* SPDX-License-Identifier: MIT */
/*
 * What the library asks of a system for its threads.  system.c is compiled
 * again here, and sees other systems than this one.
 */
#include "config.h"

#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <timerthread.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

/* What systems say of an ordinary thread, and what it must get. */
static const struct scheduling {
	const char *system;
	int min, max, fresh;
	int right;
} systems[] = {
	{"Linux", 0, 0, 0, 0},      {"FreeBSD", 0, 103, 0, 0},
	{"illumos", -60, 60, 0, 0}, {"macOS", 15, 47, 31, 31},
	{"NetBSD", -1, -1, 0, -1},  {"none", 5, 9, 0, 5},
};

static const struct scheduling *here;
static int given;
static bool no_attributes;

static int say_min(int policy)
{
	ck_assert_int_eq(policy, SCHED_OTHER);
	return here->min;
}

static int say_max(int policy)
{
	ck_assert_int_eq(policy, SCHED_OTHER);
	return here->max;
}

static int attributes;

static int say_init(pthread_attr_t *attr)
{
	if (no_attributes)
		return ENOMEM;
	attributes++;
	return pthread_attr_init(attr);
}

static int say_destroy(pthread_attr_t *attr)
{
	attributes--;
	return pthread_attr_destroy(attr);
}

static int say_fresh(const pthread_attr_t *attr, struct sched_param *ret)
{
	(void)attr;
	ret->sched_priority = here->fresh;
	return 0;
}

static int take(pthread_t thread, int policy, const struct sched_param *p)
{
	ck_assert(pthread_equal(thread, pthread_self()));
	ck_assert_int_eq(policy, SCHED_OTHER);
	given = p->sched_priority;
	return 0;
}

#define sched_get_priority_min     say_min
#define sched_get_priority_max     say_max
#define pthread_attr_init          say_init
#define pthread_attr_destroy       say_destroy
#define pthread_attr_getschedparam say_fresh
#define pthread_setschedparam      take
#include "os/posix/system.c"
#undef sched_get_priority_min
#undef sched_get_priority_max
#undef pthread_attr_init
#undef pthread_attr_destroy
#undef pthread_attr_getschedparam
#undef pthread_setschedparam

START_TEST(an_ordinary_thread)
{
	enum { NONE = 1000 };

	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		here = &systems[i];
		given = NONE;
		system_make_ordinary(pthread_self());
		ck_assert_msg(given == here->right, "%s: %d", here->system,
			      given);
		ck_assert_int_eq(attributes, 0);
	}
	given = NONE;
	no_attributes = true;
	system_make_ordinary(pthread_self());
	ck_assert_int_eq(given, NONE);
}
END_TEST

#ifdef PR_GET_TIMERSLACK

static int seen_slack;

static void see_slack(void *arg)
{
	seen_slack = prctl(PR_GET_TIMERSLACK);
	sem_post(arg);
}

/* Else a thread of the library would sleep as late as others do. */
START_TEST(the_thread_has_no_slack)
{
	struct timerthread *tt;
	sem_t ran;

	sem_init(&ran, 0, 0);
	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(
		timerthread_schedule_after(tt, 0, see_slack, &ran, NULL), 0);
	while (sem_wait(&ran) != 0)
		;
	ck_assert_int_eq(seen_slack, 1);
	timerthread_destroy(tt);
}
END_TEST

#endif

int main(void)
{
	const TTest *const tests[] = {
		an_ordinary_thread,
#ifdef PR_GET_TIMERSLACK
		the_thread_has_no_slack,
#endif
	};

	return RUN_TESTS("system", tests);
}
