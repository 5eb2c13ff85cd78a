/* SPDX-License-Identifier: MIT */
/*
 * started: FRR's test of the order of timers, with a loop that has run before.
 * In the test itself, timers are only added and cancelled before it runs.
 */
#include <zebra.h>

#include "thread.h"

static void nothing(struct thread *thread)
{
}

static struct thread_master *create(const char *name)
{
	struct thread_master *m = thread_master_create(name);
	struct thread fetched;

	thread_add_timer_msec(m, nothing, NULL, 0, NULL);
	if (thread_fetch(m, &fetched))
		thread_call(&fetched);
	return m;
}

#define thread_master_create create
#include "tests/lib/test_timer_correctness.c"
