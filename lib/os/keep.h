/* SPDX-License-Identifier: MIT */
/*
 * Leaving errno alone.
 *
 * KEEP_ERRNO stands among the declarations of a function.  When the function
 * returns, errno is as it was there.  If a callback has moved to another thread
 * meanwhile, that thread's errno is set.
 *
 * A public function that may change errno begins with this.  Those that call a
 * visit function do not: an exception that passes would skip the end.  Nor do
 * those that are called most, to save the time.  There, what they call in rare
 * cases keeps errno: futex_*, sleeper_set and sleeper_wake, arrival_grow,
 * report.  All else in this wing may change it.
 */
#ifndef TT_ERRNO_H
#define TT_ERRNO_H

#include <errno.h>

#define KEEP_ERRNO                                                             \
	__attribute__((cleanup(errno_restore), unused)) const int kept_errno = \
		errno

void errno_restore(const int *kept);

#endif
