/* SPDX-License-Identifier: MIT */
/*
 * Calling a function that must return.
 *
 * Guarantees:
 *  1. If the function throws an exception, C++ calls std::terminate at the
 *     throw, as for a noexcept function.  Nothing has been unwound then.
 *  2. If its thread exits or is cancelled in the function, the process is
 *     aborted with a message.  For this, the C library must unwind the stack of
 *     such a thread: glibc does, musl does not.  And the callback must have
 *     been compiled with unwind tables, which is not the default on RISC-V.
 *     It does not work on 32-bit ARM.
 *  3. The function may return on another thread.
 *
 * Any thread.
 */
#ifndef TT_CALL_H
#define TT_CALL_H

void call_to_return(void (*fn)(void *arg), void *arg);

/* The thread is ending inside the function: prints a message and aborts. */
void call_left(void *arg);

#endif
