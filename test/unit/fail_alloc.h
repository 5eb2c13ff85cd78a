/* SPDX-License-Identifier: MIT */
/*
 * Allocations that fail on demand.  A program that includes this file defines
 * malloc, calloc, aligned_alloc, mmap and pthread_create for the libraries that
 * it links too.
 */
#pragma once

#include "base/atomic.h"
#include "sanitizers.h"
#include "systems.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

/*
 * The sanitizers allocate for themselves, and cannot do without; clang links
 * its allocator into the program.
 */
#if defined(UNDER_SANITIZER) || !defined(HAS_MALLOC_BEHIND)
#define FAIL_ALLOC_UNAVAILABLE
#endif

/* Check allocates its messages with malloc: they are spared. */
#define FAIL_MIN_SIZE 1024

/*
 * While armed, calls are counted from 0, and those from fail_from on, as many
 * as fail_count, fail.
 */
static atom32 fail_armed, fail_seen, fail_from, fail_count;

/* Called before a call fails, once; and that call may succeed. */
static void (*fail_step)(void);
static bool fail_not;

static inline void fail_arm(uint32_t from, uint32_t count)
{
	atom32_store(&fail_seen, 0);
	atom32_store(&fail_from, from);
	atom32_store(&fail_count, count);
	atom32_store_release(&fail_armed, 1);
}

/* Returns how many calls there were. */
static inline uint32_t fail_disarm(void)
{
	atom32_store_release(&fail_armed, 0);
	return atom32_load(&fail_seen);
}

static inline bool fail_now(void)
{
	void (*step)(void) = fail_step;
	uint32_t n, from;

	if (!atom32_load_acquire(&fail_armed))
		return false;
	n = AO_int_fetch_and_add1(&fail_seen);
	from = atom32_load(&fail_from);
	if (n < from || n - from >= atom32_load(&fail_count))
		return false;
	fail_step = NULL;
	if (step)
		step();
	return !fail_not;
}

#ifndef FAIL_ALLOC_UNAVAILABLE

/*
 * dlsym allocates a little itself, before there is anything to call: that
 * comes from here and is never freed.
 */
static char early[4096] __attribute__((aligned(64)));
static size_t early_used;

static inline void *early_alloc(size_t size)
{
	void *p = early + early_used;

	early_used += (size + 63) & ~(size_t)63;
	if (early_used > sizeof(early))
		abort();
	return p;
}

static inline void *next_symbol(const char *name)
{
	static __thread bool looking;
	void *p;

	if (looking)
		return NULL;
	looking = true;
	p = dlsym(RTLD_NEXT, name);
	looking = false;
	return p;
}

void *malloc(size_t size)
{
	static void *(*next)(size_t);

	if (!next)
		next = (void *(*)(size_t))next_symbol("malloc");
	if (!next)
		return early_alloc(size);
	if (size >= FAIL_MIN_SIZE && fail_now()) {
		errno = ENOMEM;
		return NULL;
	}
	return next(size);
}

void *calloc(size_t n, size_t size)
{
	static void *(*next)(size_t, size_t);

	if (!next)
		next = (void *(*)(size_t, size_t))next_symbol("calloc");
	if (!next)
		return early_alloc(n * size);
	if (fail_now()) {
		errno = ENOMEM;
		return NULL;
	}
	return next(n, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	static void *(*next)(size_t, size_t);

	if (!next)
		next = (void *(*)(size_t, size_t))next_symbol("aligned_alloc");
	if (size >= FAIL_MIN_SIZE && fail_now()) {
		errno = ENOMEM;
		return NULL;
	}
	return next(alignment, size);
}

/* With no file: memory. */
void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	static void *(*next)(void *, size_t, int, int, int, off_t);

	if (!next)
		next = (void *(*)(void *, size_t, int, int, int,
				  off_t))next_symbol("mmap");
	if (fd < 0 && fail_now()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return next(addr, size, prot, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		   void *(*start)(void *), void *arg)
{
	static int (*next)(pthread_t *, const pthread_attr_t *,
			   void *(*)(void *), void *);

	if (!next)
		next = (int (*)(pthread_t *, const pthread_attr_t *,
				void *(*)(void *),
				void *))next_symbol("pthread_create");
	return fail_now() ? EAGAIN : next(thread, attr, start, arg);
}

#endif
