/* SPDX-License-Identifier: MIT */
/*
 * Two timers belong to it: one for the deadline, and one for the next attempt
 * during a pause.  They, the reports and the deadline may all meet, on any
 * threads, so each of them holds a reference: an attempt's is dropped by its
 * report, a timer's by its callback or by whoever gets a 0 from
 * timerthread_cancel, when there will be no callback.  Who ends it is decided
 * under the lock, which is never held while code of the user runs.
 */
#include "retry.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct retry {
	struct timerthread *tt;
	struct retry_policy policy;
	struct retry_ops ops;
	void *ctx;
	int64_t deadline;

	/* Guarded by the lock. */
	pthread_mutex_t lock;
	unsigned refs;
	bool over;
	int64_t pause;
	timerthread_id end_timer, next_timer;
};

/* Called with the lock held, which it gives back. */
static void put_unlock(struct retry *r)
{
	bool last = --r->refs == 0;

	pthread_mutex_unlock(&r->lock);
	if (last) {
		if (r->ops.release)
			r->ops.release(r->ctx);
		pthread_mutex_destroy(&r->lock);
		free(r);
	}
}

static void cancel(struct retry *r, timerthread_id id)
{
	/* Else there is no such timer, or its callback drops the reference. */
	if (timerthread_cancel(r->tt, id) == 0)
		r->refs--;
}

/*
 * Called with the lock held and a reference of the caller's, of which it
 * drops both.
 */
static void end(struct retry *r, int result)
{
	if (!r->over) {
		r->over = true;
		cancel(r, r->end_timer);
		cancel(r, r->next_timer);
		pthread_mutex_unlock(&r->lock);
		r->ops.done(r->ctx, result);
		pthread_mutex_lock(&r->lock);
	}
	put_unlock(r);
}

/* The callbacks. */

static void deadline_came(void *arg)
{
	struct retry *r = arg;

	pthread_mutex_lock(&r->lock);
	end(r, -ETIMEDOUT);
}

/* The timer's reference becomes the attempt's. */
static void pause_over(void *arg)
{
	struct retry *r = arg;

	pthread_mutex_lock(&r->lock);
	if (r->over) {
		put_unlock(r);
		return;
	}
	pthread_mutex_unlock(&r->lock);
	r->ops.attempt(r, r->ctx);
}

/* If the callback begins before this returns, it waits for the lock. */
static int schedule(struct retry *r, int64_t deadline, timerthread_fn *fn,
		    timerthread_id *id)
{
	int ret = timerthread_schedule(r->tt, deadline, fn, r, id);

	if (ret == 0)
		r->refs++;
	return ret;
}

/* If no attempt can come before the deadline, only the deadline is left. */
static int wait_for_next(struct retry *r)
{
	int64_t now = timerthread_now(r->tt);
	int64_t pause = r->pause;

	r->pause = r->policy.max_pause;
	if (pause < r->policy.max_pause / 2)
		r->pause = 2 * pause;
	if (pause >= r->deadline - now)
		return 0;
	return schedule(r, now + pause, pause_over, &r->next_timer);
}

void retry_report(struct retry *r, bool success)
{
	int ret = 0;

	pthread_mutex_lock(&r->lock);
	if (!success && !r->over)
		ret = wait_for_next(r);
	if (success || ret < 0)
		end(r, ret);
	else
		put_unlock(r);
}

void retry_abandon(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	struct retry *r = arg;

	(void)id;
	(void)ctx;
	if (fn != deadline_came && fn != pause_over)
		return; /* a timer of somebody else */
	pthread_mutex_lock(&r->lock);
	end(r, -ECANCELED);
}

int retry_start(struct timerthread *tt, const struct retry_policy *policy,
		const struct retry_ops *ops, void *ctx)
{
	struct retry *r = malloc(sizeof(*r));
	int64_t now = timerthread_now(tt);
	int ret;

	if (!r)
		return -ENOMEM;
	*r = (struct retry){.tt = tt,
			    .policy = *policy,
			    .ops = *ops,
			    .ctx = ctx,
			    .deadline = TIMERTHREAD_NEVER,
			    .refs = 1,
			    .pause = policy->first_pause};
	if (policy->timeout < TIMERTHREAD_NEVER - now)
		r->deadline = now + policy->timeout;
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_lock(&r->lock);
	ret = schedule(r, r->deadline, deadline_came, &r->end_timer);
	if (ret < 0) {
		r->ops.release = NULL;
		put_unlock(r);
		return ret;
	}
	pthread_mutex_unlock(&r->lock);
	ops->attempt(r, ctx);
	return 0;
}
