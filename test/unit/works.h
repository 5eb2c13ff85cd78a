/* SPDX-License-Identifier: MIT */
/*
 * Does an instance run timers?
 */
#pragma once

#include "fixture.h"

#include <stdbool.h>

static inline bool works(struct timerthread *t)
{
	sem_t done;
	bool r;

	sem_init(&done, 0, 0);
	r = timerthread_schedule_after(t, 1000, post, &done, NULL) == 0;
	if (r)
		wait_for(&done);
	sem_destroy(&done);
	return r;
}
