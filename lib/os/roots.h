/* SPDX-License-Identifier: MIT */
/*
 * Telling LeakSanitizer, in a program that was built with it, where pointers
 * lie: it takes memory for leaked that only memory from the kernel points to,
 * and does not look there by itself.  A timer's argument may be such.
 *
 * Any thread.
 */
#ifndef TT_ROOTS_H
#define TT_ROOTS_H

#include <stddef.h>

void roots_add(const void *p, size_t size);

/* As it was added. */
void roots_remove(const void *p, size_t size);

#endif
