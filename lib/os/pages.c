/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/pages.h"
#include "os/roots.h"
#include "os/tool.h"

#include <sys/mman.h>

void *pages_alloc(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	roots_add(p, size);
	tool_hide(p, size);
	return p;
}

void pages_free(void *p, size_t size)
{
	if (!p)
		return;
	roots_remove(p, size);
	munmap(p, size);
}
