/* SPDX-License-Identifier: MIT */
/*
 * A thread of the library's own, and what Linux lets be set for it.
 *
 * Guarantees:
 *  1. No signal is delivered on the thread, at no moment of its life, except
 *     those that a fault raises, and SIGABRT and SIGPROF.
 *  2. It is never cancelled, unless a callback permits that.
 *  3. Its sleeps end when they should: the kernel's timer slack is 1 ns there,
 *     not 50 us.
 *  4. If it ends before thread_finish, however, the process is aborted with a
 *     message, if there was memory for that (ending.h).
 *
 * Any thread: create.  The new thread, first of all: prepare; last: finish.
 */
#ifndef TT_THREAD_H
#define TT_THREAD_H

#include "os/base.h"

#include <pthread.h>

#define THREAD_NAME_SIZE 16 /* Linux's, with the end of the string */

/* As pthread_create(3), with the signals blocked in the new thread. */
int thread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
		  void *(*run)(void *arg), void *arg);

/* Gives the calling thread what the head says, and its name. */
void thread_prepare(const char *name);

/* It may end now. */
void thread_finish(void);

#endif
