/* SPDX-License-Identifier: MIT */
/*
 * A thread of the library's own, and its settings.
 *
 * Guarantees:
 *  1. No signal is ever delivered to the thread, except those that a fault
 *     raises, and SIGABRT and SIGPROF.
 *  2. It is never cancelled, unless a callback permits that.
 *  3. Its sleeps end on time: on Linux the kernel's timer slack is 1 ns there,
 *     not 50 us.
 *
 * The new thread: prepare, first.  The rest: any thread.
 */
#pragma once

#include "base/base.h"

#include <pthread.h>
#include <stdbool.h>

#define THREAD_NAME_SIZE 16 /* Linux's limit, with the terminating zero byte */

/* As pthread_create(3), but the new thread has the signals blocked. */
INTERNAL int thread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
			   void *(*run)(void *arg), void *arg);

/*
 * Gives the calling thread the properties above, and its name.  It serves the
 * owner until it is gone.
 */
INTERNAL void thread_prepare(const char *name, const void *owner);

/*
 * Does the calling thread serve the owner?  Also in the destructors of its
 * data.  A later thread with its pthread_t does not.
 */
INTERNAL bool thread_serves(const void *owner);
