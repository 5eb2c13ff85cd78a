/* SPDX-License-Identifier: MIT */
#include "engine/await.h"
#include "os/futex.h"
#include "os/tool.h"

#include <limits.h>

void await_begin(struct await *a)
{
	atom32_add(&a->waiting, 1);
}

/* By its address: its page may have been given back by now. */
static atom32 *word_of(struct await *a, const struct slot *s)
{
	uintptr_t slot = (uintptr_t)s / sizeof(*s);

	return &a->ends[(slot ^ slot / 64) % AWAIT_WORDS];
}

/*
 * Is the run that was cancelled or disarmed still going on?  Acquire: pairs
 * with expiry_end, and with slot_change in expiry_rearm.
 */
static bool goes_on(const struct slot *s, uint64_t id, uint32_t ticket)
{
	uint32_t word = atom32_load_acquire(&s->state);

	return slot_holds(word, id) && slot_runs(word) &&
	       (ticket == 0 || atom32_load(&s->ticket) == ticket);
}

/* The ticket changes under the lock, so the lock orders what the run wrote. */
int await_end(struct await *a, struct bucket *b, struct slot *s, uint64_t id,
	      uint32_t ticket, int r)
{
	atom32 *ends = word_of(a, s);

	while (r == 1) {
		/* Acquire: pairs with the addition in await_wake. */
		uint32_t seen = atom32_load_acquire(ends);

		if (!goes_on(s, id, ticket))
			break;
		futex_wait_until(ends, seen, CLOCK_MONOTONIC, INT64_MAX);
	}
	if (ticket != 0) {
		lock_acquire(&b->lock);
		lock_release(&b->lock);
	}
	/* The last use of the slot: once no thread waits, it may be freed. */
	tool_acquire(s);
	atom32_add(&a->waiting, UINT32_MAX);
	return r;
}

/*
 * The first addition pairs with the one in await_begin.  If it comes before
 * that, the thread that waits finds the state changed.
 */
void await_wake(struct await *a, struct slot *s)
{
	if (likely(atom32_add(&a->waiting, 0) == 0))
		return;
	atom32_add(word_of(a, s), 1);
	futex_wake(word_of(a, s), INT_MAX);
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
