/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/inside.h"
#include "engine/spin.h"
#include "engine/turn.h"

#include <stddef.h>

static void do_nothing(void *arg)
{
	(void)arg;
}

/*
 * After a sleep, the code of a call is in no cache.  With this, and with the
 * turn that the driver takes before it spins, the median lateness is 0.8 us;
 * without them it is 1.3 us.
 */
static void rehearse(struct engine *e)
{
	const struct run none = {0};

	inside_call(e->instance, &e->inside, &e->task_id, &none, do_nothing,
		    NULL);
}

/* engine_next does not return a timer that was cancelled or moved. */
bool spin_until_due(struct engine *e)
{
	int64_t now = watch_now(&e->watch);
	int64_t next, limit = clock_add(now, e->wakeup.spin);

	/* There is more for a turn to do. */
	if (e->next == INT64_MIN)
		return false;
	next = engine_next(e, limit);
	if (next <= now || next >= limit)
		return false;
	rehearse(e);
	wakeup_spin(&e->wakeup, next);
	return true;
}
