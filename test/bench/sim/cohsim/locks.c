/* SPDX-License-Identifier: MIT */
/*
 * Locks, condition variables, barriers and semaphores.  They keep their state
 * in the user's object, so static initialisers work.
 */
#include "cache.h"
#include "clock.h"
#include "futex.h"
#include "host.h"
#include "sched.h"

#include <errno.h>
#include <semaphore.h>

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
