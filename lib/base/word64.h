/* SPDX-License-Identifier: MIT */
/*
 * 64 bits that one thread at a time writes and any thread reads, on every
 * machine: a struct word64, which has any value, or a struct counter, which
 * only grows.
 *
 * Guarantees:
 *  1. Each part of a word64 is stored with release and loaded with acquire.  It
 *     may change while a reader reads it; the reader must find that out in
 *     another way.
 *  2. A change of a counter is a load and a store.  It orders nothing.
 *  3. A reader of a counter gets a value that it has had.  If the reader reads
 *     again, it gets no smaller value.
 *
 * load, read: any thread.  store, add: the owner, one thread at a time.
 */
#pragma once

#include "base/atomic.h"

#define WORD64_PARTS (sizeof(uint64_t) / sizeof(AO_t))
#define WORD64_BITS  (64 / WORD64_PARTS)

struct word64 {
	atomword part[WORD64_PARTS];
};

/* Acquire: each load pairs with the store in word64_store_release. */
static inline uint64_t word64_load_acquire(const struct word64 *w)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < WORD64_PARTS; i++)
		value |= (uint64_t)atomword_load_acquire(&w->part[i])
			 << i * WORD64_BITS;
	return value;
}

/* Release: each store pairs with the load in word64_load_acquire. */
static inline void word64_store_release(struct word64 *w, uint64_t value)
{
	for (unsigned i = 0; i < WORD64_PARTS; i++)
		atomword_store_release(&w->part[i],
				       (uintptr_t)(value >> i * WORD64_BITS));
}

#if UINTPTR_MAX > UINT32_MAX

struct counter {
	atomword word;
};

static inline uint64_t counter_read(const struct counter *c)
{
	return atomword_load(&c->word);
}

static inline void counter_add(struct counter *c, uint64_t n)
{
	atomword_store(&c->word, atomword_load(&c->word) + n);
}

#else

/*
 * The upper half is stored twice.  A change writes one copy first and the other
 * one last.  So if a reader finds them equal, the lower half that it read in
 * between belongs to them.
 */
struct counter {
	atom32 high;
	atom32 low;
	atom32 next_high;
};

/* Acquire: each load pairs with the store in counter_add that it reads from. */
static inline uint64_t counter_read(const struct counter *c)
{
	uint32_t high, low;

	do {
		high = atom32_load_acquire(&c->high);
		low = atom32_load_acquire(&c->low);
	} while (atom32_load(&c->next_high) != high);
	return (uint64_t)high << 32 | low;
}

/* Release: pairs with the loads in counter_read. */
static inline void counter_add(struct counter *c, uint64_t n)
{
	uint64_t sum =
		((uint64_t)atom32_load(&c->high) << 32 | atom32_load(&c->low)) +
		n;

	atom32_store(&c->next_high, (uint32_t)(sum >> 32));
	atom32_store_release(&c->low, (uint32_t)sum);
	atom32_store_release(&c->high, (uint32_t)(sum >> 32));
}

#endif
