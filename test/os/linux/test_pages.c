/* SPDX-License-Identifier: MIT */
/*
 * What the kernel keeps of memory that was given back.
 */
#include "config.h"

#include "blocks.h"
#include "harness.h"
#include "os/pages.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

/* Has the mapping that begins there, or before, this flag? */
static bool has_flag(const void *p, const char *flag)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512];
	bool there = false, has = false;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		uintptr_t begin, end;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) ==
		    2)
			there = begin <= (uintptr_t)p && (uintptr_t)p < end;
		else if (there && strncmp(line, "VmFlags:", 8) == 0)
			has = strstr(line, flag) != NULL;
	}
	fclose(f);
	return has;
}

/* Else what was given back would soon be resident again. */
START_TEST(pages_do_not_become_huge)
{
	enum { SIZE = 1 << 20 };
	void *own = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *p = pages_alloc(SIZE);
	bool can = madvise(own, SIZE, MADV_NOHUGEPAGE) == 0;

	ck_assert_ptr_nonnull(p);
	ck_assert(!can || has_flag(p, " nh"));
	pages_free(p, SIZE);
	munmap(own, SIZE);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		pages_do_not_become_huge,
	};

	return RUN_TESTS("pages", tests);
}
