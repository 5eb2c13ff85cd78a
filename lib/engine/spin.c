/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/spin.h"
#include "engine/turn.h"

/* What was cancelled or moved is not what engine_next finds. */
void spin_until_due(struct engine *e)
{
	int64_t now = watch_now(&e->watch);
	int64_t limit = clock_add(now, e->wakeup.spin);
	int64_t next = engine_next(e, limit);

	if (now < next && next < limit)
		wakeup_spin(&e->wakeup, next);
}
