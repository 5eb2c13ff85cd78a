/* SPDX-License-Identifier: MIT */
/*
 * A virtual clock: it shows what it was set to last.
 *
 * Any thread: now.  The driver: set.
 */
#ifndef TT_VIRTUAL_H
#define TT_VIRTUAL_H

#include "os/lock.h"

#include <stdint.h>

struct virtual_clock {
	struct lock lock;
	int64_t now; /* protected by the lock */
};

/* NULL: no memory. */
struct virtual_clock *virtual_create(int64_t now);
int64_t virtual_now(struct virtual_clock *v);
void virtual_set(struct virtual_clock *v, int64_t now);

#endif
