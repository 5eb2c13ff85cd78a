/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "checks/slot_heap.h"
#include "must.h"

/* Those at this place and below.  None of them is due before `above`. */
static size_t check_below(const struct slots *t, uint32_t number,
			  uint32_t above, int64_t due)
{
	const struct slot *s;

	if (number == 0)
		return 0;
	s = slots_get(t, number);
	must(s->above == above && s->index >> t->shift == number);
	must(s->due >= due);
	must(slot_state(atom32_load(&s->state)) != SLOT_FREE);
	return 1 + check_below(t, s->below[0], number, s->due) +
	       check_below(t, s->below[1], number, s->due);
}

size_t slot_heap_check(const struct slot_heap *h, const struct slots *t)
{
	size_t n = check_below(t, h->first, 1, INT64_MIN), found = 0;

	for (uint32_t i = SLOT_FIRST_NUMBER; i < slots_end(t); i++)
		found += slot_heap_has(slots_get(t, i));
	must(found == n);
	return n;
}
