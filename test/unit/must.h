/* SPDX-License-Identifier: MIT */
/*
 * The assertion that checkers and random tests use.  Works with NDEBUG, too.
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
