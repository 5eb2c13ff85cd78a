/* SPDX-License-Identifier: MIT */
#include "api/instance.h"
#include "base/keep.h"
#include "os/call.h"
#include "os/memory.h"

#include <string.h>

/* False: no memory. */
static bool init(struct timerthread *tt)
{
	memset(tt, 0, sizeof(*tt));
	if (pthread_mutex_init(&tt->mutex, NULL) != 0)
		return false;
	engine_init(&tt->engine, tt);
	tt->created = clock_now(CLOCK_MONOTONIC);
	tt->life = LIFE_NEW;
	strcpy(tt->options.name, "timerthread");
	tt->options.buckets = intake_default_buckets();
	atom32_store(&tt->options.clock, CLOCK_MONOTONIC);
	instances_add(&tt->listed, tt);
	return true;
}

TT_EXPORT_RARE int timerthread_create(struct timerthread **ret_tt)
{
	KEEP_ERRNO;
	struct timerthread *tt;

	if (!ret_tt)
		return -EINVAL;
	tt = fork_watch() == 0 ? memory_alloc(sizeof(*tt)) : NULL;
	if (!tt || !init(tt)) {
		memory_free(tt);
		return -ENOMEM;
	}
	*ret_tt = tt;
	return 0;
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

TT_EXPORT_RARE int timerthread_set_data(struct timerthread *tt, void *data)
{
	int r = instance_check(tt, true);

	if (r == 0)
		atomword_store_release(&tt->data, (uintptr_t)data);
	return r;
}

TT_EXPORT_RARE void *timerthread_get_data(const struct timerthread *tt)
{
	return tt ? (void *)atomword_load_acquire(&tt->data) : NULL;
}

TT_NOINLINE int instance_wake(struct timerthread *tt, int r)
{
	struct wakeup *w = &tt->engine.wakeup;
	uint32_t seq;

	if (likely(!wakeup_calls(w, &seq)))
		return r;
	KEEP_THREAD;
	if (!call_to_return(w->wake, w->wake_ctx))
		return -ECHILD;
	wakeup_called(w, seq);
	return r;
}

void instance_count(struct timerthread *tt, struct counter *c)
{
	pthread_mutex_lock(&tt->mutex);
	counter_add(c, 1);
	pthread_mutex_unlock(&tt->mutex);
}

int64_t instance_steady_time(const struct timerthread *tt, int64_t deadline)
{
	int64_t now = instance_now(tt);
	int64_t left = clock_add(deadline, now > INT64_MIN ? -now : INT64_MAX);

	left = clock_add(clock_now(CLOCK_MONOTONIC), clock_later(left, 0));
	return deadline == TIMERTHREAD_NEVER ? deadline : left;
}

bool instance_inside(const struct timerthread *tt, timerthread_id id)
{
	uintptr_t who;

	if (!instance_lives(tt))
		return false;
	who = inside_who(&tt->engine.task_id);
	return inside_is(&tt->engine.inside, who, id) ||
	       runs_find(&tt->runs, who, id);
}

/* A thread may outlive its instance, and another one may get that memory. */
bool instance_owns_thread(const struct timerthread *tt)
{
	return thread_serves(tt) && instance_lives(tt) &&
	       tt->driver == DRIVER_THREAD &&
	       pthread_equal(tt->thread, pthread_self());
}
