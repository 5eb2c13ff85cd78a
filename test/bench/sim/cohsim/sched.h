/* SPDX-License-Identifier: MIT */
/*
 * The scheduler, like CFS: vruntime, and a queue for each core.
 */
#pragma once

#include "machine.h"

/* What c has executed counts as its thread's. */
void account(struct core *c);

/* The run queue of a core; steal: none that is pinned. */
void q_add(struct core *c, struct thr *t);
struct thr *q_take(struct core *c, bool steal);

/* t is what c executes from now on. */
void run_on(struct core *c, struct thr *t);

void wake(struct thr *t, ps_t when);

/* The current thread leaves its core; returns when it was woken. */
void block(void);

/* The current core goes on when all that are due before have run. */
void yield_core(void);

/* The current core has passed next_time. */
void resched(void);

static inline void sync_(void)
{
	if (cc->clk > next_time)
		resched();
}

static inline void charge(double ns)
{
	cc->clk += NS(ns);
}

/* No core can run: says who waits for what, and ends the program. */
__attribute__((noreturn)) void deadlock(void);
