/* SPDX-License-Identifier: MIT */
/*
 * Events: one heap of runnable cores and of timers.
 */
#pragma once

#include "machine.h"

/* From this id on it is a timer. */
enum { EVT = 1 << 16 };

struct ev {
	ps_t t;
	uint32_t id, gen;
};

void ev_push(ps_t t, uint32_t id, uint32_t gen);

/* The first; there must be one. */
struct ev ev_pop(void);

/* The same, with e in its place: the first of all, which may be e. */
struct ev ev_exchange(struct ev e);

/* When the first is due; INF: there is none. */
ps_t ev_first(void);
