/* SPDX-License-Identifier: MIT */
/*
 * Futexes.
 */
#include "futex.h"
#include "cache.h"
#include "chance.h"
#include "clock.h"
#include "events.h"
#include "sched.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>

static struct {
	struct thr *first, *last;
	uintptr_t name;
} fq[4096];

static unsigned fhash(uintptr_t a)
{
	return hash64(a >> 2) & 4095;
}

static void enqueue(struct thr *t, uintptr_t a, uint32_t bits)
{
	unsigned h = fhash(a);
	t->wa = a;
	t->wb = bits;
	t->wnext = NULL;
	t->wprev = fq[h].last;
	if (fq[h].last)
		fq[h].last->wnext = t;
	else
		fq[h].first = t;
	fq[h].last = t;
}

void unqueue(struct thr *t)
{
	if (!t->wa)
		return;
	unsigned h = fhash(t->wa);
	if (t->wprev)
		t->wprev->wnext = t->wnext;
	else
		fq[h].first = t->wnext;
	if (t->wnext)
		t->wnext->wprev = t->wprev;
	else
		fq[h].last = t->wprev;
	t->wa = 0;
}

/* Enters the kernel for a futex; the bucket's lock is a line like others. */
static void kenter(uintptr_t a, void *pc, bool lock)
{
	charge(vary(P_syscall / 2));
	sync_();
	G.sys++;
	unsigned h = fhash(a);
	fq[h].name = a;
	mem(KBASE + 64 * h, lock ? RMW : RD, pc);
	sync_();
}

/* Drops that lock, and returns. */
static void kleave(uintptr_t a, bool lock)
{
	uint64_t ln = (KBASE >> 6) + fhash(a);
	struct line *L = &page_get(ln)->l[ln & 63];
	if (lock) {
		charge(vary(P_fhold));
		if (L->busy < cc->clk)
			L->busy = cc->clk;
	}
	charge(vary(P_syscall / 2));
}

int sleep_on(uintptr_t a, uint32_t bits, ps_t deadline)
{
	struct thr *t = cur;
	if (deadline != INF)
		ev_push((deadline > cc->clk ? deadline : cc->clk) + t->slack,
			EVT + t->idx, t->gen);
	t->timedout = false;
	if (a) {
		enqueue(t, a, bits);
		G.fwait++;
	}
	charge(vary(P_block));
	block();
	return t->timedout ? ETIMEDOUT : 0;
}

int fwake(uintptr_t a, int n, uint32_t bits, void *pc)
{
	unsigned h = fhash(a);
	int k = 0;
	bool any = fq[h].first;
	kenter(a, pc, any);
	G.fwake++;
	struct thr *list = NULL, **tail = &list;
	for (struct thr *t = fq[h].first, *nx; t && k < n; t = nx) {
		nx = t->wnext;
		if (t->wa != a || !(t->wb & bits))
			continue;
		unqueue(t);
		t->qnext = NULL;
		*tail = t;
		tail = &t->qnext;
		k++;
		G.woken++;
	}
	kleave(a, any); /* before they are woken */
	for (struct thr *t = list, *nx; t; t = nx) {
		nx = t->qnext;
		charge(vary(P_waker));
		wake(t, cc->clk);
	}
	return k;
}

int fwait(unsigned *p, unsigned v, uint32_t bits, ps_t deadline, void *pc)
{
	kenter((uintptr_t)p, pc, true);
	mem((uintptr_t)p, RD, pc);
	sync_();
	if (*(volatile unsigned *)p != v) {
		kleave((uintptr_t)p, true);
		return EAGAIN;
	}
	int r = sleep_on((uintptr_t)p, bits, deadline);
	charge(P_syscall / 2);
	return r;
}

long sys_futex(unsigned *p, int op, unsigned v, const struct timespec *ts,
	       unsigned *p2, unsigned v3, void *pc)
{
	int cmd = op & FUTEX_CMD_MASK, r;
	switch (cmd) {
	case FUTEX_WAIT:
		r = fwait(p, v, ~0u, in_ps(ts), pc);
		break;
	case FUTEX_WAIT_BITSET:
		r = fwait(p, v, v3,
			  deadline_of(ts, op & FUTEX_CLOCK_REALTIME
						  ? CLOCK_REALTIME
						  : CLOCK_MONOTONIC),
			  pc);
		break;
	case FUTEX_WAKE:
		return fwake((uintptr_t)p, v, ~0u, pc);
	case FUTEX_WAKE_BITSET:
		return fwake((uintptr_t)p, v, v3, pc);
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE: {
		if (cmd == FUTEX_CMP_REQUEUE && *p != v3) {
			errno = EAGAIN;
			return -1;
		}
		int k = fwake((uintptr_t)p, v, ~0u, pc), lim = (int)(long)ts;
		for (struct thr *t = fq[fhash((uintptr_t)p)].first, *nx;
		     t && lim > 0; t = nx) {
			nx = t->wnext;
			if (t->wa == (uintptr_t)p) {
				uint32_t b = t->wb;
				unqueue(t);
				enqueue(t, (uintptr_t)p2, b);
				k++;
				lim--;
			}
		}
		return k;
	}
	default:
		fprintf(stderr, "cohsim: futex op %d not modelled\n", cmd);
		errno = ENOSYS;
		return -1;
	}
	if (r) {
		errno = r;
		return -1;
	}
	return 0;
}

uintptr_t futex_name(uintptr_t line)
{
	return fq[(line - KBASE) / 64].name;
}
