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
#include "store/entry.h"

#include <stdbool.h>
#include <stddef.h>

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

/* Empties it. */
INTERNAL void heap_destroy(struct heap *h);

/* The entry at position i, from 0 to n - 1; the earliest is at 0. */
static inline struct entry *heap_at(const struct heap *h, size_t i)
{
	return &h->array[i + HEAP_SHIFT];
}

static inline bool heap_has_room(const struct heap *h)
{
	return likely(h->n + HEAP_SHIFT < h->size);
}

/* Makes room for one more.  False: no memory, and nothing has changed. */
INTERNAL bool heap_make_room(struct heap *h);

/* Makes room for n entries, permanently.  False: no memory. */
INTERNAL bool heap_reserve(struct heap *h, size_t n);

/* There must be room. */
INTERNAL void heap_push(struct heap *h, struct entry e);

/* Takes out the earliest entry; there must be one. */
INTERNAL struct entry heap_pop(struct heap *h);

/* The memory of its entries. */
static inline size_t heap_bytes(const struct heap *h)
{
	return h->size * sizeof(struct entry);
}
