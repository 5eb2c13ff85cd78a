/* SPDX-License-Identifier: MIT */
/*
 * ThreadSanitizer, of gcc and of clang.  If it is used, its runtime is in the
 * program, and has these functions.
 *
 * It sees calls of the C library.  One thread frees memory that another has
 * allocated, and moves data that another has moved.  Only the library's own
 * locks, which it does not see, order these calls, so it must ignore them.
 */
#include "config.h"

#include "os/tool.h"

#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TT_TSAN
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TT_TSAN
#endif

#if defined(TT_TSAN) || !HAVE_WEAK

const struct tool *tool_tsan(void)
{
	return NULL;
}

#else

#define WEAK __attribute__((weak, visibility("default")))

/* Declared as in the runtime. */
WEAK void __tsan_acquire(void *addr);
WEAK void __tsan_release(void *addr);
WEAK void AnnotateIgnoreReadsBegin(const char *file, int line);
WEAK void AnnotateIgnoreReadsEnd(const char *file, int line);
WEAK void AnnotateIgnoreWritesBegin(const char *file, int line);
WEAK void AnnotateIgnoreWritesEnd(const char *file, int line);

static void tsan_release(const volatile void *p)
{
	__tsan_release((void *)(uintptr_t)p);
}

static void tsan_acquire(const volatile void *p)
{
	__tsan_acquire((void *)(uintptr_t)p);
}

/* It does not see what the library does with its memory. */
static void tsan_hide(const volatile void *p, size_t size)
{
	(void)p;
	(void)size;
}

static void tsan_ignore(void)
{
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static void tsan_heed(void)
{
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

const struct tool *tool_tsan(void)
{
	static const struct tool tsan = {tsan_release, tsan_acquire, tsan_hide,
					 tsan_ignore, tsan_heed};

	return __tsan_acquire && __tsan_release && AnnotateIgnoreReadsBegin &&
			       AnnotateIgnoreReadsEnd &&
			       AnnotateIgnoreWritesBegin &&
			       AnnotateIgnoreWritesEnd
		       ? &tsan
		       : NULL;
}

#endif
