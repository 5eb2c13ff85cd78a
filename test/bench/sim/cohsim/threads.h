/* SPDX-License-Identifier: MIT */
/*
 * Simulated threads.
 */
#ifndef COHSIM_THREADS_H
#define COHSIM_THREADS_H

#include "machine.h"

struct thr *thr_new(void);

/* NULL: it is none, or over. */
struct thr *find(pthread_t p);

#endif
