/* SPDX-License-Identifier: MIT */
/*
 * A 4-ary heap of entries, earliest deadline first.
 *
 * Four children of sixteen bytes fill one cache line, and the array is placed
 * so that they share one.  So sifting down by a level costs one line.
 *
 * The array lies in chunks, with a table of them.  So growing and shrinking
 * copy no entry: copying took 44 ms with four million entries, and made timers
 * late by that time.
 *
 * Guarantees:
 *  1. The entry at position 0 is due no later than any other.
 *  2. Only heap_make_room and heap_reserve allocate memory.  heap_make_room
 *     allocates at most a chunk, and now and then a longer table, which is a
 *     thousandth of the heap.  It may fail without harm.
 *  3. At most two chunks are not used, not counting those of a reserve.  The
 *     table does not shrink.
 *
 * Not thread-safe; the driver owns it.
 */
#ifndef TT_HEAP_H
#define TT_HEAP_H

#include "intake/entry.h"
#include "os/base.h"

#include <stdbool.h>
#include <stddef.h>

#define HEAP_CHUNK 1024 /* entries */

/*
 * The children of i are 4i+1 to 4i+4.  Positions are shifted by three, so that
 * each such group begins at a multiple of four and lies in one line.
 */
#define HEAP_ARITY 4
#define HEAP_SHIFT (HEAP_ARITY - 1)

struct heap {
	struct entry **chunk; /* the table */
	size_t n;
	size_t chunks;
	size_t table_size; /* in chunks */
	size_t kept;       /* chunks of a reserve */
};

void heap_init(struct heap *h);
void heap_destroy(struct heap *h);

/* The entry at position i, from 0 to n - 1; the earliest is at 0. */
static inline struct entry *heap_at(const struct heap *h, size_t i)
{
	i += HEAP_SHIFT;
	return &h->chunk[i / HEAP_CHUNK][i % HEAP_CHUNK];
}

/* Is there room for one more? */
static inline bool heap_has_room(const struct heap *h)
{
	return likely(h->n + HEAP_SHIFT < h->chunks * HEAP_CHUNK);
}

/* Makes room for one more.  False: no memory, and nothing has changed. */
bool heap_make_room(struct heap *h);

/* Makes room for n entries, permanently.  False: no memory. */
bool heap_reserve(struct heap *h, size_t n);

/* There must be room. */
void heap_push(struct heap *h, struct entry e);

/* Removes the entry at position i; another takes its place. */
void heap_remove(struct heap *h, size_t i);

/* The memory of its entries. */
static inline size_t heap_bytes(const struct heap *h)
{
	return h->chunks * HEAP_CHUNK * sizeof(struct entry);
}

#endif
