/* SPDX-License-Identifier: MIT */
/*
 * What makes life hard for the threads of this process: they are held up at the
 * library's points (os/point.h), its clock stands still, signals rain, threads
 * are sent from CPU to CPU, and the process forks.
 */
#ifndef TT_TORTURE_DISTURB_H
#define TT_TORTURE_DISTURB_H

#include <stdint.h>
#include <timerthread.h>

/*
 * From now on, with random numbers from there.  Forked children are destroyers
 * of one instance that exists until the end, in which others schedule.
 */
void disturb_begin(uint64_t seed, struct timerthread *inherited);

/* No disturbance any more.  Prints what there was. */
void disturb_end(void);

#endif
