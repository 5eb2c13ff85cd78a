/* SPDX-License-Identifier: MIT */
/*
 * The pending timers with the earliest deadlines, for a thread that looks from
 * outside.
 *
 * A walk (walk.h) finds them, so calls go on meanwhile, and each timer is shown
 * as it was at some moment.
 *
 * Any thread; the instance must not be destroyed meanwhile.
 */
#ifndef TT_NEAREST_H
#define TT_NEAREST_H

#include "intake/walk.h"

#define NEAREST_MAX 20

struct nearest {
	size_t n;
	struct seen_timer first[NEAREST_MAX]; /* the earliest one first */
};

void nearest_find(struct intake *in, struct nearest *ret);

#endif
