/* SPDX-License-Identifier: MIT */
/*
 * What all harnesses need.  A harness includes the library's sources, so that
 * all that runs is one file: genmc takes no more, and a switch can put a fault
 * in the place of what the library uses.
 *
 * The lock is free or not, and who waits for it does nothing else: its own way
 * to wait is what lock.c is for, which says so with WEAK_LOCK.
 */
#pragma once

#include "config.h"

#include "base/atomic.h"
#include "base/base.h"
#include "explore.h"
#include "os/lock.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline void weak_check(bool holds, const char *what)
{
	if (!holds)
		weak_fail(what);
}

#ifndef WEAK_LOCK

void lock_acquire_slow(struct lock *l, bool hot)
{
	(void)hot;
	while (!lock_try(l))
		weak_wait();
}

/* Nobody says that he sleeps. */
void lock_wake(struct lock *l)
{
	(void)l;
}

void lock_acquire(struct lock *l)
{
	lock_acquire_inline(l);
}

void lock_acquire_hot(struct lock *l)
{
	lock_acquire_inline(l);
}

void lock_release(struct lock *l)
{
	lock_release_inline(l);
}

#endif

#ifndef WEAK_EXPLORE
#include "threads.h"
#endif
