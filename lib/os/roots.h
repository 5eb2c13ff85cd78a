/* SPDX-License-Identifier: MIT */
/*
 * Tells LeakSanitizer, in a program that was built with it, where pointers are.
 * By itself, it does not look into memory that comes directly from the kernel.
 * If only such memory points to an allocation, for example to a timer's
 * argument, LeakSanitizer takes it for leaked.
 *
 * Any thread.
 */
#ifndef TT_ROOTS_H
#define TT_ROOTS_H

#include <stddef.h>

void roots_add(const void *p, size_t size);

/* With the same arguments as roots_add. */
void roots_remove(const void *p, size_t size);

#endif
