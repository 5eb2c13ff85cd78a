/* SPDX-License-Identifier: MIT */
/* A race: callbacks on several threads of an executor change one number. */
#include "team.h"

static struct hint over;
static int number;

static void change(void *arg)
{
	(void)arg;
	number++;
	hint_give(&over);
}

int main(void)
{
	static struct team team;
	timerthread_id id[TEAM];
	struct timerthread *tt;

	hint_open(&over);
	team_open(&team);
	tt = create_with(&team);
	/* None is in the place of one that is over. */
	for (int i = 0; i < TEAM; i++)
		expect(timerthread_schedule_after(tt, HOUR, change, NULL,
						  &id[i]) == 0);
	/* One after the other: a tool can miss what is at the same moment. */
	for (int i = 0; i < TEAM; i++) {
		expect(timerthread_reschedule(tt, id[i], 0) == 0);
		hint_take(&over, 1);
	}
	timerthread_destroy(tt);
	team_close(&team);
	return 0;
}
