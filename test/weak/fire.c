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
static uint32_t two_steps(atom32 *a, uint32_t from, uint32_t to)
{
	uint32_t was = atom32_load_acquire(a);

	if (was == from)
		atom32_store_release(a, to);
	return was;
}
#define atom32_swap_acquire two_steps
#elif defined(BUG_NO_RELEASE)
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
static bool ran;
static int result;

static void callback(void *arg)
{
	*(int *)arg = 1;
}

static void setup(void)
{
	const struct timer t = {NOW, 0, callback, &argument};

	lock_init(&bucket.lock);
	memset(&slot, 0, sizeof(slot));
	slot.index = SLOT_FIRST_NUMBER;
	id = slot_arm(&slot, &t, NOW);
	entry = slot_entry(&slot);
	argument = 0;
	ran = false;
	result = -EINVAL;
}

static void fire(void)
{
	uint64_t overrun = 0;

	if (expiry_begin(&bucket, &slot, &entry, NOW, &overrun) != EXPIRY_RUN)
		return;
	ran = true;
	slot_fn (&slot)(slot_arg(&slot));
	/* As await_end. */
	if (!expiry_end(&slot))
		atom32_store_release(&slot.state,
				     slot_next(atom32_load(&slot.state)));
}

static void cancel(void)
{
	result = slot_cancel(&slot, id);
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
