/* SPDX-License-Identifier: MIT */
/*
 * retry: attempts something until it succeeds, with pauses that double, and
 * gives up at a deadline.  (Many clients of one server would also add some
 * randomness to the pauses.)
 */
#ifndef RETRY_H
#define RETRY_H

#include <stdbool.h>
#include <stdint.h>
#include <timerthread.h>

struct retry;

struct retry_policy {
	int64_t first_pause; /* nanoseconds; each one after it is twice that */
	int64_t max_pause;   /* but no more than this */
	int64_t timeout;     /* for all of it; TIMERTHREAD_NEVER for none */
};

struct retry_ops {
	/*
	 * Begins an attempt.  How it ended is for retry_report, which must be
	 * called once for each attempt, also if it comes too late to matter.
	 */
	void (*attempt)(struct retry *r, void *ctx);
	/*
	 * Called once, when it is over: result is 0, -ETIMEDOUT, -ECANCELED
	 * from retry_abandon, or what timerthread_schedule returned.  An
	 * attempt that was about to begin may still begin.
	 */
	void (*done)(void *ctx, int result);
	/* Called last, if not NULL: no attempt is left, ctx may be freed. */
	void (*release)(void *ctx);
};

/*
 * Makes the first attempt at once, on the calling thread; the others are made
 * by timers of tt.  Returns 0, or a negative errno: then nothing is called.
 */
int retry_start(struct timerthread *tt, const struct retry_policy *policy,
		const struct retry_ops *ops, void *ctx);

/* How an attempt ended: called from any thread, also from within attempt. */
void retry_report(struct retry *r, bool success);

/* For timerthread_cancel_all: ends what waits for a timer that never runs. */
timerthread_visit_fn retry_abandon;

#endif
