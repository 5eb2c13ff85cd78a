/* SPDX-License-Identifier: MIT */
/*
 * The process ends while timers are pending that alone know their arguments: a
 * few, and as many as need more than the first chunk of slots.
 */
#include "guest.h"

#define TIMERS 5000

static struct timerthread *kept;

static void never(void *arg)
{
	(void)arg;
	expect(false);
}

static void leave_pending(struct timerthread *tt, int n)
{
	for (int i = 0; i < n; i++) {
		char *arg = malloc(100);

		expect(arg != NULL);
		expect(timerthread_schedule_after(tt, HOUR, never, arg, NULL) ==
		       0);
	}
}

int main(void)
{
	struct timerthread *tt;

	kept = create_started();
	leave_pending(kept, 10);
	expect(timerthread_default(&tt) == 0);
	leave_pending(tt, TIMERS);
	return 0;
}
