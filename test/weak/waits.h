/* SPDX-License-Identifier: MIT */
/*
 * The futex that a thread waits on until somebody wakes it, in the place of
 * os/linux/futex.c.
 */
#pragma once

#include "harness.h"
#include "os/futex.h"

/* The kernel's lock, and how often it has woken threads. */
static atom32 kernel, wakes;

static void enter_kernel(void)
{
	while (atom32_swap_acquire(&kernel, 0, 1) != 0)
		weak_wait();
}

static void leave_kernel(void)
{
	atom32_store_release(&kernel, 0);
}

void futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
		      int64_t deadline)
{
	uint32_t was;
	bool sleeps;

	(void)clock;
	(void)deadline;
	enter_kernel();
	sleeps = atom32_load(word) == expected;
	was = atom32_load(&wakes);
	leave_kernel();
	while (sleeps && atom32_load(&wakes) == was)
		weak_wait();
}

void futex_wake(atom32 *word, int n)
{
	(void)word;
	(void)n;
#ifndef BUG_NO_SIGNAL
	enter_kernel();
	atom32_store(&wakes, atom32_load(&wakes) + 1);
	leave_kernel();
#endif
}

/* Only a destroy naps, and there is none. */
void futex_wait_for(atom32 *word, uint32_t expected, long ns)
{
	(void)word;
	(void)expected;
	(void)ns;
}

static void waits_init(void)
{
	kernel = wakes = 0;
}
