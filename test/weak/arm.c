/* SPDX-License-Identifier: MIT */
/*
 * A timer is armed; one thread cancels it by an id that was published with
 * release and acquire, another by an id that it has learned in another way.
 *
 * The first finds the timer: no false -ENOENT.  Who gets 0 sees the argument as
 * it was when the timer was armed, and the callback that belongs to it.
 *
 * BUG_RELAXED_ARM: the state is stored without release.
 * BUG_RELAXED_PUBLISH: and so is the id.
 */
#include "harness.h"

#ifdef BUG_RELAXED_ARM
#define atom32_store_release(a, value) atom32_store(a, value)
#endif
#include "armed.h"
#include "store/slots.h"
#undef atom32_store_release

#include "store/slot.c"
#include "store/slots.c"

static struct slot slot;
static uint64_t id;
static int argument;
static atom32 published;
static bool tried;
static int cancelled, taken;

static void callback(void *arg)
{
	(void)arg;
}

static void setup(void)
{
	memset(&slot, 0, sizeof(slot));
	slot.state = 5 * SLOT_GENERATION;
	slot.index = SLOT_FIRST_NUMBER;
	id = slot_id(&slot, slot.state);
	argument = 0;
	published = 0;
	tried = false;
	cancelled = taken = -EINVAL;
}

static void schedule(void)
{
	const struct timer t = {10, 0, callback, &argument, 0};

	argument = 1;
	arm_slot(&slot, &t, 10);
#ifdef BUG_RELAXED_PUBLISH
	atom32_store(&published, 1);
#else
	atom32_store_release(&published, 1);
#endif
}

static void cancel(void)
{
	if (!atom32_load_acquire(&published))
		return;
	tried = true;
	cancelled = cancel_slot(&slot, id);
	if (cancelled == 0)
		weak_check(argument == 1, "the argument is older");
}

static void take(void)
{
	void *arg;

	taken = slot_take(&slot, id, &arg);
	if (taken != 0)
		return;
	weak_check(arg == &argument, "the pointer is older");
	weak_check(*(int *)arg == 1, "the argument is older");
}

static void check(void)
{
	weak_check(cancelled != 0 || taken != 0, "cancelled twice");
	weak_check(!tried || cancelled == 0 || taken == 0, "a false -ENOENT");
}

const struct weak weak = {setup, {schedule, cancel, take}, check};
