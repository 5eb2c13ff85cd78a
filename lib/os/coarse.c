/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/coarse.h"

/* 0: the kernel has no such clock. */
static int64_t half_tick(clockid_t clock)
{
	struct timespec tick;

	if (clock_getres(clock, &tick) != 0)
		return 0;
	return clock_from_timespec(tick.tv_sec, tick.tv_nsec) / 2;
}

static bool find(clockid_t clock, clockid_t *ret_coarse)
{
	switch (clock) {
	case CLOCK_MONOTONIC:
		*ret_coarse = CLOCK_MONOTONIC_COARSE;
		return true;
	case CLOCK_REALTIME:
		*ret_coarse = CLOCK_REALTIME_COARSE;
		return true;
	default:
		return false;
	}
}

void coarse_init(struct coarse *c, clockid_t clock, int64_t error)
{
	int64_t half = 0;

	*c = (struct coarse){.behind = 0};
	if (error > 0 && find(clock, &c->clock))
		half = half_tick(c->clock);
	if (half > 0 && error / COARSE_MIN >= half) {
		int64_t most = COARSE_MAX * half;

		c->behind = error < most ? error : most;
	}
}
