/* SPDX-License-Identifier: MIT */
#include "api/instances.h"

#include "os/fork.h"
#include "os/tool.h"

struct instance_link timerthread_instances;

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
