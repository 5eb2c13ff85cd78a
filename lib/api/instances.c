/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "api/instances.h"

#include "os/fork.h"
#include "os/futex.h"
#include "os/tool.h"

/* Ready for the first process that loads the library. */
struct instances timerthread_instances = {.claimed = 1, .ready = 1};

static struct instances *const all = &timerthread_instances;

/*
 * In a child, the first thread that comes makes a new list; the others wait for
 * that.  Meanwhile it does nothing else, and holds nothing.  The
 * compare-and-swap decides which thread does it; no order is needed.
 */
static void make_ready(uint32_t generation)
{
	uint32_t claimed = atom32_load(&all->claimed);

	if (claimed != generation &&
	    atom32_swap(&all->claimed, claimed, generation) == claimed) {
		lock_init(&all->lock);
		all->head.next = 0;
		/* Release: pairs with the load in enter. */
		atom32_store_release(&all->ready, generation);
	}
}

/* Returns the generation, with the lock held. */
static uint32_t enter(void)
{
	uint32_t generation = fork_generation();
	uint32_t ready;

	tool_hide(all, sizeof(*all));
	/*
	 * Acquire: pairs with the store in make_ready.  No thread sends a
	 * wake-up, but the nap leaves the CPU to the thread that makes it
	 * ready.
	 */
	while (ready = atom32_load_acquire(&all->ready),
	       unlikely(ready != generation)) {
		make_ready(generation);
		futex_wait_for(&all->ready, ready, LOCK_NAP_NS);
	}
	lock_acquire(&all->lock);
	return generation;
}

/* An address as it is on the list, and back. */
static uintptr_t negated(const struct instance_link *l)
{
	return -(uintptr_t)l;
}

static struct instance_link *at(uintptr_t negated)
{
	return (struct instance_link *)-negated;
}

void instances_add(struct instance_link *l, struct timerthread *tt)
{
	struct instance_link *head = &all->head;
	uint32_t generation = enter();

	if (l->generation != generation) {
		*l = (struct instance_link){tt, head->next, negated(head),
					    generation};
		if (l->next)
			at(l->next)->previous = negated(l);
		head->next = negated(l);
	}
	lock_release(&all->lock);
}

void instances_remove(struct instance_link *l)
{
	if (enter() == l->generation) {
		at(l->previous)->next = l->next;
		if (l->next)
			at(l->next)->previous = l->previous;
		l->generation = 0;
	}
	lock_release(&all->lock);
}
