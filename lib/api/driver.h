/* SPDX-License-Identifier: MIT */
/*
 * What all drivers have in common: how an instance is started with one, and how
 * a call of the program that is the driver makes the engine take a turn.
 *
 * Guarantees:
 *  1. A start that fails leaves the instance as it was.
 *  2. From a driver_begin that returned 0 to the driver_end, no other turn
 *     begins, and the instance is not freed.
 *  3. A call that comes while a turn is ending waits for the end, and is not
 *     refused.
 *
 * Any thread.
 */
#pragma once

#include "api/instance.h"

struct start {
	enum driver driver;
	int64_t now; /* what the virtual clock shows, if there is one */
	int *ret_fd; /* polled: where the descriptor is stored; or NULL */
	/* Begins to take turns: 0 or a positive errno.  NULL: no need to. */
	int (*begin)(struct timerthread *tt, void *arg);
	void *arg;
};

/* As timerthread_start.  valid: the call's other arguments are. */
int start_instance(struct timerthread *tt, bool valid, const struct start *how);

/*
 * Returns 0 or an error.  -EINVAL: the instance has another driver, or none, or
 * an argument is not valid.  -ECHILD.  -ESHUTDOWN.  -EBUSY: another turn is
 * going on, or the caller is a callback.
 */
int driver_begin(struct timerthread *tt, enum driver driver, bool valid);

/* Also for a timer thread, after its last turn: its last use of tt. */
void driver_end(struct timerthread *tt);
