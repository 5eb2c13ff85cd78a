/* SPDX-License-Identifier: MIT */
/*
 * Counting entries, wherever they are kept.
 */
#ifndef TT_ENTRIES_H
#define TT_ENTRIES_H

#include "pending/pending.h"

/* In a node of the backlog and those below it. */
static inline size_t entries_below(const struct block *b)
{
	size_t n;

	if (!b)
		return 0;
	n = b->n + entries_below(b->left) + entries_below(b->next);
	for (b = b->more; b; b = b->next)
		n += b->n;
	return n;
}

/* Those that the driver has collected. */
static inline size_t entries_pending(const struct pending *p)
{
	return filed_count(&p->filed) + entries_below(p->backlog.earliest);
}

/* And those that wait in the buckets. */
static inline size_t entries_of(const struct pending *p)
{
	size_t n = entries_pending(p);

	for (uint32_t i = 0; i < p->filed.intake->n; i++)
		n += queue_size(&p->filed.intake->bucket[i].arrivals);
	return n;
}

#endif
