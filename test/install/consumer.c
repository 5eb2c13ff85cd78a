/* SPDX-License-Identifier: MIT */
/*
 * A program outside the tree, built against the installed library; C and C++.
 * Fires one timer, cancels another and prints the library's version.
 */
#include <timerthread.h>

#include <stdio.h>
#include <unistd.h>

#define MILLISECOND INT64_C(1000000)
#define HOUR        (3600 * 1000 * MILLISECOND)

static int pipe_fds[2];

static void fired(void *arg)
{
	if (write(pipe_fds[1], arg, 1) != 1)
		perror("write");
}

static void never(void *arg)
{
	(void)arg;
	fprintf(stderr, "a cancelled timer ran\n");
}

int main(void)
{
	struct timerthread *tt;
	timerthread_id id;
	static char sent = '!';
	char received = 0;

	if (pipe(pipe_fds) != 0 || timerthread_create(&tt) != 0 ||
	    timerthread_start(tt, NULL) != 0 ||
	    timerthread_schedule_after(tt, HOUR, never, NULL, &id) != 0 ||
	    timerthread_cancel(tt, id) != 0 ||
	    timerthread_schedule_after(tt, MILLISECOND, fired, &sent, &id) !=
		    0 ||
	    read(pipe_fds[0], &received, 1) != 1 || received != sent)
		return 1;
	timerthread_destroy(tt);
	puts(timerthread_version());
	return 0;
}
