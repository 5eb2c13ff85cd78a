/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/schedule.h"

int bucket_schedule(struct bucket *b, struct wakeup *w, const struct timer *t,
		    uint64_t *ret_id)
{
	return schedule_inline(b, w, t, ret_id);
}
