/* SPDX-License-Identifier: MIT */
/*
 * The C library's function behind one that a test defines itself.  On a 32-bit
 * machine with a 64-bit time_t, those with times have another name there.
 */
#pragma once

#include <dlfcn.h>
#ifdef TT_TIMERFD
#include <sys/timerfd.h>
#endif
#include <time.h>

#if defined(__USE_TIME_BITS64) && defined(__TIMESIZE) && __TIMESIZE == 32
#define real_with_times(name) dlsym(RTLD_NEXT, "__" name "64")
#else
#define real_with_times(name) dlsym(RTLD_NEXT, name)
#endif

/*
 * MemorySanitizer knows what the C library has written from its own functions
 * in the place of those, which a test goes around: it says so itself.
 */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define real_wrote(p, size) __msan_unpoison(p, size)
#endif
#endif
#ifndef real_wrote
#define real_wrote(p, size) ((void)(p), (void)(size))
#endif

#ifdef TT_TIMERFD

static inline int real_timerfd_settime(int timer, int flags,
				       const struct itimerspec *new,
				       struct itimerspec *old)
{
	typedef int settime(int, int, const struct itimerspec *,
			    struct itimerspec *);
	settime *next = (settime *)real_with_times("timerfd_settime");
	int r = next(timer, flags, new, old);

	if (old && r == 0)
		real_wrote(old, sizeof(*old));
	return r;
}

#endif
