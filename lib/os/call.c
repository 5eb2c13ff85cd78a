/* SPDX-License-Identifier: MIT */
/*
 * Exceptions, pthread_exit(3) and cancellation unwind the stack: the unwinder
 * goes from frame to frame and calls the "personality" function of each.  The
 * frame of call_to_return has one of its own.  A compiler would use libgcc's,
 * and then every program would need libgcc.
 *
 * A cleanup handler (pthread_cleanup_push) would be enough for pthread_exit(3)
 * and cancellation.  But the C library keeps a pointer to it for the thread,
 * and a callback may change its thread.
 */
#include "os/call.h"
#include "base/text.h"
#include "os/fork.h"

#include <stdlib.h>
#include <unwind.h>

void call_left(void *arg)
{
	(void)arg;
	report("a function of the program did not return: its thread exited or "
	       "was cancelled");
	abort();
}

/* There may be tables of another kind, or none. */
#if !defined(HAVE_CFI_PERSONALITY) || !defined(__GCC_HAVE_DWARF2_CFI_ASM)

#define HAS_PERSONALITY

#else

/*
 * Assembler code refers to it by name: so it is not static, because link-time
 * optimization renames what is, or compiles it into another object.
 */
_Unwind_Reason_Code timerthread_call_personality(
	int version, _Unwind_Action actions, _Unwind_Exception_Class class,
	struct _Unwind_Exception *e, struct _Unwind_Context *context)
	__attribute__((used, visibility("hidden")));

/*
 * For an exception, the unwinder first searches for a handler.  C++ terminates
 * because this search fails here.  If the thread ends, there is no search: the
 * unwinder only passes through.
 */
_Unwind_Reason_Code timerthread_call_personality(
	int version, _Unwind_Action actions, _Unwind_Exception_Class class,
	struct _Unwind_Exception *e, struct _Unwind_Context *context)
{
	(void)version;
	(void)class;
	(void)e;
	(void)context;
	if (!(actions & _UA_SEARCH_PHASE))
		call_left(NULL);
	return _URC_FATAL_PHASE1_ERROR;
}

/* 0x1b: the address is stored in 4 bytes, relative to their own place. */
#define HAS_PERSONALITY                                                        \
	__asm__ volatile(".cfi_personality 0x1b, "                             \
			 "timerthread_call_personality")

#endif

TT_NOINLINE bool call_to_return(void (*fn)(void *arg), void *arg)
{
	const uint32_t generation = fork_generation();

	HAS_PERSONALITY;
	fn(arg);
	return likely(fork_generation() == generation);
}
