/* SPDX-License-Identifier: MIT */
/*
 * The driver comes upon an entry that is due, of a timer that lives on, and
 * another thread disarms it.
 *
 * One of the two has the run.  A thread that gets -ENOENT sees what the
 * callback wrote.  In the end the timer is unarmed.
 *
 * BUG_TWO_STEPS: a timer's state changes by a load and a store.
 * BUG_NO_RELEASE: the end of a run does not release, nor does the lock order it
 * before the disarm.
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
	one_timer_init(PERIOD_PREPARED);
	ran = false;
}

static void fire(void)
{
	if (!come_up())
		return;
	ran = true;
	call_it();
	if (expiry_after_run(&bucket, &slot, NOW) != EXPIRY_STALE)
		conclude();
}

static void disarm(void)
{
#ifdef BUG_NO_RELEASE
	result = slot_disarm(&slot, id, true);
#else
	lock_acquire(&bucket.lock);
	result = slot_disarm(&slot, id, true);
	lock_release(&bucket.lock);
#endif
	if (result == 0)
		argument = 2;
	else if (result == -ENOENT)
		weak_check(argument == 1, "what the callback wrote is older");
}

static void check(void)
{
	weak_check(ran + (result == 0) == 1, "not one has the run");
	weak_check(slot_state(slot.state) == SLOT_UNARMED, "it is not unarmed");
	weak_check(argument == (ran ? 1 : 2), "not its owner wrote last");
}

const struct weak weak = {setup, {fire, disarm, NULL}, check};
