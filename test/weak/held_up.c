/* SPDX-License-Identifier: MIT */
/*
 * A thread has announced the earliest deadline, and is held up before its
 * system call.  Another thread announces a later one.
 *
 * The driver does not sleep beyond that one.
 *
 * BUG_OWN_KICK: who announces wakes the driver only for its own deadline.
 * BUG_SENT_EARLY: the one that is held up has said that the call is made.
 */
#include "sleeping.h"

static void announce_and_be_held_up(void)
{
	if (!wakeup_announce(&wakeup, 0, 3 * NOW))
		return;
#ifdef BUG_SENT_EARLY
	atom32_store(&wakeup.sent, atom32_load(&wakeup.seq));
#endif
}

static void announce_later(void)
{
	bool kick = wakeup_announce(&wakeup, 1, 5 * NOW);

#ifdef BUG_OWN_KICK
	kick = kick && wakeup_nearest(&wakeup) == 5 * NOW;
#endif
	if (kick)
		wakeup_kick(&wakeup);
}

static void check(void)
{
	weak_check(!is_asleep(0) || sleeps[0].until <= 5 * NOW,
		   "the driver sleeps beyond a deadline");
}

const struct weak weak = {
	sleeping_init,
	{sleep_until_later, announce_and_be_held_up, announce_later},
	check};
