/* SPDX-License-Identifier: MIT */
/*
 * The instance that all parts of a process may share.
 *
 * If several threads come first at the same time, each starts an instance, and
 * all except one destroy theirs again.  There is no lock, so no lock can be
 * held when the process is forked.  A child finds that the instance is of
 * another generation, and starts its own.
 *
 * Whoever comes first may be a real-time thread, or pinned to a CPU.  Its timer
 * thread serves all, so it inherits none of this.
 */
#include "api/instance.h"
#include "os/tool.h"

/* An address.  Written only by compare-and-swap. */
static atomword shared;

/* Acquire: pairs with the compare-and-swap in publish. */
static struct timerthread *current_default(void)
{
	return (struct timerthread *)atomword_load_acquire(&shared);
}

static bool is_usable(const struct timerthread *tt)
{
	return tt && instance_lives(tt);
}

/* Destroys an instance that has not become the shared one. */
static void discard(struct timerthread *tt)
{
	tt->options.is_default = false;
	timerthread_destroy(tt);
}

static int make_default(struct timerthread **ret_tt)
{
	int r = timerthread_create(ret_tt);

	if (r < 0)
		return r;
	(*ret_tt)->options.is_default = true;
	(*ret_tt)->options.hooks.on_start = system_be_as_nice;
	r = timerthread_start(*ret_tt, NULL);
	if (r < 0)
		discard(*ret_tt);
	return r;
}

/*
 * Puts tt in the place of old, unless another thread was faster.  Releases:
 * pairs with the load in current_default.
 */
static void publish(struct timerthread *old, struct timerthread *tt)
{
	tool_release(&shared);
	if (!atomword_swap(&shared, (uintptr_t)old, (uintptr_t)tt))
		discard(tt);
}

TT_EXPORT_RARE int timerthread_default(struct timerthread **ret_tt)
{
	struct timerthread *tt, *made;
	int r;

	if (!ret_tt)
		return -EINVAL;
	tool_hide(&shared, sizeof(shared));
	while (!is_usable(tt = current_default())) {
		r = make_default(&made);
		if (r < 0 && !is_usable(current_default()))
			return r;
		if (r == 0)
			publish(tt, made);
	}
	tool_acquire(&shared);
	*ret_tt = tt;
	return 0;
}
