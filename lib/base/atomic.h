/* SPDX-License-Identifier: MIT */
/*
 * The atomic operations of this library, under short names.  They are those of
 * libatomic_ops that every machine has and that ThreadSanitizer understands.
 * Before them, the points at which a test may delay a thread.
 *
 * Only a 32-bit word and a word as large as a pointer are ever atomic here.
 * 64-bit values (deadlines) are protected by a lock, because 32-bit machines
 * cannot load them in one piece.  There are no stand-alone fences.
 *
 * "acquire" and "release" mean what they mean in C11.  An operation with
 * neither word, in its name or its comment, is relaxed: it orders nothing.
 */
#pragma once

#include <atomic_ops.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A point is before each atomic operation, because these are the steps that
 * other threads see, and where a clock is read.  Only a build for test/torture
 * has them.
 */
#ifdef TT_TORTURE

/* Defined by the test.  name: the function that contains the point. */
void torture_point(const char *name);

/* Returns the time to use instead of now, which the clock has shown. */
int64_t torture_clock(int64_t now);

#define POINT()          torture_point(__func__)
#define POINT_CLOCK(now) torture_clock(now)

#else

#define POINT()          ((void)0)
#define POINT_CLOCK(now) (now)

#endif

typedef volatile unsigned int atom32;
typedef volatile AO_t atomword; /* as large as a pointer */

static inline uint32_t atom32_load(const atom32 *a)
{
	POINT();
	return AO_int_load(a);
}

static inline uint32_t atom32_load_acquire(const atom32 *a)
{
	POINT();
	return AO_int_load_acquire(a);
}

static inline void atom32_store(atom32 *a, uint32_t value)
{
	POINT();
	AO_int_store(a, value);
}

static inline void atom32_store_release(atom32 *a, uint32_t value)
{
	POINT();
	AO_int_store_release(a, value);
}

/* Returns the old value: `from` if it was replaced.  Acquires in any case. */
static inline uint32_t atom32_swap_acquire(atom32 *a, uint32_t from,
					   uint32_t to)
{
	POINT();
	return AO_int_fetch_compare_and_swap_acquire(a, from, to);
}

/* The same, but acquires and releases. */
static inline uint32_t atom32_swap(atom32 *a, uint32_t from, uint32_t to)
{
	POINT();
	return AO_int_fetch_compare_and_swap_full(a, from, to);
}

/* Returns the old value.  Acquires and releases. */
static inline uint32_t atom32_add(atom32 *a, uint32_t n)
{
	POINT();
	return AO_int_fetch_and_add_full(a, n);
}

static inline uintptr_t atomword_load(const atomword *a)
{
	POINT();
	return AO_load(a);
}

static inline uintptr_t atomword_load_acquire(const atomword *a)
{
	POINT();
	return AO_load_acquire(a);
}

static inline void atomword_store(atomword *a, uintptr_t value)
{
	POINT();
	AO_store(a, value);
}

static inline void atomword_store_release(atomword *a, uintptr_t value)
{
	POINT();
	AO_store_release(a, value);
}

/* False: the value was not `from`.  Acquires and releases. */
static inline bool atomword_swap(atomword *a, uintptr_t from, uintptr_t to)
{
	POINT();
	return AO_compare_and_swap_full(a, from, to);
}

static inline void atomword_add(atomword *a, uintptr_t n)
{
	POINT();
	(void)AO_fetch_and_add(a, n);
}
