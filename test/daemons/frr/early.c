/* SPDX-License-Identifier: MIT */
/*
 * early: timers that are added before the loop of a daemon runs, and expire
 * before it does, run in the order of their times; and the loop ends when no
 * timer is left.
 */
#include <zebra.h>

#include "thread.h"

static char ran[8];

static void expired(struct thread *thread)
{
	strlcat(ran, thread->arg, sizeof(ran));
}

int main(void)
{
	struct thread_master *m = thread_master_create(NULL);
	struct thread fetched, *cancelled = NULL;

	thread_add_timer_msec(m, expired, "c", 3, NULL);
	thread_add_timer_msec(m, expired, "a", 1, NULL);
	thread_add_timer_msec(m, expired, "x", 2, &cancelled);
	thread_add_timer_msec(m, expired, "b", 2, NULL);
	thread_add_timer_msec(m, expired, "d", 50, NULL);
	thread_cancel(&cancelled);
	usleep(10000);
	while (thread_fetch(m, &fetched))
		thread_call(&fetched);
	thread_master_free(m);
	puts(ran);
	return strcmp(ran, "abcd") != 0;
}
