/* SPDX-License-Identifier: MIT */
/*
 * Whole pages from the kernel, of zeros.  Most are given back one by one, so
 * they are never joined to huge ones.
 *
 * Guarantee: no thread has touched them.  If memory can be near to some CPUs
 * and far from others, the kernel takes a page near the CPU that touches it
 * first.  Memory from malloc may have been used on another CPU before.
 *
 * Any thread.
 */
#ifndef TT_PAGES_H
#define TT_PAGES_H

#include <stddef.h>

/* NULL: no memory. */
void *pages_alloc(size_t size);

/* p is from pages_alloc(size), or NULL. */
void pages_free(void *p, size_t size);

/* The size of a page: 4096, or a power of two above it. */
size_t pages_size(void);

#endif
