/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/base.h"
#include "os/memory.h"
#include "os/tool.h"

#include <stdlib.h>
#include <string.h>

static TT_NOINLINE void *taken(void *p, size_t size)
{
	tool_heed();
	if (p)
		tool_hide(p, size);
	return p;
}

void *memory_alloc(size_t size)
{
	tool_ignore();
	return taken(malloc(size), size);
}

void *memory_alloc_aligned(size_t alignment, size_t size)
{
	tool_ignore();
	return taken(aligned_alloc(alignment, size), size);
}

void memory_free(void *p)
{
	tool_ignore();
	free(p);
	tool_heed();
}

void memory_move(void *to, const void *from, size_t size)
{
	tool_ignore();
	memmove(to, from, size);
	tool_heed();
}
