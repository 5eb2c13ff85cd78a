/* SPDX-License-Identifier: MIT */
/*
 * A condition variable, with times as the library counts them.  Any thread.
 */
#ifndef TT_CONDITION_H
#define TT_CONDITION_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/*
 * 0, or an error number.  Where condition variables cannot choose a clock, the
 * clock must be CLOCK_MONOTONIC.
 */
int condition_init(pthread_cond_t *c, clockid_t clock);

/*
 * As pthread_cond_timedwait(3), until the deadline on that clock; INT64_MAX:
 * for ever.  May return 0 early for no reason.
 */
int condition_wait(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline);

#endif
