/* SPDX-License-Identifier: MIT */
/*
 * Salvage with as many looks as it likes.
 */
#ifndef TT_SALVAGING_H
#define TT_SALVAGING_H

#include "intake/salvage.h"

static inline bool salvage_some_of(struct bucket *b)
{
	uint64_t looks = UINT64_MAX;

	return bucket_salvage(b, &looks);
}

static inline void salvage_all_of(struct bucket *b)
{
	while (salvage_some_of(b))
		;
}

#endif
