/* SPDX-License-Identifier: MIT */
/*
 * Two threads that take places of a cap and give them back, on two CPUs; for
 * harnesses that put a fault into engine/cap.h before they include this.
 */
#pragma once

#include "engine/cap.h"

#include "checks/cap.h"

#define CPUS 2

static struct share shares[CPUS];
static struct common_share common;
static struct cap cap;
static bool refused[2];

/* All shares are closed.  So many places are left, in the common one. */
static void begin_places(uint32_t max, uint32_t left)
{
	for (int i = 0; i < CPUS; i++)
		shares[i] = (struct share){.places.word = TALLY_CLOSED};
	common = (struct common_share){.places = left, .openings = 0};
	cap = (struct cap){
		.max = max,
		.cpus = {.n = CPUS},
		.share = shares,
		.common = &common,
	};
	refused[0] = refused[1] = false;
}

/* All places are taken, and there was one for each who wanted it. */
static void check_places(void)
{
	weak_check(!refused[0] && !refused[1],
		   "refused, but not all are taken");
	weak_check(cap_free(&cap) == 0, "not as many places as there were");
}
