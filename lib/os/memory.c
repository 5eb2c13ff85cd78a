/* SPDX-License-Identifier: MIT */
#include "os/memory.h"
#include "os/system.h"
#include "os/tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static TT_NOINLINE void *taken(void *p, size_t size)
{
	tool_tell(TOOL_HEED, NULL, 0);
	if (p)
		tool_hide(p, size);
	return p;
}

void *memory_alloc(size_t size)
{
	tool_tell(TOOL_IGNORE, NULL, 0);
	if (size < TT_FAR_APART)
		return taken(malloc(size), size);
	/* Some systems want a multiple of the alignment. */
	size += -size % TT_FAR_APART;
	return taken(aligned_alloc(TT_FAR_APART, size), size);
}

void memory_free(void *p)
{
	tool_tell(TOOL_IGNORE, NULL, 0);
	free(p);
	tool_tell(TOOL_HEED, NULL, 0);
}

void memory_move(void *to, const void *from, size_t size)
{
	tool_tell(TOOL_IGNORE, NULL, 0);
	memmove(to, from, size);
	tool_tell(TOOL_HEED, NULL, 0);
}

/*
 * Of LeakSanitizer, if the program was built with it; declared as there.  By
 * itself, it does not look into memory that comes directly from the kernel.  If
 * only such memory points to an allocation, for example to a timer's argument,
 * it takes that for leaked.
 */
TT_WEAK void __lsan_register_root_region(const void *p, size_t size);
TT_WEAK void __lsan_unregister_root_region(const void *p, size_t size);

void *pages_alloc(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	system_keep_pages_small(p, size);
	if (HAVE_WEAK && __lsan_register_root_region)
		__lsan_register_root_region(p, size);
	tool_hide(p, size);
	return p;
}

TT_NOINLINE void pages_free(void *p, size_t size)
{
	if (!p)
		return;
	if (HAVE_WEAK && __lsan_unregister_root_region)
		__lsan_unregister_root_region(p, size);
	munmap(p, size);
}

size_t pages_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}
