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

#include "stand_ins.h"

#include "intake/expiry.c"
#include "intake/slot.c"

static struct bucket bucket;
static struct slot slot;
static struct entry entry;
static uint64_t id;
static int argument;
static bool again;
static int result;

static void callback(void *arg)
{
	*(int *)arg = 1;
}

static void setup(void)
{
	const struct timer t = {NOW, 5, callback, &argument};

	lock_init(&bucket.lock);
	memset(&slot, 0, sizeof(slot));
	slot.index = SLOT_FIRST_NUMBER;
	id = slot_arm(&slot, &t, NOW);
	entry = slot_entry(&slot);
	argument = 0;
	again = false;
	result = -EINVAL;
}

static void fire(void)
{
	uint64_t overrun = 0;

	if (expiry_begin(&bucket, &slot, &entry, NOW, &overrun) != EXPIRY_RUN)
		return;
#ifdef BUG_NOT_REPEATING
	again = expiry_repeat(&bucket, &slot, &entry, NOW);
#endif
	slot_fn (&slot)(slot_arg(&slot));
#ifndef BUG_NOT_REPEATING
	again = expiry_repeat(&bucket, &slot, &entry, NOW);
#endif
	/* As await_end. */
	if (!again && !expiry_end(&slot))
		atom32_store_release(&slot.state,
				     slot_next(atom32_load(&slot.state)));
}

static void cancel(void)
{
	result = slot_cancel(&slot, id);
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
