/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/arrival.h"
#include "intake/bucket.h"

int bucket_schedule(struct bucket *b, struct wakeup *w, const struct timer *t,
		    uint64_t *ret_id)
{
	struct slot *s;
	uint64_t id;
	int r = arrival_begin(b, true);

	if (unlikely(r < 0))
		return r;
	s = slots_take(&b->slots);
	id = slot_arm(s, t);
	if (ret_id)
		*ret_id = id;
	arrival_add(b, w, slot_entry(s));
	return 0;
}
