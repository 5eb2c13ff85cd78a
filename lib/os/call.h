/* SPDX-License-Identifier: MIT */
/*
 * Calling a function that must return.
 *
 * Guarantees: if it does not return but
 *  1. throws an exception, C++ calls std::terminate where that was thrown, as
 *     for a function that is noexcept: nothing has been unwound by then;
 *  2. its thread exits or is cancelled, the process is aborted, with a message.
 *     That takes a C library that unwinds the stack of such a thread, as glibc
 *     does but musl does not, and a callback that can be unwound: compiled with
 *     tables, which is no default on RISC-V, and not on 32-bit ARM.
 *  3. It may return on another thread.
 *
 * Any thread.
 */
#ifndef TT_CALL_H
#define TT_CALL_H

void call_to_return(void (*fn)(void *arg), void *arg);

/* Its thread is ending in it: says so, and aborts. */
void call_left(void *arg);

#endif
