/* SPDX-License-Identifier: MIT */
/*
 * What was counted between cohsim_begin and cohsim_end, and the lines that cost
 * most.
 */
#include "../cohsim.h"
#include "cache.h"
#include "futex.h"
#include "heap.h"
#include "host.h"
#include "sched.h"
#include "symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct counts G;

static bool reported;
static ps_t region0;

static const char *const kname[NK] = {"L1",        "L2",      "cold",
				      "llc",       "llc-rem", "dirty",
				      "dirty-rem", "inval",   "inval-rem"};

static void owner_name(uintptr_t line, char *o, size_t n)
{
	if (line >= KBASE) {
		char in[200];
		owner_name(futex_name(line) & ~63UL, in, sizeof in);
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
	const struct blk *b = heap_at(line);
	if (b) {
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
		heap_sort();
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
}

void cohsim_end(const char *label, uint64_t ops)
{
	struct thr *t = self;
	if (!t)
		return;
	sync_();
	self = NULL;
	reported = true;
	report(label, ops);
	self = t;
}

__attribute__((destructor)) static void at_exit(void)
{
	if (self && !reported)
		cohsim_end("whole-run", 0);
	self = NULL;
}
