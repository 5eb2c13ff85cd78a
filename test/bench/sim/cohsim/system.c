/* SPDX-License-Identifier: MIT */
/*
 * System calls, and the CPUs that a program sees.
 */
#include "counts.h"
#include "events.h"
#include "futex.h"
#include "host.h"
#include "sched.h"
#include "threads.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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
		yield_core();
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
