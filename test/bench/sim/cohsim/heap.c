/* SPDX-License-Identifier: MIT */
/*
 * The heap: at a fixed cost, and it is known who allocated what.
 */
#include "heap.h"
#include "chance.h"
#include "host.h"
#include "sched.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static struct blk *blk, *sblk;
static size_t nblk, cblk;
static uint32_t *bidx;
static size_t cbidx;

static void *rec(void *p, size_t n, void *pc)
{
	if (!self || !p)
		return p;
	charge(P_malloc);
	if (2 * nblk >= cbidx) {
		__libc_free(bidx);
		cbidx = cbidx ? 2 * cbidx : 4096;
		bidx = __libc_calloc(cbidx, 4);
		for (size_t i = 0; i < nblk; i++) {
			size_t h = hash64(blk[i].p) & (cbidx - 1);
			while (bidx[h])
				h = (h + 1) & (cbidx - 1);
			bidx[h] = i + 1;
		}
	}
	size_t h = hash64((uintptr_t)p) & (cbidx - 1);
	while (bidx[h] && blk[bidx[h] - 1].p != (uintptr_t)p)
		h = (h + 1) & (cbidx - 1);
	if (!bidx[h]) {
		if (nblk == cblk)
			blk = __libc_realloc(blk,
					     (cblk = cblk ? 2 * cblk : 1024) *
						     sizeof *blk);
		bidx[h] = ++nblk;
	}
	struct blk *b = &blk[bidx[h] - 1];
	b->p = (uintptr_t)p;
	b->n = n;
	b->by[0] = pc;
	for (unsigned i = 1; i < 3; i++)
		b->by[i] = self->depth >= i ? self->stk[(self->depth - i) & 63]
					    : NULL;
	return p;
}

void *malloc(size_t n)
{
	return rec(__libc_malloc(n), n, PC);
}

void *calloc(size_t a, size_t b)
{
	return rec(__libc_calloc(a, b), a * b, PC);
}

void *realloc(void *p, size_t n)
{
	return rec(__libc_realloc(p, n), n, PC);
}

void *memalign(size_t a, size_t n)
{
	return rec(__libc_memalign(a, n), n, PC);
}

void *aligned_alloc(size_t a, size_t n)
{
	return rec(__libc_memalign(a, n), n, PC);
}

int posix_memalign(void **p, size_t a, size_t n)
{
	*p = rec(__libc_memalign(a, n), n, PC);
	return *p ? 0 : ENOMEM;
}

void free(void *p)
{
	if (self && p)
		charge(P_malloc / 2);
	__libc_free(p);
}

static int blk_cmp(const void *a, const void *b)
{
	uintptr_t x = ((struct blk *)a)->p, y = ((struct blk *)b)->p;
	return (x > y) - (x < y);
}

void heap_sort(void)
{
	sblk = __libc_realloc(sblk, nblk * sizeof *blk + 1);
	if (nblk)
		memcpy(sblk, blk, nblk * sizeof *blk);
	qsort(sblk, nblk, sizeof *blk, blk_cmp);
}

const struct blk *heap_at(uintptr_t line)
{
	size_t lo = 0, hi = nblk;
	while (lo < hi) {
		size_t m = (lo + hi) / 2;
		if (sblk[m].p < line + 64)
			lo = m + 1;
		else
			hi = m;
	}
	return lo && line < sblk[lo - 1].p + sblk[lo - 1].n ? &sblk[lo - 1]
							    : NULL;
}
