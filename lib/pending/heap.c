/* SPDX-License-Identifier: MIT */
#include "pending/heap.h"
#include "os/memory.h"

#include <string.h>

void heap_destroy(struct heap *h)
{
	pages_free(h->array, heap_bytes(h));
	*h = (struct heap){0};
}

/* False: no memory, and nothing has changed. */
static TT_NOINLINE bool resize(struct heap *h, size_t size)
{
	struct entry *array = pages_alloc(size * sizeof(*array));

	if (!array)
		return false;
	if (h->n > 0)
		memory_move(array, h->array,
			    (h->n + HEAP_SHIFT) * sizeof(*array));
	pages_free(h->array, heap_bytes(h));
	h->array = array;
	h->size = size;
	return true;
}

bool heap_make_room(struct heap *h)
{
	return heap_has_room(h) || resize(h, h->size ? 2 * h->size : HEAP_MIN);
}

bool heap_reserve(struct heap *h, size_t n)
{
	size_t size = (n + HEAP_SHIFT) / HEAP_MIN * HEAP_MIN + HEAP_MIN;

	if (size > h->size && !resize(h, size))
		return false;
	size = h->size;
	/* So that the kernel provides the pages now. */
	memset(heap_at(h, h->n), 0,
	       (size - h->n - HEAP_SHIFT) * sizeof(*h->array));
	h->kept = size;
	return true;
}

static size_t earliest_child(const struct heap *h, size_t first)
{
	const struct entry *child = heap_at(h, first);
	size_t n = h->n - first < HEAP_ARITY ? h->n - first : HEAP_ARITY;
	size_t best = 0;

	for (size_t i = 1; i < n; i++) {
		if (child[i].deadline < child[best].deadline)
			best = i;
	}
	return first + best;
}

/* Puts e in the hole at the top or below it. */
static void sift_down(struct heap *h, struct entry e)
{
	size_t i = 0, first;

	while ((first = HEAP_ARITY * i + 1) < h->n) {
		size_t below = earliest_child(h, first);
		const struct entry *child = heap_at(h, below);

		if (e.deadline <= child->deadline)
			break;
		*heap_at(h, i) = *child;
		i = below;
	}
	*heap_at(h, i) = e;
}

void heap_push(struct heap *h, struct entry e)
{
	size_t i = h->n++;

	while (i > 0) {
		size_t above = (i - 1) / HEAP_ARITY;
		const struct entry *parent = heap_at(h, above);

		if (parent->deadline <= e.deadline)
			break;
		*heap_at(h, i) = *parent;
		i = above;
	}
	*heap_at(h, i) = e;
}

struct entry heap_pop(struct heap *h)
{
	struct entry first = *heap_at(h, 0), last = *heap_at(h, --h->n);

	if (h->n > 0)
		sift_down(h, last);
	if (unlikely(h->n < h->size / 4) && h->size > HEAP_KEEP &&
	    h->size / 2 >= h->kept)
		resize(h, h->size / 2);
	return first;
}
