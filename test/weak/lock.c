/* SPDX-License-Identifier: MIT */
/*
 * Two threads are in a section under a lock, one of them twice.
 *
 * What one has written the next one sees.  With the nap nobody sleeps on when
 * the lock is free.
 *
 * BUG_NO_NAP: a sleep has no end but a wake-up.
 * BUG_NO_WAKE: nobody is woken, nor is there a nap.
 * BUG_RELAXED_RELEASE: the release does not release.
 */
#define WEAK_LOCK

#include "base/atomic.h"
#include "base/base.h"

/* In the loop of the lock's spin(): one look is as good as many. */
#define spin_relax() (i = SPINS - 1)

#ifdef BUG_RELAXED_RELEASE
#define atom32_store_release(a, value) atom32_store(a, value)
#endif
#include "os/lock.c"
#undef spin_relax
#undef atom32_store_release

#include "sleeps.h"

static struct lock lock;
/*
 * volatile: else gcc 12 takes it for unchanged by a call in which it has seen
 * nothing but atomic operations.
 */
static volatile int sum;

void futex_wait_for(atom32 *word, uint32_t expected, long ns)
{
#if defined(BUG_NO_NAP) || defined(BUG_NO_WAKE)
	if (sleeps_begin(word, expected, ns))
		weak_exit();
#else
	(void)ns;
	if (sleeps_begin(word, expected, ns))
		weak_nap();
	enter_kernel();
	sleeps[weak_self()].word = NULL;
	leave_kernel();
#endif
}

#ifdef BUG_NO_WAKE
#define lock_wake(l) ((void)(l))
#endif

static void setup(void)
{
	lock = (struct lock){0};
	sleeps_init();
	sum = 0;
}

static void leave_section(void)
{
	sum++;
#ifdef BUG_NO_WAKE
	atom32_store_release(&lock.held, 0);
#else
	lock_release(&lock);
#endif
}

static void pass(void)
{
	lock_acquire(&lock);
	leave_section();
}

static void pass_twice(void)
{
	pass();
	pass();
}

static void check(void)
{
	int asleep = 0;

	for (int i = 0; i < WEAK_THREADS; i++)
		asleep += is_asleep(i);
	weak_check(asleep == 0, "a thread sleeps on");
#if !defined(BUG_NO_NAP) && !defined(BUG_NO_WAKE)
	weak_check(sum == 3, "a section is lost");
#endif
}

const struct weak weak = {setup, {pass_twice, pass, NULL}, check};
