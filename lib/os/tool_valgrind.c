/* SPDX-License-Identifier: MIT */
/*
 * helgrind and DRD.  They accept requests: instructions that do nothing if
 * valgrind does not run the program.  Valgrind's other tools need no requests.
 */
#include "config.h"

#include "os/tool.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef HAVE_VALGRIND
#include <valgrind/drd.h>
#include <valgrind/helgrind.h>
#endif

/* NVALGRIND: valgrind does not run programs of this machine. */
#if !defined(HAVE_VALGRIND) || defined(NVALGRIND)

const struct tool *tool_valgrind(void)
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

const struct tool *tool_valgrind(void)
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
