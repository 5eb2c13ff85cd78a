/* SPDX-License-Identifier: MIT */
/*
 * Futexes.
 */
#pragma once

#include "machine.h"
#include <time.h>

/* Where the kernel's futex buckets are, to the caches. */
#define KBASE (1ULL << 60)

/* Where somebody waits whose bucket is this line. */
uintptr_t futex_name(uintptr_t line);

/* t waits for nothing any more. */
void unqueue(struct thr *t);

/* Sleeps; on a futex if a is not 0, and its bucket was entered. */
int sleep_on(uintptr_t a, uint32_t bits, ps_t deadline);

/* Returns how many it has woken. */
int fwake(uintptr_t a, int n, uint32_t bits, void *pc);

/* 0, EAGAIN or ETIMEDOUT. */
int fwait(unsigned *p, unsigned v, uint32_t bits, ps_t deadline, void *pc);

/* As the system call. */
long sys_futex(unsigned *p, int op, unsigned v, const struct timespec *ts,
	       unsigned *p2, unsigned v3, void *pc);
