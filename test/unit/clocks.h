/* SPDX-License-Identifier: MIT */
/*
 * The clocks that an instance can have.
 */
#pragma once

#include "systems.h"

static const clockid_t clocks[] = {
	CLOCK_MONOTONIC,
	CLOCK_REALTIME,
	CLOCK_BOOTTIME,
};

enum { CLOCKS = 3 };
