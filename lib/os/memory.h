/* SPDX-License-Identifier: MIT */
/*
 * Memory that the library keeps for itself, from the allocator.  Race
 * detectors learn whose it is (see tool.h).
 *
 * Any thread.
 */
#ifndef TT_MEMORY_H
#define TT_MEMORY_H

#include <stddef.h>

/* NULL: there is none. */
void *memory_alloc(size_t size);
void *memory_alloc_aligned(size_t alignment, size_t size);

/* p, which may be NULL, is from one of those, or from this. */
void *memory_resize(void *p, size_t size);
void memory_free(void *p);

/* As memmove(3), within such memory. */
void memory_move(void *to, const void *from, size_t size);

#endif
