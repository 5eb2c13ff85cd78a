/* SPDX-License-Identifier: MIT */
/*
 * A simulator of many cores and of what they do to each other's caches.
 *
 * Code under test is compiled with -fsanitize=thread (cohsim-cc) and linked
 * with these files instead of the sanitizer's library: each access to memory
 * becomes a call into here, which moves the clock of a simulated core on.
 *
 * Each simulated thread is a real one that only lends its stack and its TLS
 * block.  One of them, the runner, executes them all as fibers: stack and %fs
 * are switched together, so that __thread, errno and pthread_self() are right.
 * What runs next is always the core whose clock is furthest behind.
 *
 * Guarantees:
 *  1. The same program with the same settings and environment does the same,
 *     and prints the same, however busy the machine is.
 *  2. Code under test is executed in an order that its cores' clocks allow, but
 *     for plain accesses, which may be ahead by "lax".
 */
#pragma once

#include "costs.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	MAXCORE = 512,
	NW = MAXCORE / 64 + 1,
	MAXTHR = 4096,
	L1W = 12,
	L1S = 64,
	L2W = 16,
	L2S = 1024,
	MAXKEY = 256
};

struct dtor {
	void (*f)(void *);
	void *o;
	struct dtor *next;
};

struct thr {
	void *rsp;
	uintptr_t fs; /* fiber context */
	int idx, core, pin;
	enum { READY, RUN, BLOCKED, DONE } state;
	uint32_t gen; /* invalidates pending timer events */
	ps_t vr;      /* vruntime; off a core: from core.minvr on */
	ps_t ready, ran, slack;
	struct thr *qnext; /* run queue */
	uintptr_t wa;
	uint32_t wb;
	bool timedout;
	struct thr *wnext, *wprev; /* futex queue */
	void *(*fn)(void *);
	void *arg, *ret;
	pthread_t real;
	int os;
	bool detached;
	struct thr *joiner;
	struct dtor *dtors;
	uintptr_t sp0;
	char name[16];
	/* Return addresses of the functions under test that it is in. */
	void *stk[64];
	unsigned depth;
};

struct core {
	ps_t clk, sb, at, slice_end, minvr, busy, tick;
	struct thr *cur, *last, *q;
	int nq, id, sock;
	/* Lines that others have asked for and that are here still. */
	struct {
		uint64_t ln;
		ps_t until;
	} grace[4];
	uint64_t l1[L1S][L1W], (*l2)[L2W], pf[4];
	unsigned pfi, gri;
	/* Prefetches in flight. */
	struct {
		uint64_t ln;
		ps_t done;
	} pq[16];
	unsigned pqi;
	ps_t pqmax;
};

extern struct thr *thr[MAXTHR];
extern int nthr;
extern struct core core[MAXCORE + 1];
extern int ncore; /* core[ncore] is the observer's */
extern int order[MAXCORE];
/* The core that is executed, its thread, and when somebody else is due. */
extern struct core *cc;
extern struct thr *cur;
extern ps_t next_time;
/* NULL: not simulated, as at the start, in a parked thread, in the report. */
extern __thread struct thr *self;
