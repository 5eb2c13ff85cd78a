/* SPDX-License-Identifier: MIT */
/*
 * Memory for the library's own use, from the allocator, or whole pages from the
 * kernel.  Race detectors are told that it is the library's (see tool.h).
 *
 * Guarantees:
 *  1. Pages hold zeros, and no thread has touched them.  If memory can be near
 *     to some CPUs and far from others, the kernel takes a page near the CPU
 *     that touches it first.  Memory from the allocator may have been used on
 *     another CPU before.
 *  2. Pages are never joined to huge ones, because most are given back one by
 *     one.
 *
 * Any thread.
 */
#pragma once

#include "base/base.h"

#include <stddef.h>

/*
 * For a few objects; each that is not small has cache lines of its own.  The
 * size is at most PTRDIFF_MAX.  NULL: no memory.
 */
INTERNAL void *memory_alloc(size_t size);

/* p is from one of these functions, or NULL. */
INTERNAL void memory_free(void *p);

/* As memmove(3), within memory from these functions. */
INTERNAL void memory_move(void *to, const void *from, size_t size);

/* NULL: no memory. */
INTERNAL void *pages_alloc(size_t size);

/* p is from pages_alloc(size), or NULL. */
INTERNAL void pages_free(void *p, size_t size);

/* The size of a page: 4096, or a power of two above it. */
INTERNAL size_t pages_size(void);
