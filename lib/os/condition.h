/* SPDX-License-Identifier: MIT */
/*
 * A condition variable, with times as the library counts them.
 *
 * Any thread.
 */
#ifndef TT_CONDITION_H
#define TT_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * Does such a variable wait for a time on this clock?  If not, wait on
 * CLOCK_MONOTONIC, and look at the other clock from time to time.
 */
bool condition_knows(clockid_t clock);

/* 0, or an error number. */
int condition_init(pthread_cond_t *c, clockid_t clock);

/*
 * As pthread_cond_timedwait(3), until the deadline on the clock that it was
 * made for; INT64_MAX: for ever.
 */
int condition_wait(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline);

#endif
