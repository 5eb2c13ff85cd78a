/* SPDX-License-Identifier: MIT */
/*
 * One thread gives its place back, which opens its share, and takes what is
 * left in the common one: a place stays in the share.  Another takes a place,
 * on another CPU.
 *
 * It is not refused, for there is never a moment at which all places are taken:
 * who finds the common share empty learns that a share was opened before.
 *
 * BUG_RELAXED_FULL: who finds no place does not acquire.
 * BUG_RELAXED_PLACES: who finds no common place does not acquire.
 */
#include "harness.h"

#include "base/tally.h"
#include "os/cpu.h"
#include "os/lock.h"
#include "os/memory.h"

#ifdef BUG_RELAXED_FULL
#define atom32_load_acquire(a) atom32_load(a)
#endif
#if defined(BUG_RELAXED_FULL) || defined(BUG_RELAXED_PLACES)
#define atomword_load_acquire(a) atomword_load(a)
#endif
#include "places.h"

#define PLACES 4

/* The first thread has a place; the others are in the common share. */
static void setup(void)
{
	begin_places(PLACES, PLACES - 1);
}

/* All but one, and that one is in the share. */
static void give_and_take(void)
{
	cap_give(&cap);
	refused[0] = !cap_take(&cap, 0);
	for (int i = 0; i < 2; i++)
		refused[0] = !cap_take(&cap, 1) || refused[0];
}

static void take(void)
{
	refused[1] = !cap_take(&cap, 1);
}

const struct weak weak = {setup, {give_and_take, take, NULL}, check_places};
