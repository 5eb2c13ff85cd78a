/* SPDX-License-Identifier: MIT */
/*
 * The assertion that checkers and random tests use.  Works with NDEBUG, too.
 */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

static inline void must(bool holds)
{
	if (!holds)
		abort();
}
