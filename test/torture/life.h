/* SPDX-License-Identifier: MIT */
/*
 * The life of one instance, with all calls that there are, at random; by one
 * thread and the instance's callbacks.  Each timer is accounted for: it ran,
 * was cancelled, was drained or was left, once, and the library's numbers are
 * the same.
 */
#pragma once

#include <stdint.h>

enum life_driver { LIFE_THREAD, LIFE_POLLED, LIFE_VIRTUAL, LIFE_EXECUTOR };

/*
 * Aborts with a message if anything is wrong.  Returns a digest of what
 * happened: on a virtual clock the same for the same random numbers.
 */
uint64_t life_live(uint64_t *rng, enum life_driver driver);
