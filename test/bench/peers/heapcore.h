/* SPDX-License-Identifier: MIT */
/*
 * A heap of timers with a lock and a thread of its own: the way to keep timers
 * that comes to mind first.  One of them is a facility, and so are many.
 *
 * What is said of all callers in peer.h holds here too.
 */
#pragma once

#include "peer.h"

#include <pthread.h>
#include <stdalign.h>

struct heapcore_timer {
	peer_fn *fn;
	void *arg;
	size_t place; /* in the heap, or 0 */
};

/* The deadline is here too, so that only timers that move are touched. */
struct heapcore_entry {
	int64_t deadline;
	struct heapcore_timer *timer;
};

struct heapcore {
	/* Two cache lines, as some processors fetch them in pairs. */
	alignas(128) pthread_mutex_t lock;
	pthread_cond_t earlier;         /* than asleep_until, is a new timer */
	pthread_cond_t over;            /* is the callback that ran */
	struct heapcore_entry *entries; /* from 1 to count */
	size_t count, room;
	int64_t asleep_until; /* INT64_MIN: awake, or about to be */
	struct heapcore_timer *running;
	uint64_t runs;
	int waiting; /* for the callback's end */
	bool stopping;
	pthread_t thread;
};

void heapcore_start(struct heapcore *h);
void heapcore_stop(struct heapcore *h);

/* When all that callbacks may call for are stopped. */
void heapcore_free(struct heapcore *h);

/* In a callback, the one whose thread it is; else NULL. */
struct heapcore *heapcore_own(void);

int heapcore_schedule(struct heapcore *h, struct heapcore_timer *t,
		      int64_t deadline, peer_fn *fn, void *arg);
int heapcore_cancel(struct heapcore *h, struct heapcore_timer *t);
int heapcore_reschedule(struct heapcore *h, struct heapcore_timer *t,
			int64_t deadline);
