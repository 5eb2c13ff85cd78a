/* SPDX-License-Identifier: MIT */
/*
 * The machine that the simulator runs on: its system calls, and what the C
 * library would do.
 */
#pragma once

#include <dlfcn.h>
#include <stddef.h>

static inline long raw(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e,
			  r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "+a"(n)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return n;
}

#define REAL(f)                                                                \
	static __typeof__(f) *real;                                            \
	if (!real)                                                             \
	real = (__typeof__(real))dlsym(RTLD_NEXT, #f)
#define PC __builtin_return_address(0)

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t),
	*__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t),
	__libc_free(void *);
