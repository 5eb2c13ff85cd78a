/* SPDX-License-Identifier: MIT */
/*
 * Memory: who has which line, and what an access costs.
 */
#include "cache.h"
#include "chance.h"
#include "host.h"
#include "sched.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct lstat *allstat;

static struct page **ptab;
static size_t pcap, pn;

static struct {
	uint64_t key;
	struct page *p;
} tlb[16384];

static struct page *page_new(uint64_t key)
{
	static char *pool, *end;
	if (pool + sizeof(struct page) > end) {
		size_t sz = 256 * sizeof(struct page);
		pool = mmap(NULL, sz, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pool == MAP_FAILED) {
			fprintf(stderr, "cohsim: out of memory\n");
			_exit(3);
		}
		end = pool + sz;
	}
	struct page *p = (struct page *)pool;
	pool += sizeof *p;
	p->key = key;
	p->fresh = key < 1ULL << 40;
	for (int i = 0; i < 64; i++)
		p->l[i].owner = -1;
	return p;
}

static __attribute__((noinline)) struct page *page_slow(uint64_t key)
{
	if (pn * 2 >= pcap) {
		size_t oc = pcap;
		struct page **ot = ptab;
		pcap = pcap ? pcap * 2 : 1 << 16;
		ptab = mmap(NULL, pcap * sizeof *ptab, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t i = 0; i < oc; i++)
			if (ot[i]) {
				size_t h = hash64(ot[i]->key) & (pcap - 1);
				while (ptab[h])
					h = (h + 1) & (pcap - 1);
				ptab[h] = ot[i];
			}
		if (ot)
			munmap(ot, oc * sizeof *ot);
	}
	size_t h = hash64(key) & (pcap - 1);
	while (ptab[h] && ptab[h]->key != key)
		h = (h + 1) & (pcap - 1);
	if (!ptab[h]) {
		ptab[h] = page_new(key);
		pn++;
	}
	unsigned s = hash64(key) & 16383;
	tlb[s].key = key;
	tlb[s].p = ptab[h];
	return ptab[h];
}

struct page *page_get(uint64_t ln)
{
	uint64_t key = ln >> 6;
	unsigned s = hash64(key) & 16383;
	return __builtin_expect(tlb[s].p && tlb[s].key == key, 1)
		       ? tlb[s].p
		       : page_slow(key);
}

/* A hit moves to the front. */
static inline bool tag_find(uint64_t *s, int ways, uint64_t ln)
{
	if (s[0] == ln)
		return true;
	for (int i = 1; i < ways; i++)
		if (s[i] == ln) {
			for (; i; i--)
				s[i] = s[i - 1];
			s[0] = ln;
			return true;
		}
	return false;
}

static inline uint64_t tag_insert(uint64_t *s, int ways, uint64_t ln)
{
	uint64_t v = s[ways - 1];
	for (int i = ways - 1; i; i--)
		s[i] = s[i - 1];
	s[0] = ln;
	return v;
}

static void fill(struct core *c, uint64_t ln)
{
	if (!tag_find(c->l1[ln % L1S], L1W, ln))
		tag_insert(c->l1[ln % L1S], L1W, ln);
	if (tag_find(c->l2[ln % L2S], L2W, ln))
		return;
	uint64_t v = tag_insert(c->l2[ln % L2S], L2W, ln);
	if (!v)
		return;
	/* v goes back to the LLC. */
	struct line *L = &page_get(v)->l[v & 63];
	if (L->owner == c->id) {
		L->owner = -1;
		L->llc |= 1 << c->sock;
	}
	L->sh[c->id / 64] &= ~(1ULL << c->id % 64);
}

struct lstat *lstat_of(struct line *L, uint64_t ln)
{
	if (!L->st) {
		L->st = __libc_calloc(1, sizeof *L->st);
		L->st->line = ln << 6;
		L->st->next = allstat;
		allstat = L->st;
	}
	return L->st;
}

static void note(struct line *L, uintptr_t a, int kind, ps_t stall, ps_t queue,
		 void *pc)
{
	struct lstat *s = lstat_of(L, a >> 6);
	s->n++;
	s->nrmw += kind == RMW;
	s->cost += stall;
	s->queue += queue;
	s->offs |= 1ULL << (a & 63);
	s->cores[cc->id / 64] |= 1ULL << cc->id % 64;
	int m = 0;
	for (int i = 0; i < 4; i++) {
		if (s->pc[i].pc == pc) {
			s->pc[i].n++;
			return;
		}
		if (s->pc[i].n < s->pc[m].n)
			m = i;
	}
	if (s->pc[m].n)
		s->pc[m].n--;
	else {
		s->pc[m].pc = pc;
		s->pc[m].n = 1;
	}
}

static __attribute__((noinline)) void tick(struct core *c)
{
	if (c->tick && P_tick)
		c->clk += NS(P_tickcost * (0.5 + (rnd() >> 11) * 0x1p-53));
	c->tick = P_tick ? c->clk + NS(P_tick * (0.5 + (rnd() >> 11) * 0x1p-53))
			 : INF;
}

/* The access is a prefetch. */
static bool pf_mode;

void mem(uintptr_t a, int kind, void *pc)
{
	struct core *c = cc;
	const int me = c->id;
	const uint64_t ln = a >> 6, bit = 1ULL << me % 64;
	struct page *pg = page_get(ln);
	struct line *L = &pg->l[ln & 63];
	G.acc[kind]++;
	if (c->clk > c->tick)
		tick(c);
	/* Locked operations drain the store buffer. */
	if (kind == RMW && c->clk < c->sb)
		c->clk = c->sb;
	bool have = L->owner == me || (kind == RD && L->sh[me / 64] & bit);
	for (int i = 0; i < 4 && !have; i++)
		have = c->grace[i].ln == ln && c->clk < c->grace[i].until;
	if (have && !pf_mode && c->pqmax > c->clk)
		for (int i = 0; i < 16; i++)
			if (c->pq[i].ln == ln && c->pq[i].done > c->clk) {
				G.cost[K_DIRTY] += c->pq[i].done - c->clk;
				c->clk = c->pq[i].done;
			}
	if (have) {
		ps_t k = N_l1;
		if (tag_find(c->l1[ln % L1S], L1W, ln))
			G.n[K_L1]++;
		else {
			G.n[K_L2]++;
			k = NS(P_l2);
			tag_insert(c->l1[ln % L1S], L1W, ln);
			tag_find(c->l2[ln % L2S], L2W, ln);
		}
		c->clk += k + (kind == RMW ? N_rmw : 0);
		return;
	}
	bool mine = L->sh[me / 64] & bit, others = false, remote = false;
	for (int w = 0; w < NW; w++) {
		uint64_t s = L->sh[w] & ~(w == me / 64 ? bit : 0);
		others |= s != 0;
		for (; s && kind != RD && !remote; s &= s - 1)
			remote |= core[w * 64 + __builtin_ctzll(s)].sock !=
				  c->sock;
	}
	int k;
	double ns;
	const uint8_t sb = 1 << c->sock;
	if (L->owner >= 0) {
		remote = core[L->owner].sock != c->sock;
		k = remote ? K_DIRTYR : K_DIRTY;
		ns = remote ? P_dirty_remote : P_dirty;
	} else if (others && kind != RD) {
		k = remote ? K_INVALR : K_INVAL;
		ns = remote ? P_inval_remote : P_inval;
	} else if (others || mine || L->llc) {
		bool near = mine || L->llc & sb;
		k = near ? K_LLC : K_LLCR;
		ns = near ? P_llc : P_llc_remote;
	} else {
		k = K_COLD;
		ns = P_cold;
		if (pg->fresh) {
			pg->fresh = false;
			ns += P_fault;
			G.fault++;
		}
	}
	if (k != K_COLD) {
		bool seq = false;
		for (int i = 0; i < 4; i++)
			if (c->pf[i] + 1 == ln) {
				c->pf[i] = ln;
				seq = true;
			}
		if (!seq)
			c->pf[c->pfi++ & 3] = ln;
		else if (kind != RMW)
			ns /= P_prefetch;
		ns *= 1 + P_jitter * ((rnd() >> 11) * 0x1p-52 - 1);
	}
	const ps_t cost = NS(ns), occ = NS(ns * P_occ);
	ps_t done = c->clk + cost, hold = 0;
	if (L->busy + occ > done && P_hold > 0)
		hold = NS(-P_hold * log(((rnd() >> 11) + 1) * 0x1p-53));
	/* It queues behind transfers in flight. */
	if (L->busy + hold + occ > done)
		done = L->busy + hold + occ;
	const ps_t queue = done - cost - c->clk;
	if (kind == RD && L->owner < 0) { /* a shared copy */
		bool alone = !others && !mine;
		if (alone)
			L->owner = me;
		else {
			L->sh[me / 64] |= bit;
			L->llc |= sb;
		}
	} else {
		L->busy = done + (kind == RMW ? N_rmw : 0);
		if (L->owner >= 0) {
			struct core *p = &core[L->owner];
			p->grace[p->gri & 3].ln = ln;
			p->grace[p->gri++ & 3].until = done - occ;
		}
		if (kind == RD) {
			L->sh[me / 64] |= bit;
			L->sh[L->owner / 64] |= 1ULL << L->owner % 64;
			L->llc |= sb | 1 << core[L->owner].sock;
			L->owner = -1;
		} else {
			memset(L->sh, 0, sizeof L->sh);
			L->owner = me;
			L->llc = 0;
		}
	}
	ps_t stall = done - c->clk;
	/* The store buffer hides it, up to a point. */
	if (kind == WR && P_sb > 0 && !pf_mode) {
		if (done > c->sb)
			c->sb = done;
		stall = c->sb - c->clk - NS(P_sb);
		if (stall < 0)
			stall = 0;
	}
	if (pf_mode) {
		c->pq[c->pqi & 15].ln = ln;
		c->pq[c->pqi++ & 15].done = done;
		if (done > c->pqmax)
			c->pqmax = done;
		stall = 0;
	}
	fill(c, ln);
	G.n[k]++;
	G.cost[k] += stall;
	G.queue += queue;
	if (k >= K_DIRTY || (k != K_COLD && queue))
		note(L, a, kind, stall, queue, pc);
	c->clk += stall + N_l1 + (kind == RMW ? N_rmw : 0);
}

void mem_ahead(uintptr_t a, int kind, void *pc)
{
	pf_mode = true;
	mem(a, kind, pc);
	pf_mode = false;
}

__attribute__((noinline)) void acc(uintptr_t a, size_t n, int kind, bool plain,
				   void *pc)
{
	if (!self || !n)
		return;
	if (cc->clk > next_time + (plain ? N_lax : 0))
		resched();
	mem(a, kind, pc);
	for (uintptr_t e = a + n - 1, b = (a | 63) + 1; b <= e; b += 64)
		mem(b, kind, pc);
	/* It takes effect when the line is here: all up to then go first. */
	if (kind != WR && cc->clk > next_time + NS(P_l2 + P_rmw))
		resched();
}
