/* SPDX-License-Identifier: MIT */
/*
 * One timer whose entry is due: what fire.c and periodic.c share.  It is
 * included behind the faults.
 */
#pragma once

#include "armed.h"
#include "begun.h"
#include "harness.h"
#include "stand_ins.h"

#include "intake/expiry.c"
#include "store/slot.c"
#include "store/slots.c"

static struct bucket bucket;
static struct slot slot;
static struct entry entry;
static uint64_t id;
static int argument;
static int result;

static void callback(void *arg)
{
	*(int *)arg = 1;
}

static void one_timer_init(int64_t period)
{
	const struct timer t = {NOW, period, callback, &argument, 0};

	bucket.lock = (struct lock){0};
	memset(&slot, 0, sizeof(slot));
	slot.index = SLOT_FIRST_NUMBER;
	id = arm_slot(&slot, &t, NOW);
	entry = slot_entry(&slot);
	argument = 0;
	result = -EINVAL;
}

static bool come_up(void)
{
	uint64_t overrun = 0;

	return begin_entry(&bucket, &slot, &entry, NOW, &overrun) == EXPIRY_RUN;
}

static void call_it(void)
{
	slot_fn (&slot)(slot_arg(&slot));
}

/* The timer does not run again.  As `end` in fire.c. */
static void conclude(void)
{
	if (!expiry_end(&slot))
		atom32_store_release(&slot.state,
				     slot_next(atom32_load(&slot.state)));
}
