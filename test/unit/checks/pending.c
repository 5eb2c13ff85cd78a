/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "checks/heap.h"
#include "checks/pending.h"
#include "checks/wheel.h"
#include "must.h"

#include <string.h>

const struct block *pending_block(const struct pending *p, size_t i)
{
	const struct block *b;

	memcpy(&b, &heap_at(&p->blocks, i)->ticket, sizeof(b));
	return b;
}

size_t pending_count(const struct pending *p)
{
	size_t n = p->heap.n + wheel_count(&p->wheel);

	for (size_t i = 0; i < p->blocks.n; i++)
		n += pending_block(p, i)->n;
	return n;
}

static void check_block(const struct block *b, int64_t nearest)
{
	must(b->n > 0 && b->n <= BLOCK_ENTRIES && !b->next);
	for (size_t i = 0; i < b->n; i++)
		must(b->entry[i].deadline >= nearest);
}

void pending_check(const struct pending *p)
{
	heap_check(&p->heap);
	heap_check(&p->blocks);
	wheel_check(&p->wheel);
	for (size_t i = 0; i < p->blocks.n; i++)
		check_block(pending_block(p, i),
			    heap_at(&p->blocks, i)->deadline);
}
