/* SPDX-License-Identifier: MIT */
/*
 * Handing over, with the stand-in for arrivals: there is memory, and nobody
 * sleeps.  It is included behind the faults.
 */
#pragma once

#include "harness.h"
#include "intake/arrival.h"
#include "store/slots.h"

static bool arrival_has_room(struct bucket *b, struct lane *l)
{
	(void)b;
	(void)l;
	return true;
}

static void arrival_grow(struct bucket *b, struct wakeup *w, struct lane *l,
			 bool a_slot)
{
	(void)b;
	(void)w;
	(void)l;
	(void)a_slot;
}

static bool arrival_visit_by(struct bucket *b, struct wakeup *w, int64_t time,
			     bool at_once)
{
	(void)b;
	(void)w;
	(void)time;
	(void)at_once;
	return false;
}

#include "intake/unqueued.h"

void wakeup_kick(struct wakeup *w)
{
	(void)w;
}
