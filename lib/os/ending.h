/* SPDX-License-Identifier: MIT */
/*
 * A function that is called when a thread ends, if that thread has set it.  It
 * does not matter how the thread ends.
 *
 * There is one struct for each such function, made when the library is loaded.
 * It needs one of the process's keys (pthread_key_create(3)).
 *
 * Any thread: set, clear.
 */
#ifndef TT_ENDING_H
#define TT_ENDING_H

#include <pthread.h>
#include <stdbool.h>

struct ending {
	/* Constant once the library is loaded. */
	bool there;
	pthread_key_t key;
};

/* To be called before any thread can set it. */
void ending_init(struct ending *e, void (*fn)(void *arg));

/* For the calling thread; arg is not NULL.  False: no memory, or no key. */
bool ending_set(const struct ending *e, void *arg);
void ending_clear(const struct ending *e);

#endif
