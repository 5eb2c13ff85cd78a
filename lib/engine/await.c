/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/await.h"
#include "os/futex.h"
#include "os/tool.h"

#include <limits.h>

void await_begin(struct await *a)
{
	atom32_add(&a->waiting, 1);
}

/*
 * Is the run that was cancelled or disarmed still going on?  Not if it is one
 * that has begun since, which nobody has disarmed.  Acquire: pairs with
 * slot_free in expiry_end, and with slot_change in expiry_rearm.
 */
static bool goes_on(const struct slot *s, uint64_t id, uint32_t *word)
{
	*word = atom32_load_acquire(&s->state);
	return slot_holds(*word, id) && slot_runs(*word) &&
	       slot_state(*word) != SLOT_RUNNING;
}

int await_end(struct await *a, struct slot *s, uint64_t id, int r)
{
	uint32_t word;

	while (r == 1 && goes_on(s, id, &word))
		futex_wait_until(&s->state, word, CLOCK_MONOTONIC, INT64_MAX);
	/* The last use of the slot: once no thread waits, it may be freed. */
	tool_acquire(s);
	atom32_add(&a->waiting, UINT32_MAX);
	return r;
}

/*
 * The addition pairs with the one in await_begin.  If it comes before
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
