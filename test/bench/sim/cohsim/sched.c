/* SPDX-License-Identifier: MIT */
/*
 * The scheduler, like CFS: vruntime, and a queue for each core.
 */
#include "sched.h"
#include "chance.h"
#include "counts.h"
#include "events.h"
#include "fiber.h"
#include "futex.h"

#include <stdio.h>
#include <unistd.h>

void account(struct core *c)
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

void q_add(struct core *c, struct thr *t)
{
	t->qnext = c->q;
	c->q = t;
	c->nq++;
	t->core = c->id;
	t->state = READY;
}

struct thr *q_take(struct core *c, bool steal)
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

void run_on(struct core *c, struct thr *t)
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

void wake(struct thr *t, ps_t when)
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

__attribute__((noreturn)) void deadlock(void)
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
		next_time = ev_first();
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

__attribute__((noinline)) void resched(void)
{
	struct core *c = cc;
	if (c->nq && c->clk >= c->slice_end)
		preempt(c);
	else {
		next_time = ev_first();
		if (c->nq && c->slice_end < next_time)
			next_time = c->slice_end;
		if (c->clk <= next_time)
			return;
	}
	dispatch(ev_exchange((struct ev){c->clk, c->id, 0}));
}

void block(void)
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

void yield_core(void)
{
	ev_push(cc->clk, cc->id, 0);
	dispatch(ev_pop());
}
