/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "clock.h"
#include "instance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void instance_init(struct timerthread *tt)
{
	memset(tt, 0, sizeof(*tt));
	wakeup_init(&tt->wakeup);
	await_init(&tt->await);
	pthread_mutex_init(&tt->mutex, NULL);
	pthread_cond_init(&tt->changed, NULL);
	tt->life = LIFE_NEW;
	strcpy(tt->options.name, "timerthread");
	tt->options.buckets = intake_default_buckets();
	tt->options.clock = CLOCK_MONOTONIC;
}

TT_NOINLINE int instance_why_not(struct timerthread *tt)
{
	int r = 0;

	if (instance_inherited(tt))
		return -ECHILD;
	pthread_mutex_lock(&tt->mutex);
	if (!instance_lives(tt))
		r = tt->life == LIFE_NEW ? -EINVAL : -ESHUTDOWN;
	pthread_mutex_unlock(&tt->mutex);
	return r;
}

void instance_free(struct timerthread *tt)
{
	int saved_errno = errno;

	await_empty(&tt->await);
	free(tt->virtual);
	if (tt->intake) {
		engine_destroy(&tt->engine);
		intake_destroy(tt->intake);
		sleeper_close(&tt->wakeup.sleeper);
	}
	await_destroy(&tt->await);
	pthread_cond_destroy(&tt->changed);
	pthread_mutex_destroy(&tt->mutex);
	free(tt);
	errno = saved_errno;
}

int64_t instance_now(const struct timerthread *tt)
{
	if (instance_lives(tt) && unlikely(tt->virtual != NULL))
		return virtual_now(tt->virtual);
	return clock_now(tt->options.clock);
}

void instance_leave(struct timerthread *tt)
{
	bool over = tt->orphaned && instance_is_quiet(tt);
	bool last = over && tt->away == 0 && tt->joiners == 0;

	/* Runs that an executor still has must not keep a descriptor open. */
	if (over)
		sleeper_close(&tt->wakeup.sleeper);
	pthread_cond_broadcast(&tt->changed);
	pthread_mutex_unlock(&tt->mutex);
	if (last)
		instance_free(tt);
}

/*
 * Threads that are not here were changing some of this when the process was
 * forked.  What was just being changed is left alone, and lost; mutexes and
 * condition variables may be in any state, and hold no memory.
 */
void instance_free_inherited(struct timerthread *tt)
{
	int saved_errno = errno;

	if (atom32_load(&tt->engine.busy) == 0)
		engine_destroy(&tt->engine);
	intake_destroy_inherited(tt->intake);
	free(tt->virtual);
	sleeper_close_inherited(&tt->wakeup.sleeper);
	free(tt);
	errno = saved_errno;
}
