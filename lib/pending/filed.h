/* SPDX-License-Identifier: MIT */
/*
 * The entries that are filed, in the near heap or in the far wheel, and the
 * blocks that are free for others.  pending.h says which entry goes where;
 * sweep.h looks for those that are of no more use.
 *
 * Not thread-safe; the driver owns it.
 */
#ifndef TT_FILED_H
#define TT_FILED_H

#include "intake/intake.h"
#include "pending/heap.h"
#include "pending/wheel.h"

#include <stddef.h>

struct filed {
	struct intake *intake; /* where the entries' slots are; constant */
	struct heap heap;
	struct wheel wheel;
	struct block *spares; /* empty blocks, through next */
};

static inline size_t filed_count(const struct filed *f)
{
	return f->heap.n + f->wheel.n;
}

#endif
