/* SPDX-License-Identifier: MIT */
/*
 * The pending timers that are due first, for a thread that looks from outside.
 *
 * All slots are looked at, 64 at a time under their bucket's lock: so calls go
 * on meanwhile, and each timer is shown as it was at some moment.
 *
 * Any thread; the instance has not been destroyed.
 */
#ifndef TT_NEAREST_H
#define TT_NEAREST_H

#include "intake/intake.h"

#define NEAREST_MAX 20

struct pending_timer {
	uint64_t id;
	struct timer timer;
};

struct nearest {
	size_t n;
	struct pending_timer first[NEAREST_MAX]; /* the earliest one first */
};

void nearest_find(struct intake *in, struct nearest *ret);

#endif
