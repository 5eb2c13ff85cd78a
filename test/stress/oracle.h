/* SPDX-License-Identifier: MIT */
/*
 * Judges a round when it is over, timer by timer, by what timerthread.h
 * promises.  Of the first thing that is wrong it shows the timer's history,
 * and aborts.
 */
#pragma once

#include "record.h"

struct totals {
	unsigned long timers;
	unsigned long refused;
	unsigned long runs;
	unsigned long moved;
	unsigned long cancelled;
	unsigned long ending; /* cancels that met a running callback */
	unsigned long waited; /* of those, the ones that waited */
	unsigned long drained;
	unsigned long drains;
};

/* Adds what there was to the totals. */
void oracle_judge(struct totals *totals);
