/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/base.h"
#include "os/errno.h"

/* Not inlined: in a function, compilers expect errno at one address. */
TT_NOINLINE void errno_restore(const int *kept)
{
	errno = *kept;
}
