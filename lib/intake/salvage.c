/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/salvage.h"

/* How many slots are looked at while the lock is held once. */
#define STEP 64

/*
 * Takes and frees a dead slot.  By compare-and-swap: the driver, which does not
 * hold the lock, may be handing the timer over or freeing its slot at the same
 * time.  The one on the ticket pairs with the one in slot_hand_over, and the
 * one on the state pairs with itself in slot_free.
 */
static bool take_dead(struct bucket *b, struct slot *s)
{
	uint32_t word = atom32_load(&s->state);
	uint32_t ticket = atom32_load(&s->ticket);
	uint32_t other = (ticket | (TICKET_STEP - 1)) + 1;

	if (!slot_is_dead(word))
		return false;
	if (slot_heap_has(s))
		slot_heap_remove(&b->stranded, &b->slots, s);
	else if (ticket & TICKET_HANDED_OVER)
		return false;
	return atom32_swap(&s->ticket, ticket, other) == ticket &&
	       slot_free(s, word);
}

/* Looks at n slots, which are all or fewer.  Under the lock. */
static bool salvage_some(struct bucket *b, uint32_t n)
{
	struct slots *t = &b->slots;
	bool found = false;

	for (uint32_t i = 0; i < n; i++, b->salvaged++) {
		struct slot *s;

		if (b->salvaged >= slots_end(t))
			b->salvaged = SLOT_FIRST_NUMBER;
		s = slots_get(t, b->salvaged);
		if (take_dead(b, s)) {
			slots_give(t, s, b->salvaged);
			found = true;
		}
	}
	return found;
}

bool bucket_salvage(struct bucket *b, uint64_t *looks)
{
	uint32_t looked = 0, all = STEP;
	bool found = false;

	while (!found && looked < all && *looks != 0) {
		uint32_t n = *looks < STEP ? (uint32_t)*looks : STEP;

		lock_acquire(&b->lock);
		all = slots_end(&b->slots) - SLOT_FIRST_NUMBER;
		n = n < all ? n : all;
		found = salvage_some(b, n);
		lock_release(&b->lock);
		*looks -= n;
		looked += n;
	}
	return found;
}
