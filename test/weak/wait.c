/* SPDX-License-Identifier: MIT */
/*
 * A timer is due, and two threads cancel it, of which one waits for the end of
 * its callback.
 *
 * That does not wait for ever, and sees what the callback wrote, whether it
 * gets 1 or -ENOENT.
 *
 * BUG_NO_RELEASE: the end of a callback does not release.
 * BUG_NO_SIGNAL: the end of a callback wakes nobody.
 * BUG_WAKE_FIRST: the end of a callback wakes before it changes the state.
 * BUG_ONLY_LOOK: the end of a callback only looks whether a thread waits.
 */
#include "harness.h"

#ifdef BUG_NO_RELEASE
#define atom32_swap atom32_swap_acquire
#elif defined(BUG_ONLY_LOOK)
#define atom32_add(a, n) ((n) ? atom32_add(a, n) : atom32_load(a))
#endif

#include "armed.h"
#include "begun.h"
#include "stand_ins.h"
#include "waits.h"

#include "engine/await.h"
#include "intake/expiry.c"
#include "store/slot.c"
#include "store/slots.c"

static struct await await;
static struct bucket bucket;
static struct slot slot;
static struct entry entry;
static uint64_t id;
static int argument, seen;
static bool ran;
static int result[WEAK_THREADS];

static void callback(void *arg)
{
	*(int *)arg = 1;
}

static void setup(void)
{
	const struct timer t = {NOW, 0, callback, &argument, 0};

	waits_init();
	await = (struct await){0};
	bucket.lock = (struct lock){0};
	memset(&slot, 0, sizeof(slot));
	slot.index = SLOT_FIRST_NUMBER;
	id = arm_slot(&slot, &t, NOW);
	entry = slot_entry(&slot);
	argument = seen = 0;
	ran = false;
	result[1] = result[2] = -EINVAL;
}

/* As `end` in fire.c. */
static void end_run(void)
{
#ifdef BUG_WAKE_FIRST
	await_wake(&await, &slot);
	expiry_end(&slot);
#else
	if (expiry_end(&slot))
		await_wake(&await, &slot);
#endif
}

static void fire(void)
{
	uint64_t overrun = 0;

	if (begin_entry(&bucket, &slot, &entry, NOW, &overrun) != EXPIRY_RUN)
		return;
	ran = true;
	slot_fn (&slot)(slot_arg(&slot));
	end_run();
}

static void cancel_and_wait(void)
{
	await_begin(&await);
	result[1] = await_end(&await, NULL, &slot, id, 0, INT64_MAX,
			      cancel_slot(&slot, id));
	if (result[1] != 0)
		seen = argument;
}

static void cancel(void)
{
	result[2] = cancel_slot(&slot, id);
}

static void check(void)
{
	int zeros = (result[1] == 0) + (result[2] == 0);

	weak_check(ran + zeros == 1, "not one has the timer");
	weak_check(!ran || seen == 1, "what the callback wrote is older");
	weak_check(await.waiting == 0, "a waiter is left");
}

const struct weak weak = {setup, {fire, cancel_and_wait, cancel}, check};
