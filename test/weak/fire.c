/* SPDX-License-Identifier: MIT */
/*
 * The driver comes upon an entry that is due, and another thread cancels.
 *
 * One of the two has the timer.  A canceller that gets 0 owns the argument; one
 * that gets -ENOENT sees what the callback wrote.
 *
 * BUG_TWO_STEPS: a timer's state changes by a load and a store.
 * BUG_NO_RELEASE: the end of the callback does not release.
 */
#include "harness.h"

#ifdef BUG_TWO_STEPS
#include "two_steps.h"
#define atom32_swap_acquire two_steps
#elif defined(BUG_NO_RELEASE)
#define atom32_swap atom32_swap_acquire
#endif

#include "one_timer.h"

static bool ran;

static void setup(void)
{
	one_timer_init(0);
	ran = false;
}

static void fire(void)
{
	if (!come_up())
		return;
	ran = true;
	call_it();
	conclude();
}

static void cancel(void)
{
	result = cancel_slot(&slot, id);
	if (result == 0)
		argument = 2;
	else if (result == -ENOENT)
		weak_check(argument == 1, "what the callback wrote is older");
}

static void check(void)
{
	weak_check(ran + (result == 0) == 1, "not one has the timer");
	weak_check(argument == (ran ? 1 : 2), "not its owner wrote last");
}

const struct weak weak = {setup, {fire, cancel, NULL}, check};
