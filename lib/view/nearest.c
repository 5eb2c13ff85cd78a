/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "view/nearest.h"

/* Keeps it if it is one of the earliest so far. */
static void keep_if_early(struct nearest *r, const struct seen_timer *t)
{
	size_t i = r->n < NEAREST_MAX ? r->n++ : NEAREST_MAX;

	for (; i > 0 && t->timer.deadline < r->first[i - 1].timer.deadline; i--)
		if (i < NEAREST_MAX)
			r->first[i] = r->first[i - 1];
	if (i < NEAREST_MAX)
		r->first[i] = *t;
}

static bool see(const struct seen_timer *t, void *ctx)
{
	if (slot_is_pending(t->word))
		keep_if_early(ctx, t);
	return true;
}

void nearest_find(struct intake *in, struct nearest *ret)
{
	ret->n = 0;
	intake_walk(in, true, see, ret);
}
