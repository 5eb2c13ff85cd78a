/* SPDX-License-Identifier: MIT */
/*
 * What a program that runs in the simulator may call.
 *
 * Each name is weak: without the simulator the same source builds too, and
 * their addresses are NULL.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The program may define its own settings, in the form of COHSIM.  Those of
 * COHSIM come after, and so win.
 */
extern const char *const cohsim_settings __attribute__((weak));

/* What is measured begins: all counts are 0; clocks and caches stay. */
void cohsim_begin(void) __attribute__((weak));

/* It ends, and is printed, with figures an operation. */
void cohsim_end(const char *label, uint64_t ops) __attribute__((weak));

/* The caller's core computes for so long, without memory. */
void cohsim_work(uint64_t ns) __attribute__((weak));

/*
 * The caller gets a core beside the others: a thread that measures takes none
 * from what is measured, and waits for none.
 */
void cohsim_observer(void) __attribute__((weak));

/* The time of the caller's core, which costs it nothing. */
uint64_t cohsim_now(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif
