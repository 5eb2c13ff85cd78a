/* SPDX-License-Identifier: MIT */
/*
 * A thread of the library's own, and its settings on Linux.
 *
 * Guarantees:
 *  1. No signal is ever delivered to the thread, except those that a fault
 *     raises, and SIGABRT and SIGPROF.
 *  2. It is never cancelled, unless a callback permits that.
 *  3. Its sleeps end on time: the kernel's timer slack is 1 ns there, not
 *     50 us.
 *  4. If the thread ends before thread_finish, in whatever way, the process is
 *     aborted with a message, if there was memory for that (ending.h).
 *
 * Any thread: create.  The new thread: prepare first, finish last.
 */
#ifndef TT_THREAD_H
#define TT_THREAD_H

#include "os/base.h"

#include <pthread.h>

#define THREAD_NAME_SIZE 16 /* Linux's limit, with the terminating zero byte */

/* As pthread_create(3), but the new thread has the signals blocked. */
int thread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
		  void *(*run)(void *arg), void *arg);

/* Gives the calling thread the properties above, and its name. */
void thread_prepare(const char *name);

/* The calling thread may end now. */
void thread_finish(void);

#endif
