/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/memory.h"
#include "pending/heap.h"

#include <string.h>

#define MIN_TABLE 16

void heap_init(struct heap *h)
{
	*h = (struct heap){0};
}

void heap_destroy(struct heap *h)
{
	while (h->chunks > 0)
		memory_free(h->chunk[--h->chunks]);
	memory_free(h->chunk);
	heap_init(h);
}

static bool extend_table(struct heap *h)
{
	size_t size = h->table_size ? h->table_size * 2 : MIN_TABLE;
	struct entry **table = memory_resize(h->chunk, size * sizeof(*table));

	if (!table)
		return false;
	h->chunk = table;
	h->table_size = size;
	return true;
}

static TT_NOINLINE bool add_chunk(struct heap *h)
{
	struct entry *chunk;

	if (h->chunks == h->table_size && !extend_table(h))
		return false;
	chunk = memory_alloc_aligned(TT_CACHE_LINE,
				     HEAP_CHUNK * sizeof(*chunk));
	if (!chunk)
		return false;
	h->chunk[h->chunks++] = chunk;
	return true;
}

bool heap_make_room(struct heap *h)
{
	return heap_has_room(h) || add_chunk(h);
}

bool heap_reserve(struct heap *h, size_t n)
{
	while (h->chunks * HEAP_CHUNK < n + HEAP_SHIFT) {
		if (!add_chunk(h))
			return false;
		/* So that the kernel provides the pages now. */
		memset(h->chunk[h->chunks - 1], 0,
		       HEAP_CHUNK * sizeof(struct entry));
	}
	h->kept = h->chunks;
	return true;
}

/* Puts e in the hole at i or above it. */
static void sift_up(struct heap *h, size_t i, struct entry e)
{
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

/* Puts e in the hole at i or below it. */
static void sift_down(struct heap *h, size_t i, struct entry e)
{
	size_t first;

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
	sift_up(h, h->n++, e);
}

static TT_NOINLINE void drop_chunk(struct heap *h)
{
	memory_free(h->chunk[--h->chunks]);
}

static bool has_surplus(const struct heap *h)
{
	return unlikely(h->n + 2 * HEAP_CHUNK < h->chunks * HEAP_CHUNK) &&
	       h->chunks > h->kept;
}

void heap_remove(struct heap *h, size_t i)
{
	struct entry last = *heap_at(h, --h->n);

	if (i < h->n) {
		if (i > 0 &&
		    last.deadline < heap_at(h, (i - 1) / HEAP_ARITY)->deadline)
			sift_up(h, i, last);
		else
			sift_down(h, i, last);
	}
	if (has_surplus(h))
		drop_chunk(h);
}
