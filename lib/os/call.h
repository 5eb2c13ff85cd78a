/* SPDX-License-Identifier: MIT */
/*
 * Calling a function that must return.
 *
 * Guarantees: if it does not return but
 *  1. throws an exception, C++ calls std::terminate where that was thrown, as
 *     for a function that is noexcept: nothing has been unwound by then;
 *  2. its thread exits or is cancelled, the process is aborted, with a message.
 *
 * Any thread.
 */
#ifndef TT_CALL_H
#define TT_CALL_H

void call_to_return(void (*fn)(void *arg), void *arg);

#endif
