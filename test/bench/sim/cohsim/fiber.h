/* SPDX-License-Identifier: MIT */
/*
 * Changes the stack and %fs, and so who runs.
 */
#pragma once

#include <stdint.h>

extern void (*swap)(void **save, void *to, uintptr_t fs);

/* By what the machine has. */
void fiber_begin(void);

/* %fs of the caller. */
uintptr_t get_fs(void);
