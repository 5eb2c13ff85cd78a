/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/pages.h"
#include "os/roots.h"
#include "os/tool.h"

#include <errno.h>
#include <sys/mman.h>

void *pages_alloc(size_t size)
{
	int saved_errno = errno;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved_errno;
	if (p == MAP_FAILED)
		return NULL;
	roots_add(p, size);
	tool_hide(p, size);
	return p;
}

void pages_free(void *p, size_t size)
{
	int saved_errno = errno;

	if (p) {
		roots_remove(p, size);
		munmap(p, size);
	}
	errno = saved_errno;
}
