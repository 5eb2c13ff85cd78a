/* SPDX-License-Identifier: MIT */
/*
 * A mutex and a condition in the place of the C library's, which neither
 * explore.c nor genmc has both of.  With real threads it is the C library's.
 */
#ifndef TT_WAITS_H
#define TT_WAITS_H

#include "harness.h"

#include <pthread.h>

#if defined(WEAK_EXPLORE) || defined(WEAK_GENMC)

/* Its first word is all that is used: 1 while it is held. */
static void mutex_lock(pthread_mutex_t *m)
{
	while (atom32_swap_acquire((atom32 *)(void *)m, 0, 1) != 0)
		weak_wait();
}

static void mutex_unlock(pthread_mutex_t *m)
{
	atom32_store_release((atom32 *)(void *)m, 0);
}

/* And of a condition: how often it was signalled. */
static void cond_signal(pthread_cond_t *c)
{
	atom32_add((atom32 *)(void *)c, 1);
}

static void cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	atom32 *times = (atom32 *)(void *)c;
	uint32_t was = atom32_load(times);

	mutex_unlock(m);
	while (atom32_load(times) == was)
		weak_wait();
	mutex_lock(m);
}

#define pthread_mutex_init(m, a)     atom32_store((atom32 *)(void *)(m), 0)
#define pthread_mutex_destroy(m)     ((void)(m))
#define pthread_mutex_lock(m)        mutex_lock(m)
#define pthread_mutex_unlock(m)      mutex_unlock(m)
#define pthread_cond_init(c, a)      atom32_store((atom32 *)(void *)(c), 0)
#define pthread_cond_destroy(c)      ((void)(c))
#define pthread_cond_wait(c, m)      cond_wait(c, m)
#define pthread_cond_broadcast(c)    cond_signal(c)
#define pthread_setcancelstate(s, o) ((void)(s), (void)(o))

#ifndef BUG_NO_SIGNAL
#define pthread_cond_signal(c) cond_signal(c)
#endif

#endif

#ifdef BUG_NO_SIGNAL
#define pthread_cond_signal(c) ((void)(c))
#endif

#endif
