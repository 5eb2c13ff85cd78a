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

static void helgrind_release(const volatile void *p)
{
	ANNOTATE_HAPPENS_BEFORE(p);
}

static void helgrind_acquire(const volatile void *p)
{
	ANNOTATE_HAPPENS_AFTER(p);
}

static void helgrind_hide(const volatile void *p, size_t size)
{
	VALGRIND_HG_DISABLE_CHECKING(p, size);
}

/*
 * DRD keeps a segment of each thread for each address that was released, and
 * goes through all of them at each release.  With one address for each of 5,000
 * timers, that took minutes.  So the timers share a few addresses.  Then DRD
 * sometimes takes events to be ordered that are not, which may hide a race but
 * never reports a false one.
 */
#define PLACES 64
static const char places[PLACES];

static const char *place(const volatile void *p)
{
	return &places[(uintptr_t)p / TT_CACHE_LINE % PLACES];
}

static void drd_release(const volatile void *p)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_ANNOTATE_HAPPENS_BEFORE,
					place(p), 0, 0, 0, 0);
}

static void drd_acquire(const volatile void *p)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_ANNOTATE_HAPPENS_AFTER,
					place(p), 0, 0, 0, 0);
}

static void drd_hide(const volatile void *p, size_t size)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_START_SUPPRESSION, p,
					size, 0, 0, 0);
}

static void nothing(void)
{
}

/* Only helgrind can say which bytes it checks. */
static bool is_helgrind(void)
{
	unsigned char bits = 0, byte = 0;

	return VALGRIND_HG_GET_ABITS(&byte, &bits, sizeof(byte)) == 1;
}

/* Only DRD gives threads its own numbers, from 1. */
static bool is_drd(void)
{
	return DRD_GET_DRD_THREADID != 0;
}

const struct tool *tool_valgrind(void)
{
	static const struct tool helgrind = {
		helgrind_release, helgrind_acquire, helgrind_hide,
		nothing,          nothing,
	};
	static const struct tool drd = {
		drd_release, drd_acquire, drd_hide, nothing, nothing,
	};

	if (!RUNNING_ON_VALGRIND)
		return NULL;
	if (is_helgrind())
		return &helgrind;
	return is_drd() ? &drd : NULL;
}

#endif
