/* SPDX-License-Identifier: MIT */
/*
 * A callback returns whose timer repeats, and another thread cancels.
 *
 * Who gets 0 owns the argument, and sees what the callback wrote: the cancel
 * pairs with the compare-and-swap that has put the timer back.
 *
 * BUG_NO_RELEASE: that does not release.
 * BUG_NOT_REPEATING: the timer is armed while its callback runs.
 */
#include "harness.h"

#ifdef BUG_NO_RELEASE
#define atom32_swap atom32_swap_acquire
#endif

#include "one_timer.h"

static bool again;

static void setup(void)
{
	one_timer_init(5);
	again = false;
}

static void repeat(void)
{
	again = expiry_after_run(&bucket, &slot, NOW) == EXPIRY_LATER;
}

static void fire(void)
{
	if (!come_up())
		return;
#ifdef BUG_NOT_REPEATING
	repeat();
#endif
	call_it();
#ifndef BUG_NOT_REPEATING
	repeat();
#endif
	if (!again)
		conclude();
}

static void cancel(void)
{
	result = cancel_slot(&slot, id);
	if (result == 0)
		argument = 2;
}

static void check(void)
{
	weak_check(result == 0 || result == 1, "it was there all the time");
	weak_check(result == 0 || !again, "cancelled, and runs again");
	weak_check(result == 1 || argument == 2, "not its owner wrote last");
}

const struct weak weak = {setup, {fire, cancel, NULL}, check};
