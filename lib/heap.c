/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base.h"
#include "heap.h"
#include "must.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARITY        4
#define MIN_CAPACITY 64

/*
 * The children of i are 4i+1 to 4i+4.  entry[1] lies at the start of a cache
 * line, and with it every group of children.
 */
#define PER_LINE (TT_CACHE_LINE / sizeof(struct entry))

void heap_init(struct heap *h)
{
	*h = (struct heap){0};
}

void heap_destroy(struct heap *h)
{
	free(h->memory);
}

static bool resize(struct heap *h, size_t capacity)
{
	struct entry *line;
	size_t bytes;

	if (__builtin_mul_overflow(capacity + PER_LINE, sizeof(*line), &bytes))
		return false;
	line = aligned_alloc(TT_CACHE_LINE, bytes);
	if (!line)
		return false;
	if (h->n > 0)
		memcpy(line + PER_LINE - 1, h->entry, h->n * sizeof(*line));
	free(h->memory);
	h->memory = line;
	h->entry = line + PER_LINE - 1;
	h->capacity = capacity;
	return true;
}

bool heap_reserve(struct heap *h)
{
	if (likely(h->n < h->capacity))
		return true;
	return resize(h, h->capacity ? h->capacity * 2 : MIN_CAPACITY);
}

/* Puts e in the hole at i or above it. */
static void sift_up(struct heap *h, size_t i, struct entry e)
{
	while (i > 0) {
		size_t parent = (i - 1) / ARITY;

		if (h->entry[parent].deadline <= e.deadline)
			break;
		h->entry[i] = h->entry[parent];
		i = parent;
	}
	h->entry[i] = e;
}

static size_t earliest_child(const struct heap *h, size_t first)
{
	size_t end = first + ARITY < h->n ? first + ARITY : h->n;
	size_t best = first;

	for (size_t i = first + 1; i < end; i++) {
		if (h->entry[i].deadline < h->entry[best].deadline)
			best = i;
	}
	return best;
}

/* Puts e in the hole at i or below it. */
static void sift_down(struct heap *h, size_t i, struct entry e)
{
	size_t first;

	while ((first = ARITY * i + 1) < h->n) {
		size_t child = earliest_child(h, first);

		if (e.deadline <= h->entry[child].deadline)
			break;
		h->entry[i] = h->entry[child];
		i = child;
	}
	h->entry[i] = e;
}

void heap_push(struct heap *h, struct entry e)
{
	sift_up(h, h->n++, e);
}

/* Failing to shrink leaves a heap that is larger than it need be. */
static TT_NOINLINE void shrink(struct heap *h)
{
	(void)resize(h, h->capacity / 2);
}

void heap_remove(struct heap *h, size_t i)
{
	struct entry last = h->entry[--h->n];

	if (i < h->n) {
		if (i > 0 && last.deadline < h->entry[(i - 1) / ARITY].deadline)
			sift_up(h, i, last);
		else
			sift_down(h, i, last);
	}
	if (unlikely(h->n < h->capacity / 4 && h->capacity > MIN_CAPACITY))
		shrink(h);
}

void heap_check(const struct heap *h)
{
	must(h->n <= h->capacity);
	must(h->capacity == 0 || (uintptr_t)&h->entry[1] % TT_CACHE_LINE == 0);
	for (size_t i = 1; i < h->n; i++) {
		size_t parent = (i - 1) / ARITY;

		must(h->entry[parent].deadline <= h->entry[i].deadline);
	}
}
