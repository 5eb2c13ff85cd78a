/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/salvage.h"

/*
 * Takes and frees a dead slot.  By compare-and-swap: the driver, which does not
 * hold the lock, may be handing the timer over or freeing its slot at the same
 * time.  The one on the ticket pairs with the one in slot_hand_over, and the
 * one on the state pairs with itself in slot_free.
 */
static bool take_dead(struct slot *s)
{
	uint32_t word = atom32_load(&s->state);
	uint32_t ticket = atom32_load(&s->ticket);
	uint32_t other = (ticket | (TICKET_STEP - 1)) + 1;

	return slot_is_dead(word) && !(ticket & TICKET_HANDED_OVER) &&
	       atom32_swap(&s->ticket, ticket, other) == ticket &&
	       slot_free(s, word);
}

/* Timers on such a list have no entry.  Under the lock. */
static bool salvage_stranded(struct bucket *b, struct slot **next)
{
	struct slot *s;
	bool found = false;

	while ((s = *next) != NULL) {
		uint32_t word = atom32_load(&s->state);

		if (slot_is_dead(word) && slot_free(s, word)) {
			*next = s->next;
			s->stranded = false;
			slots_give(&b->slots, s, s->index >> b->slots.shift);
			found = true;
		} else {
			next = &s->next;
		}
	}
	return found;
}

/* Under the lock. */
static bool salvage_some(struct bucket *b, uint32_t n)
{
	struct slots *t = &b->slots;
	bool found = false;

	for (; n > 0; n--, b->salvaged++) {
		struct slot *s;

		if (b->salvaged >= slots_end(t))
			b->salvaged = SLOT_FIRST_NUMBER;
		s = slots_get(t, b->salvaged);
		if (take_dead(s)) {
			slots_give(t, s, b->salvaged);
			found = true;
		}
	}
	return found;
}

bool bucket_salvage_step(struct bucket *b, uint32_t *ret_slots)
{
	uint32_t n;
	bool found;

	lock_acquire(&b->lock);
	*ret_slots = n = slots_end(&b->slots) - SLOT_FIRST_NUMBER;
	found = salvage_stranded(b, &b->stranded);
	found = salvage_stranded(b, &b->visited) || found;
	n = n < SALVAGE_LOOKS ? n : SALVAGE_LOOKS;
	found = salvage_some(b, n) || found;
	lock_release(&b->lock);
	return found;
}

bool bucket_salvage(struct bucket *b)
{
	uint32_t slots, looked = 0;

	do {
		if (bucket_salvage_step(b, &slots))
			return true;
		looked += SALVAGE_LOOKS;
	} while (looked < slots);
	return false;
}
