/* SPDX-License-Identifier: MIT */
/*
 * A race: main reads what the callback has written, which is running still, as
 * the library says.
 */
#include "guest.h"

static struct hint written, seen;
static int result;

static void write_it(void *arg)
{
	*(int *)arg = 1;
	hint_give(&written);
	hint_take(&seen, 1);
}

int main(void)
{
	struct timerthread *tt = create_started();
	timerthread_id id;

	hint_open(&written);
	hint_open(&seen);
	expect(timerthread_schedule(tt, 0, write_it, &result, &id) == 0);
	hint_take(&written, 1);
	expect(timerthread_cancel(tt, id) == 1);
	expect(result == 1);
	hint_give(&seen);
	timerthread_destroy(tt);
	return 0;
}
