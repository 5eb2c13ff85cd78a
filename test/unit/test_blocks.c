/* SPDX-License-Identifier: MIT */
/*
 * Blocks that go back to the system, in any order.  block.c is compiled again
 * here, to see what it does to which pages.
 */
#include "config.h"

#include "harness.h"
#include "must.h"
#include "os/memory.h"
#include "os/system.h"

enum { SLABS = 24 };

/* What is mapped now. */
static struct {
	char *p;
	size_t size;
} mapped[SLABS];

/* The one with these pages; with none: a place for it. */
static int find(const char *p, size_t size)
{
	int i = 0;

	while (i < SLABS && (!p != !mapped[i].p || p < mapped[i].p ||
			     (p && p + size > mapped[i].p + mapped[i].size)))
		i++;
	must(i < SLABS);
	return i;
}

static void *note_alloc(size_t size)
{
	int i = find(NULL, 0);

	mapped[i].p = pages_alloc(size);
	mapped[i].size = size;
	return mapped[i].p;
}

static void note_free(void *p, size_t size)
{
	mapped[find(p, size)].p = NULL;
	pages_free(p, size);
}

static bool must_be_mapped(void *p, size_t size)
{
	find(p, size);
	return system_empty_pages(p, size);
}

#define pages_alloc        note_alloc
#define pages_free         note_free
#define system_empty_pages must_be_mapped
#include "store/block.c"
#undef pages_alloc
#undef pages_free
#undef system_empty_pages

#include "store/block.h"

/* At the end, of one slab some are not handed out. */
enum { N = 7 * SLAB_BLOCKS - 3 };

static struct block *take(struct block_pool *p)
{
	struct block *b = block_pool_take(p);

	ck_assert_ptr_nonnull(b);
	memset(b->entry, 1, sizeof(b->entry));
	return b;
}

/* Their addresses may be another's as soon as the slab is unmapped. */
START_TEST(no_page_is_emptied_after_its_slab)
{
	struct block_pool p = {0};
	struct block *b[N];
	uint64_t rng = test_seed();

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < N; i++)
			b[i] = take(&p);
		for (uint32_t n = N; n > 0; n--) {
			uint32_t i = (uint32_t)random_below(&rng, n);

			block_pool_give(&p, b[i]);
			b[i] = b[n - 1];
		}
		/* So many it keeps, of whatever slabs. */
		ck_assert_uint_eq(p.n, POOL_KEEP);
		ck_assert_uint_le(block_pool_bytes(&p),
				  2 * POOL_KEEP * BLOCK_BYTES);
	}
	ck_assert_uint_gt(p.slab.left, 0);
	block_pool_destroy(&p);
	for (int i = 0; i < SLABS; i++)
		ck_assert_ptr_null(mapped[i].p);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		no_page_is_emptied_after_its_slab,
	};

	return RUN_TESTS("blocks", tests);
}
