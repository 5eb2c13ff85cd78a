/* SPDX-License-Identifier: MIT */
/*
 * What is called when a thread ends in which it was set, however that ends.
 *
 * One for each kind, made when the library is loaded: it takes one of the keys
 * that a process has (pthread_key_create(3)).
 *
 * Any thread: set, clear.
 */
#ifndef TT_ENDING_H
#define TT_ENDING_H

#include <pthread.h>
#include <stdbool.h>

struct ending {
	/* Constant once the library was loaded. */
	bool there;
	pthread_key_t key;
};

/* Before any thread could set it. */
void ending_init(struct ending *e, void (*fn)(void *arg));

/* For the calling thread; arg is not NULL.  False: no memory, or no key. */
bool ending_set(const struct ending *e, void *arg);
void ending_clear(const struct ending *e);

#endif
