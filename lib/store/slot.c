/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "store/slot.h"

#include <errno.h>

/*
 * As slot_take_pending: tries again when the state has changed.  *word is the
 * state that was seen last; on return, the state at the end.
 */
static TT_NOINLINE int cancel_pending(struct slot *s, uint64_t id,
				      uint32_t *word)
{
	while (slot_in(*word, SLOT_ARMED) == slot_word(id)) {
		enum slot_state state = slot_state(*word);

		if (!slot_is_pending(*word))
			return state == SLOT_FREE || slot_is_dead(*word)
				       ? -ENOENT
				       : 1;
		if (slot_change(s, word,
				state == SLOT_ARMED ? SLOT_DEAD
						    : SLOT_DEAD_MOVED))
			return 0;
	}
	return -ENOENT;
}

/*
 * As slot_cancel: tries again when the state has changed.  word is the state
 * that was seen last.
 */
static TT_NOINLINE int cancel_other(struct slot *s, uint64_t id, uint32_t word)
{
	int r;

	do {
		r = cancel_pending(s, id, &word);
	} while (r == 1 && slot_state(word) != SLOT_ENDING &&
		 !slot_change(s, &word, SLOT_ENDING));
	return r;
}

/* The usual case.  True: done.  False: the state is *word. */
static inline bool cancel_armed(struct slot *s, uint32_t *word)
{
	uint32_t armed = *word;

	*word = atom32_swap_acquire(&s->state, armed,
				    armed ^ SLOT_ARMED ^ SLOT_DEAD);
	return likely(*word == armed);
}

int slot_cancel(struct slot *s, uint64_t id)
{
	uint32_t word = slot_word(id);

	if (unlikely(slot_state(word) != SLOT_ARMED))
		return -ENOENT;
	return cancel_armed(s, &word) ? 0 : cancel_other(s, id, word);
}

/* False: the slot does not hold that timer. */
static bool read_callback(const struct slot *s, uint64_t id, uint32_t *word,
			  struct callback *ret)
{
	*word = atom32_load_acquire(&s->state);
	*ret = (struct callback){slot_fn(s), slot_arg(s)};
	return slot_in(*word, SLOT_ARMED) == slot_word(id);
}

int slot_take(struct slot *s, uint64_t id, struct callback *ret)
{
	uint32_t word;

	return read_callback(s, id, &word, ret) ? cancel_other(s, id, word)
						: -ENOENT;
}

int slot_take_pending(struct slot *s, uint64_t id, struct callback *ret)
{
	uint32_t word;

	return read_callback(s, id, &word, ret) ? cancel_pending(s, id, &word)
						: -ENOENT;
}
