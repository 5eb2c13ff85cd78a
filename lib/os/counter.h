/* SPDX-License-Identifier: MIT */
/*
 * A 64-bit number that only grows.  One thread at a time changes it, any thread
 * reads it.
 *
 * Guarantees:
 *  1. A change is a load and a store.  It orders nothing.
 *  2. A reader gets a value that the number has had.  If the reader reads
 *     again, it gets no smaller value.
 *
 * If a word has 32 bits, the upper half is stored twice.  A change writes one
 * copy first and the other one last.  So if a reader finds them equal, the
 * lower half that it read in between belongs to them.
 *
 * read: any thread.  add: the owner, one thread at a time.
 */
#ifndef TT_COUNTER_H
#define TT_COUNTER_H

#include "os/atomic.h"

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

#endif
