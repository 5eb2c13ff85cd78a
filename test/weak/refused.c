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
#include "engine/cap.h"

#include "checks/cap.h"

#define CPUS   2
#define PLACES 4

static struct share shares[CPUS];
static struct common_share common;
static struct cap cap;
static bool refused[2];

/* The first thread has a place; the others are in the common share. */
static void setup(void)
{
	for (int i = 0; i < CPUS; i++)
		shares[i] = (struct share){.places.word = TALLY_CLOSED};
	common = (struct common_share){.places = PLACES - 1, .openings = 0};
	cap = (struct cap){
		.max = PLACES,
		.cpus = {.n = CPUS},
		.share = shares,
		.common = &common,
	};
	refused[0] = refused[1] = false;
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

static void check(void)
{
	weak_check(!refused[0] && !refused[1],
		   "refused, but not all are taken");
	weak_check(cap_free(&cap) == 0, "not as many places as there were");
}

const struct weak weak = {setup, {give_and_take, take, NULL}, check};
