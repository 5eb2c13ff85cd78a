/* SPDX-License-Identifier: MIT */
/*
 * A set of buckets, by number: a bitmap, and above it a bitmap of its words
 * that are not empty.  So it is quick to walk through a small set, even if
 * there are many buckets.
 *
 * Not thread-safe: protected by whatever protects its owner.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BUCKET_SET_MAX 1024

struct bucket_set {
	uint32_t used; /* bit i: word i is not 0 */
	uint32_t word[BUCKET_SET_MAX / 32];
};

static inline void bucket_set_add(struct bucket_set *s, uint32_t bucket)
{
	s->used |= UINT32_C(1) << bucket / 32;
	s->word[bucket / 32] |= UINT32_C(1) << bucket % 32;
}

/* Takes out the lowest bucket.  False: the set is empty. */
static inline bool bucket_set_take(struct bucket_set *s, uint32_t *ret_bucket)
{
	uint32_t i, bit;

	if (!s->used)
		return false;
	i = (uint32_t)__builtin_ctz(s->used);
	bit = (uint32_t)__builtin_ctz(s->word[i]);
	s->word[i] &= s->word[i] - 1;
	if (!s->word[i])
		s->used &= s->used - 1;
	*ret_bucket = i * 32 + bit;
	return true;
}
