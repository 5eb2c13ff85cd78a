/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "must.h"
#include "pending.h"

#define RENT  2
#define BATCH 64

bool pending_init(struct pending *p, struct intake *in)
{
	p->intake = in;
	p->cursor = 0;
	p->backlog = NULL;
	heap_init(&p->heap);
	return heap_reserve(&p->heap);
}

void pending_destroy(struct pending *p)
{
	heap_destroy(&p->heap);
	block_free_all(p->backlog);
}

/* Frees the timer of e if it is over. */
static bool reclaim(struct pending *p, struct entry e)
{
	struct slot *s = intake_slot(p->intake, e.id);

	if (!slot_is_dead(s, e.id))
		return false;
	intake_return(p->intake, s);
	return true;
}

/* Looks at n entries, going round, and returns how many it dropped. */
static size_t look(struct pending *p, size_t n)
{
	size_t dropped = 0;

	while (n-- > 0 && p->heap.n > 0) {
		if (p->cursor >= p->heap.n)
			p->cursor = 0;
		if (reclaim(p, p->heap.entry[p->cursor])) {
			heap_remove(&p->heap, p->cursor);
			dropped++;
		}
		p->cursor++;
	}
	return dropped;
}

static bool has_room(struct pending *p)
{
	return likely(p->heap.n < p->heap.capacity) || look(p, BATCH) > 0 ||
	       heap_reserve(&p->heap);
}

/* False: no room, and e is where it was. */
static bool add(struct pending *p, struct entry e)
{
	if (reclaim(p, e))
		return true;
	if (!has_room(p))
		return false;
	heap_push(&p->heap, e);
	look(p, RENT);
	return true;
}

/* Moves what it can from the backlog to the heap. */
static void settle(struct pending *p, struct block **spares)
{
	struct block *b;

	while ((b = p->backlog) != NULL) {
		for (; b->n > 0; b->n--) {
			if (!add(p, b->entry[b->n - 1]))
				return;
		}
		p->backlog = b->next;
		b->next = *spares;
		*spares = b;
	}
}

/*
 * Makes the heap's first entry the earliest of all while the heap is full and
 * cannot grow.  What takes the place of its root is earlier than the root, so
 * the heap stays one.
 */
static TT_NOINLINE void search_backlog(struct pending *p)
{
	struct entry *root = &p->heap.entry[0];

	for (struct block *b = p->backlog; b; b = b->next) {
		for (size_t i = 0; i < b->n; i++) {
			struct entry e = b->entry[i];

			if (e.deadline < root->deadline) {
				b->entry[i] = *root;
				*root = e;
			}
		}
	}
}

void pending_add(struct pending *p, struct block *blocks, struct block **spares)
{
	struct block *last = blocks;

	if (!blocks)
		return;
	while (last->next)
		last = last->next;
	last->next = p->backlog;
	p->backlog = blocks;
	settle(p, spares);
}

int64_t pending_next(struct pending *p, struct block **spares)
{
	while (true) {
		if (unlikely(p->backlog != NULL))
			settle(p, spares);
		if (unlikely(p->backlog != NULL))
			search_backlog(p);
		if (p->heap.n == 0)
			return INT64_MAX;
		if (!reclaim(p, p->heap.entry[0]))
			return p->heap.entry[0].deadline;
		heap_remove(&p->heap, 0);
	}
}

uint64_t pending_take(struct pending *p)
{
	uint64_t id = p->heap.entry[0].id;

	heap_remove(&p->heap, 0);
	return id;
}

bool pending_sweep(struct pending *p)
{
	return look(p, BATCH) >= BATCH / 4;
}

void pending_check(const struct pending *p)
{
	heap_check(&p->heap);
	must(p->heap.capacity > 0);
	for (const struct block *b = p->backlog; b; b = b->next)
		must(b->n <= BLOCK_ENTRIES);
}
