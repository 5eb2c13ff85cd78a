/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "view/nearest.h"

/* Keeps it if it is one of the earliest so far. */
static void keep_if_early(struct nearest *r, const struct pending_timer *t)
{
	size_t i = r->n < NEAREST_MAX ? r->n++ : NEAREST_MAX;

	for (; i > 0 && t->timer.deadline < r->first[i - 1].timer.deadline; i--)
		if (i < NEAREST_MAX)
			r->first[i] = r->first[i - 1];
	if (i < NEAREST_MAX)
		r->first[i] = *t;
}

/* Under the lock, which orders the rest.  The timer may be over by now. */
static void look_at_slot(const struct slot *s, struct nearest *r)
{
	uint32_t word = atom32_load(&s->state);
	struct pending_timer t;

	if (!slot_is_pending(word))
		return;
	t.id = slot_id(s, word);
	t.timer = (struct timer){s->deadline, s->period, slot_fn(s),
				 slot_arg(s), 0};
	keep_if_early(r, &t);
}

/* Looks at the 64 slots from `from` on.  False: there are no such slots. */
static bool look_at_word(struct bucket *b, uint32_t from, struct nearest *r)
{
	bool any;

	lock_acquire(&b->lock);
	any = from < slots_end(&b->slots);
	for (uint32_t i = 0; any && i < SLOT_FIRST_NUMBER; i++)
		look_at_slot(slots_get(&b->slots, from + i), r);
	lock_release(&b->lock);
	return any;
}

void nearest_find(struct intake *in, struct nearest *ret)
{
	struct bucket_set used = intake_used(in);
	struct bucket *b;

	ret->n = 0;
	while ((b = intake_take(in, &used))) {
		uint32_t from = SLOT_FIRST_NUMBER;

		while (look_at_word(b, from, ret))
			from += SLOT_FIRST_NUMBER;
	}
}
