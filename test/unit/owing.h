/* SPDX-License-Identifier: MIT */
/*
 * Rounds of reclaiming, which begin when time has passed: as if it had.
 */
#pragma once

#include "engine/reclaim.h"

static inline void let_pass(struct engine *e, int64_t ns)
{
	struct reclaim *t = &e->reclaim;

	t->began -= ns;
	t->window -= ns;
	if (t->due != INT64_MAX)
		t->due -= ns;
}

/* The next turn begins a round, with which a window ends. */
static inline void owe_round(struct engine *e)
{
	let_pass(e, RECLAIM_WINDOW_NS);
}
