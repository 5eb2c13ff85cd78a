/* SPDX-License-Identifier: MIT */
/*
 * Timers in an event loop that is not ours.  Each program here makes one
 * library of loops look like this, and has the tests of loop_test.c run for
 * each way in which that library can watch a descriptor.
 */
#pragma once

#include "harness.h"

#include <stdbool.h>

int run_loop_tests(const char *name);

/* To be called by the loop's own timer. */
void beat(void);

/*
 * What the loop offers.
 */

/* A descriptor in the loop. */
struct watch {
	int fd;
	void (*readable)(struct watch *w);
	void *handle; /* what the loop has for it */
};

void loop_open(void);
/* Everything was taken out of it before. */
void loop_close(void);
void loop_watch(struct watch *w);
/* Also from within w->readable. */
void loop_unwatch(struct watch *w);
/* A timer of the loop's own: has beat() called all ms milliseconds. */
void loop_start_clock(int ms);
void loop_stop_clock(void);
/* Returns when told to, or when nothing is left in the loop. */
void loop_run(void);
void loop_quit(void);
/* Waits once, and handles what there is.  False: nothing is in the loop. */
bool loop_turn(void);
