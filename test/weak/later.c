/* SPDX-License-Identifier: MIT */
/*
 * A timer that lives on is running, and a thread that has disarmed it waits.
 * Another one arms it again, and it runs again, without an end.
 *
 * The thread waits for the first run alone, and sees what that wrote.
 *
 * BUG_SAME_TICKET: the end of a run changes no ticket.
 * BUG_NO_LOCK: the thread that has waited takes no lock.
 * BUG_TICKET_FIRST: the ticket changes before the state does.
 * BUG_NO_SIGNAL: the end of a callback wakes nobody.
 */
#include "harness.h"

#include "armed.h"
#include "stand_ins.h"
#include "waits.h"

#ifdef BUG_SAME_TICKET
#undef TICKET_AWAITED
#define TICKET_AWAITED 0
#elif defined(BUG_NO_LOCK)
#define lock_acquire(l) ((void)0)
#define lock_release(l) ((void)0)
#endif
#include "engine/await.h"
#undef lock_acquire
#undef lock_release
#include "intake/expiry.c"
#include "store/slot.c"
#include "store/slots.c"

static struct await await;
static struct bucket bucket;
static struct slot slot;
static uint64_t id;
static uint32_t ticket;
static int argument, seen, state;

static void setup(void)
{
	const struct timer t = {NOW, PERIOD_PREPARED, NULL, NULL, 0};
	uint32_t word;

	waits_init();
	await = (struct await){0};
	bucket.lock = (struct lock){0};
	memset(&slot, 0, sizeof(slot));
	slot.index = SLOT_FIRST_NUMBER;
	id = arm_slot(&slot, &t, NOW);
	word = slot.state;
	slot_change(&slot, &word, SLOT_RUNNING);
	/* As bucket_disarm. */
	await_begin(&await);
	slot_disarm(&slot, id, true);
	ticket = slot.ticket |= TICKET_AWAITED;
	argument = seen = 0;
	state = SLOT_AWAITED;
}

/* The first run ends; if the timer was armed again, the next one begins. */
static void drive(void)
{
	uint32_t word;

	argument = 1;
#ifdef BUG_TICKET_FIRST
	lock_acquire(&bucket.lock);
	end_awaited(&slot);
	lock_release(&bucket.lock);
#endif
	expiry_after_run(&bucket, &slot, NOW);
	await_wake(&await, &slot);
	lock_acquire(&bucket.lock);
	word = slot.state;
	if (slot_state(word) == SLOT_ARMED)
		slot_change(&slot, &word, SLOT_RUNNING);
	lock_release(&bucket.lock);
}

static void wait_for_it(void)
{
	await_end(&await, &bucket, &slot, id, ticket, INT64_MAX, 1);
	seen = argument;
	state = slot_state(atom32_load(&slot.state));
}

/* As a reschedule. */
static void arm(void)
{
	uint32_t word;

	lock_acquire(&bucket.lock);
	word = slot.state;
	if (slot_runs(word)) {
		slot_change(&slot, &word, SLOT_REPEATING);
	} else if (slot_state(word) == SLOT_UNARMED) {
		atom32_store(&slot.ticket, slot.ticket + TICKET_STEP);
		slot_change(&slot, &word, SLOT_ARMED);
	}
	lock_release(&bucket.lock);
}

static void check(void)
{
	weak_check(seen == 1, "what the run wrote is older");
	weak_check(state != SLOT_AWAITED && state != SLOT_REPEATING,
		   "the run was not over");
	weak_check(await.waiting == 0, "a waiter is left");
}

const struct weak weak = {setup, {drive, wait_for_it, arm}, check};
