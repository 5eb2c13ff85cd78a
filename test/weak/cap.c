/* SPDX-License-Identifier: MIT */
/*
 * One thread gives its place back and takes one; another takes two, on another
 * CPU, for which it must call in a share.
 *
 * Nobody is refused, for there is never a moment at which all places are taken;
 * and no place is lost.
 *
 * BUG_TWO_STEPS: a share changes by a load and a store.
 * BUG_RELAXED_FULL: who finds no place does not acquire.
 * BUG_NO_RELEASE: who has called all in does not release.
 */
#include "harness.h"

#ifdef BUG_TWO_STEPS
#include "two_steps.h"
#define atom32_swap two_steps
#endif

#include "base/tally.h"
#include "os/cpu.h"
#include "os/lock.h"
#include "os/memory.h"

#ifdef BUG_RELAXED_FULL
#define atom32_load_acquire(a)   atom32_load(a)
#define atomword_load_acquire(a) atomword_load(a)
#elif defined(BUG_NO_RELEASE)
#define atom32_store_release(a, value) atom32_store(a, value)
#endif
#include "places.h"

#define PLACES 3

/* The first thread has a place; one is in its share, and one in the common. */
static void setup(void)
{
	begin_places(PLACES, 1);
	common.openings = 1;
	tally_open(&shares[0].places, 1);
}

static void give_and_take(void)
{
	cap_give(&cap);
	refused[0] = !cap_take(&cap, 0);
}

static void take_two(void)
{
	bool first = cap_take(&cap, 1);

	refused[1] = !first || !cap_take(&cap, 1);
}

const struct weak weak = {setup, {give_and_take, take_two, NULL}, check_places};
