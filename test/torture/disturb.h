/* SPDX-License-Identifier: MIT */
/*
 * What makes life hard for the threads of this process: they are held up at the
 * library's points (base/atomic.h), its clock stands still, signals rain,
 * threads are sent from CPU to CPU, and the process forks.
 */
#pragma once

#include <stdint.h>
#include <timerthread.h>

/*
 * Random numbers come from there, and the step of the clock.  Before the first
 * instance is created, for the clock must not go back.
 */
void disturb_seed(uint64_t seed);

/*
 * From now on.  Forked children destroy one instance that exists until the end,
 * in which others schedule.
 */
void disturb_begin(struct timerthread *inherited);

/* No disturbance any more.  Prints what there was. */
void disturb_end(void);
