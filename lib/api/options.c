/* SPDX-License-Identifier: MIT */
/*
 * The options: what may be set between create and start.
 */
#include "config.h"

#include "api/instance.h"
#include "os/base.h"

#include <errno.h>
#include <string.h>

/* A longer spin would waste a CPU. */
#define MAX_SPIN_NS 200000

/* Returns 0 with the mutex held, or an error: nothing may be set. */
static int begin(struct timerthread *tt, bool valid)
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

/* After begin, which has returned r. */
static int end(struct timerthread *tt, int r)
{
	if (r == 0)
		pthread_mutex_unlock(&tt->mutex);
	return r;
}

TT_EXPORT int timerthread_set_thread_name(struct timerthread *tt,
					  const char *name)
{
	size_t length = name ? strnlen(name, THREAD_NAME_SIZE) : 0;
	int r = begin(tt, length > 0 && length < THREAD_NAME_SIZE);

	if (r == 0)
		memcpy(tt->options.name, name, length + 1);
	return end(tt, r);
}

TT_EXPORT int timerthread_set_buckets(struct timerthread *tt, unsigned n)
{
	int r = begin(tt, n >= 1 && n <= INTAKE_MAX_BUCKETS);

	if (r == 0)
		tt->options.buckets = n;
	return end(tt, r);
}

TT_EXPORT int timerthread_set_clock(struct timerthread *tt, clockid_t clock)
{
	int r = begin(tt, sleeper_knows(clock));

	if (r == 0)
		atom32_store(&tt->options.clock, (uint32_t)clock);
	return end(tt, r);
}

TT_EXPORT int timerthread_set_slack(struct timerthread *tt, int64_t ns)
{
	int r = begin(tt, ns >= 0);

	if (r == 0)
		tt->options.slack = ns;
	return end(tt, r);
}

TT_EXPORT int timerthread_set_rest(struct timerthread *tt, int64_t ns)
{
	int r = begin(tt, ns >= 0);

	if (r == 0)
		tt->options.rest = ns;
	return end(tt, r);
}

TT_EXPORT int timerthread_set_spin(struct timerthread *tt, int64_t ns)
{
	int r = begin(tt, ns >= 0 && ns <= MAX_SPIN_NS);

	if (r == 0)
		tt->options.spin = ns;
	return end(tt, r);
}

TT_EXPORT int timerthread_set_max_timers(struct timerthread *tt, size_t n)
{
	int r = begin(tt, true);

	if (r == 0)
		tt->options.max_timers = n;
	return end(tt, r);
}

TT_EXPORT int timerthread_set_executor(struct timerthread *tt,
				       timerthread_submit_fn *submit, void *ctx)
{
	int r = begin(tt, true);

	if (r == 0) {
		tt->options.submit = submit;
		tt->options.submit_ctx = ctx;
	}
	return end(tt, r);
}

TT_EXPORT int timerthread_set_task_id(struct timerthread *tt,
				      timerthread_task_id_fn *task_id,
				      void *ctx)
{
	int r = begin(tt, true);

	if (r == 0)
		tt->options.task_id = (struct task_id){task_id, ctx};
	return end(tt, r);
}

TT_EXPORT int timerthread_set_thread_hooks(struct timerthread *tt,
					   timerthread_fn *on_start,
					   timerthread_fn *on_exit, void *arg)
{
	int r = begin(tt, true);

	if (r == 0) {
		tt->options.on_start = on_start;
		tt->options.on_exit = on_exit;
		tt->options.hook_arg = arg;
	}
	return end(tt, r);
}

TT_EXPORT int timerthread_set_slow_hook(struct timerthread *tt,
					int64_t threshold,
					timerthread_slow_fn *hook, void *ctx)
{
	int r = begin(tt, threshold >= 0);

	if (r == 0)
		tt->options.slow =
			(struct slow){hook ? threshold : INT64_MAX, hook, ctx};
	return end(tt, r);
}

TT_EXPORT int timerthread_set_reserve(struct timerthread *tt, size_t n)
{
	int r = begin(tt, n <= INTAKE_MAX_TIMERS);

	if (r == 0)
		tt->options.reserve = n;
	return end(tt, r);
}
