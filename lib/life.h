/* SPDX-License-Identifier: MIT */
/*
 * The end of an instance's life, where the timer thread has a part in it.
 */
#ifndef TT_LIFE_H
#define TT_LIFE_H

#include "instance.h"

/*
 * The timer thread is about to end; the last it does with tt.  Frees it, if a
 * callback has destroyed it and nobody else is there to do so.
 */
void life_thread_ends(struct timerthread *tt);

#endif
