/* SPDX-License-Identifier: MIT */
/*
 * Who allocated what.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct blk {
	uintptr_t p;
	size_t n;
	void *by[3];
};

/* For heap_at, after all that was allocated. */
void heap_sort(void);

/* The block that has a part of this line, or NULL. */
const struct blk *heap_at(uintptr_t line);
