/* SPDX-License-Identifier: MIT */
/*
 * Starting an instance: what all drivers have in common.
 *
 * A start that fails leaves the instance as it was.
 */
#ifndef TT_START_H
#define TT_START_H

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

#endif
