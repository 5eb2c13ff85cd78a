/* SPDX-License-Identifier: MIT */
/*
 * Whole pages from the kernel, of zeros.
 *
 * Guarantee: nobody has touched them.  Where memory is near to some CPUs and
 * far from others, the kernel takes it near the CPU that touches it first; what
 * comes from malloc may have been another CPU's before.
 *
 * Any thread.
 */
#ifndef TT_PAGES_H
#define TT_PAGES_H

#include <stddef.h>

/* NULL: no memory. */
void *pages_alloc(size_t size);

/* p, which may be NULL, is from pages_alloc(size). */
void pages_free(void *p, size_t size);

#endif
