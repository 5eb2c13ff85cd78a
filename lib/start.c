/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "executor.h"
#include "start.h"

#include <errno.h>

/* On which it sleeps, if it ever does. */
static clockid_t clock_of(const struct timerthread *tt, const struct start *how)
{
	return how->virtual ? CLOCK_MONOTONIC : tt->options.clock;
}

/*
 * Where the clock is virtual, calls shall give the same each time: which bucket
 * one gets depends on the CPU that it runs on, and the order of equal deadlines
 * on the bucket.
 */
static uint32_t buckets_of(const struct timerthread *tt,
			   const struct start *how)
{
	return how->virtual ? 1 : tt->options.buckets;
}

/* What the parts take from the options. */
static bool fill_parts(struct timerthread *tt, struct intake *in,
		       const struct start *how)
{
	const struct options *o = &tt->options;
	const struct engine_parts parts = {
		.intake = in,
		.wakeup = &tt->wakeup,
		.await = &tt->await,
		.limit = &tt->limit,
		.instance = tt,
		.clock = clock_of(tt, how),
		.virtual = how->virtual,
		.hand_over = o->submit ? executor_hand_over : NULL,
		.batch = how->driver == DRIVER_POLLED,
	};

	tt->wakeup.slack = o->slack;
	tt->limit.max = o->max_timers;
	return engine_init(&tt->engine, &parts);
}

/* With the sleeper open.  Nothing else remains if it fails. */
static int start_engine(struct timerthread *tt, const struct start *how)
{
	struct intake *in = intake_create(buckets_of(tt, how));
	int r = ENOMEM;

	if (!in)
		return -ENOMEM;
	if (fill_parts(tt, in, how)) {
		r = how->begin ? how->begin(tt, how->arg) : 0;
		if (r == 0) {
			/* A loop would wait while they are sorted. */
			if (how->driver != DRIVER_POLLED)
				intake_keep_far(in);
			intake_open(in);
			tt->intake = in;
			return 0;
		}
	}
	engine_destroy(&tt->engine);
	intake_destroy(in);
	return -r;
}

static int start_parts(struct timerthread *tt, const struct start *how)
{
	int r = sleeper_open(&tt->wakeup.sleeper, clock_of(tt, how),
			     how->driver == DRIVER_POLLED);

	if (r < 0)
		return r;
	r = start_engine(tt, how);
	if (r < 0) {
		sleeper_close(&tt->wakeup.sleeper);
		return r;
	}
	tt->driver = how->driver;
	tt->virtual = how->virtual;
	tt->life = LIFE_RUNNING;
	/* Release: pairs with the load in instance_lives. */
	atom32_store_release(&tt->born, fork_generation());
	return 0;
}

int start_instance(struct timerthread *tt, const struct start *how)
{
	int saved_errno = errno;
	int r;

	pthread_mutex_lock(&tt->mutex);
	if (tt->life == LIFE_NEW)
		r = start_parts(tt, how);
	else
		r = tt->life == LIFE_RUNNING ? -EBUSY : -ESHUTDOWN;
	pthread_mutex_unlock(&tt->mutex);
	errno = saved_errno;
	return r;
}
