/* SPDX-License-Identifier: MIT */
/*
 * What the kernel keeps of memory that was given back.
 */
#include "config.h"

#include "harness.h"
#include "os/memory.h"
#include "store/block.h"

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

/* How many pages of the slab are resident. */
static size_t resident(struct block *first)
{
	unsigned char in[SLAB_BLOCKS];
	size_t n = 0;

	/* It fails if the slab is no longer there. */
	if (mincore(first, SLAB_BLOCKS * sizeof(*first), in) == 0) {
		for (int i = 0; i < SLAB_BLOCKS; i++)
			n += in[i] & 1;
	}
	return n;
}

/* Also of slabs of which only some blocks are free. */
START_TEST(bytes_are_what_is_resident)
{
	enum { SLABS = 10, N = SLABS * SLAB_BLOCKS };
	struct block_pool p = {0};
	struct block *b[N], *first[SLABS];
	uint64_t rng = test_seed();

	if (pages_size() != sizeof(struct block))
		return;
	for (int i = 0; i < N; i++) {
		b[i] = block_pool_take(&p);
		if (i % SLAB_BLOCKS == 0)
			first[i / SLAB_BLOCKS] = b[i];
	}
	for (uint32_t n = N; n > 0; n--) {
		uint32_t i = (uint32_t)random_below(&rng, n);
		size_t pages = 0;

		for (int k = 0; k < SLABS; k++)
			pages += resident(first[k]);
		ck_assert_uint_eq(block_pool_bytes(&p),
				  pages * sizeof(struct block));
		block_pool_give(&p, b[i]);
		b[i] = b[n - 1];
	}
	/* The pool keeps some. */
	block_pool_destroy(&p);
	for (int k = 0; k < SLABS; k++)
		ck_assert_uint_eq(resident(first[k]), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		pages_do_not_become_huge,
		bytes_are_what_is_resident,
	};

	return RUN_TESTS("pages", tests);
}
