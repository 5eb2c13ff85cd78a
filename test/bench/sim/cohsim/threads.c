/* SPDX-License-Identifier: MIT */
/*
 * Threads, their data and their ends: destructors run in the fiber, so they are
 * simulated.
 */
#include "threads.h"
#include "fiber.h"
#include "host.h"
#include "sched.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

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

struct thr *find(pthread_t p)
{
	for (int i = nthr; i--;)
		if (thr[i]->real == p && thr[i]->os < 2)
			return thr[i];
	return NULL;
}

struct thr *thr_new(void)
{
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
