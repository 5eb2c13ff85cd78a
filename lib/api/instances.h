/* SPDX-License-Identifier: MIT */
/*
 * All instances that exist, for a debugger: gdb/libtimerthread-gdb.py begins
 * here.  Nothing in the library reads it.
 *
 * Guarantees:
 *  1. An instance is on the list from instances_add to instances_remove.
 *  2. Addresses on the list are negated.  So a leak checker does not find them
 *     there, and reports an instance that was forgotten.
 *  3. In a child of fork(2), the list begins empty: the parent's instances are
 *     not the child's.  (In memory, it is as the parent left it until it is
 *     used.  So a child that dumps its core at once shows the parent's.)  An
 *     instance that was created before the fork and is started in the child is
 *     put on the child's list then.
 *
 * Any thread.
 */
#pragma once

#include <stdint.h>

struct timerthread;

/* The place of an instance on the list. */
struct instance_link {
	struct timerthread *instance; /* constant once it was added */
	/* Protected by fork_page.lock. */
	uintptr_t next;     /* the next link, negated; 0: this is the last */
	uintptr_t previous; /* the link before, or the head, negated */
	/* Of the list that it is on (see fork.h); 0: on none.  The owner's. */
	uint32_t generation;
};

/*
 * The head of the list: its next is the first one.  The name has the library's
 * prefix: programs may have `instances`, too.
 */
extern struct instance_link timerthread_instances;

/* Does nothing if it is already on this process's list. */
void instances_add(struct instance_link *l, struct timerthread *tt);

/* Does nothing if it is not on this process's list. */
void instances_remove(struct instance_link *l);
