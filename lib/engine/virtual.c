/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/virtual.h"

#include <stdlib.h>

struct virtual_clock *virtual_create(int64_t now)
{
	struct virtual_clock *v = malloc(sizeof(*v));

	if (v) {
		lock_init(&v->lock);
		v->now = now;
	}
	return v;
}

int64_t virtual_now(struct virtual_clock *v)
{
	int64_t now;

	lock_acquire(&v->lock);
	now = v->now;
	lock_release(&v->lock);
	return now;
}

void virtual_set(struct virtual_clock *v, int64_t now)
{
	lock_acquire(&v->lock);
	v->now = now;
	lock_release(&v->lock);
}
