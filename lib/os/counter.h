/* SPDX-License-Identifier: MIT */
/*
 * A 64-bit number that only grows.  One thread at a time changes it, any thread
 * reads it.
 *
 * Guarantees:
 *  1. A change is a load and a store, which order nothing.
 *  2. A reader gets a number that it has been, and later no smaller one.
 *
 * Where a word has 32 bits its upper half is there twice: a change writes one
 * first and the other last, so a reader that finds them equal has read the
 * lower half in between.
 *
 * read: any thread.  add: its owner, one thread at a time.
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

/* Acquire: each load pairs with the store in counter_add of what it finds. */
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
