/* SPDX-License-Identifier: MIT */
/*
 * Memory: a directory of lines of 64 bytes (MESI), and what each core has of
 * them in its L1 and L2.
 */
#pragma once

#include "counts.h"
#include "machine.h"

struct lstat { /* per-line statistics, only for lines that bounce */
	uintptr_t line;
	uint64_t cores[NW], offs, nlock;
	uint32_t n, nrmw;
	ps_t cost, queue, lockwait;
	struct {
		void *pc;
		uint32_t n;
	} pc[4];
	/* A store in a store buffer: others see old until vis. */
	struct {
		uintptr_t addr;
		ps_t vis;
		int core;
		unsigned __int128 old;
	} pend;
	struct lstat *next;
};

struct line {
	uint64_t sh[NW]; /* sharers when owner < 0 */
	ps_t busy;       /* the last requested transfer is done */
	struct lstat *st;
	int16_t owner; /* that core has it alone; -1: none */
	uint8_t llc;   /* a bit for each socket whose LLC has it */
};

struct page {
	uint64_t key;
	bool fresh;
	struct line l[64];
};

extern struct lstat *allstat;

/* The page of a line, which is an address by 64. */
struct page *page_get(uint64_t ln);

struct lstat *lstat_of(struct line *L, uint64_t ln);

/* An access of the current core, from pc. */
void mem(uintptr_t a, int kind, void *pc);

/* The same as a prefetch. */
void mem_ahead(uintptr_t a, int kind, void *pc);

/* The same of n bytes, at a time when it may take place. */
void acc(uintptr_t a, size_t n, int kind, bool plain, void *pc);

#define RMWAT(p) acc((uintptr_t)(p), sizeof *(p), RMW, false, PC)
#define RDAT(p)  acc((uintptr_t)(p), sizeof *(p), RD, false, PC)
