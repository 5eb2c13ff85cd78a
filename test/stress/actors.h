/* SPDX-License-Identifier: MIT */
/*
 * Who does things to timers: worker threads and the timers' own callbacks, at
 * random, all to the same timers.  They judge nothing.
 */
#pragma once

#include "record.h"

struct plan {
	unsigned reach; /* so many timers are in reach of all of them */
	bool chase;     /* they go for the timer that is running */
};

/* Before the instance starts. */
void actors_prepare(uint64_t *rng, const struct plan *plan);
void actors_start(void);

/*
 * After the stop: the workers go on with cancels until they are joined.
 */
void actors_come_late(void);
void actors_join(void);

/* Calls on one timer, as any actor makes them. */
int do_cancel(struct actor *me, struct account *a, enum deed deed);
int do_move(struct actor *me, struct account *a, int64_t deadline);
int do_get_deadline(struct actor *me, struct account *a);

/* Returns how many timers it took back. */
int do_drain(struct actor *me);

/* From now on the workers drain no more: all that is pending will run. */
void actors_end_drains(void);
