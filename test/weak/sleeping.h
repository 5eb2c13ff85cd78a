/* SPDX-License-Identifier: MIT */
/*
 * A driver that goes to sleep: what wakeup.c and stop.c share.
 *
 * BUG_NO_CHANGE: the futex stays as it is.
 * BUG_NO_KICK: who must wake the driver does not.
 * BUG_READ_LATE: the driver reads the futex when it has decided to sleep.
 * BUG_NO_LOCK: there is no lock over what both sides decide.
 */
#pragma once

#include "harness.h"

#include "sleeps.h"
#include "stand_ins.h"

#include "base/keep.c"
#include "os/linux/sleeper.c"

#ifdef BUG_NO_CHANGE
#define atom32_store_release(a, value) ((void)(a), (void)(value))
#elif defined(BUG_READ_LATE)
#define sleeper_sleep(s, word, expected, until)                                \
	sleeper_sleep(s, word, ((void)(expected), atom32_load(word)), until)
#elif defined(BUG_NO_KICK)
#define sleeper_wake(s, word) ((void)(s), (void)(word))
#elif defined(BUG_NO_LOCK)
#define lock_acquire(l) ((void)(l))
#define lock_release(l) ((void)(l))
#endif

#include "intake/wakeup.c"

#define LATER (9 * NOW)

static struct watch watch;
static struct wakeup wakeup;
static int64_t visit[2];

bool futex_works(void)
{
	return true;
}

void futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
		      int64_t deadline)
{
	(void)clock;
	if (sleeps_begin(word, expected, deadline))
		weak_exit();
}

void futex_wait_for(atom32 *word, uint32_t expected, long ns)
{
	futex_wait_until(word, expected, CLOCK_MONOTONIC, NOW + ns);
}

/* As the harness's setup. */
static void sleeping_init(void)
{
	watch = (struct watch){.clock = CLOCK_MONOTONIC};
	wakeup_init(&wakeup, &watch);
	wakeup.visit_at = visit;
	wakeup.n = 2;
	visit[0] = visit[1] = INT64_MAX;
	sleeps_init();
}

static void sleep_until_later(void)
{
	wakeup_sleep(&wakeup, LATER, NOW);
}
