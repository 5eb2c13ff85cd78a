/* SPDX-License-Identifier: MIT */
/*
 * What is known of one timer when a round is over: its events in the order of
 * their starts, and what follows from them.
 *
 * "Surely" holds whatever the order of what overlapped; "maybe" holds for one
 * order at least.
 */
#pragma once

#include "record.h"

struct history {
	const struct account *account;
	const struct event *event[MAX_EVENTS];
	unsigned n;
	const struct event *run[MAX_EVENTS];
	/* The first successful move from inside each run, or NULL. */
	const struct event *rearm[MAX_EVENTS];
	unsigned runs;
	unsigned owners; /* who got it back: a cancel with 0, a visit */
};

/* False: more events than there is room for. */
bool history_read(struct history *h, const struct account *a);

/* When the thread of the run left the callback before this one. */
int64_t run_not_before(const struct event *run);

/* By when that thread was done with the run. */
int64_t run_over_by(const struct event *run);

/* Was it pending, or just being moved, from start to end? */
bool history_surely_pending(const struct history *h, int64_t start,
			    int64_t end);

/* Had somebody learned by then that the timer is over? */
bool history_surely_over(const struct history *h, int64_t by);

/* Or that it was cancelled while it ran? */
bool history_surely_ending(const struct history *h, int64_t by);

/* May a cancel or a drain have been successful by then? */
bool history_maybe_cancelled(const struct history *h, int64_t by);

/* May a cancel have found it running by then? */
bool history_maybe_ending(const struct history *h, int64_t by);

/* Did the timer run all the time, and was it not armed again? */
bool history_surely_begun(const struct history *h, int64_t start, int64_t end);

/* May it have been running, not armed again, or over, at some time? */
bool history_maybe_begun(const struct history *h, int64_t start, int64_t end);

/* It is wrong: says why, shows what is known and aborts. */
_Noreturn void complain(const struct history *h, const struct event *e,
			const char *why);
