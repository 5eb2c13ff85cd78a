/* SPDX-License-Identifier: MIT */
/*
 * A simulator of many cores and of what they do to each other's caches.
 *
 * Code under test is compiled with -fsanitize=thread (cohsim-cc) and linked
 * with this file instead of the sanitizer's library: each access to memory
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
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cohsim.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/*
 * What things cost, in ns unless said.  COHSIM="cores=64,dirty=50" sets others.
 *
 * [N] github.com/nviennot/core-to-core-latency.  One way, within a socket and
 *     to another: Xeon 8375C 51 and 108, 8275CL 47 and 134, Gold 6242 48 and
 *     136, E5-2695 v4 44 and 118
 * [A] AnandTech's review of Ice Lake-SP, core to core
 * [I] Intel's Optimization Reference Manual
 * [L] Intel's Memory Latency Checker on Cascade Lake: 81 and 140 to memory of
 *     the own and of the other socket
 * [M] measured in a virtual machine with two CPUs (Sapphire Rapids)
 * [K] Linux' own settings
 * [C] chosen so that small known programs come out right
 */
#define PARAMS(X)                                                              \
	X(cores, 64, "simulated cores, at most 512")                           \
	X(sockets, 2, "sockets; cores are numbered socket by socket")          \
	X(place, 0, "where threads start: 0 socket 0 first, 1 in turn")        \
	X(seed, 1, "random seed (jitter only)")                                \
	X(jitter, 0.1, "transfers vary by such a share, against lockstep")     \
	X(lax, 5, "so far ahead of others plain accesses may be")              \
	X(l1, 0.65, "L1 hit, with the instructions around it [C]")             \
	X(func, 0.65, "function entry: what is no memory access [C]")          \
	X(l2, 4.0, "private L2 hit: 14 cycles [I]")                            \
	X(llc, 20, "clean line from the socket's LLC: 70 cycles [IA]")         \
	X(llc_remote, 100, "clean line from the other socket [LA]")            \
	X(cold, 4, "first touch of a line by anybody (prefetched)")            \
	X(fault, 500, "first touch of a page by anybody [M]")                  \
	X(dirty, 60, "line that another core of the socket owns [N]")          \
	X(dirty_remote, 130, "line that a core of another socket owns [N]")    \
	X(inval, 60, "ownership of a line that others share [N]")              \
	X(inval_remote, 130, "the same, one of them in another socket [N]")    \
	X(occ, 0.45, "share of a transfer that delays the next [C]")           \
	X(hold, 3, "how long a core keeps a line others want [C]")             \
	X(prefetch, 4, "a miss on the next line costs so much less")           \
	X(sb, 500, "so far stores may be behind; 0: none")                     \
	X(rmw, 6, "atomic read-modify-write, beside the access [M]")           \
	X(fence, 10, "full fence, after draining the store buffer [I]")        \
	X(pause, 43, "PAUSE: 140 cycles since Skylake [I]")                    \
	X(call, 3, "call of libc, without its accesses [M]")                   \
	X(malloc, 10, "malloc and free, of the thread's cache [M]")            \
	X(clock, 20, "clock_gettime without a system call [M]")                \
	X(getcpu, 3, "sched_getcpu by rseq [M]")                               \
	X(syscall, 150, "system call, entry and exit [M]")                     \
	X(fhold, 100, "a futex call holds its bucket's lock")                  \
	X(block, 500, "a futex wait, until the CPU is left")                   \
	X(waker, 1000, "waking one thread, to who wakes")                      \
	X(wake, 3000, "from wake to running on an idle core")                  \
	X(ctx, 1500, "context switch on a busy core")                          \
	X(quantum, 4000000, "time slice [K]")                                  \
	X(wgran, 4000000, "lead at which a woken thread preempts [K]")         \
	X(credit, 12000000, "bonus of a sleeper [K]")                          \
	X(tick, 1000000, "mean time between interrupts; 0: none [K]")          \
	X(tickcost, 2500, "length of such an interrupt")                       \
	X(slack, 50000, "timer slack, if the thread sets none [K]")            \
	X(swpf, 0, "1: prefetch instructions count, 16 in flight")             \
	X(create, 10000, "pthread_create")                                     \
	X(tsc_ghz, 2, "ticks of rdtsc a ns")                                   \
	X(top, 12, "so many of the hottest lines are reported")                \
	X(report, 1, "0: no report but the RESULT line")
#define X(n, v, d) static double P_##n = v;
PARAMS(X)
#undef X
typedef int64_t ps_t; /* picoseconds of virtual time */
#define NS(p) ((ps_t)(1000.0 * (p)))
#define INF   INT64_MAX
static ps_t N_l1, N_func, N_lax, N_rmw; /* the hot ones, converted once */

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

enum { RD, WR, RMW };

enum {
	K_L1,
	K_L2,
	K_COLD,
	K_LLC,
	K_LLCR,
	K_DIRTY,
	K_DIRTYR,
	K_INVAL,
	K_INVALR,
	NK
};

static const char *const kname[NK] = {"L1",        "L2",      "cold",
				      "llc",       "llc-rem", "dirty",
				      "dirty-rem", "inval",   "inval-rem"};

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

static struct thr *thr[MAXTHR];
static int nthr;
static struct core core[MAXCORE + 1];
static int ncore; /* core[ncore] is the observer's */
static int order[MAXCORE];
/* The core that is executed, its thread, and when somebody else is due. */
static struct core *cc;
static struct thr *cur;
static ps_t next_time;
/* NULL: not simulated, as at the start, in a parked thread, in the report. */
static __thread struct thr *self;
static bool measuring, reported;
static ps_t region0;

static struct {
	uint64_t n[NK], acc[3], mtx, mtx_cont, fwait, ftime, fwake, woken, ctx,
		preempt, migr, fault, fences, sys;
	ps_t cost[NK], queue, mtx_wait, busy0;
} G;
static struct lstat *allstat;

/* Small helpers. */

static long raw(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e,
			  r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "+a"(n)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return n;
}

static uint64_t rng = 88172645463325252ULL;

static uint64_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

/* The kernel's paths, by up to a quarter. */
static double vary(double ns)
{
	return ns * (0.75 + (rnd() >> 11) * 0x1p-54);
}

static uint64_t hash64(uint64_t k)
{
	k *= 0x9e3779b97f4a7c15ULL;
	return k ^ k >> 29;
}

#define REAL(f)                                                                \
	static __typeof__(f) *real;                                            \
	if (!real)                                                             \
	real = (__typeof__(real))dlsym(RTLD_NEXT, #f)
#define PC __builtin_return_address(0)

/* Fiber switch. */

void cohsim_swap_fsgs(void **save, void *to, uintptr_t fs),
	cohsim_swap_sys(void **save, void *to, uintptr_t fs);
#define SWAP(name, setfs)                                                      \
	".text\n.globl " name "\n" name ":\n"                                  \
	"push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"   \
	"mov %rsp,(%rdi); mov %rsi,%rsp\n" setfs                               \
	"\npop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret\n"
__asm__(SWAP("cohsim_swap_fsgs", "wrfsbase %rdx"));
__asm__(SWAP("cohsim_swap_sys",
	     "mov $158,%eax; mov $0x1002,%edi; mov %rdx,%rsi; syscall"));
static void (*swap)(void **, void *, uintptr_t);

/* Events: one heap of runnable cores and of timers. */

/* From this id on it is a timer. */
enum { EVT = 1 << 16 };

struct ev {
	ps_t t;
	uint32_t id, gen;
};
static struct ev *heap;
static unsigned hn, hcap;

static inline bool before(const struct ev *a, const struct ev *b)
{
	return a->t < b->t || (a->t == b->t && a->id < b->id);
}

static void sift_down(unsigned i)
{
	struct ev e = heap[i];
	for (unsigned c; (c = 2 * i + 1) < hn; i = c) {
		if (c + 1 < hn && before(&heap[c + 1], &heap[c]))
			c++;
		if (!before(&heap[c], &e))
			break;
		heap[i] = heap[c];
	}
	heap[i] = e;
}

static void ev_push(ps_t t, uint32_t id, uint32_t gen)
{
	if (hn == hcap)
		heap = __extension__({
			extern void *__libc_realloc(void *, size_t);
			__libc_realloc(heap, (hcap = hcap ? 2 * hcap : 1024) *
						     sizeof *heap);
		});
	struct ev e = {t, id, gen};
	unsigned i = hn++;
	for (unsigned p; i && before(&e, &heap[p = (i - 1) / 2]); i = p)
		heap[i] = heap[p];
	heap[i] = e;
	if (t < next_time)
		next_time = t;
}

static __attribute__((noreturn)) void deadlock(void);

static struct ev ev_pop(void)
{
	if (!hn)
		deadlock();
	struct ev e = heap[0];
	heap[0] = heap[--hn];
	if (hn)
		sift_down(0);
	return e;
}

/* Scheduler: CFS-like, vruntime, one queue per core. */

static void account(struct core *c)
{
	ps_t d = c->clk - c->at;
	c->at = c->clk;
	c->busy += d;
	c->cur->vr += d;
	c->cur->ran += d;
	ps_t m = c->cur->vr;
	for (struct thr *t = c->q; t; t = t->qnext)
		if (t->vr < m)
			m = t->vr;
	if (m > c->minvr)
		c->minvr = m;
}

static void q_add(struct core *c, struct thr *t)
{
	t->qnext = c->q;
	c->q = t;
	c->nq++;
	t->core = c->id;
	t->state = READY;
}

static struct thr *q_take(struct core *c, bool steal)
{
	struct thr **best = NULL;
	for (struct thr **p = &c->q; *p; p = &(*p)->qnext)
		if (!(steal && (*p)->pin >= 0) &&
		    (!best || (*p)->vr < (*best)->vr))
			best = p;
	if (!best)
		return NULL;
	struct thr *t = *best;
	*best = t->qnext;
	c->nq--;
	return t;
}

static void run_on(struct core *c, struct thr *t)
{
	if (t->core != c->id && t->core >= 0)
		G.migr++;
	c->cur = c->last = t;
	t->core = c->id;
	t->state = RUN;
	c->at = c->clk;
	c->slice_end = c->clk + NS(P_quantum);
}

/* The next thread for a core that has none.  False: it is idle. */
static bool pick(struct core *c)
{
	struct thr *t = q_take(c, false);
	if (!t && c->id == ncore)
		return false;
	/* It would be idle: steal from the longest queue. */
	if (!t) {
		struct core *b = NULL;
		for (int i = 0; i < ncore; i++)
			if (core[i].nq && (!b || core[i].nq > b->nq))
				b = &core[i];
		if (!b || !(t = q_take(b, true)))
			return false;
		t->vr += c->minvr - b->minvr;
	}
	if (c->clk < t->ready)
		c->clk = t->ready;
	if (c->last != t) {
		c->clk += NS(P_ctx);
		G.ctx++;
	}
	run_on(c, t);
	return true;
}

static void preempt(struct core *c)
{
	struct thr *t = c->cur;
	account(c);
	t->ready = c->clk;
	q_add(c, t);
	c->cur = NULL;
	G.preempt++;
	pick(c);
}

static void wake(struct thr *t, ps_t when)
{
	t->gen++;
	t->ready = when;
	struct core *c = NULL;
	if (t->pin >= 0)
		c = core[t->pin].cur ? NULL : &core[t->pin];
	else if (t->core >= 0 && !core[t->core].cur)
		c = &core[t->core];
	else
		for (int pass = t->core < 0; pass < 2 && !c; pass++)
			for (int i = 0; i < ncore && !c; i++) {
				struct core *k = &core[order[i]];
				if (!k->cur &&
				    (pass || k->sock == core[t->core].sock))
					c = k;
			}
	if (t->vr < -NS(P_credit))
		t->vr = -NS(P_credit);
	if (c) { /* it is idle */
		if (c->clk < when)
			c->clk = when;
		c->clk += NS(vary(P_wake));
		G.ctx++;
		t->vr += c->minvr;
		run_on(c, t);
		ev_push(c->clk, c->id, 0);
		return;
	}
	if (t->pin >= 0)
		c = &core[t->pin];
	else if (t->core >= 0)
		c = &core[t->core];
	else {
		c = &core[0];
		for (int i = 1; i < ncore; i++)
			if (core[i].nq < c->nq)
				c = &core[i];
	}
	account(c);
	t->vr += c->minvr;
	q_add(c, t);
	if (c->cur->vr - t->vr > NS(P_wgran) && when < c->slice_end)
		c->slice_end = when;
	if (c == cc && c->slice_end < next_time)
		next_time = c->slice_end;
}

static void unqueue(struct thr *t);

static __attribute__((noreturn)) void deadlock(void)
{
	fprintf(stderr, "cohsim: deadlock, no core can run\n");
	for (int i = 0; i < nthr; i++)
		if (thr[i]->state != DONE)
			fprintf(stderr,
				"  thread %d (%s) state %d waits on %p\n", i,
				thr[i]->name, thr[i]->state,
				(void *)thr[i]->wa);
	_exit(3);
}

/* Runs event e, or who is next.  Returns when the caller is resumed. */
static void dispatch(struct ev e)
{
	for (;; e = ev_pop()) {
		if (e.id >= EVT) { /* timer */
			struct thr *t = thr[e.id - EVT];
			if (t->gen == e.gen && t->state == BLOCKED) {
				if (t->wa) {
					t->timedout = true;
					G.ftime++;
				}
				unqueue(t);
				wake(t, e.t);
			}
			continue;
		}
		struct core *c = &core[e.id];
		if (c->nq && c->clk >= c->slice_end) {
			preempt(c);
			ev_push(c->clk, c->id, 0);
			continue;
		}
		cc = c;
		next_time = hn ? heap[0].t : INF;
		if (c->nq && c->slice_end < next_time)
			next_time = c->slice_end;
		struct thr *o = cur;
		if (o != c->cur) {
			cur = c->cur;
			swap(&o->rsp, cur->rsp, cur->fs);
		}
		return;
	}
}

/* The current core has passed next_time. */
static __attribute__((noinline)) void resched(void)
{
	struct core *c = cc;
	if (c->nq && c->clk >= c->slice_end)
		preempt(c);
	else {
		next_time = hn ? heap[0].t : INF;
		if (c->nq && c->slice_end < next_time)
			next_time = c->slice_end;
		if (c->clk <= next_time)
			return;
	}
	if (!hn) {
		ev_push(c->clk, c->id, 0);
		dispatch(ev_pop());
		return;
	}
	struct ev e = heap[0];
	heap[0] = (struct ev){c->clk, c->id, 0};
	sift_down(0);
	dispatch(e);
}

static inline void sync_(void)
{
	if (cc->clk > next_time)
		resched();
}

static void charge(double ns)
{
	cc->clk += NS(ns);
}

/* The current thread leaves its core; returns when it was woken. */
static void block(void)
{
	struct core *c = cc;
	struct thr *t = cur;
	account(c);
	t->vr -= c->minvr;
	t->state = t->state == DONE ? DONE : BLOCKED;
	c->cur = NULL;
	if (pick(c))
		ev_push(c->clk, c->id, 0);
	dispatch(ev_pop());
}

/* Memory: directory MESI at 64-byte lines, private L1/L2 tags per core. */

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

static inline struct page *page_get(uint64_t ln)
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

static struct lstat *lstat_of(struct line *L, uint64_t ln)
{
	extern void *__libc_calloc(size_t, size_t);
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

static void mem(uintptr_t a, int kind, void *pc)
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

static __attribute__((noinline)) void acc(uintptr_t a, size_t n, int kind,
					  bool plain, void *pc)
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

#define RMWAT(p) acc((uintptr_t)(p), sizeof *(p), RMW, false, PC)
#define RDAT(p)  acc((uintptr_t)(p), sizeof *(p), RD, false, PC)

/* Compiler interface: what gcc 12 -fsanitize=thread emits. */

void __tsan_init(void)
{
}

void __tsan_func_entry(void *ra)
{
	(void)ra;
	struct thr *t = self;
	if (t) {
		t->stk[t->depth++ & 63] = PC;
		cc->clk += N_func;
	}
}

void __tsan_func_exit(void)
{
	struct thr *t = self;
	if (t)
		t->depth--;
}

#define PLAIN(n)                                                               \
	void __tsan_read##n(void *p)                                           \
	{                                                                      \
		acc((uintptr_t)p, n, RD, true, PC);                            \
	}                                                                      \
	void __tsan_write##n(void *p)                                          \
	{                                                                      \
		acc((uintptr_t)p, n, WR, true, PC);                            \
	}                                                                      \
	void __tsan_unaligned_read##n(void *p)                                 \
	{                                                                      \
		acc((uintptr_t)p, n, RD, true, PC);                            \
	}                                                                      \
	void __tsan_unaligned_write##n(void *p)                                \
	{                                                                      \
		acc((uintptr_t)p, n, WR, true, PC);                            \
	}                                                                      \
	void __tsan_volatile_read##n(void *p)                                  \
	{                                                                      \
		acc((uintptr_t)p, n, RD, false, PC);                           \
	}                                                                      \
	void __tsan_volatile_write##n(void *p)                                 \
	{                                                                      \
		acc((uintptr_t)p, n, WR, false, PC);                           \
	}
PLAIN(1);
PLAIN(2);
PLAIN(4);
PLAIN(8);
PLAIN(16);

void __tsan_read_range(void *p, long n)
{
	acc((uintptr_t)p, n, RD, true, PC);
}

void __tsan_write_range(void *p, long n)
{
	acc((uintptr_t)p, n, WR, true, PC);
}

void __tsan_vptr_update(void *p, void *v)
{
	(void)v;
	acc((uintptr_t)p, 8, WR, true, PC);
}

void __tsan_vptr_read(void *p)
{
	acc((uintptr_t)p, 8, RD, true, PC);
}

/* Where the core sees p: memory, or what was there before a buffered store. */
static void *view(volatile void *p)
{
	uint64_t ln = (uintptr_t)p >> 6;
	struct lstat *s;
	if (self && (s = page_get(ln)->l[ln & 63].st) &&
	    s->pend.addr == (uintptr_t)p && s->pend.vis > cc->clk &&
	    s->pend.core != cc->id)
		return &s->pend.old;
	return (void *)p;
}

/* Called between the access and the store itself. */
static void buffered(volatile void *p, size_t n)
{
	uint64_t ln = (uintptr_t)p >> 6;
	struct lstat *s;
	if (!self || cc->sb <= cc->clk || !(s = page_get(ln)->l[ln & 63].st))
		return;
	s->pend.addr = (uintptr_t)p;
	s->pend.vis = cc->sb;
	s->pend.core = cc->id;
	memcpy(&s->pend.old, (void *)p, n);
}

/* Only the runner executes code under test: plain operations are atomic. */
#define ATOMIC(T, n)                                                           \
	T __tsan_atomic##n##_load(const volatile T *p, int mo)                 \
	{                                                                      \
		(void)mo;                                                      \
		acc((uintptr_t)p, n / 8, RD, false, PC);                       \
		return *(T *)view((volatile void *)p);                         \
	}                                                                      \
	void __tsan_atomic##n##_store(volatile T *p, T v, int mo)              \
	{                                                                      \
		if (mo == __ATOMIC_SEQ_CST)                                    \
			acc((uintptr_t)p, n / 8, RMW, false, PC);              \
		else {                                                         \
			acc((uintptr_t)p, n / 8, WR, false, PC);               \
			buffered(p, n / 8);                                    \
		}                                                              \
		*p = v;                                                        \
	}                                                                      \
	int __tsan_atomic##n##_compare_exchange_strong(volatile T *p, T *e,    \
						       T v, int mo, int fo)    \
	{                                                                      \
		(void)mo;                                                      \
		(void)fo;                                                      \
		acc((uintptr_t)p, n / 8, RMW, false, PC);                      \
		T *m = view(p), o = *m;                                        \
		if (o == *e) {                                                 \
			*m = v;                                                \
			return 1;                                              \
		}                                                              \
		*e = o;                                                        \
		return 0;                                                      \
	}                                                                      \
	int __tsan_atomic##n##_compare_exchange_weak(volatile T *p, T *e, T v, \
						     int mo, int fo)           \
	{                                                                      \
		(void)mo;                                                      \
		(void)fo;                                                      \
		acc((uintptr_t)p, n / 8, RMW, false, PC);                      \
		T *m = view(p), o = *m;                                        \
		if (o == *e) {                                                 \
			*m = v;                                                \
			return 1;                                              \
		}                                                              \
		*e = o;                                                        \
		return 0;                                                      \
	}                                                                      \
	T __tsan_atomic##n##_compare_exchange_val(volatile T *p, T e, T v,     \
						  int mo, int fo)              \
	{                                                                      \
		(void)mo;                                                      \
		(void)fo;                                                      \
		acc((uintptr_t)p, n / 8, RMW, false, PC);                      \
		T *m = view(p), o = *m;                                        \
		if (o == e)                                                    \
			*m = v;                                                \
		return o;                                                      \
	}                                                                      \
	FETCH(T, n, exchange, v);                                              \
	FETCH(T, n, fetch_add, o + v);                                         \
	FETCH(T, n, fetch_sub, o - v);                                         \
	FETCH(T, n, fetch_and, (o) & (v));                                     \
	FETCH(T, n, fetch_or, o | v);                                          \
	FETCH(T, n, fetch_xor, o ^ v);                                         \
	FETCH(T, n, fetch_nand, ~(o & v))
#define FETCH(T, n, op, ex)                                                    \
	T __tsan_atomic##n##_##op(volatile T *p, T v, int mo)                  \
	{                                                                      \
		(void)mo;                                                      \
		acc((uintptr_t)p, n / 8, RMW, false, PC);                      \
		T *m = view(p), o = *m;                                        \
		*m = (T)(ex);                                                  \
		return o;                                                      \
	}
ATOMIC(uint8_t, 8);
ATOMIC(uint16_t, 16);
ATOMIC(uint32_t, 32);
ATOMIC(uint64_t, 64);
ATOMIC(unsigned __int128, 128);

void __tsan_atomic_thread_fence(int mo)
{
	if (!self || mo != __ATOMIC_SEQ_CST)
		return;
	sync_();
	G.fences++;
	if (cc->clk < cc->sb)
		cc->clk = cc->sb;
	charge(P_fence);
}

void __tsan_atomic_signal_fence(int mo)
{
	(void)mo;
}

/* What prelude.s calls. */
void *cohsim_memcpy(void *d, const void *s, size_t n)
{
	acc((uintptr_t)s, n, RD, true, PC);
	acc((uintptr_t)d, n, WR, true, PC);
	return memcpy(d, s, n);
}

void *cohsim_memmove(void *d, const void *s, size_t n)
{
	acc((uintptr_t)s, n, RD, true, PC);
	acc((uintptr_t)d, n, WR, true, PC);
	return memmove(d, s, n);
}

void *cohsim_memset(void *d, int v, size_t n)
{
	acc((uintptr_t)d, n, WR, true, PC);
	return memset(d, v, n);
}

__attribute__((used)) static void pause_c(void)
{
	if (self) {
		charge(P_pause);
		sync_();
	}
}

__attribute__((used)) static uint64_t rdtsc_c(void)
{
	if (!self)
		return __builtin_ia32_rdtsc();
	sync_();
	charge(8);
	return cc->clk / 1000 * P_tsc_ghz;
}

__attribute__((used)) static uint64_t cpu_c(void)
{
	return self ? cc->id % ncore : 0;
}

__attribute__((used)) static void prefetch_c(uintptr_t a, int kind)
{
	if (!self || !P_swpf)
		return;
	int busy = 0;
	if (cc->pqmax > cc->clk)
		for (int i = 0; i < 16; i++)
			busy += cc->pq[i].done > cc->clk;
	cc->clk += N_l1;
	if (busy >= 15)
		return;
	if (cc->clk > next_time)
		resched();
	pf_mode = true;
	mem(a, kind, PC);
	pf_mode = false;
}

#define SAVE                                                                   \
	"pushfq; push %rbp; push %rbx; push %rax; push %rcx; push %rdx; push " \
	"%rsi; push %rdi; push %r8; push %r9; push %r10; push %r11\n"          \
	"mov %rsp,%rbp; and $-64,%rsp; sub $512,%rsp; fxsave64 (%rsp); cld\n"
#define REST                                                                   \
	"fxrstor64 (%rsp); mov %rbp,%rsp\n pop %r11; pop %r10; pop %r9; pop "  \
	"%r8; pop %rdi; pop %rsi; pop %rdx; pop %rcx; pop %rax; pop %rbx; "    \
	"pop %rbp; popfq; ret\n"
__asm__(".globl cohsim_pause_asm, cohsim_rdtsc_asm, cohsim_rdtscp_asm\n"
	"cohsim_pause_asm:\n" SAVE "call pause_c\n" REST
	".globl cohsim_pfw_asm, cohsim_pfr_asm\n"
	"cohsim_pfw_asm:\n" SAVE "mov $1,%esi; call prefetch_c\n" REST
	"cohsim_pfr_asm:\n" SAVE "mov $0,%esi; call prefetch_c\n" REST
	"cohsim_rdtscp_asm:\n" SAVE
	"call cpu_c; mov %rax,56(%rbp); call rdtsc_c; jmp 1f\n"
	"cohsim_rdtsc_asm:\n" SAVE "call rdtsc_c\n"
	"1: mov %eax,%ecx; shr $32,%rax; mov %rax,48(%rbp); mov "
	"%rcx,64(%rbp)\n" REST);

/* Futex. */

static struct {
	struct thr *first, *last;
	uintptr_t name;
} fq[4096];
/* Where the kernel's futex buckets are, to the caches. */
#define KBASE (1ULL << 60)

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

static void unqueue(struct thr *t)
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

/* After kenter, when the value is what was expected. */
static int sleep_on(uintptr_t a, uint32_t bits, ps_t deadline)
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

static int fwake(uintptr_t a, int n, uint32_t bits, void *pc)
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

static int fwait(unsigned *p, unsigned v, uint32_t bits, ps_t deadline,
		 void *pc)
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

/* Time. */

static const ps_t mono0 = 1000LL * 1000000000000;
static const ps_t real0 = 1700000000LL * 1000; /* ms */
static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * 1000000000LL + t->tv_nsec;
}

static ps_t deadline_of(const struct timespec *ts, clockid_t id)
{
	if (!ts)
		return INF;
	int64_t ns = ns_of(ts) -
		     (id == CLOCK_REALTIME ? real0 * 1000000 : mono0 / 1000);
	return ns < 0 ? 0 : ns > 900000000000000LL ? INF : ns * 1000;
}

static ps_t in_ps(const struct timespec *ts)
{
	return !ts ? INF
		   : cc->clk + (ns_of(ts) < 9000000000000LL ? ns_of(ts)
							    : 9000000000000LL) *
				       1000;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	if (!self)
		return raw(SYS_clock_gettime, id, (long)ts, 0, 0, 0, 0);
	int64_t ns;
	sync_();
	charge(id == CLOCK_MONOTONIC_COARSE || id == CLOCK_REALTIME_COARSE
		       ? 5
		       : P_clock);
	if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
		ns = real0 * 1000000 + cc->clk / 1000;
	else if (id == CLOCK_THREAD_CPUTIME_ID ||
		 id == CLOCK_PROCESS_CPUTIME_ID) {
		account(cc);
		ns = cur->ran / 1000;
	} else
		ns = (mono0 + cc->clk) / 1000;
	ts->tv_sec = ns / 1000000000;
	ts->tv_nsec = ns % 1000000000;
	return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	(void)tz;
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	tv->tv_sec = t.tv_sec;
	tv->tv_usec = t.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	if (out)
		*out = t.tv_sec;
	return t.tv_sec;
}

int clock_nanosleep(clockid_t id, int fl, const struct timespec *rq,
		    struct timespec *rm)
{
	(void)rm;
	if (!self)
		return -raw(SYS_clock_nanosleep, id, fl, (long)rq, 0, 0, 0);
	charge(P_syscall);
	sync_();
	sleep_on(0, 0, fl & TIMER_ABSTIME ? deadline_of(rq, id) : in_ps(rq));
	return 0;
}

int nanosleep(const struct timespec *rq, struct timespec *rm)
{
	return clock_nanosleep(CLOCK_MONOTONIC, 0, rq, rm);
}

int usleep(useconds_t us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000L};
	return nanosleep(&t, NULL);
}

unsigned sleep(unsigned s)
{
	struct timespec t = {s, 0};
	nanosleep(&t, NULL);
	return 0;
}

/* System interface. */

static long sys_futex(unsigned *p, int op, unsigned v,
		      const struct timespec *ts, unsigned *p2, unsigned v3,
		      void *pc)
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

int sched_getcpu(void)
{
	if (!self)
		return 0;
	sync_();
	charge(P_getcpu);
	return cc->id % ncore;
}

long syscall(long n, ...)
{
	va_list ap;
	long a[6];
	va_start(ap, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (self)
		switch (n) {
		case SYS_futex:
			return sys_futex((unsigned *)a[0], a[1], a[2],
					 (struct timespec *)a[3],
					 (unsigned *)a[4], a[5], PC);
		case SYS_gettid:
			charge(P_syscall);
			return 100000 + self->idx;
		case SYS_getcpu:
			if (a[0])
				*(unsigned *)a[0] = sched_getcpu();
			if (a[1])
				*(unsigned *)a[1] = cc->sock;
			return 0;
		case SYS_clock_gettime:
			charge(P_syscall);
			return clock_gettime(a[0], (struct timespec *)a[1]);
		case SYS_sched_yield:
			return sched_yield();
		case SYS_membarrier:
			sync_();
			charge(P_syscall +
			       (a[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED ? 2000
									 : 0));
			return 0;
		default:
			charge(P_syscall);
		}
	long r = raw(n, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (r < 0 && r > -4096) {
		errno = -r;
		return -1;
	}
	return r;
}

pid_t gettid(void)
{
	return self ? 100000 + self->idx : raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

int sched_yield(void)
{
	if (!self)
		return raw(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	charge(P_syscall + 150);
	sync_();
	struct core *c = cc;
	if (c->nq) {
		struct thr *t = c->cur, *n = q_take(c, false);
		account(c);
		t->ready = c->clk;
		q_add(c, t);
		charge(P_ctx);
		G.ctx++;
		run_on(c, n);
		ev_push(c->clk, c->id, 0);
		dispatch(ev_pop());
	}
	return 0;
}

long sysconf(int n)
{
	REAL(sysconf);
	return self && (n == _SC_NPROCESSORS_ONLN || n == _SC_NPROCESSORS_CONF)
		       ? ncore
		       : real(n);
}

int get_nprocs(void)
{
	return ncore ? ncore : 1;
}

int get_nprocs_conf(void)
{
	return get_nprocs();
}

int sched_getaffinity(pid_t p, size_t n, cpu_set_t *s)
{
	(void)p;
	CPU_ZERO_S(n, s);
	for (int i = 0; i < ncore; i++)
		CPU_SET_S(i, n, s);
	return 0;
}

int pthread_getaffinity_np(pthread_t t, size_t n, cpu_set_t *s)
{
	(void)t;
	return sched_getaffinity(0, n, s);
}

static struct thr *find(pthread_t p)
{
	for (int i = nthr; i--;)
		if (thr[i]->real == p && thr[i]->os < 2)
			return thr[i];
	return NULL;
}

/* One CPU pins, several do not. */
int pthread_setaffinity_np(pthread_t p, size_t n, const cpu_set_t *s)
{
	struct thr *t = find(p);
	int k = -1;
	if (!self || !t)
		return ESRCH;
	if (CPU_COUNT_S(n, s) == 1)
		for (int i = 0; i < ncore; i++)
			if (CPU_ISSET_S(i, n, s))
				k = i;
	t->pin = k;
	charge(P_syscall);
	if (t == cur && k >= 0 && cc->id != k) {
		t->ready = cc->clk;
		ev_push(cc->clk, EVT + t->idx, t->gen);
		block();
	}
	return 0;
}

int sched_setaffinity(pid_t p, size_t n, const cpu_set_t *s)
{
	return p || !self ? 0 : pthread_setaffinity_np(self->real, n, s);
}

int pthread_setname_np(pthread_t p, const char *s)
{
	struct thr *t = find(p);
	if (t)
		snprintf(t->name, sizeof t->name, "%s", s);
	return 0;
}

int prctl(int op, ...)
{
	va_list ap;
	unsigned long a[4];
	va_start(ap, op);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (self && op == PR_SET_TIMERSLACK) {
		self->slack = a[0] ? (ps_t)a[0] * 1000 : NS(P_slack);
		return 0;
	}
	if (self && op == PR_GET_TIMERSLACK)
		return self->slack / 1000;
	long r = raw(SYS_prctl, op, a[0], a[1], a[2], a[3], 0);
	if (r < 0) {
		errno = -r;
		return -1;
	}
	return r;
}

/* Pthread: locks keep their state in the user's object, so static initialisers
 * work. */

static void lock_note(void *w, ps_t t0)
{
	ps_t d = cc->clk - t0;
	uint64_t ln = (uintptr_t)w >> 6;
	struct lstat *s = lstat_of(&page_get(ln)->l[ln & 63], ln);
	s->nlock++;
	s->lockwait += d;
	G.mtx_cont++;
	G.mtx_wait += d;
}

static int mtx_lock(pthread_mutex_t *m, bool try, ps_t deadline, void *pc)
{
	unsigned *w = (unsigned *)&m->__data.__lock;
	int kind = m->__data.__kind & 3;
	if (!self) {
		*w = 1;
		return 0;
	}
	int id = self->idx + 1;
	charge(P_call);
	if ((kind == PTHREAD_MUTEX_RECURSIVE ||
	     kind == PTHREAD_MUTEX_ERRORCHECK) &&
	    m->__data.__owner == id) {
		if (kind == PTHREAD_MUTEX_ERRORCHECK)
			return try ? EBUSY : EDEADLK;
		m->__data.__count++;
		return 0;
	}
	acc((uintptr_t)w, 4, RMW, false, pc);
	G.mtx++;
	if (*w == 0)
		*w = 1;
	else if (try)
		return EBUSY;
	else { /* as glibc: 2 says that somebody waits */
		ps_t t0 = cc->clk;
		bool got = false;
		for (int i = 0;
		     kind == PTHREAD_MUTEX_ADAPTIVE_NP && i < 100 && !got;
		     i++) {
			charge(P_pause);
			acc((uintptr_t)w, 4, RD, false, pc);
			if (!*w) {
				acc((uintptr_t)w, 4, RMW, false, pc);
				if (!*w) {
					*w = 1;
					got = true;
				}
			}
		}
		for (bool first = true; !got; first = false) {
			if (first)
				acc((uintptr_t)w, 4, RD, false, pc);
			if (!first || *w != 2) {
				acc((uintptr_t)w, 4, RMW, false, pc);
				unsigned o = *w;
				*w = 2;
				if (!o)
					break;
			}
			if (fwait(w, 2, ~0u, deadline, pc) == ETIMEDOUT) {
				lock_note(w, t0);
				return ETIMEDOUT;
			}
		}
		lock_note(w, t0);
	}
	m->__data.__owner = id;
	if (kind == PTHREAD_MUTEX_RECURSIVE)
		m->__data.__count = 1;
	cc->clk += N_l1;
	return 0;
}

static int mtx_unlock(pthread_mutex_t *m, void *pc)
{
	unsigned *w = (unsigned *)&m->__data.__lock;
	if (!self) {
		*w = 0;
		return 0;
	}
	charge(P_call);
	if ((m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE &&
	    --m->__data.__count)
		return 0;
	m->__data.__owner = 0;
	acc((uintptr_t)w, 4, RMW, false, pc);
	unsigned o = *w;
	*w = 0;
	if (o == 2)
		fwake((uintptr_t)w, 1, ~0u, pc);
	return 0;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	return mtx_lock(m, false, INF, PC);
}

int pthread_mutex_trylock(pthread_mutex_t *m)
{
	return mtx_lock(m, true, INF, PC);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict m,
			    const struct timespec *restrict t)
{
	return mtx_lock(m, false, deadline_of(t, CLOCK_REALTIME), PC);
}

int pthread_mutex_clocklock(pthread_mutex_t *restrict m, clockid_t c,
			    const struct timespec *restrict t)
{
	return mtx_lock(m, false, deadline_of(t, c), PC);
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	return mtx_unlock(m, PC);
}

/*
 * Members that each glibc has and that its own code never sees: a count of
 * signals, waiters.
 */
#define CSEQ(c)  ((c)->__data.__g_size[0])
#define CWAIT(c) ((c)->__data.__g_size[1])

static int cond_wait(pthread_cond_t *c, pthread_mutex_t *m, ps_t deadline,
		     void *pc)
{
	charge(P_call);
	acc((uintptr_t)&CSEQ(c), 4, RMW, false, pc);
	CWAIT(c)++;
	unsigned s = CSEQ(c);
	mtx_unlock(m, pc);
	int r = fwait(&CSEQ(c), s, ~0u, deadline, pc);
	acc((uintptr_t)&CSEQ(c), 4, RMW, false, pc);
	if (r == ETIMEDOUT && CWAIT(c))
		CWAIT(c)--;
	mtx_lock(m, false, INF, pc);
	return r == ETIMEDOUT ? ETIMEDOUT : 0;
}

static int cond_wake(pthread_cond_t *c, int n, void *pc)
{
	if (!self)
		return 0;
	charge(P_call);
	acc((uintptr_t)&CSEQ(c), 4, RD, false, pc);
	if (!CWAIT(c))
		return 0;
	acc((uintptr_t)&CSEQ(c), 4, RMW, false, pc);
	CSEQ(c)++;
	CWAIT(c) = n == 1 && CWAIT(c) ? CWAIT(c) - 1 : 0;
	fwake((uintptr_t)&CSEQ(c), n, ~0u, pc);
	return 0;
}

int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
	return cond_wait(c, m, INF, PC);
}

int pthread_cond_timedwait(pthread_cond_t *restrict c,
			   pthread_mutex_t *restrict m,
			   const struct timespec *restrict t)
{
	return cond_wait(c, m,
			 deadline_of(t, c->__data.__wrefs & 2 ? CLOCK_MONOTONIC
							      : CLOCK_REALTIME),
			 PC);
}

int pthread_cond_clockwait(pthread_cond_t *restrict c,
			   pthread_mutex_t *restrict m, clockid_t id,
			   const struct timespec *restrict t)
{
	return cond_wait(c, m, deadline_of(t, id), PC);
}

int pthread_cond_signal(pthread_cond_t *c)
{
	return cond_wake(c, 1, PC);
}

int pthread_cond_broadcast(pthread_cond_t *c)
{
	return cond_wake(c, MAXTHR, PC);
}

/* add: 1 of a reader, 1 << 31 of a writer. */
static int rw_lock(pthread_rwlock_t *l, unsigned add, bool try, void *pc)
{
	unsigned *w = &l->__data.__readers;
	if (!self)
		return 0;
	charge(P_call);
	for (;;) {
		acc((uintptr_t)w, 4, RMW, false, pc);
		if (add == 1 ? !(*w >> 31) : !*w) {
			*w += add;
			return 0;
		}
		if (try)
			return EBUSY;
		l->__data.__writers++;
		unsigned v = *w;
		fwait(w, v, ~0u, INF, pc);
		l->__data.__writers--;
	}
}

int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	return rw_lock(l, 1, false, PC);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	return rw_lock(l, 1u << 31, false, PC);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	return rw_lock(l, 1, true, PC);
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	return rw_lock(l, 1u << 31, true, PC);
}

int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	unsigned *w = &l->__data.__readers;
	if (!self)
		return 0;
	charge(P_call);
	RMWAT(w);
	*w = *w >> 31 ? 0 : *w - 1;
	if (!*w && l->__data.__writers)
		fwake((uintptr_t)w, MAXTHR, ~0u, PC);
	return 0;
}

/* As glibc: 1 is free. */
int pthread_spin_lock(pthread_spinlock_t *l)
{
	if (!self) {
		*l = 0;
		return 0;
	}
	charge(P_call);
	for (;;) {
		RMWAT(l);
		if (*l > 0) {
			*l = 0;
			return 0;
		}
		while (*l <= 0) {
			charge(P_pause);
			RDAT(l);
		}
	}
}

int pthread_spin_trylock(pthread_spinlock_t *l)
{
	charge(P_call);
	RMWAT(l);
	if (*l <= 0)
		return EBUSY;
	*l = 0;
	return 0;
}

int pthread_spin_unlock(pthread_spinlock_t *l)
{
	acc((uintptr_t)l, 4, WR, false, PC);
	*l = 1;
	return 0;
}

int pthread_spin_init(pthread_spinlock_t *l, int s)
{
	(void)s;
	*l = 1;
	return 0;
}

struct bar {
	unsigned in, round, count;
};

int pthread_barrier_init(pthread_barrier_t *restrict b,
			 const pthread_barrierattr_t *restrict a, unsigned n)
{
	(void)a;
	*(struct bar *)b = (struct bar){0, 0, n};
	return 0;
}

int pthread_barrier_wait(pthread_barrier_t *bb)
{
	struct bar *b = (struct bar *)bb;
	charge(P_call);
	RMWAT(&b->in);
	unsigned r = b->round;
	if (++b->in == b->count) {
		b->in = 0;
		b->round++;
		fwake((uintptr_t)&b->round, MAXTHR, ~0u, PC);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	while (b->round == r)
		fwait(&b->round, r, ~0u, INF, PC);
	return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *b)
{
	(void)b;
	return 0;
}

int pthread_once(pthread_once_t *o, void (*f)(void))
{
	unsigned *w = (unsigned *)o;
	if (!self) {
		if (*w != 2) {
			*w = 2;
			f();
		}
		return 0;
	}
	RDAT(w);
	if (*w == 2)
		return 0;
	RMWAT(w);
	if (*w == 0) {
		*w = 1;
		f();
		RMWAT(w);
		*w = 2;
		fwake((uintptr_t)w, MAXTHR, ~0u, PC);
	}
	while (*w != 2)
		fwait(w, 1, ~0u, INF, PC);
	return 0;
}

/* As glibc: the value is in word 0, who waits in word 1. */
static int sem_down(sem_t *s, bool try, ps_t deadline, void *pc)
{
	unsigned *w = (unsigned *)s;
	charge(P_call);
	for (;;) {
		acc((uintptr_t)w, 4, RMW, false, pc);
		if (*w) {
			--*w;
			return 0;
		}
		if (try) {
			errno = EAGAIN;
			return -1;
		}
		w[1]++;
		int r = fwait(w, 0, ~0u, deadline, pc);
		w[1]--;
		if (r == ETIMEDOUT) {
			errno = r;
			return -1;
		}
	}
}

int sem_wait(sem_t *s)
{
	return sem_down(s, false, INF, PC);
}

int sem_trywait(sem_t *s)
{
	return sem_down(s, true, INF, PC);
}

int sem_timedwait(sem_t *restrict s, const struct timespec *restrict t)
{
	return sem_down(s, false, deadline_of(t, CLOCK_REALTIME), PC);
}

int sem_clockwait(sem_t *restrict s, clockid_t c,
		  const struct timespec *restrict t)
{
	return sem_down(s, false, deadline_of(t, c), PC);
}

int sem_post(sem_t *s)
{
	unsigned *w = (unsigned *)s;
	charge(P_call);
	RMWAT(w);
	++*w;
	if (w[1])
		fwake((uintptr_t)w, 1, ~0u, PC);
	return 0;
}

/* Thread-specific data and thread_local destructors: run in the fiber, so they
 * are simulated. */

static struct {
	void (*d)(void *);
	bool used;
} keys[MAXKEY];
static __thread void *tsd[MAXKEY];

int pthread_key_create(pthread_key_t *k, void (*d)(void *))
{
	for (int i = 0; i < MAXKEY; i++)
		if (!keys[i].used) {
			keys[i].used = true;
			keys[i].d = d;
			*k = i;
			return 0;
		}
	return EAGAIN;
}

int pthread_key_delete(pthread_key_t k)
{
	keys[k].used = false;
	return 0;
}

void *pthread_getspecific(pthread_key_t k)
{
	if (self)
		charge(P_call);
	return tsd[k];
}

int pthread_setspecific(pthread_key_t k, const void *v)
{
	if (self)
		charge(P_call);
	tsd[k] = (void *)v;
	return 0;
}

int __cxa_thread_atexit(void (*f)(void *), void *o, void *dso)
{
	(void)dso;
	extern void *__libc_malloc(size_t);
	if (!self)
		return 0;
	struct dtor *d = __libc_malloc(sizeof *d);
	*d = (struct dtor){f, o, self->dtors};
	self->dtors = d;
	return 0;
}

static void run_dtors(struct thr *t)
{
	for (struct dtor *d; (d = t->dtors);) {
		t->dtors = d->next;
		d->f(d->o);
	}
	for (int round = 0; round < 4; round++)
		for (int i = 0; i < MAXKEY; i++) {
			void *v = tsd[i];
			if (v && keys[i].used && keys[i].d) {
				tsd[i] = NULL;
				keys[i].d(v);
			}
		}
}

/* Threads. */

static struct thr *thr_new(void)
{
	extern void *__libc_calloc(size_t, size_t);
	if (nthr == MAXTHR) {
		fprintf(stderr, "cohsim: too many threads\n");
		_exit(3);
	}
	struct thr *t = __libc_calloc(1, sizeof *t);
	t->idx = nthr;
	t->core = t->pin = -1;
	t->slack = NS(P_slack);
	snprintf(t->name, sizeof t->name, "t%d", nthr);
	return thr[nthr++] = t;
}

static uintptr_t get_fs(void)
{
	uintptr_t v;
	raw(SYS_arch_prctl, 0x1003, (long)&v, 0, 0, 0, 0);
	return v;
}

static __attribute__((noreturn)) void thr_finish(void *ret)
{
	struct thr *t = cur;
	run_dtors(t);
	t->ret = ret;
	t->state = DONE;
	self = NULL;
	if (t->joiner)
		wake(t->joiner, cc->clk);
	block();
	__builtin_unreachable();
}

static void fiber_main(void)
{
	self = cur;
	thr_finish(cur->fn(cur->arg));
}

/* The real thread: it lends its stack and TLS until it is joined. */
static void *os_main(void *p)
{
	struct thr *t = p;
	void **sp;
	t->fs = get_fs();
	t->sp0 = ((uintptr_t)__builtin_frame_address(0) - 4096) & ~63UL;
	sp = (void **)t->sp0;
	*--sp = NULL;
	*--sp = (void *)fiber_main;
	sp -= 6;
	t->rsp = sp;
	__atomic_store_n(&t->os, 1, __ATOMIC_RELEASE);
	raw(SYS_futex, (long)&t->os, FUTEX_WAKE, 1, 0, 0, 0);
	while (__atomic_load_n(&t->os, __ATOMIC_ACQUIRE) == 1)
		raw(SYS_futex, (long)&t->os, FUTEX_WAIT, 1, 0, 0, 0);
	return NULL;
}

int pthread_create(pthread_t *out, const pthread_attr_t *at,
		   void *(*fn)(void *), void *arg)
{
	REAL(pthread_create);
	if (!self)
		return real(out, at, fn, arg);
	charge(P_create);
	sync_();
	struct thr *t = thr_new();
	pthread_attr_t a;
	sigset_t all, old;
	size_t sz;
	int det = PTHREAD_CREATE_JOINABLE;
	t->fn = fn;
	t->arg = arg;
	pthread_attr_init(&a);
	if (at) {
		pthread_attr_getdetachstate(at, &det);
		pthread_attr_getstacksize(at, &sz);
		pthread_attr_setstacksize(&a, sz + (256 << 10));
	}
	t->detached = det == PTHREAD_CREATE_DETACHED;
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGABRT);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int r = real(&t->real, &a, os_main, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r) {
		nthr--;
		return r;
	}
	while (!__atomic_load_n(&t->os, __ATOMIC_ACQUIRE))
		raw(SYS_futex, (long)&t->os, FUTEX_WAIT, 0, 0, 0, 0);
	*out = t->real;
	wake(t, cc->clk);
	return 0;
}

int pthread_join(pthread_t p, void **ret)
{
	REAL(pthread_join);
	struct thr *t = self ? find(p) : NULL;
	if (!t)
		return real(p, ret);
	charge(P_syscall);
	sync_();
	if (t->state != DONE) {
		t->joiner = cur;
		block();
	}
	if (ret)
		*ret = t->ret;
	__atomic_store_n(&t->os, 2, __ATOMIC_RELEASE);
	raw(SYS_futex, (long)&t->os, FUTEX_WAKE, 1, 0, 0, 0);
	return real(p, NULL);
}

int pthread_detach(pthread_t p)
{
	struct thr *t = find(p);
	if (t)
		t->detached = true;
	return 0;
}

void pthread_exit(void *r)
{
	REAL(pthread_exit);
	if (!self)
		real(r);
	thr_finish(r);
}

/* Heap: fixed cost, and remember who allocated what. */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t),
	*__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t),
	__libc_free(void *);

struct blk {
	uintptr_t p;
	size_t n;
	void *by[3];
};
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

/* Report. */

struct sym {
	uintptr_t a;
	size_t n;
	const char *name;
	bool fn;
};
static struct sym *syms;
static size_t nsym;
static uintptr_t bias;

static int get_bias(struct dl_phdr_info *i, size_t s, void *p)
{
	(void)s;
	(void)p;
	bias = i->dlpi_addr;
	return 1;
}

static int sym_cmp(const void *a, const void *b)
{
	uintptr_t x = ((struct sym *)a)->a, y = ((struct sym *)b)->a;
	return (x > y) - (x < y);
}

static void load_syms(void)
{
	if (syms)
		return;
	dl_iterate_phdr(get_bias, NULL);
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	if (fd < 0 || fstat(fd, &st))
		return;
	char *m = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	Elf64_Ehdr *eh = (void *)m;
	Elf64_Shdr *sh = (void *)(m + eh->e_shoff);
	for (int i = 0; i < eh->e_shnum; i++)
		if (sh[i].sh_type == SHT_SYMTAB) {
			Elf64_Sym *s = (void *)(m + sh[i].sh_offset);
			size_t n = sh[i].sh_size / sizeof *s;
			char *str = m + sh[sh[i].sh_link].sh_offset;
			syms = __libc_malloc(n * sizeof *syms);
			for (size_t k = 0; k < n; k++) {
				int ty = ELF64_ST_TYPE(s[k].st_info);
				if ((ty == STT_FUNC || ty == STT_OBJECT) &&
				    s[k].st_size)
					syms[nsym++] = (struct sym){
						s[k].st_value + bias,
						s[k].st_size,
						str + s[k].st_name,
						ty == STT_FUNC};
			}
		}
	qsort(syms, nsym, sizeof *syms, sym_cmp);
}

static struct sym *sym_at(uintptr_t a)
{
	size_t lo = 0, hi = nsym;
	while (lo < hi) {
		size_t m = (lo + hi) / 2;
		if (syms[m].a <= a)
			lo = m + 1;
		else
			hi = m;
	}
	return lo && a < syms[lo - 1].a + syms[lo - 1].n ? &syms[lo - 1] : NULL;
}

static int blk_cmp(const void *a, const void *b)
{
	uintptr_t x = ((struct blk *)a)->p, y = ((struct blk *)b)->p;
	return (x > y) - (x < y);
}

static void owner_name(uintptr_t line, char *o, size_t n)
{
	if (line >= KBASE) {
		char in[200];
		owner_name(fq[(line - KBASE) / 64].name & ~63UL, in, sizeof in);
		snprintf(o, n, "[kernel futex bucket] of %s", in);
		return;
	}
	for (uintptr_t a = line; a < line + 64; a += 8) {
		struct sym *s = sym_at(a);
		if (s) {
			snprintf(
				o, n, "%s+%#lx", s->name,
				(unsigned long)(line > s->a ? line - s->a : 0));
			return;
		}
	}
	size_t lo = 0, hi = nblk;
	while (lo < hi) {
		size_t m = (lo + hi) / 2;
		if (sblk[m].p < line + 64)
			lo = m + 1;
		else
			hi = m;
	}
	if (lo && line < sblk[lo - 1].p + sblk[lo - 1].n) {
		struct blk *b = &sblk[lo - 1];
		const char *f[3];
		int k = 0;
		for (int i = 0; i < 3; i++) {
			struct sym *s = sym_at((uintptr_t)b->by[i]);
			if (s && (!k || f[k - 1] != s->name))
				f[k++] = s->name;
		}
		snprintf(o, n, "heap %zu B by %s%s%s +%#lx", b->n,
			 k ? f[0] : "?", k > 1 ? " < " : "", k > 1 ? f[1] : "",
			 (unsigned long)(line > b->p ? line - b->p : 0));
		return;
	}
	for (int i = 1; i < nthr; i++)
		if (line <= thr[i]->fs + 4096 &&
		    line > thr[i]->sp0 - (8 << 20)) {
			snprintf(o, n, "%s of thread %s",
				 line > thr[i]->sp0 ? "TLS" : "stack",
				 thr[i]->name);
			return;
		}
	snprintf(o, n, "%#lx", (unsigned long)line);
}

static int st_cmp(const void *a, const void *b)
{
	const struct lstat *x = *(struct lstat *const *)a,
			   *y = *(struct lstat *const *)b;
	ps_t p = x->cost + x->lockwait / 1000, q = y->cost + y->lockwait / 1000;
	return p != q ? (p < q) - (p > q)
		      : (x->line > y->line) - (x->line < y->line);
}

static void report(const char *label, uint64_t ops)
{
	ps_t wall = cc->clk - region0, busy = -G.busy0, stall = 0;
	uint64_t na = 0;
	double o = ops ? ops : 1;
	for (int i = 0; i < ncore; i++) {
		if (core[i].cur)
			account(&core[i]);
		busy += core[i].busy;
	}
	for (int k = 0; k < NK; k++) {
		na += G.n[k];
		stall += G.cost[k];
	}
	fflush(stdout);
	if (P_report) {
		load_syms();
		sblk = __libc_realloc(sblk, nblk * sizeof *blk + 1);
		if (nblk)
			memcpy(sblk, blk, nblk * sizeof *blk);
		qsort(sblk, nblk, sizeof *blk, blk_cmp);
		FILE *f = popen("c++filt -p 2>/dev/null || cat", "w");
		if (!f)
			f = stdout;
		fprintf(f,
			"== %s: %d cores, %d sockets, %d threads, %.3f ms, "
			"%llu ops, seed %g\n",
			label, ncore, (int)P_sockets, nthr - 1, wall / 1e9,
			(unsigned long long)ops, P_seed);
		fprintf(f,
			"per op: core-ns %.1f, of it stalled on misses %.1f "
			"(queueing behind other transfers %.1f), accesses "
			"%.1f, rmw %.2f, fences %.2f\n",
			busy / 1e3 / o, stall / 1e3 / o, G.queue / 1e3 / o,
			na / o, G.acc[RMW] / o, G.fences / o);
		fprintf(f, "misses per op:");
		for (int k = K_L2; k < NK; k++)
			fprintf(f, " %s %.3f", kname[k], G.n[k] / o);
		fprintf(f,
			"\nlocks per op: %.2f, contended %.4f (wait %.0f ns "
			"each); futex calls per op: wait %.4f (timeouts %llu) "
			"wake %.4f woke %.4f\n",
			G.mtx / o, G.mtx_cont / o,
			G.mtx_cont ? G.mtx_wait / 1e3 / G.mtx_cont : 0.0,
			G.fwait / o, (unsigned long long)G.ftime, G.fwake / o,
			G.woken / o);
		fprintf(f,
			"scheduling: switches %llu preemptions %llu migrations "
			"%llu, page faults %llu, cores busy %.1f%%\n",
			(unsigned long long)G.ctx,
			(unsigned long long)G.preempt,
			(unsigned long long)G.migr, (unsigned long long)G.fault,
			100.0 * busy / wall / ncore);
		size_t n = 0, k = 0;
		for (struct lstat *s = allstat; s; s = s->next)
			n += s->n || s->nlock;
		struct lstat **v = __libc_malloc((n + 1) * sizeof *v);
		for (struct lstat *s = allstat; s; s = s->next)
			if (s->n || s->nlock)
				v[k++] = s;
		qsort(v, n, sizeof *v, st_cmp);
		fprintf(f,
			"hottest lines (%zu lines bounced):\n  %%stall  "
			"misses/op  ns/miss  queued%%  cores  owner [byte "
			"offsets] <- accessed from\n",
			n);
		for (size_t i = 0; i < n && i < (size_t)P_top; i++) {
			struct lstat *s = v[i];
			char nm[300], cmd[200];
			int c = 0;
			owner_name(s->line, nm, sizeof nm);
			for (int w = 0; w < NW; w++)
				c += __builtin_popcountll(s->cores[w]);
			fprintf(f,
				"  %5.1f%%  %9.4f  %7.0f  %6.0f%%  %5d  %s [",
				stall ? 100.0 * s->cost / stall : 0.0, s->n / o,
				s->n ? s->cost / 1e3 / s->n : 0.0,
				s->cost ? 100.0 * s->queue / s->cost : 0.0, c,
				nm);
			for (int b = 0, first = 1; b < 64; b++)
				if (s->offs >> b & 1) {
					fprintf(f, "%s%d", first ? "" : ",", b);
					first = 0;
				}
			fprintf(f, "]%s", s->nlock ? "" : "\n");
			if (s->nlock)
				fprintf(f, " lock waits %llu avg %.0f ns\n",
					(unsigned long long)s->nlock,
					s->lockwait / 1e3 / s->nlock);
			fprintf(f, "%s", s->n ? "        <- " : "");
			char seen[4][320];
			int ns = 0;
			for (int a = 0; a < 4; a++)
				if (s->pc[a].n) { /* where it was called, not
						     what was inlined */
					struct sym *fn = sym_at(
						(uintptr_t)s->pc[a].pc - 1);
					char at[256] = "?";
					int dup = 0;
					snprintf(cmd, sizeof cmd,
						 "addr2line -i -s -e "
						 "/proc/%d/exe %#lx",
						 getpid(),
						 (unsigned long)((uintptr_t)s
									 ->pc[a]
									 .pc -
								 1 - bias));
					FILE *p = popen(cmd, "r");
					while (p && fgets(at, sizeof at, p))
						at[strcspn(at, "\n ")] = 0;
					if (p)
						pclose(p);
					snprintf(seen[ns], sizeof seen[0],
						 "%s (%s)", fn ? fn->name : "?",
						 at);
					for (int d = 0; d < ns; d++)
						dup |= !strcmp(seen[d],
							       seen[ns]);
					if (!dup)
						fprintf(f, "%s%s",
							ns ? ", " : "",
							seen[ns]),
							ns++;
				}
			fprintf(f, "%s", s->n ? "\n" : "");
		}
		__libc_free(v);
		if (f != stdout)
			pclose(f);
	}
	printf("RESULT %s cores=%d threads=%d ns=%lld ops=%llu mops=%.3f "
	       "core_ns_op=%.1f stall_ns_op=%.1f coh_op=%.3f lockcont_op=%.4f "
	       "woke_op=%.4f ctx=%llu busy=%.3f\n",
	       label, ncore, nthr - 1, (long long)(wall / 1000),
	       (unsigned long long)ops, ops * 1e6 / wall, busy / 1e3 / o,
	       stall / 1e3 / o,
	       (G.n[K_DIRTY] + G.n[K_DIRTYR] + G.n[K_INVAL] + G.n[K_INVALR]) /
		       o,
	       G.mtx_cont / o, G.woken / o, (unsigned long long)G.ctx,
	       (double)busy / wall / ncore);
	fflush(stdout);
}

void cohsim_begin(void)
{
	if (!self)
		return;
	sync_();
	memset(&G, 0, sizeof G);
	for (struct lstat *s = allstat; s; s = s->next) {
		uintptr_t l = s->line;
		struct lstat *n = s->next;
		memset(s, 0, sizeof *s);
		s->line = l;
		s->next = n;
	}
	for (int i = 0; i < ncore; i++) {
		if (core[i].cur)
			account(&core[i]);
		G.busy0 += core[i].busy;
	}
	region0 = cc->clk;
	measuring = true;
}

void cohsim_end(const char *label, uint64_t ops)
{
	struct thr *t = self;
	if (!t)
		return;
	sync_();
	self = NULL;
	measuring = false;
	reported = true;
	report(label, ops);
	self = t;
}

void cohsim_observer(void)
{
	if (!self)
		return;
	core[ncore].clk = self->ready = cc->clk;
	self->pin = ncore;
	ev_push(cc->clk, EVT + self->idx, self->gen);
	block();
}

void cohsim_work(uint64_t ns)
{
	if (self)
		while (ns) {
			uint64_t s = ns < 1000 ? ns : 1000;
			ns -= s;
			cc->clk += s * 1000;
			sync_();
		}
}

uint64_t cohsim_now(void)
{
	return self ? cc->clk / 1000 : 0;
}

__attribute__((destructor)) static void at_exit(void)
{
	if (self && !reported)
		cohsim_end("whole-run", 0);
	self = NULL;
}

/* Start-up. */

static void set_params(const char *s)
{
	while (s && *s) {
		char k[32];
		double v;
		int n = 0;
		if (sscanf(s, "%31[a-z0-9_]=%lf%n", k, &v, &n) < 2) {
			fprintf(stderr, "cohsim: bad COHSIM at '%s'\n", s);
			exit(2);
		}
		if (0) {
		}
#define X(nm, d, doc) else if (!strcmp(k, #nm)) P_##nm = v;
		PARAMS(X)
#undef X
		else
		{
			fprintf(stderr, "cohsim: unknown parameter %s\n", k);
			exit(2);
		}
		s += n;
		s += *s == ',';
	}
}

__attribute__((constructor(101))) static void start(int argc, char **argv,
						    char **envp)
{
	(void)argc;
	(void)envp;
	/* The same addresses each time; and the kernel writes no rseq area. */
	int pers = personality(0xffffffff);
	if (!getenv("COHSIM_CHILD")) {
		personality(pers | ADDR_NO_RANDOMIZE);
		setenv("COHSIM_CHILD", "1", 1);
		setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
		execv("/proc/self/exe", argv);
	}
	const char *h = getenv("COHSIM");
	if (h && !strcmp(h, "help")) {
#define X(nm, d, doc) printf("%-12s %10g  %s\n", #nm, P_##nm, doc);
		PARAMS(X)
#undef X
		exit(0);
	}
	if (&cohsim_settings)
		set_params(cohsim_settings);
	set_params(h);
	ncore = P_cores < 1 ? 1 : P_cores > MAXCORE ? MAXCORE : (int)P_cores;
	if (P_sockets > ncore)
		P_sockets = 1;
	N_l1 = NS(P_l1);
	N_func = NS(P_func);
	N_lax = NS(P_lax);
	N_rmw = NS(P_rmw);
	rng ^= (uint64_t)P_seed * 0x9e3779b97f4a7c15ULL;
	for (int i = 0; i < 8; i++)
		rnd();
	int per = (ncore + (int)P_sockets - 1) / (int)P_sockets;
	for (int i = 0; i <= ncore; i++) {
		core[i].tick =
			P_tick ? 1 + NS(P_tick * ((rnd() >> 11) * 0x1p-53))
			       : INF;
		core[i].id = i;
		core[i].sock = i < ncore ? i / per : 0;
		core[i].l2 = mmap(NULL, sizeof(uint64_t) * L2S * L2W,
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	int n = 0;
	if (P_place == 0)
		for (; n < ncore; n++)
			order[n] = n;
	else
		for (int j = 0; j < per; j++)
			for (int s = 0; s < (int)P_sockets; s++)
				if (s * per + j < ncore)
					order[n++] = s * per + j;
	/* It would be by the real machine's CPUs. */
	mallopt(M_ARENA_MAX, 8 * ncore);
	swap = getauxval(AT_HWCAP2) & 2 ? cohsim_swap_fsgs : cohsim_swap_sys;
	struct thr *t = thr_new();
	t->real = pthread_self();
	t->fs = get_fs();
	t->sp0 = (uintptr_t)__builtin_frame_address(0);
	t->os = 1;
	cc = &core[order[ncore - 1]];
	cur = t;
	next_time = INF;
	run_on(cc, t);
	self = t;
}
