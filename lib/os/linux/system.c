/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/system.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

void system_name_thread(const char *name)
{
	pthread_setname_np(pthread_self(), name);
	/*
	 * By default, the kernel may end a sleep 50 us late to save wake-ups.
	 * Here, that would be the larger part of a timer's lateness.
	 */
	prctl(PR_SET_TIMERSLACK, 1UL);
}

void system_all_cpus(pthread_t thread)
{
	cpu_set_t cpus[8]; /* the kernel's limit is 8192 CPUs */

	if (sched_getaffinity(getpid(), sizeof(cpus), cpus) == 0)
		pthread_setaffinity_np(thread, sizeof(cpus), cpus);
}

/* A nice value is a thread's; 0 is the caller. */
void system_be_as_nice(void *unused)
{
	(void)unused;
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, (id_t)getpid()));
}

/* Not if the kernel would round the size up, to pages that are larger. */
void system_wipe_in_children(void *page)
{
#ifdef MADV_WIPEONFORK
	if (sysconf(_SC_PAGESIZE) <= SYSTEM_PAGE_SIZE)
		(void)madvise(page, SYSTEM_PAGE_SIZE, MADV_WIPEONFORK);
#endif
}

bool system_empty_pages(void *p, size_t size)
{
	return madvise(p, size, MADV_DONTNEED) == 0;
}
