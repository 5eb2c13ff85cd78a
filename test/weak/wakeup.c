/* SPDX-License-Identifier: MIT */
/*
 * The driver goes to sleep, while two threads announce earlier deadlines.
 *
 * It does not sleep beyond them.
 */
#include "sleeping.h"

static void announce(uint32_t bucket, int64_t deadline)
{
	if (wakeup_announce(&wakeup, bucket, deadline))
		wakeup_kick(&wakeup);
}

static void announce_earlier(void)
{
	announce(0, 5 * NOW);
}

static void announce_earliest(void)
{
	announce(1, 3 * NOW);
}

static void check(void)
{
	weak_check(!is_asleep(0) || sleeps[0].until <= 3 * NOW,
		   "the driver sleeps beyond a deadline");
}

const struct weak weak = {
	sleeping_init,
	{sleep_until_later, announce_earlier, announce_earliest},
	check};
