/* SPDX-License-Identifier: MIT */
/*
 * Calling a function of the program, which must return.
 *
 * Guarantees:
 *  1. If the function throws an exception, C++ calls std::terminate at the
 *     throw, as for a noexcept function.  Nothing has been unwound then.
 *  2. If its thread exits or is cancelled in the function, the process is
 *     aborted with a message.  For this, the C library must unwind the stack of
 *     such a thread: glibc does, musl does not.  And the function must have
 *     been compiled with unwind tables, which is not the default on RISC-V.
 *     It does not work on 32-bit ARM.
 *  3. The function may return on another thread.
 *
 * The caller keeps errno, and sees to it that its thread is not cancelled
 * (keep.h); a timer thread never is (thread.h).
 *
 * Any thread.
 */
#pragma once

#include "base/base.h"

#include <stdbool.h>

/* Calls fn(arg).  False: it returned in a child of fork(2). */
INTERNAL bool call_to_return(void (*fn)(void *arg), void *arg);

/* The thread is ending inside the function: prints a message and aborts. */
INTERNAL void call_left(void *arg);
