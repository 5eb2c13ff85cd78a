/* SPDX-License-Identifier: MIT */
#include "engine/runs.h"
#include "os/memory.h"
#include "os/tool.h"

bool runs_open(struct runs *r, uint32_t n)
{
	cpu_map_init(&r->cpus, n);
	r->running = r->called = r->given = 0;
	r->part = pages_alloc(n * sizeof(*r->part));
	return r->part != NULL;
}

void runs_free(struct runs *r)
{
	pages_free(r->part, r->cpus.n * sizeof(*r->part));
	r->part = NULL;
}

static struct running *first_running(const struct runs_part *p)
{
	return (struct running *)atomword_load(&p->first);
}

static uint32_t close_part(struct runs_part *p)
{
	uint32_t n = 0;

	lock_acquire(&p->lock);
	p->closed = true;
	for (struct running *run = first_running(p); run; run = run->next)
		n++;
	lock_release(&p->lock);
	return n;
}

void runs_close_running(struct runs *r)
{
	for (uint32_t i = 0; r->part && i < r->cpus.n; i++)
		r->running += close_part(&r->part[i]);
}

void runs_close_called(struct runs *r)
{
	for (uint32_t i = 0; r->part && i < r->cpus.n; i++)
		r->called += tally_close(&r->part[i].called);
}

/* Under the lock. */
static void link_first(struct runs_part *p, struct running *run)
{
	run->previous = NULL;
	run->next = first_running(p);
	if (run->next)
		run->next->previous = run;
	atomword_store(&p->first, (uintptr_t)run);
}

static void unlink_it(struct runs_part *p, struct running *run)
{
	if (run->next)
		run->next->previous = run->previous;
	if (run->previous)
		run->previous->next = run->next;
	else
		atomword_store(&p->first, (uintptr_t)run->next);
}

bool runs_begin(struct runs *r, struct running *run)
{
	struct runs_part *p = &r->part[cpu_map_pick(&r->cpus)];
	bool open;

	*run = (struct running){.part = p};
	tool_hide(run, sizeof(*run));
	lock_acquire(&p->lock);
	open = !p->closed;
	if (likely(open))
		link_first(p, run);
	lock_release(&p->lock);
	return open;
}

bool runs_end(struct running *run)
{
	struct runs_part *p = run->part;
	bool open;

	lock_acquire(&p->lock);
	if (run->timing.ran)
		measure_count(&p->measured, &run->timing);
	unlink_it(p, run);
	open = !p->closed;
	lock_release(&p->lock);
	return open;
}

static bool find_in(struct runs_part *p, uintptr_t who, timerthread_id id)
{
	struct running *run;

	lock_acquire(&p->lock);
	run = first_running(p);
	while (run && !inside_is(&run->inside, who, id))
		run = run->next;
	lock_release(&p->lock);
	return run != NULL;
}

/* If a list was empty a moment ago, the caller is not on it. */
bool runs_find(const struct runs *r, uintptr_t who, timerthread_id id)
{
	for (uint32_t i = 0; r->part && i < r->cpus.n; i++) {
		struct runs_part *p = &r->part[i];

		if (atomword_load(&p->first) != 0 && find_in(p, who, id))
			return true;
	}
	return false;
}

/* Did a begin before b? */
static bool is_before(const struct run *a, const struct run *b)
{
	int64_t x = a->since, y = b->since;

	return x != y ? x < y : a->id < b->id;
}

void runs_next_of(const struct inside *in, const struct run *after,
		  struct run *best)
{
	struct run s;

	if (inside_look(in, &s) && is_before(after, &s) && is_before(&s, best))
		*best = s;
}

static void next_in(struct runs_part *p, const struct run *after,
		    struct run *best)
{
	lock_acquire(&p->lock);
	for (struct running *run = first_running(p); run; run = run->next)
		runs_next_of(&run->inside, after, best);
	lock_release(&p->lock);
}

void runs_next(const struct runs *r, const struct run *after, struct run *best)
{
	for (uint32_t i = 0; r->part && i < r->cpus.n; i++)
		next_in(&r->part[i], after, best);
}
