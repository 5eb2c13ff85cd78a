/* SPDX-License-Identifier: MIT */
#include "os/tool.h"

#ifdef HAVE_VALGRIND
#include <valgrind/drd.h>
#include <valgrind/helgrind.h>
#endif

INTERNAL_OBJECT tool_fn *tool_found = NULL;

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

static tool_fn *tool_tsan(void)
{
	return NULL;
}

#else

/* Declared as in the runtime. */
TT_WEAK void __tsan_acquire(void *addr);
TT_WEAK void __tsan_release(void *addr);
TT_WEAK void AnnotateIgnoreReadsBegin(const char *file, int line);
TT_WEAK void AnnotateIgnoreReadsEnd(const char *file, int line);
TT_WEAK void AnnotateIgnoreWritesBegin(const char *file, int line);
TT_WEAK void AnnotateIgnoreWritesEnd(const char *file, int line);

static void tell_tsan(enum tool_event event, const volatile void *p,
		      size_t size)
{
	(void)size;
	switch (event) {
	case TOOL_RELEASE:
		__tsan_release((void *)(uintptr_t)p);
		break;
	case TOOL_ACQUIRE:
		__tsan_acquire((void *)(uintptr_t)p);
		break;
	case TOOL_HIDE: /* it does not see what the library does there */
		break;
	case TOOL_IGNORE:
		AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
		AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
		break;
	case TOOL_HEED:
		AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
		AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
		break;
	}
}

static tool_fn *tool_tsan(void)
{
	return __tsan_acquire && __tsan_release && AnnotateIgnoreReadsBegin &&
			       AnnotateIgnoreReadsEnd &&
			       AnnotateIgnoreWritesBegin &&
			       AnnotateIgnoreWritesEnd
		       ? tell_tsan
		       : NULL;
}

#endif

/*
 * helgrind and DRD; NULL: neither is used.  They accept requests: instructions
 * that do nothing if valgrind does not run the program.  Valgrind's other tools
 * need no requests.  NVALGRIND: it does not run programs of this machine.
 */
#if !defined(HAVE_VALGRIND) || defined(NVALGRIND)

static tool_fn *tool_valgrind(void)
{
	return NULL;
}

#else

/*
 * The requests of the tool that is present; 0: there is none for that event.
 * Constant as tool_found.
 */
static unsigned request[TOOL_HEED + 1];

/*
 * DRD keeps a segment of each thread for each address that was released, and
 * goes through all of them at each release.  With one address for each of 5,000
 * timers, that took minutes.  So there the timers share a few addresses.  Then
 * DRD sometimes takes events to be ordered that are not, which may hide a race
 * but never reports a false one.
 */
#define PLACES 64
static const char places[PLACES];
static bool share_places;

static const volatile void *place(const volatile void *p)
{
	return share_places ? &places[(uintptr_t)p / TT_CACHE_LINE % PLACES]
			    : p;
}

static void tell_valgrind(enum tool_event event, const volatile void *p,
			  size_t size)
{
	if (request[event] != 0)
		VALGRIND_DO_CLIENT_REQUEST_STMT(
			request[event], event == TOOL_HIDE ? p : place(p), size,
			0, 0, 0);
}

static tool_fn *tool_valgrind(void)
{
	unsigned char bits = 0, byte = 0;

	if (!RUNNING_ON_VALGRIND)
		return NULL;
	/* Only helgrind can say which bytes it checks. */
	if (VALGRIND_HG_GET_ABITS(&byte, &bits, sizeof(byte)) == 1) {
		request[TOOL_RELEASE] = _VG_USERREQ__HG_USERSO_SEND_PRE;
		request[TOOL_ACQUIRE] = _VG_USERREQ__HG_USERSO_RECV_POST;
		request[TOOL_HIDE] = _VG_USERREQ__HG_ARANGE_MAKE_UNTRACKED;
		return tell_valgrind;
	}
	/* Only DRD gives threads its own numbers, from 1. */
	if (DRD_GET_DRD_THREADID == 0)
		return NULL;
	request[TOOL_RELEASE] = VG_USERREQ__DRD_ANNOTATE_HAPPENS_BEFORE;
	request[TOOL_ACQUIRE] = VG_USERREQ__DRD_ANNOTATE_HAPPENS_AFTER;
	request[TOOL_HIDE] = VG_USERREQ__DRD_START_SUPPRESSION;
	share_places = true;
	return tell_valgrind;
}

#endif

/* Runs before constructors that might use this library. */
__attribute__((CONSTRUCTOR_FIRST)) static void find_tool(void)
{
	tool_found = tool_tsan();
	if (!tool_found)
		tool_found = tool_valgrind();
}
