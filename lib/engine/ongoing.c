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
	uint32_t n;

	if (!o)
		return;
	/*
	 * Acquires and releases, and pairs with itself: the thread that frees
	 * the object comes after the other holder.
	 */
	do
		n = atom32_load(&o->holders);
	while (atom32_swap(&o->holders, n, n - 1) != n);
	if (n == 1)
		memory_free(o);
}

void ongoing_end(struct ongoing *o)
{
	/* Release: pairs with the load in ongoing_is. */
	atom32_store_release(&o->over, 1);
	ongoing_forget(o);
}
