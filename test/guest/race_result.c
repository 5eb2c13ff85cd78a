/* SPDX-License-Identifier: MIT */
/*
 * A race: main reads what the callback has written, and has not asked the
 * library whether that is over.
 */
#include "guest.h"

static struct hint over;
static int result;

static void write_it(void *arg)
{
	*(int *)arg = 1;
	hint_give(&over);
}

int main(void)
{
	struct timerthread *tt = create_started();

	hint_open(&over);
	expect(timerthread_schedule(tt, 0, write_it, &result, NULL) == 0);
	hint_take(&over, 1);
	expect(result == 1);
	timerthread_destroy(tt);
	return 0;
}
