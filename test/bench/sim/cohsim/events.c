/* SPDX-License-Identifier: MIT */
/*
 * Events: one heap of runnable cores and of timers.
 */
#include "events.h"
#include "host.h"
#include "sched.h"

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

void ev_push(ps_t t, uint32_t id, uint32_t gen)
{
	if (hn == hcap)
		heap = __libc_realloc(heap, (hcap = hcap ? 2 * hcap : 1024) *
						    sizeof *heap);
	struct ev e = {t, id, gen};
	unsigned i = hn++;
	for (unsigned p; i && before(&e, &heap[p = (i - 1) / 2]); i = p)
		heap[i] = heap[p];
	heap[i] = e;
	if (t < next_time)
		next_time = t;
}

struct ev ev_pop(void)
{
	if (!hn)
		deadlock();
	struct ev e = heap[0];
	heap[0] = heap[--hn];
	if (hn)
		sift_down(0);
	return e;
}

struct ev ev_exchange(struct ev e)
{
	if (!hn)
		return e;
	struct ev first = heap[0];
	heap[0] = e;
	sift_down(0);
	return first;
}

ps_t ev_first(void)
{
	return hn ? heap[0].t : INF;
}
