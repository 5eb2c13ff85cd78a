/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "admit.h"
#include "bucket.h"

int bucket_schedule(struct bucket *b, struct wakeup *w, const struct timer *t,
		    uint64_t *ret_id)
{
	struct slot *s;
	uint64_t id;
	int r = admit_begin(b, true);

	if (unlikely(r < 0))
		return r;
	s = slots_take(&b->slots);
	id = slot_arm(s, t);
	if (ret_id)
		*ret_id = id;
	admit_entry(b, w, slot_entry(s));
	return 0;
}
