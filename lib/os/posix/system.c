/* SPDX-License-Identifier: MIT */
#include "os/system.h"
#include "base/atomic.h"

#include <limits.h>
#ifdef HAVE_PTHREAD_NP_H
#include <pthread_np.h>
#endif
#include <sched.h>
#include <sys/mman.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

INTERNAL_OBJECT TT_THREAD_LOCAL int system_thread = 0;

/* After INT_MAX threads, numbers begin again. */
TT_NOINLINE int system_number_thread(void)
{
	static atom32 last;

	system_thread = (int)(atom32_add(&last, 1) % INT_MAX) + 1;
	return system_thread;
}

/*
 * On Linux, sleeps of other threads may end 50 us late.  Elsewhere, its sleeps
 * end as late as those of any thread.
 */
void system_name_thread(const char *name)
{
	NAME_THREAD(name);
#ifdef PR_SET_TIMERSLACK
	prctl(PR_SET_TIMERSLACK, 1UL);
#endif
}

/*
 * The priority of an ordinary thread is mostly 0.  On macOS it is what new
 * attributes say, which lies between the bounds, and 0 would be the lowest.  On
 * NetBSD both bounds are -1, and the system refuses what new attributes say.
 * The CPUs are left as they are.
 */
void system_make_ordinary(pthread_t thread)
{
	int min = sched_get_priority_min(SCHED_OTHER);
	int max = sched_get_priority_max(SCHED_OTHER);
	struct sched_param normal = {0};
	pthread_attr_t fresh;

	if (pthread_attr_init(&fresh) != 0)
		return;
	pthread_attr_getschedparam(&fresh, &normal);
	pthread_attr_destroy(&fresh);
	if (normal.sched_priority < min)
		normal.sched_priority = min;
	if (normal.sched_priority > max)
		normal.sched_priority = max;
	pthread_setschedparam(thread, SCHED_OTHER, &normal);
}

/* All threads of a process have the same. */
void system_be_as_nice(void *unused)
{
	(void)unused;
}

void system_wipe_in_children(void *page)
{
	(void)page;
}

void system_keep_pages_small(void *p, size_t size)
{
	(void)p;
	(void)size;
}

/*
 * MADV_FREE lets the system take the pages when it needs memory; it may give
 * zeros, or what was there.  So zeros are put there before.  Other threads may
 * look at a word meanwhile: they see what it was, or zero.  Release: pairs with
 * look_at and slot_cancel, as that of vacancy_fill.
 */
bool system_empty_pages(void *p, size_t size)
{
#ifdef MADV_FREE
	atomword *word = p;

	for (size_t i = 0; i < size / sizeof(*word); i++)
		atomword_store_release(&word[i], 0);
	return madvise(p, size, MADV_FREE) == 0;
#else
	(void)p;
	(void)size;
	return false;
#endif
}
