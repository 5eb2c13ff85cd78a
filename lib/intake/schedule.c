/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/arrival.h"
#include "intake/bucket.h"

int bucket_schedule(struct bucket *b, struct wakeup *w, const struct timer *t,
		    uint64_t *ret_id)
{
	struct arrival a;
	struct slot *s;
	uint64_t id;
	int r = arrival_begin(b, w, true, t->deadline, &a);

	if (unlikely(r < 0))
		return r;
	s = slots_take(&b->slots);
	id = slot_arm(s, t, a.due);
	if (ret_id)
		*ret_id = id;
	arrival_add(b, w, a.lane, slot_entry(s));
	return 0;
}
