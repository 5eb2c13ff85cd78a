/* SPDX-License-Identifier: MIT */
/*
 * All instances that exist, for a debugger: gdb/libtimerthread-gdb.py begins
 * here.  Nothing in the library reads it.
 *
 * Guarantees:
 *  1. An instance is on the list from instances_add to instances_remove.
 *  2. Addresses on the list are negated: so a leak checker, which does not find
 *     them there, reports an instance that was forgotten.
 *  3. In a child of fork(2) the list begins empty: the parent's are not the
 *     child's, and the lock may have been held by a thread that is not there.
 *     What was created before the fork and is started in the child comes onto
 *     the child's list then.
 *
 * Any thread.
 */
#ifndef TT_INSTANCES_H
#define TT_INSTANCES_H

#include "os/atomic.h"
#include "os/lock.h"

struct timerthread;

/* The place of an instance on the list. */
struct instance_link {
	struct timerthread *instance; /* constant once it was added */
	/* Protected by the list's lock. */
	uintptr_t next;     /* of another one, negated; 0: it is the last */
	uintptr_t previous; /* or of the head */
	/* Of the list that it is on (see fork.h); 0: on none.  Its owner's. */
	uint32_t generation;
};

struct instances {
	/* Generations; the list is ready for use where they are equal. */
	atom32 claimed; /* somebody makes it ready for this one */
	atom32 ready;   /* released when that is done */
	struct lock lock;
	/* Protected by the lock. */
	struct instance_link head; /* whose next is the first */
};

/* Its name is the library's, for programs have such names, too. */
extern struct instances timerthread_instances;

/* Nothing if it is on this process's list. */
void instances_add(struct instance_link *l, struct timerthread *tt);

/* Nothing if it is not. */
void instances_remove(struct instance_link *l);

#endif
