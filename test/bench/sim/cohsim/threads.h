/* SPDX-License-Identifier: MIT */
/*
 * Simulated threads.
 */
#pragma once

#include "machine.h"

struct thr *thr_new(void);

/* NULL: it is none, or over. */
struct thr *find(pthread_t p);
