/* SPDX-License-Identifier: MIT */
/*
 * The driver that is a thread of the instance's own.
 */
#ifndef TT_DRIVER_THREAD_H
#define TT_DRIVER_THREAD_H

#include "instance.h"

/*
 * Starts the thread, with all signals blocked.  0, or what pthread_create
 * returned; under the instance's mutex.
 */
int driver_thread_start(struct timerthread *tt, const pthread_attr_t *attr);

/* Is the caller that thread, that is, in a callback of tt? */
bool driver_thread_is_self(const struct timerthread *tt);

#endif
