/* SPDX-License-Identifier: MIT */
/*
 * What is counted while a program is measured.
 */
#pragma once

#include "costs.h"

enum { RD, WR, RMW };

enum {
	K_L1,
	K_L2,
	K_COLD,
	K_LLC,
	K_LLCR,
	K_DIRTY,
	K_DIRTYR,
	K_INVAL,
	K_INVALR,
	NK
};

extern struct counts {
	uint64_t n[NK], acc[3], mtx, mtx_cont, fwait, ftime, fwake, woken, ctx,
		preempt, migr, fault, fences, sys;
	ps_t cost[NK], queue, mtx_wait, busy0;
} G;
