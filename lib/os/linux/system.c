/* SPDX-License-Identifier: MIT */
#include "os/system.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's struct sched_attr, in its first version. */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags, nice_and_priority, runtime, deadline, period;
};

/* The shortest slice that the kernel grants. */
#define SLICE_NS 100000

/*
 * By default, the kernel may end a sleep 50 us late to save wake-ups.  Here,
 * that would be the larger part of a timer's lateness.
 *
 * From Linux 6.12 on, a thread may ask for shorter slices of time.  It then
 * gets a CPU sooner after it wakes up, for no more time altogether.  (A thread
 * that sleeps for 1 ms again and again, beside 64 busy threads on two CPUs:
 * with slices of 3 ms, it ran 262 times a second, and was late by 3 ms in the
 * median; with slices of 0.1 ms, 840 times, and late by 0.04 ms.)
 */
void system_name_thread(const char *name)
{
	/* valgrind takes it for read. */
	struct scheduling s = {.size = sizeof(s)};

	pthread_setname_np(pthread_self(), name);
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (syscall(SYS_sched_getattr, 0, &s, sizeof(s), 0) == 0 &&
	    s.policy == SCHED_OTHER && s.runtime > SLICE_NS) {
		/* SCHED_FLAG_KEEP_POLICY: another thread may just set one. */
		s.flags |= 8;
		s.runtime = SLICE_NS;
		syscall(SYS_sched_setattr, 0, &s, 0);
	}
}

void system_make_ordinary(pthread_t thread)
{
	const struct sched_param normal = {0};
	cpu_set_t cpus[8]; /* the kernel's limit is 8192 CPUs */

	pthread_setschedparam(thread, SCHED_OTHER, &normal);
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

void system_keep_pages_small(void *p, size_t size)
{
	(void)madvise(p, size, MADV_NOHUGEPAGE);
}

bool system_empty_pages(void *p, size_t size)
{
	return madvise(p, size, MADV_DONTNEED) == 0;
}
