/* SPDX-License-Identifier: MIT */
/*
 * The options: what may be set between create and start.
 */
#include "api/instance.h"

#include <string.h>

/* A longer spin would waste a CPU. */
#define MAX_SPIN_NS 200000

/* Returns 0 with the mutex held, or an error: nothing may be set. */
static int options_begin(struct timerthread *tt, bool valid)
{
	int r = instance_check(tt, valid);

	if (r < 0)
		return r;
	pthread_mutex_lock(&tt->mutex);
	if (tt->life == LIFE_NEW)
		return 0;
	pthread_mutex_unlock(&tt->mutex);
	return -EBUSY;
}

static int set_option(struct timerthread *tt, bool valid, size_t offset,
		      size_t size, const void *value)
{
	int r = options_begin(tt, valid);

	if (r < 0)
		return r;
	memcpy((char *)tt + offset, value, size);
	pthread_mutex_unlock(&tt->mutex);
	return 0;
}

/* For a member of the options, or of the engine itself. */
#define SET(tt, valid, member, value)                                          \
	set_option(tt, valid, offsetof(struct timerthread, member),            \
		   sizeof(((struct timerthread *)NULL)->member), value)

TT_EXPORT_RARE int timerthread_set_name(struct timerthread *tt,
					const char *name)
{
	size_t length = name ? strnlen(name, THREAD_NAME_SIZE) : 0;
	bool valid = length > 0 && length < THREAD_NAME_SIZE;
	char copy[THREAD_NAME_SIZE] = "";

	if (valid)
		memcpy(copy, name, length);
	return SET(tt, valid, options.name, copy);
}

TT_EXPORT_RARE int timerthread_set_buckets(struct timerthread *tt, unsigned n)
{
	bool valid = n >= 1 && n <= INTAKE_MAX_BUCKETS;

	return SET(tt, valid, options.buckets, &n);
}

TT_EXPORT_RARE int timerthread_set_clock(struct timerthread *tt,
					 clockid_t clock)
{
	int r = options_begin(tt, clock_name(clock) != NULL);

	if (r < 0)
		return r;
	atom32_store(&tt->options.clock, (uint32_t)clock);
	pthread_mutex_unlock(&tt->mutex);
	return 0;
}

TT_EXPORT_RARE int timerthread_set_slack(struct timerthread *tt, int64_t ns)
{
	return SET(tt, ns >= 0, engine.wakeup.slack, &ns);
}

TT_EXPORT_RARE int timerthread_set_spin(struct timerthread *tt, int64_t ns)
{
	return SET(tt, ns >= 0 && ns <= MAX_SPIN_NS, options.spin, &ns);
}

TT_EXPORT_RARE int timerthread_set_max_timers(struct timerthread *tt, size_t n)
{
	return SET(tt, true, engine.cap.max, &n);
}

TT_EXPORT_RARE int timerthread_set_reserve(struct timerthread *tt, size_t n)
{
	return SET(tt, n <= INTAKE_MAX_TIMERS, options.reserve, &n);
}

TT_EXPORT_RARE int timerthread_set_executor(struct timerthread *tt,
					    timerthread_submit_fn *submit,
					    void *ctx)
{
	const struct submitting s = {submit, ctx};

	return SET(tt, true, options.submitting, &s);
}

TT_EXPORT_RARE int timerthread_set_wake(struct timerthread *tt,
					timerthread_wake_fn *wake, void *ctx)
{
	const struct waking w = {wake, ctx};

	return SET(tt, true, options.waking, &w);
}

TT_EXPORT_RARE int timerthread_set_task_id(struct timerthread *tt,
					   timerthread_task_id_fn *task_id,
					   void *ctx)
{
	const struct task_id t = {task_id, ctx};

	return SET(tt, true, engine.task_id, &t);
}

TT_EXPORT_RARE int timerthread_set_thread_hooks(struct timerthread *tt,
						timerthread_fn *on_start,
						timerthread_fn *on_exit,
						void *arg)
{
	const struct hooks h = {on_start, on_exit, arg};

	return SET(tt, true, options.hooks, &h);
}

TT_EXPORT_RARE int timerthread_set_slow_hook(struct timerthread *tt,
					     int64_t threshold,
					     timerthread_slow_fn *hook,
					     void *ctx)
{
	const struct slow s = {hook ? threshold : INT64_MAX, hook, ctx};

	return SET(tt, threshold >= 0, engine.slow, &s);
}

TT_EXPORT_RARE int timerthread_set_dispatch_time(struct timerthread *tt,
						 int64_t ns)
{
	return SET(tt, ns >= 0, options.dispatch_time, &ns);
}
