/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/garbage.h"
#include "intake/trim.h"
#include "store/vacancy.h"

/* Also for words that lie together by two or three. */
static uint32_t steps_for(const struct slots *t, uint32_t surplus)
{
	return surplus == 0 ? 0
			    : 1 + surplus / (VACANCY_MOST / 4) +
				      slots_words(t) / VACANCY_LOOKS;
}

bool bucket_survey(struct bucket *b, struct wakeup *w, bool ends,
		   uint32_t *ret_steps)
{
	struct slots *t = &b->slots;
	bool later;

	if (!lock_try(&b->lock))
		return true;
	garbage_count(b, w);
	later = vacancy_surplus_later(t) > 0;
	if (ends) {
		*ret_steps = steps_for(t, vacancy_surplus(t));
		vacancy_next_period(t);
	}
	lock_release(&b->lock);
	return later;
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
