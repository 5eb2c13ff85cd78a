/* SPDX-License-Identifier: MIT */
/*
 * What the invariant checkers are made of; works with NDEBUG too.
 */
#ifndef TT_MUST_H
#define TT_MUST_H

#include <stdbool.h>
#include <stdlib.h>

static inline void must(bool holds)
{
	if (!holds)
		abort();
}

#endif
