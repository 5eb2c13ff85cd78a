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
#include "api/instance.h"
#include "os/tool.h"

INTERNAL_OBJECT struct instance_link timerthread_instances = {0};

static struct instance_link *const head = &timerthread_instances;

/* Returns the generation, with the lock held. */
static uint32_t enter_list(void)
{
	uint32_t generation;

	tool_hide(head, sizeof(*head));
	tool_hide(&fork_page, sizeof(fork_page));
	lock_acquire(&fork_page.lock);
	generation = fork_need_generation();
	if (head->generation != generation)
		*head = (struct instance_link){.generation = generation};
	return generation;
}

/* An address as it is on the list, and back. */
static uintptr_t negated(const struct instance_link *l)
{
	return -(uintptr_t)l;
}

static struct instance_link *link_at(uintptr_t negated)
{
	return (struct instance_link *)-negated;
}

void instances_add(struct instance_link *l, struct timerthread *tt)
{
	uint32_t generation = enter_list();

	if (l->generation != generation) {
		*l = (struct instance_link){tt, head->next, negated(head),
					    generation};
		if (l->next)
			link_at(l->next)->previous = negated(l);
		head->next = negated(l);
	}
	lock_release(&fork_page.lock);
}

void instances_remove(struct instance_link *l)
{
	if (enter_list() == l->generation) {
		link_at(l->previous)->next = l->next;
		if (l->next)
			link_at(l->next)->previous = l->previous;
		l->generation = 0;
	}
	lock_release(&fork_page.lock);
}
