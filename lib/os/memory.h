/* SPDX-License-Identifier: MIT */
/*
 * Memory from the allocator for the library's own use.  Race detectors are told
 * that it is the library's (see tool.h).
 *
 * Any thread.
 */
#ifndef TT_MEMORY_H
#define TT_MEMORY_H

#include <stddef.h>

/* NULL: no memory. */
void *memory_alloc(size_t size);
void *memory_alloc_aligned(size_t alignment, size_t size);

/* p is from one of these functions, or NULL. */
void memory_free(void *p);

/* As memmove(3), within memory from these functions. */
void memory_move(void *to, const void *from, size_t size);

#endif
