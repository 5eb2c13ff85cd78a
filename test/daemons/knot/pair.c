/* SPDX-License-Identifier: MIT */
/*
 * The CPU time, of all threads, to schedule an event of Knot's and cancel it
 * again, on a server with a thousand zones.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "knot/common/evsched.h"

#define ZONES 1000
#define PAIRS 400000

static void run(event_t *ev)
{
	abort();
}

/* From a second to two hours, in milliseconds. */
static uint32_t some_time(void)
{
	return 1000 + (uint32_t)rand() % 7200000;
}

int main(void)
{
	evsched_t sched;
	event_t *zones[ZONES];
	event_t *ev;
	clock_t begin;
	int i;

	/* dt_stop sends it, to end system calls. */
	signal(SIGALRM, SIG_IGN);
	if (evsched_init(&sched, NULL) != 0)
		return 1;
	evsched_start(&sched);
	for (i = 0; i < ZONES; i++) {
		zones[i] = evsched_event_create(&sched, run, NULL);
		/* None is due as long as this runs. */
		if (!zones[i] ||
		    evsched_schedule(zones[i], 600000 + some_time()) != 0)
			return 1;
	}
	ev = evsched_event_create(&sched, run, NULL);
	if (!ev)
		return 1;
	begin = clock();
	for (i = 0; i < PAIRS; i++) {
		if (evsched_schedule(ev, 60000 + some_time()) != 0 ||
		    evsched_cancel(ev) != 0)
			return 1;
	}
	printf("pair_ns %.0f\n",
	       (double)(clock() - begin) * 1e9 / CLOCKS_PER_SEC / PAIRS);
	evsched_event_free(ev);
	for (i = 0; i < ZONES; i++) {
		evsched_cancel(zones[i]);
		evsched_event_free(zones[i]);
	}
	evsched_stop(&sched);
	evsched_join(&sched);
	evsched_deinit(&sched);
	return 0;
}
