/* SPDX-License-Identifier: MIT */
/* A race: main writes the argument when the timer is scheduled already. */
#include "guest.h"

static struct hint written, over;
static int value;

static void read_it(void *arg)
{
	hint_take(&written, 1);
	expect(*(int *)arg == 2);
	hint_give(&over);
}

int main(void)
{
	struct timerthread *tt = create_started();

	hint_open(&written);
	hint_open(&over);
	value = 1;
	expect(timerthread_schedule(tt, 0, read_it, &value, NULL) == 0);
	value = 2;
	hint_give(&written);
	hint_take(&over, 1);
	timerthread_destroy(tt);
	return 0;
}
