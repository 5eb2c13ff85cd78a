/* SPDX-License-Identifier: MIT */
/*
 * An instance: the options, the parts, and the state of its life.
 *
 *	NEW -> RUNNING -> STOPPING -> STOPPED, or NEW -> STOPPED
 */
#ifndef TT_INSTANCE_H
#define TT_INSTANCE_H

#include "atomic.h"
#include "engine.h"
#include "intake.h"
#include "timerthread.h"
#include "wakeup.h"

#include <pthread.h>
#include <stdbool.h>

#define THREAD_NAME_SIZE 16 /* Linux's, with the end of the string */

enum life {
	LIFE_NEW,
	LIFE_RUNNING,
	LIFE_STOPPING,
	LIFE_STOPPED,
};

struct timerthread {
	/*
	 * 0 before start, an address from then on.  Written under the mutex,
	 * read by any thread.
	 */
	atomword intake;
	/* Has locks of its own. */
	struct wakeup wakeup;
	/* The timer thread's own. */
	struct engine engine;
	bool orphaned; /* destroyed by a callback */
	/* Protected by the mutex. */
	pthread_mutex_t mutex;
	pthread_cond_t stopped;
	enum life life;
	bool joining; /* a thread is in pthread_join */
	pthread_t thread;
	char name[THREAD_NAME_SIZE];
	uint32_t buckets;
};

/*
 * NULL before start.  Acquire: pairs with the store in start_parts.
 */
static inline struct intake *instance_intake(const struct timerthread *tt)
{
	return (struct intake *)atomword_load_acquire(&tt->intake);
}

/* Default options, nothing started. */
void instance_init(struct timerthread *tt);

/* Frees an instance and what start made for it; no thread of it runs. */
void instance_free(struct timerthread *tt);

#endif
