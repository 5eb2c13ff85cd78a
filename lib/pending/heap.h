/* SPDX-License-Identifier: MIT */
/*
 * A 4-ary heap of entries, earliest deadline first.
 *
 * Four children of sixteen bytes fill one cache line, and the array is placed
 * so that they share one.  So sifting down by a level costs one line.
 *
 * Guarantees:
 *  1. The entry at position 0 is due no later than any other.
 *  2. heap_make_room and heap_reserve allocate memory; so does heap_pop, to
 *     shrink the array.  Each may fail without harm.
 *  3. At least a quarter of the memory is used, except for eight pages, or for
 *     a reserve, or if there is no memory for a smaller array.
 *
 * The array lies in pages of its own.  (In malloc's, it would keep those below
 * it, which are the program's, when a peak is over.)
 *
 * It is copied when it must grow or can shrink.  It holds what is due within
 * the same 131 us (wheel.h), or belongs to a reserve, which stays.  So copying
 * is a small part of what these timers cost anyway: with four million of them,
 * growing takes 28 ms and shrinking 16 ms, and taking them out 1.7 s (in a
 * virtual machine with two CPUs).
 *
 * Not thread-safe; the driver owns it.
 */
#pragma once

#include "base/base.h"
#include "os/memory.h"
#include "store/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define HEAP_MIN 256 /* entries: a page */

/*
 * It does not become smaller than this.  (A driver that runs a million timers a
 * second fills it and empties it with each slice of the wheel: with a page as
 * the least, it was copied 7,700 times a second, which took 80 ns a timer.)
 */
#define HEAP_KEEP (8 * HEAP_MIN)

/*
 * The children of i are 4i+1 to 4i+4.  Positions are shifted by three, so that
 * each such group begins at a multiple of four and lies in one line.
 */
#define HEAP_ARITY 4
#define HEAP_SHIFT (HEAP_ARITY - 1)

/* All zero: it is empty. */
struct heap {
	struct entry *array;
	size_t n;
	size_t size; /* of the array */
	size_t kept; /* for a reserve; the array does not become smaller */
};

/* The memory of its entries. */
static inline size_t heap_bytes(const struct heap *h)
{
	return h->size * sizeof(struct entry);
}

/* The entry at position i, from 0 to n - 1; the earliest is at 0. */
static inline struct entry *heap_at(const struct heap *h, size_t i)
{
	return &h->array[i + HEAP_SHIFT];
}

/* Empties it. */
TT_PART void heap_destroy(struct heap *h)
{
	pages_free(h->array, heap_bytes(h));
	*h = (struct heap){0};
}

/* False: no memory, and nothing has changed. */
static TT_NOINLINE bool heap_resize(struct heap *h, size_t size)
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

static inline bool heap_has_room(const struct heap *h)
{
	return likely(h->n + HEAP_SHIFT < h->size);
}

/* Makes room for one more.  False: no memory, and nothing has changed. */
TT_PART bool heap_make_room(struct heap *h)
{
	return heap_has_room(h) ||
	       heap_resize(h, h->size ? 2 * h->size : HEAP_MIN);
}

/* Makes room for n entries, permanently.  False: no memory. */
TT_PART bool heap_reserve(struct heap *h, size_t n)
{
	size_t size = (n + HEAP_SHIFT) / HEAP_MIN * HEAP_MIN + HEAP_MIN;

	if (size > h->size && !heap_resize(h, size))
		return false;
	size = h->size;
	/* So that the kernel provides the pages now. */
	memset(heap_at(h, h->n), 0,
	       (size - h->n - HEAP_SHIFT) * sizeof(*h->array));
	h->kept = size;
	return true;
}

/* There must be room. */
TT_PART void heap_push(struct heap *h, struct entry e)
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

/* Takes out the earliest entry; there must be one. */
TT_PART struct entry heap_pop(struct heap *h)
{
	struct entry first = *heap_at(h, 0), last = *heap_at(h, --h->n);

	if (h->n > 0)
		sift_down(h, last);
	if (unlikely(h->n < h->size / 4) && h->size > HEAP_KEEP &&
	    h->size / 2 >= h->kept)
		heap_resize(h, h->size / 2);
	return first;
}
