/* SPDX-License-Identifier: MIT */
/* A leak: whose timer is cancelled still owns its argument. */
#include "guest.h"

static void never(void *arg)
{
	(void)arg;
	expect(false);
}

/* So that no pointer is left on the stack, or in a register. */
__attribute__((noinline)) static void leak(struct timerthread *tt)
{
	for (int i = 0; i < 100; i++) {
		timerthread_id id;

		expect(timerthread_schedule_after(tt, HOUR, never, malloc(100),
						  &id) == 0);
		expect(timerthread_cancel(tt, id) == 0);
	}
}

int main(void)
{
	struct timerthread *tt = create_started();

	leak(tt);
	timerthread_destroy(tt);
	return 0;
}
