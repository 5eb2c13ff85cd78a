/* SPDX-License-Identifier: MIT */
#include "store/slot.h"

#include <errno.h>

/*
 * As slot_cancel_pending: tries again when the state has changed.  *word is the
 * state that was seen last; on return, the state at the end.
 */
static TT_NOINLINE int cancel_pending(struct slot *s, uint64_t id,
				      uint32_t *word)
{
	while (slot_holds(*word, id)) {
		uint32_t was = *word, to = slot_in(was, SLOT_DEAD);

		if (slot_runs(was))
			return 1;
		if (slot_state(was) == SLOT_FREE || slot_is_dead(was))
			return -ENOENT;
		if (slot_state(was) == SLOT_UNARMED)
			to = slot_next(was);
		*word = atom32_swap(&s->state, was, to);
		if (*word == was)
			return slot_state(was) == SLOT_UNARMED ? SLOT_LEFT : 0;
	}
	return -ENOENT;
}

int slot_cancel_pending(struct slot *s, uint64_t id)
{
	uint32_t word = atom32_load_acquire(&s->state);

	return cancel_pending(s, id, &word);
}

int slot_take(struct slot *s, uint64_t id, void **ret_arg)
{
	uint32_t word = atom32_load_acquire(&s->state);
	int r;

	*ret_arg = slot_arg(s);
	do {
		r = cancel_pending(s, id, &word);
	} while (r == 1 && slot_state(word) != SLOT_ENDING &&
		 !slot_change(s, &word, SLOT_ENDING));
	return r;
}

int slot_cancel(struct slot *s, uint64_t id)
{
	void *arg;

	return slot_take(s, id, &arg);
}

int slot_disarm(struct slot *s, uint64_t id, bool running)
{
	uint32_t word = atom32_load_acquire(&s->state);

	while (slot_holds(word, id)) {
		bool runs = slot_runs(word);

		if (!runs && !slot_is_pending(word))
			break;
		if ((runs && !running) || slot_state(word) == SLOT_ENDING ||
		    slot_change(s, &word, runs ? SLOT_AWAITED : SLOT_DISARMED))
			return runs;
	}
	return -ENOENT;
}
