/* SPDX-License-Identifier: MIT */
/* A race: main writes the argument when the timer is scheduled already. */
#include "guest.h"

static int value;

static void read_it(void *arg)
{
	expect(*(int *)arg >= 1);
}

int main(void)
{
	struct timerthread *tt = create_started();

	value = 1;
	expect(timerthread_schedule(tt, 0, read_it, &value, NULL) == 0);
	value = 2;
	nap();
	timerthread_destroy(tt);
	return 0;
}
