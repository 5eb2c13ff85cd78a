/* SPDX-License-Identifier: MIT */
/*
 * Counting entries, wherever they are kept.
 */
#pragma once

#include "checks/pending.h"
#include "contents.h"
#include "pending/pending.h"

/* Those that the driver has collected. */
static inline size_t entries_pending(const struct pending *p)
{
	return pending_count(p);
}

/* And those that wait in the buckets. */
static inline size_t entries_of(const struct pending *p)
{
	size_t n = entries_pending(p);

	for (uint32_t i = 0; i < p->intake->n; i++)
		n += bucket_size(&p->intake->bucket[i]);
	return n;
}
