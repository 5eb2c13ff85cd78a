/* SPDX-License-Identifier: MIT */
/*
 * The simulated machine is made before the program begins; and what that may
 * call while it runs.
 */
#include "../cohsim.h"
#include "chance.h"
#include "events.h"
#include "fiber.h"
#include "sched.h"
#include "threads.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

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
	costs_set(getenv("COHSIM"));
	ncore = P_cores < 1 ? 1 : P_cores > MAXCORE ? MAXCORE : (int)P_cores;
	if (P_sockets > ncore)
		P_sockets = 1;
	chance_begin((uint64_t)P_seed);
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
	fiber_begin();
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
