/* SPDX-License-Identifier: MIT */
/*
 * The heap of slots, in the place of the library's header: there is memory, so
 * no timer is unqueued.
 */
#pragma once

#include "harness.h"
#include "store/slots.h"

struct slot_heap {
	uint32_t first;
};

static inline bool slot_heap_has(const struct slot *s)
{
	return s->above != 0;
}

static inline struct slot *slot_heap_first(const struct slot_heap *h,
					   const struct slots *t)
{
	(void)h;
	(void)t;
	return NULL;
}

static inline void slot_heap_add(struct slot_heap *h, const struct slots *t,
				 struct slot *s)
{
	(void)h;
	(void)t;
	(void)s;
	weak_fail("there is memory, so no timer is unqueued");
}

static inline void slot_heap_remove(struct slot_heap *h, const struct slots *t,
				    struct slot *s)
{
	slot_heap_add(h, t, s);
}
