/* SPDX-License-Identifier: MIT */
/*
 * A thread that ends in fn, by pthread_exit(3) or cancelled, runs its cleanup
 * handlers, however fn was compiled.
 *
 * An exception unwinds the stack: the unwinder goes from frame to frame and
 * asks each by its "personality".  This frame has one of its own.  A compiler
 * would give it that of libgcc, which would then have to be there in every
 * program.
 */
#include "config.h"

#include "os/base.h"
#include "os/call.h"
#include "os/report.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unwind.h>

static void left(void *arg)
{
	(void)arg;
	report("a callback did not return: its thread exited or was cancelled");
	abort();
}

#ifdef __ARM_EABI__

/* Unwinds by tables of another kind. */
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
	return actions & _UA_SEARCH_PHASE ? _URC_FATAL_PHASE1_ERROR
					  : _URC_CONTINUE_UNWIND;
}

/* 0x1b: its address follows relative to its place, in 4 bytes. */
#define HAS_PERSONALITY                                                        \
	__asm__ volatile(".cfi_personality 0x1b, call_personality")

#endif

TT_NOINLINE void call_to_return(void (*fn)(void *arg), void *arg)
{
	HAS_PERSONALITY;
	pthread_cleanup_push(left, NULL);
	fn(arg);
	pthread_cleanup_pop(0);
}
