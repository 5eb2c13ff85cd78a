/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/await.h"
#include "os/futex.h"
#include "os/tool.h"

#include <limits.h>

int await_cancel(struct await *a, struct cap *c, struct slot *s, uint64_t id)
{
	const uint32_t ending = slot_in(slot_word(id), SLOT_ENDING);
	int r;

	atom32_add(&a->waiting, 1);
	r = slot_cancel(s, id);
	if (r == 0)
		cap_give(c);
	/* Acquire: pairs with the store in expiry_end. */
	while (r == 1 && atom32_load_acquire(&s->state) == ending)
		futex_wait_until(&s->state, ending, CLOCK_MONOTONIC, INT64_MAX);
	/* The last use of the slot: once no thread waits, it may be freed. */
	tool_acquire(s);
	atom32_add(&a->waiting, UINT32_MAX);
	return r;
}

/*
 * The addition pairs with the first one in await_cancel.  If it comes before
 * that, the thread that waits finds the state changed.
 */
void await_wake(struct await *a, struct slot *s)
{
	if (atom32_add(&a->waiting, 0) > 0)
		futex_wake(&s->state, INT_MAX);
}

/* How long a destroy naps, while the threads that were woken leave. */
#define NAP_NS 100000

/*
 * Nobody ends a nap: who has left must not touch the instance.  Acquire: pairs
 * with the addition by which a thread leaves.
 */
void await_empty(struct await *a)
{
	uint32_t n;

	while ((n = atom32_load_acquire(&a->waiting)) > 0)
		futex_wait_for(&a->waiting, n, NAP_NS);
}
