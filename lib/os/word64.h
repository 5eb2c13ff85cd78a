/* SPDX-License-Identifier: MIT */
/*
 * 64 bits that one thread writes and any thread reads, in as many words as the
 * machine needs.  They may change while a reader reads them; the reader must
 * find that out in another way.
 */
#ifndef TT_WORD64_H
#define TT_WORD64_H

#include "os/atomic.h"

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

#endif
