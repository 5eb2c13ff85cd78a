/* SPDX-License-Identifier: MIT */
/*
 * Points of time, as a program gives them, on the clock of a core.
 */
#pragma once

#include "costs.h"
#include <time.h>

ps_t deadline_of(const struct timespec *ts, clockid_t id);

/* From now on. */
ps_t in_ps(const struct timespec *ts);
