/* SPDX-License-Identifier: MIT */
/*
 * Compiler features that every part uses.
 */
#pragma once

/*
 * With -fexceptions, as some distributions compile, <pthread.h> would have
 * cleanup handlers called while the stack is unwound.  That of the timer thread
 * must also be called where the stack cannot be unwound.
 */
#undef __EXCEPTIONS

#include <stdint.h> /* any header of glibc defines __GLIBC__ */

/*
 * INTERNAL is before the declaration of each function and object that several
 * sources of the library use, INTERNAL_OBJECT before the definition of such an
 * object.  The library is compiled as one unit, lib/libtimerthread.c, in which
 * they are static.  So no name but those of timerthread.h, and one in
 * os/call.c, meets one of the program, in the static library too.  The tests
 * link the sources one by one.
 *
 * TT_PART is before each function of a part that is one header, without a
 * source.  When sources are compiled one by one, each gets a copy of them all,
 * and need not use them all.
 */
#ifdef TT_ONE_UNIT
#define INTERNAL        static
#define INTERNAL_OBJECT static
#define TT_PART         static
#else
#define INTERNAL extern
#define INTERNAL_OBJECT
#define TT_PART static __attribute__((unused))
#endif

#define TT_EXPORT __attribute__((visibility("default")))
/* Seldom called: such code is small rather than fast, and lies together. */
#define TT_EXPORT_RARE __attribute__((visibility("default"), cold))
/* A function that only some programs have. */
#define TT_WEAK __attribute__((weak, visibility("default")))
/*
 * What seldom runs, out of the way of what often does.  And what asks for
 * something of the calling thread: in one function, compilers expect that at
 * one address, but a callback may end on another thread than it began on.
 */
#define TT_NOINLINE __attribute__((noinline))
#define TT_INLINE   inline __attribute__((always_inline))

/*
 * Keeps an address in a register.  Else gcc may compute it again where it is
 * used: for a bucket and its lane, that was 25 instructions a call.
 */
#define TT_KEEP(p) __asm__("" : "+r"(p))

/*
 * If the library is loaded by dlopen(3), glibc by default allocates such a
 * variable when a thread first uses it.  It may wait for the loader's lock for
 * that, and it kills the process if there is no memory.  With this model the
 * variables, 64 bytes at most, are in a space that each thread has had from its
 * start.  glibc keeps little of that space for libraries that come later.
 * musl allocates the variables for all threads when it loads the library, and
 * loads none that has this model.
 */
#ifdef __GLIBC__
#define TT_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define TT_THREAD_LOCAL _Thread_local
#endif

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* The compiler moves no memory access across this.  A CPU may. */
static inline void keep_order(void)
{
	__asm__ volatile("" : : : "memory");
}

/* For a loop that waits for another CPU: leaves more to this CPU's sibling. */
static inline void spin_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 7)
	/* Older ones, such as those of Debian's armel, lack it. */
	__asm__ volatile("yield");
#endif
}

/*
 * Data that threads on different CPUs write is placed this many bytes apart:
 * two cache lines, because several kinds of CPU fetch lines in pairs.
 */
#define TT_FAR_APART  128
#define TT_CACHE_LINE 64

/*
 * Begins to fetch a line that will be written.  On x86, compilers do that only
 * if they may assume that the CPU has prefetchw.  But all 64-bit CPUs accept
 * that instruction; the older ones ignore it.
 */
static inline void prefetch_to_write(const void *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}
