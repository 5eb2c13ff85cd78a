/* SPDX-License-Identifier: MIT */
/*
 * A 4-ary heap of entries, earliest deadline first.
 *
 * Four children of sixteen bytes fill one cache line, and the array is placed
 * so that they share one: to sift down a level costs one line.
 *
 * Guarantees:
 *  1. The entry at position 0 is due no later than any other.
 *  2. Only heap_reserve allocates, and it may fail without harm.
 *  3. The array shrinks by half when three quarters of it are unused.
 *
 * Not thread-safe; the timer thread owns it.
 */
#ifndef TT_HEAP_H
#define TT_HEAP_H

#include "base.h"
#include "entry.h"

#include <stdbool.h>
#include <stddef.h>

struct heap {
	struct entry *entry; /* entry[0] is the earliest */
	size_t n;
	size_t capacity;
	void *memory;
};

void heap_init(struct heap *h);
void heap_destroy(struct heap *h);

/* Makes room for one more.  False: no memory, and nothing has changed. */
bool heap_reserve(struct heap *h);

/* Needs room. */
void heap_push(struct heap *h, struct entry e);

/* Removes the entry at position i; another takes its place. */
void heap_remove(struct heap *h, size_t i);

/* Aborts if the heap is not sound; for tests. */
void heap_check(const struct heap *h);

#endif
