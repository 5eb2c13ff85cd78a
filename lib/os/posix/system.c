/* SPDX-License-Identifier: MIT */
#include "os/system.h"
#include "base/atomic.h"

#include <limits.h>
#ifdef HAVE_PTHREAD_NP_H
#include <pthread_np.h>
#endif
#include <sys/mman.h>

INTERNAL_OBJECT TT_THREAD_LOCAL int system_thread = 0;

/* After INT_MAX threads, numbers begin again. */
TT_NOINLINE int system_number_thread(void)
{
	static atom32 last;

	system_thread = (int)(atom32_add(&last, 1) % INT_MAX) + 1;
	return system_thread;
}

/* Its sleeps end as late as the system lets those of any thread. */
void system_name_thread(const char *name)
{
	NAME_THREAD(name);
}

void system_all_cpus(pthread_t thread)
{
	(void)thread;
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
