/* SPDX-License-Identifier: MIT */
/*
 * Exceptions, pthread_exit(3) and cancellation unwind the stack: the unwinder
 * goes from frame to frame and asks each by its "personality".  This frame has
 * one of its own.  A compiler would give it that of libgcc, which would then
 * have to be there in every program.
 *
 * A cleanup handler (pthread_cleanup_push) would do for the latter two, but the
 * C library keeps a pointer to it for the thread, and a callback may change its
 * thread.
 */
#include "config.h"

#include "os/base.h"
#include "os/call.h"
#include "os/report.h"

#include <pthread.h>
#include <stdlib.h>
#include <unwind.h>

void call_left(void *arg)
{
	(void)arg;
	report("a callback did not return: its thread exited or was cancelled");
	abort();
}

/* 32-bit ARM unwinds by tables of another kind; and there may be none. */
#if defined(__ARM_EABI__) || !defined(__GCC_HAVE_DWARF2_CFI_ASM)

#define HAS_PERSONALITY

#else

/* Global, within the library, for link-time optimization renames others. */
_Unwind_Reason_Code call_personality(int version, _Unwind_Action actions,
				     _Unwind_Exception_Class class,
				     struct _Unwind_Exception *e,
				     struct _Unwind_Context *context);

/*
 * An exception looks for a handler first.  That this fails is what makes C++
 * terminate.  Where a thread ends the unwinder only passes.
 */
__attribute__((used)) _Unwind_Reason_Code
call_personality(int version, _Unwind_Action actions,
		 _Unwind_Exception_Class class, struct _Unwind_Exception *e,
		 struct _Unwind_Context *context)
{
	(void)version;
	(void)class;
	(void)e;
	(void)context;
	if (!(actions & _UA_SEARCH_PHASE))
		call_left(NULL);
	return _URC_FATAL_PHASE1_ERROR;
}

/* 0x1b: its address follows relative to its place, in 4 bytes. */
#define HAS_PERSONALITY                                                        \
	__asm__ volatile(".cfi_personality 0x1b, call_personality")

#endif

TT_NOINLINE void call_to_return(void (*fn)(void *arg), void *arg)
{
	HAS_PERSONALITY;
	fn(arg);
	/* No jump: this frame must be there. */
	keep_order();
}
