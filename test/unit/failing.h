/* SPDX-License-Identifier: MIT */
/*
 * What the library asks of the system fails on demand: memory, a thread, a
 * mutex, a descriptor.  The functions here take the place of the library's own,
 * so that nothing else fails.  They also count memory that is not given back.
 *
 * The library's files are included with their functions renamed.  (The linker
 * could wrap them, too; but for functions of the library that needs link-time
 * optimization to be off, see configure.ac.)
 */
#pragma once

#define memory_alloc  real_memory_alloc
#define memory_free   real_memory_free
#define pages_alloc   real_pages_alloc
#define pages_free    real_pages_free
#define thread_create real_thread_create
#include "os/memory.c"
#include "os/thread.c"
#undef memory_alloc
#undef memory_free
#undef pages_alloc
#undef pages_free
#undef thread_create

#include "base/atomic.h"

#include <errno.h>

/*
 * While armed, calls are counted from 0, and those from failing_from on, as
 * many as failing_count, fail.
 */
static atom32 failing_armed, failing_seen, failing_from, failing_count;

/*
 * Pieces of memory that were taken, and are not free; and mutexes, for which
 * some systems take memory.
 */
static atom32 pieces;

static inline void failing_arm(uint32_t from, uint32_t count)
{
	atom32_store(&failing_seen, 0);
	atom32_store(&failing_from, from);
	atom32_store(&failing_count, count);
	atom32_store_release(&failing_armed, 1);
}

/* Returns how many calls there were. */
static inline uint32_t failing_disarm(void)
{
	atom32_store_release(&failing_armed, 0);
	return atom32_load(&failing_seen);
}

static inline bool fails_now(void)
{
	uint32_t n, from;

	if (!atom32_load_acquire(&failing_armed))
		return false;
	n = AO_int_fetch_and_add1(&failing_seen);
	from = atom32_load(&failing_from);
	return n >= from && n - from < atom32_load(&failing_count);
}

static inline void *piece(void *p)
{
	atom32_add(&pieces, p != NULL);
	return p;
}

void *memory_alloc(size_t size);
void memory_free(void *p);
void *pages_alloc(size_t size);
void pages_free(void *p, size_t size);
int thread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
		  void *(*run)(void *arg), void *arg);

/* The C library's, which the linker wraps. */
int __real_pthread_mutex_init(pthread_mutex_t *m,
			      const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_init(pthread_mutex_t *m,
			      const pthread_mutexattr_t *attr);
int __real_pthread_mutex_destroy(pthread_mutex_t *m);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *m);
#ifdef TT_TIMERFD
int __real_timerfd_create(int clock, int flags);
int __wrap_timerfd_create(int clock, int flags);
#else
int __real_socketpair(int domain, int type, int protocol, int ends[2]);
int __wrap_socketpair(int domain, int type, int protocol, int ends[2]);
#endif

void *memory_alloc(size_t size)
{
	return fails_now() ? NULL : piece(real_memory_alloc(size));
}

void memory_free(void *p)
{
	atom32_add(&pieces, -(uint32_t)(p != NULL));
	real_memory_free(p);
}

void *pages_alloc(size_t size)
{
	return fails_now() ? NULL : piece(real_pages_alloc(size));
}

void pages_free(void *p, size_t size)
{
	atom32_add(&pieces, -(uint32_t)(p != NULL));
	real_pages_free(p, size);
}

int thread_create(pthread_t *ret, const pthread_attr_t *attr,
		  void *(*run)(void *arg), void *arg)
{
	return fails_now() ? EAGAIN : real_thread_create(ret, attr, run, arg);
}

int __wrap_pthread_mutex_init(pthread_mutex_t *m,
			      const pthread_mutexattr_t *attr)
{
	if (fails_now())
		return ENOMEM;
	atom32_add(&pieces, 1);
	return __real_pthread_mutex_init(m, attr);
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *m)
{
	atom32_add(&pieces, UINT32_MAX);
	return __real_pthread_mutex_destroy(m);
}

#ifdef TT_TIMERFD
int __wrap_timerfd_create(int clock, int flags)
{
	if (!fails_now())
		return __real_timerfd_create(clock, flags);
	errno = EMFILE;
	return -1;
}
#else
int __wrap_socketpair(int domain, int type, int protocol, int ends[2])
{
	if (!fails_now())
		return __real_socketpair(domain, type, protocol, ends);
	errno = EMFILE;
	return -1;
}
#endif
