/* SPDX-License-Identifier: MIT */
/*
 * Virtual time, and what things cost in it.
 */
#pragma once

#include <stdint.h>

typedef int64_t ps_t; /* picoseconds of virtual time */
#define NS(p) ((ps_t)(1000.0 * (p)))
#define INF   INT64_MAX

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
#define X(n, v, d) extern double P_##n;
PARAMS(X)
#undef X
extern ps_t N_l1, N_func, N_lax, N_rmw; /* the hot ones, converted once */

/* The program's own settings, and then those of COHSIM, or a list of them. */
void costs_set(const char *settings);
