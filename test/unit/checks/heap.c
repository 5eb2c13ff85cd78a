/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "checks/heap.h"
#include "must.h"

void heap_check(const struct heap *h)
{
	must(h->n == 0 || h->n + HEAP_SHIFT <= h->size);
	must((uintptr_t)h->array % TT_CACHE_LINE == 0);
	for (size_t i = 1; i < h->n; i++) {
		size_t parent = (i - 1) / HEAP_ARITY;

		must(heap_at(h, parent)->deadline <= heap_at(h, i)->deadline);
	}
}
