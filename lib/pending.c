/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "expiry.h"
#include "must.h"
#include "pending.h"

#define BATCH      64
#define SPARES_MAX 16

/* Slots are fetched so many entries before they are looked at. */
#define PREFETCH 8

bool pending_init(struct pending *p, struct intake *in)
{
	*p = (struct pending){.intake = in};
	heap_init(&p->heap);
	return heap_reserve(&p->heap);
}

void pending_destroy(struct pending *p)
{
	heap_destroy(&p->heap);
	backlog_destroy(&p->backlog);
	block_free_all(p->spares);
}

/* Is e of no more use?  Then frees its timer, if that is over. */
static bool reclaim(struct pending *p, const struct entry *e)
{
	struct bucket *b = intake_bucket(p->intake, e->index);
	struct slot *s = slots_of(&b->slots, e->index);
	enum expiry x = expiry_look(b, s, e);

	if (x == EXPIRY_OVER)
		intake_return(p->intake, s);
	return x != EXPIRY_PENDING;
}

/* Begins to fetch the slot of an entry that will be looked at. */
static inline void prefetch(const struct pending *p, const struct entry *e)
{
	__builtin_prefetch(intake_slot_of(p->intake, e));
}

/* Looks at n entries, going round once at most; returns how many it dropped. */
static size_t look(struct pending *p, size_t n)
{
	size_t dropped = 0;

	if (n > p->heap.n)
		n = p->heap.n;
	for (; n > 0 && p->heap.n > 0; n--) {
		if (p->cursor >= p->heap.n)
			p->cursor = 0;
		if (likely(p->cursor + PREFETCH < p->heap.n))
			prefetch(p, heap_at(&p->heap, p->cursor + PREFETCH));
		if (reclaim(p, heap_at(&p->heap, p->cursor))) {
			heap_remove(&p->heap, p->cursor);
			dropped++;
		}
		p->cursor++;
	}
	return dropped;
}

bool pending_sweep(struct pending *p)
{
	return look(p, BATCH) >= BATCH / 8;
}

static bool has_room(struct pending *p)
{
	if (heap_has_room(&p->heap))
		return true;
	pending_sweep(p);
	return heap_reserve(&p->heap);
}

/* Moves the entries of b to the heap.  False: no room for the rest. */
static bool sort(struct pending *p, struct block *b)
{
	for (; b->n > 0; b->n--) {
		struct entry e = b->entry[b->n - 1];

		if (likely(b->n > PREFETCH))
			prefetch(p, &b->entry[b->n - 1 - PREFETCH]);
		if (reclaim(p, &e))
			continue;
		if (!has_room(p))
			return false;
		heap_push(&p->heap, e);
	}
	return true;
}

bool pending_sort(struct pending *p)
{
	struct block *b;
	size_t sorted;

	if (!p->backlog.earliest)
		return false;
	b = backlog_take(&p->backlog);
	sorted = b->n;
	if (!sort(p, b)) {
		backlog_add(&p->backlog, b);
		return false;
	}
	block_push(&p->spares, b);
	pending_trim(p);
	look(p, 2 * sorted);
	return true;
}

static struct entry *earliest_of(struct block *b)
{
	struct entry *earliest = b->entry;

	for (uint32_t i = 1; i < b->n; i++) {
		if (b->entry[i].deadline < earliest->deadline)
			earliest = &b->entry[i];
	}
	return earliest;
}

/*
 * The heap is full: if the earliest entry of the backlog's first block is
 * earlier than the top of the heap, puts each in the other's place.  The new
 * top is earlier than the old one, so the heap stays one.
 */
static TT_NOINLINE void exchange(struct pending *p)
{
	struct entry *top = heap_at(&p->heap, 0);
	struct block *b = backlog_take(&p->backlog);
	struct entry *e = earliest_of(b);
	struct entry t = *top;

	if (e->deadline < t.deadline) {
		*top = *e;
		*e = t;
		e = earliest_of(b);
	}
	b->nearest = e->deadline;
	backlog_add(&p->backlog, b);
}

static bool backlog_is_first(const struct pending *p)
{
	const struct block *b = p->backlog.earliest;

	return unlikely(b != NULL) &&
	       (p->heap.n == 0 || b->nearest < heap_at(&p->heap, 0)->deadline);
}

void pending_add(struct pending *p, struct block *blocks)
{
	struct block *b;

	while ((b = block_pop(&blocks)) != NULL)
		backlog_add(&p->backlog, b);
}

bool pending_next(struct pending *p, int64_t *ret_next)
{
	if (backlog_is_first(p) && !pending_sort(p) && backlog_is_first(p))
		exchange(p);
	for (int i = 0; i < BATCH && !backlog_is_first(p); i++) {
		*ret_next = INT64_MAX;
		if (p->heap.n == 0)
			return true;
		*ret_next = heap_at(&p->heap, 0)->deadline;
		if (!reclaim(p, heap_at(&p->heap, 0)))
			return true;
		heap_remove(&p->heap, 0);
	}
	if (backlog_is_first(p))
		*ret_next = p->backlog.earliest->nearest;
	return false;
}

struct entry pending_take(struct pending *p)
{
	struct entry e = *heap_at(&p->heap, 0);

	heap_remove(&p->heap, 0);
	/* While this one runs. */
	if (p->heap.n > 0)
		prefetch(p, heap_at(&p->heap, 0));
	return e;
}

void pending_put_back(struct pending *p, struct entry e)
{
	heap_push(&p->heap, e);
}

bool pending_keep(struct pending *p)
{
	p->heap.kept++;
	/* What is in the heap leaves a place when it is taken out. */
	if (p->heap.n > 0 || heap_reserve(&p->heap))
		return true;
	p->heap.kept--;
	return false;
}

void pending_come_back(struct pending *p, struct entry e)
{
	p->heap.kept--;
	heap_push(&p->heap, e);
}

void pending_forget(struct pending *p, size_t n)
{
	heap_forget(&p->heap, n);
}

bool pending_first_moved(const struct pending *p)
{
	const struct slot *s;

	if (p->heap.n == 0)
		return false;
	s = intake_slot_of(p->intake, heap_at(&p->heap, 0));
	return slot_state(atom32_load(&s->state)) == SLOT_MOVED;
}

bool pending_trim(struct pending *p)
{
	struct block **kept = &p->spares, *surplus = NULL;

	for (int i = 0; *kept && i < SPARES_MAX; i++)
		kept = &(*kept)->next;
	for (int i = 0; *kept && i < BATCH; i++)
		block_push(&surplus, block_pop(kept));
	block_free_all(surplus);
	return *kept != NULL;
}

void pending_check(const struct pending *p)
{
	heap_check(&p->heap);
	must(p->heap.chunks > 0);
	backlog_check(&p->backlog);
}
