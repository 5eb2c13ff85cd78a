/* SPDX-License-Identifier: MIT */
/*
 * The futex, in the place of os/linux/futex.c.  Who sleeps ends there, for
 * nothing that comes after matters: what is looked for is a sleep that nobody
 * ends.
 */
#pragma once

#include "harness.h"
#include "os/futex.h"

static struct sleep {
	atom32 *word; /* NULL: awake */
	int64_t until;
	bool woken;
} sleeps[WEAK_THREADS];

/* The kernel's lock over them. */
static atom32 kernel;

static void enter_kernel(void)
{
	while (atom32_swap_acquire(&kernel, 0, 1) != 0)
		weak_wait();
}

static void leave_kernel(void)
{
	atom32_store_release(&kernel, 0);
}

static void sleeps_init(void)
{
	memset(sleeps, 0, sizeof(sleeps));
	kernel = 0;
}

/* False: the word is another one. */
static bool sleeps_begin(atom32 *word, uint32_t expected, int64_t until)
{
	bool sleeps_now;

	enter_kernel();
	sleeps_now = atom32_load(word) == expected;
	if (sleeps_now)
		sleeps[weak_self()] = (struct sleep){word, until, false};
	leave_kernel();
	return sleeps_now;
}

void futex_wake(atom32 *word, int n)
{
	int i = 0;

	weak_check(n == 1, "more than one is woken");
	enter_kernel();
	while (i < WEAK_THREADS && (sleeps[i].word != word || sleeps[i].woken))
		i++;
	if (i < WEAK_THREADS)
		sleeps[i].woken = true;
	leave_kernel();
}

/* Those that nobody has woken; by who comes when the threads have ended. */
static bool is_asleep(int thread)
{
	return sleeps[thread].word && !sleeps[thread].woken;
}
