/* SPDX-License-Identifier: MIT */
#include "os/tool.h"

#include <stdbool.h>

#ifdef HAVE_VALGRIND
#include <valgrind/drd.h>
#include <valgrind/helgrind.h>
#endif

const struct tool *tool_found;

/*
 * ThreadSanitizer, of gcc and of clang; NULL: it is not used.  If it is, its
 * runtime is in the program, and has these functions.
 *
 * It sees calls of the C library.  One thread frees memory that another has
 * allocated, and moves data that another has moved.  Only the library's own
 * locks, which it does not see, order these calls, so it must ignore them.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TT_TSAN
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TT_TSAN
#endif

#if defined(TT_TSAN) || !HAVE_WEAK

static const struct tool *tool_tsan(void)
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

static const struct tool *tool_tsan(void)
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

/*
 * helgrind and DRD; NULL: neither is used.  They accept requests: instructions
 * that do nothing if valgrind does not run the program.  Valgrind's other tools
 * need no requests.  NVALGRIND: it does not run programs of this machine.
 */
#if !defined(HAVE_VALGRIND) || defined(NVALGRIND)

static const struct tool *tool_valgrind(void)
{
	return NULL;
}

#else

/* The requests of the tool that is present.  Constant as tool_found. */
static unsigned before, after, untracked;

/*
 * DRD keeps a segment of each thread for each address that was released, and
 * goes through all of them at each release.  With one address for each of 5,000
 * timers, that took minutes.  So there the timers share a few addresses.  Then
 * DRD sometimes takes events to be ordered that are not, which may hide a race
 * but never reports a false one.
 */
#define PLACES 64
static const char places[PLACES];
static bool share;

static const volatile void *place(const volatile void *p)
{
	return share ? &places[(uintptr_t)p / TT_CACHE_LINE % PLACES] : p;
}

static void valgrind_release(const volatile void *p)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(before, place(p), 0, 0, 0, 0);
}

static void valgrind_acquire(const volatile void *p)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(after, place(p), 0, 0, 0, 0);
}

static void valgrind_hide(const volatile void *p, size_t size)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(untracked, p, size, 0, 0, 0);
}

static void valgrind_nothing(void)
{
}

static const struct tool *tool_valgrind(void)
{
	static const struct tool valgrind = {
		valgrind_release, valgrind_acquire, valgrind_hide,
		valgrind_nothing, valgrind_nothing,
	};
	unsigned char bits = 0, byte = 0;

	if (!RUNNING_ON_VALGRIND)
		return NULL;
	/* Only helgrind can say which bytes it checks. */
	if (VALGRIND_HG_GET_ABITS(&byte, &bits, sizeof(byte)) == 1) {
		before = _VG_USERREQ__HG_USERSO_SEND_PRE;
		after = _VG_USERREQ__HG_USERSO_RECV_POST;
		untracked = _VG_USERREQ__HG_ARANGE_MAKE_UNTRACKED;
		return &valgrind;
	}
	/* Only DRD gives threads its own numbers, from 1. */
	if (DRD_GET_DRD_THREADID == 0)
		return NULL;
	before = VG_USERREQ__DRD_ANNOTATE_HAPPENS_BEFORE;
	after = VG_USERREQ__DRD_ANNOTATE_HAPPENS_AFTER;
	untracked = VG_USERREQ__DRD_START_SUPPRESSION;
	share = true;
	return &valgrind;
}

#endif

/* Runs before constructors that might use this library. */
__attribute__((CONSTRUCTOR_FIRST)) static void find_tool(void)
{
	tool_found = tool_tsan();
	if (!tool_found)
		tool_found = tool_valgrind();
}
