/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/trim.h"
#include "store/vacancy.h"

/* Also for words that lie together by two or three. */
static uint32_t steps_for(const struct slots *t, uint32_t surplus)
{
	if (surplus == 0)
		return 0;
	return 1 + surplus / (VACANCY_MOST / 4) +
	       slots_words(t) / VACANCY_LOOKS;
}

uint32_t bucket_end_period(struct bucket *b)
{
	struct slots *t = &b->slots;
	uint32_t steps;

	lock_acquire(&b->lock);
	steps = steps_for(t, vacancy_surplus(t));
	vacancy_next_period(t);
	lock_release(&b->lock);
	return steps;
}

bool bucket_will_trim(struct bucket *b)
{
	bool will;

	lock_acquire(&b->lock);
	will = vacancy_surplus_later(&b->slots) > 0;
	lock_release(&b->lock);
	return will;
}

bool bucket_trim(struct bucket *b)
{
	struct words w;
	bool emptied;

	lock_acquire(&b->lock);
	w = vacancy_choose(&b->slots);
	lock_release(&b->lock);
	if (w.n == 0)
		return false;
	emptied = vacancy_empty(&b->slots, w);
	lock_acquire(&b->lock);
	vacancy_keep(&b->slots, w, emptied);
	lock_release(&b->lock);
	return emptied;
}
