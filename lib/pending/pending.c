/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/expiry.h"
#include "intake/handover.h"
#include "intake/reserve.h"
#include "os/clock.h"
#include "pending/pending.h"

#include <string.h>

/* How many entries a step looks at. */
#define LOOKS 64

/* How many spare blocks are freed at a time. */
#define TRIM_MAX 64

/* If the heap has fewer entries, the wheel is not used. */
#define HEAP_SMALL 64

/* How many spare blocks are kept. */
#define SPARES_MAX 16

bool pending_init(struct pending *p, struct intake *in, struct wakeup *w)
{
	*p = (struct pending){.intake = in, .wakeup = w};
	return heap_make_room(&p->heap) && heap_make_room(&p->blocks);
}

bool pending_reserve(struct pending *p, size_t n)
{
	p->reserve = p->purge_at = 2 * n;
	return heap_reserve(&p->heap, p->reserve) &&
	       heap_reserve(&p->blocks, reserve_blocks(p->intake, n));
}

/*
 * A block in a heap: its address takes the place of an entry's ticket and
 * index.
 */
_Static_assert(sizeof(void *) <=
		       sizeof(struct entry) - offsetof(struct entry, ticket),
	       "an address fits there");

static struct entry entry_of(struct row r)
{
	struct entry e = {.deadline = r.nearest};

	memcpy(&e.ticket, &r.block, sizeof(r.block));
	return e;
}

static struct block *block_of(const struct entry *e)
{
	struct block *b;

	memcpy(&b, &e->ticket, sizeof(b));
	return b;
}

void pending_destroy(struct pending *p)
{
	for (size_t i = 0; i < p->blocks.n; i++)
		block_free_all(block_of(heap_at(&p->blocks, i)));
	heap_destroy(&p->blocks);
	heap_destroy(&p->heap);
	wheel_destroy(&p->wheel);
	block_free_all(p->spares);
	p->spares = NULL;
}

/*
 * For when there is no room in the heap: makes one chain of the block and those
 * at the heap's top.
 */
static TT_NOINLINE void add_to_top(struct pending *p, struct row r)
{
	struct entry *top = heap_at(&p->blocks, 0);
	struct block *last = r.block;

	while (last->next)
		last = last->next;
	last->next = block_of(top);
	if (top->deadline < r.nearest)
		r.nearest = top->deadline;
	*top = entry_of(r);
}

void pending_add(struct pending *p, struct row r)
{
	if (likely(heap_make_room(&p->blocks)))
		heap_push(&p->blocks, entry_of(r));
	else
		add_to_top(p, r);
}

/*
 * Puts entries back into their bucket.  If there is no memory for an entry, its
 * timer is stranded.
 */
static void send_back(struct pending *p, const struct entry *e, size_t n)
{
	struct bucket *b;
	size_t left;

	if (n == 0)
		return;
	b = intake_bucket(p->intake, e->index);
	left = bucket_put(b, p->wakeup, &p->spares, e, n);
	for (size_t i = 0; i < left; i++)
		handover_strand(b, p->wakeup, &e[i]);
}

void pending_send_back(struct pending *p, struct entry e)
{
	send_back(p, &e, 1);
}

/*
 * For when the heap is full, and there is no memory: it keeps the earlier of e
 * and its top.  A new top that is earlier than the old one leaves the heap in
 * order.
 */
static TT_NOINLINE void exchange(struct pending *p, struct entry e)
{
	struct entry *top = heap_at(&p->heap, 0), later = e;

	if (e.deadline < top->deadline) {
		later = *top;
		*top = e;
	}
	p->full = true;
	pending_send_back(p, later);
}

/* Is the entry still of use?  Recycles the slot of a timer that has ended. */
static bool is_pending(struct pending *p, struct slot *s, enum expiry x)
{
	if (x == EXPIRY_OVER)
		intake_recycle(p->intake, s);
	return x == EXPIRY_PENDING;
}

/* Is the entry at i no longer of use? */
static bool is_over_at(struct pending *p, size_t i)
{
	const struct entry *e = heap_at(&p->heap, i);
	struct bucket *b = intake_bucket(p->intake, e->index);
	struct slot *s = slots_of(&b->slots, e->index);

	return !is_pending(p, s, expiry_look(b, s, e));
}

/*
 * The reserve is for twice as many entries as timers.  So when it is used up,
 * half of the entries are no longer of use.  Drops one of these, if there is
 * one.
 */
static TT_NOINLINE void purge(struct pending *p)
{
	for (size_t n = p->heap.n; n > 0; n--, p->purged++) {
		if (p->purged >= p->heap.n)
			p->purged = 0;
		if (is_over_at(p, p->purged)) {
			heap_remove(&p->heap, p->purged);
			return;
		}
	}
	p->purge_at = 2 * p->heap.n;
}

static void keep(struct pending *p, struct entry e)
{
	if (unlikely(p->reserve > 0 && p->heap.n >= p->purge_at))
		purge(p);
	if (likely(heap_make_room(&p->heap)))
		heap_push(&p->heap, e);
	else
		exchange(p, e);
}

/*
 * Does the entry go to the wheel?  If few timers are near, the heap has them
 * all.  The same if there is a reserve, which has room for them there.
 */
static bool is_for_wheel(const struct pending *p, const struct entry *e)
{
	return p->heap.n >= HEAP_SMALL && p->reserve == 0 &&
	       wheel_level(&p->wheel, e->deadline) < WHEEL_LEVELS;
}

/* False: the entry goes to the heap. */
static bool add_to_wheel(struct pending *p, struct entry e)
{
	if (p->heap.n < HEAP_SMALL || p->reserve > 0)
		return false;
	if (!p->spares)
		p->spares = block_pool_take(&p->intake->pool, true);
	return wheel_add(&p->wheel, e, &p->spares);
}

static int64_t near_to(int64_t now)
{
	return clock_add(now, PENDING_NEAR_NS);
}

void pending_file(struct pending *p, struct entry e, int64_t now)
{
	wheel_advance(&p->wheel, now);
	if (e.deadline > near_to(now))
		pending_send_back(p, e);
	else if (!add_to_wheel(p, e))
		keep(p, e);
}

/* A heap's first deadline. */
static int64_t top(const struct heap *h)
{
	return h->n > 0 ? heap_at(h, 0)->deadline : INT64_MAX;
}

/*
 * Puts a later deadline into e, if its timer has one.  False: e is no longer of
 * use.
 */
static bool refresh(struct pending *p, struct entry *e)
{
	struct bucket *b = intake_bucket(p->intake, e->index);
	struct slot *s = slots_of(&b->slots, e->index);

	return is_pending(p, s, expiry_refresh(b, s, e));
}

/* Prefetches the slot of an entry that will be looked at soon. */
static void prefetch(struct pending *p, const struct block *b, size_t i,
		     int64_t near)
{
	if (i < b->n && b->entry[i].deadline <= near &&
	    !entry_is_hole(&b->entry[i]) && !is_for_wheel(p, &b->entry[i]))
		intake_prefetch(p->intake, &b->entry[i]);
}

/*
 * The timer has been looked at, and runs soon: prefetches what its argument
 * points to, because its callback will most likely read that first.
 */
static void prefetch_arg(struct pending *p, const struct entry *e)
{
	__builtin_prefetch(slot_arg(intake_slot_of(p->intake, e)));
}

/*
 * Puts the entry into the wheel, or into the heap if it is of use.  False: it
 * is far.
 */
static bool take_near(struct pending *p, struct entry *e, int64_t near)
{
	if (entry_is_hole(e))
		return true;
	if (e->deadline > near)
		return false;
	if (add_to_wheel(p, *e) || !refresh(p, e))
		return true;
	if (e->deadline > near)
		return false;
	prefetch_arg(p, e);
	keep(p, *e);
	return true;
}

/*
 * Files the near entries of a block.  Returns how many entries are far.  These
 * are now the first ones, and must be sent back.
 */
static size_t open_block(struct pending *p, struct block *b, int64_t near)
{
	size_t far = 0;

	for (size_t i = 0; i < INTAKE_PREFETCH; i++)
		prefetch(p, b, i, near);
	for (size_t i = 0; i < b->n; i++) {
		struct entry e = b->entry[i];

		prefetch(p, b, i + INTAKE_PREFETCH, near);
		if (!take_near(p, &e, near))
			b->entry[far++] = e;
	}
	return far;
}

static void drop_block(struct pending *p, struct block *b)
{
	block_push(&p->spares, b);
	pending_trim(p);
}

/*
 * Opens a block that came from a bucket.  There may be a chain of several, if
 * there was no memory.
 */
static void open_first(struct pending *p, int64_t now)
{
	struct entry first = *heap_at(&p->blocks, 0);
	struct block *b = block_of(&first);
	struct row rest = {first.deadline, b->next, 0, 0};

	heap_remove(&p->blocks, 0);
	if (unlikely(rest.block))
		heap_push(&p->blocks, entry_of(rest));
	/*
	 * Nothing is due before this time, so the first entries go to the
	 * finest level.
	 */
	wheel_advance(&p->wheel, first.deadline);
	send_back(p, b->entry,
		  open_block(p, b, near_to(clock_later(first.deadline, now))));
	drop_block(p, b);
}

/*
 * Moves the entries of the last one's bucket to the end.  Returns how many are
 * before them.
 */
static size_t gather_last(const struct pending *p, struct entry *e, size_t n)
{
	const struct bucket *last = intake_bucket(p->intake, e[n - 1].index);

	for (size_t i = n; i-- > 0;) {
		struct entry one = e[i];

		if (intake_bucket(p->intake, one.index) == last) {
			e[i] = e[--n];
			e[n] = one;
		}
	}
	return n;
}

/*
 * Opens a block of the wheel, which has entries of all buckets.  All were near
 * when they were added, and still are, wherever the clock was set.  If one is
 * far now, its timer was rescheduled.
 */
static void open_slice(struct pending *p, int64_t now)
{
	int64_t last;
	struct block *b = wheel_open(&p->wheel, &last);
	size_t far = open_block(p, b, clock_later(last, near_to(now)));

	while (far > 0) {
		size_t others = gather_last(p, b->entry, far);

		send_back(p, b->entry + others, far - others);
		far = others;
	}
	drop_block(p, b);
}

/* Nothing here is due earlier than this. */
static int64_t nearest(const struct pending *p)
{
	int64_t first = top(&p->heap);
	int64_t block = top(&p->blocks), slice = wheel_nearest(&p->wheel);

	first = block < first ? block : first;
	return slice < first ? slice : first;
}

/* Opens the block that may hold the earliest timer. */
static void open_next(struct pending *p, int64_t now)
{
	if (top(&p->blocks) <= wheel_nearest(&p->wheel))
		open_first(p, now);
	else
		open_slice(p, now);
}

/*
 * Looks at the heap's first entry.  False: it was dropped, or filed again for a
 * later time.
 */
static bool is_first_right(struct pending *p, int64_t now)
{
	struct entry *first = heap_at(&p->heap, 0), e = *first;
	bool is_of_use = refresh(p, &e);

	if (likely(is_of_use && e.deadline == first->deadline))
		return true;
	heap_remove(&p->heap, 0);
	if (is_of_use)
		pending_file(p, e, now);
	return false;
}

bool pending_next(struct pending *p, int64_t now, int64_t *ret_next)
{
	for (int i = 0; i < LOOKS; i++) {
		*ret_next = nearest(p);
		if (*ret_next < top(&p->heap)) {
			open_next(p, now);
			return false;
		}
		if (p->heap.n == 0 || is_first_right(p, now))
			return true;
	}
	return false;
}

struct entry pending_take(struct pending *p)
{
	struct entry e = *heap_at(&p->heap, 0);

	heap_remove(&p->heap, 0);
	return e;
}

bool pending_trim(struct pending *p)
{
	struct block **kept = &p->spares, *surplus = NULL;

	if (p->heap.n < p->reserve)
		p->purge_at = p->reserve;

	for (int i = 0; *kept && i < SPARES_MAX; i++)
		kept = &(*kept)->next;
	for (int i = 0; *kept && i < TRIM_MAX; i++)
		block_push(&surplus, block_pop(kept));
	block_pool_give(&p->intake->pool, surplus);
	return *kept != NULL;
}

size_t pending_bytes(const struct pending *p)
{
	size_t blocks = p->blocks.n + p->wheel.blocks;

	return heap_bytes(&p->heap) + heap_bytes(&p->blocks) +
	       blocks * sizeof(struct block);
}
