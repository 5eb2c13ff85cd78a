/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/ongoing.h"
#include "os/memory.h"

struct ongoing *ongoing_begin(const struct task_id *t, uintptr_t who)
{
	struct ongoing *o = memory_alloc(sizeof(*o));

	if (o)
		*o = (struct ongoing){.holders = 2, .task_id = *t, .who = who};
	return o;
}

void ongoing_forget(struct ongoing *o)
{
	/* Pairs with itself: the thread that frees it comes after the other. */
	if (o && atom32_add(&o->holders, UINT32_MAX) == 1)
		memory_free(o);
}
