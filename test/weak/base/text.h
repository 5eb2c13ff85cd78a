/* SPDX-License-Identifier: MIT */
/*
 * Messages, in the place of the library's header: each says that a harness or
 * the library is wrong.
 */
#pragma once

#include "harness.h"

static inline void report(const char *what)
{
	weak_check(false, what);
}
