/* SPDX-License-Identifier: MIT */
/* first: one timer, which is cancelled in time. */
#include <stdio.h>
#include <timerthread.h>

static void expired(void *arg)
{
	printf("%s: no answer in 5 seconds\n", (const char *)arg);
}

int main(void)
{
	static char request[] = "request 1";
	struct timerthread *tt;
	timerthread_id id;

	if (timerthread_create(&tt) < 0 || timerthread_start(tt, NULL) < 0 ||
	    timerthread_schedule_after(tt, 5 * TIMERTHREAD_SEC, expired,
				       request, &id) < 0)
		return 1;
	/* The work that the timer guards goes here. */
	if (timerthread_cancel(tt, id) == 0)
		printf("%s: done in time\n", request);
	timerthread_destroy(tt);
	return 0;
}
