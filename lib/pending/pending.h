/* SPDX-License-Identifier: MIT */
/*
 * The timers that the driver has taken out of the buckets and not yet run: a
 * heap of blocks that are not yet opened, a wheel of timers that are near, and
 * a heap of those that are next.
 *
 * A block is opened when it may hold the earliest timer of all.  Then those of
 * its timers that are near go to the wheel, or to the heap if that is small.
 * The others go back to their bucket, where they cost little.  They are nearer
 * now than when they came.  So the lanes are coarse levels of the wheel, at
 * which the driver seldom looks.  A timer comes here a few times for each lane
 * that it goes through.
 *
 * If deadlines are in no order, each block has a timer that is due soon.  So
 * where more than a few blocks are due at about the same time, they are opened
 * before that, while nothing is due (bucket_visit_at).  4 million timers were
 * each due at a random moment of the same two seconds.  In the first 0.2 s, the
 * 99th percentile of lateness was 43 to 69 ms when blocks were opened only when
 * they had to be, and 6 to 18 ms since (in a virtual machine with two CPUs).
 *
 * If very many blocks come at once, what is due within seconds is kept, in the
 * wheel.  Otherwise these timers would go through lane after lane, and each
 * time all that are left of them would be opened within a few milliseconds.
 * (Timers that were scheduled long before, 2 and 4 million of them due each
 * second: the 99th percentile of lateness was 6 to 9 ms and 38 ms, and is 0.4
 * to 0.8 ms and 0.3 to 0.6 ms so; in the first tenth, 0.1 to 2.5 ms.)
 *
 * Guarantees:
 *  1. pending_next finds the earliest timer of all, and never one that was
 *     cancelled or moved before it looked: dead entries that come to the top
 *     are dropped, and their slots are freed; those of timers that were moved
 *     are filed again.
 *  2. No call takes longer than it takes to file a block of entries.
 *  3. A timer that is cancelled here is found when its slice is opened or its
 *     deadline comes.  If the driver is awake then, that is at most half a
 *     second plus NEAR_NS later; or FAR_NS, if there are very many.  (Its slot
 *     may be swept before.)
 *  4. If there is no memory, nothing is lost and the order is kept, and a timer
 *     costs more, but hardly more the more there are: timers for whose entries
 *     the heaps have no room are unqueued (intake/unqueued.h).
 *  5. As long as no more timers exist than a reserve is for, no memory is
 *     allocated: what the heaps have no room for is unqueued then, too.  (They
 *     have room for two entries a timer: some are of no use.)
 *
 * Not thread-safe; the driver owns it.
 */
#pragma once

#include "intake/expiry.h"
#include "intake/intake.h"
#include "pending/heap.h"
#include "pending/wheel.h"

#include <string.h>

struct pending {
	struct intake *intake;
	struct wakeup *wakeup;
	struct heap heap;    /* timers that are next */
	struct wheel wheel;  /* timers that are near, if there are many */
	struct heap blocks;  /* of blocks that are not yet opened */
	struct block *spare; /* for the wheel; or NULL */
	/* Since pending_begin_turn: */
	bool starved;   /* there was no memory; it is not asked for again */
	int64_t beyond; /* what is due later must not run; see pending_file */
};

/* How many entries a step looks at. */
#define PENDING_LOOKS 64

/*
 * How many entries ahead a slot is prefetched.  (4 million that expire in one
 * second: with 8, 150 ns for each that is opened; with 32, 106.)
 */
#define PENDING_PREFETCH 32

/* If the heap has fewer entries, the wheel is not used. */
#define HEAP_SMALL 64

/* False: no memory. */
TT_PART bool pending_init(struct pending *p, struct intake *in,
			  struct wakeup *w)
{
	*p = (struct pending){.intake = in, .wakeup = w, .beyond = INT64_MAX};
	return heap_make_room(&p->heap) && heap_make_room(&p->blocks);
}

/*
 * Allocates memory for n timers, for which the intake has a reserve.  False: no
 * memory.
 */
TT_PART bool pending_reserve(struct pending *p, size_t n)
{
	return heap_reserve(&p->heap, 2 * n) &&
	       heap_reserve(&p->blocks, p->intake->pool.reserve);
}

/*
 * A block in a heap: its address takes the place of an entry's ticket and
 * index.
 */
_Static_assert(sizeof(void *) <=
		       sizeof(struct entry) - offsetof(struct entry, ticket),
	       "an address fits there");

static struct entry entry_of_row(struct row r)
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

TT_PART void pending_destroy(struct pending *p)
{
	for (size_t i = 0; i < p->blocks.n; i++)
		block_free(block_of(heap_at(&p->blocks, i)));
	heap_destroy(&p->blocks);
	heap_destroy(&p->heap);
	wheel_destroy(&p->wheel);
	block_free_all(p->spare);
	p->spare = NULL;
}

/* A turn begins. */
TT_PART void pending_begin_turn(struct pending *p)
{
	p->starved = false;
	p->beyond = INT64_MAX;
}

static bool grows(const struct pending *p)
{
	return block_pool_grows(&p->intake->pool);
}

/* False: there is none, and no memory, or only that of a reserve. */
static bool pending_make_room(struct pending *p, struct heap *h)
{
	if (likely(heap_has_room(h)))
		return true;
	p->starved = p->starved || !grows(p) || !heap_make_room(h);
	return !p->starved;
}

/*
 * Its timer waits in its bucket, which needs no memory.  What is later must not
 * run before it.
 */
static void leave_unqueued(struct pending *p, const struct entry *e)
{
	if (unqueued_leave(intake_bucket(p->intake, e->index), p->wakeup, e) &&
	    e->deadline < p->beyond)
		p->beyond = e->deadline;
}

/*
 * Adds a block, which it owns from now on.  Without memory for that, its timers
 * are unqueued.
 */
TT_PART void pending_add(struct pending *p, struct row r)
{
	if (likely(pending_make_room(p, &p->blocks))) {
		heap_push(&p->blocks, entry_of_row(r));
		return;
	}
	for (uint32_t i = 0; i < r.block->n; i++)
		leave_unqueued(p, &r.block->entry[i]);
	block_pool_give(&p->intake->pool, r.block);
}

/* Takes out the first block. */
static struct block *take_first_block(struct pending *p)
{
	struct entry e = heap_pop(&p->blocks);

	return block_of(&e);
}

/*
 * Puts n entries back into their buckets, for the next visits there: those of
 * one bucket together, if they follow each other.  If there is no memory for an
 * entry, its timer is unqueued.
 */
static void pending_send_back(struct pending *p, const struct entry *e,
			      size_t n)
{
	for (size_t left, run; n > 0; n -= run, e += run) {
		struct bucket *b = intake_bucket(p->intake, e->index);

		run = 1;
		while (run < n && intake_bucket(p->intake, e[run].index) == b)
			run++;
		left = bucket_put(b, p->wakeup, e, run);
		for (size_t i = 0; i < left; i++)
			leave_unqueued(p, &e[i]);
	}
}

/*
 * The heap is full.  Puts *e into the place of its last entry, which is in *e
 * then, if that is later; mostly it is.  Otherwise something in the heap is due
 * before *e, and is not kept from running.
 */
static TT_NOINLINE void pending_replace_last(struct pending *p, struct entry *e)
{
	struct entry last = *heap_at(&p->heap, p->heap.n - 1);

	if (e->deadline >= last.deadline)
		return;
	p->heap.n--;
	heap_push(&p->heap, *e);
	*e = last;
}

/* Or leaves it, or a later one, unqueued: no room, and no memory. */
static void add_to_heap(struct pending *p, struct entry e)
{
	if (likely(pending_make_room(p, &p->heap))) {
		heap_push(&p->heap, e);
		return;
	}
	pending_replace_last(p, &e);
	leave_unqueued(p, &e);
}

/*
 * If few timers are near, the heap has them all.  The same if there is a
 * reserve, which has room for them there.
 */
static bool uses_wheel(const struct pending *p)
{
	return p->heap.n >= HEAP_SMALL && grows(p);
}

/* Does the entry go to the wheel? */
static bool is_for_wheel(const struct pending *p, const struct entry *e)
{
	return uses_wheel(p) &&
	       wheel_level(&p->wheel, e->deadline) < WHEEL_LEVELS;
}

/* False: the entry goes to the heap. */
static bool add_to_wheel(struct pending *p, struct entry e)
{
	if (!uses_wheel(p))
		return false;
	if (!p->spare && !p->starved) {
		p->spare = block_pool_take(&p->intake->pool);
		p->starved = !p->spare;
	}
	return wheel_add(&p->wheel, e, &p->spare);
}

/* With more blocks at hand, what is due within this time is near. */
#define BLOCKS_MANY 64
#define FAR_NS      (INT64_C(1) << 32)

static bool has_many(const struct pending *p)
{
	return p->blocks.n > BLOCKS_MANY && grows(p);
}

/*
 * A timer is kept if it is due by then: within a time from now, or from the
 * first deadline of its block if that is later.
 */
static int64_t near_limit(const struct pending *p, int64_t now)
{
	return clock_add(now, has_many(p) ? FAR_NS : NEAR_NS);
}

/*
 * Files an entry: it is kept if it is near, and otherwise goes back to its
 * bucket.  If there is no room and no memory, the timer of this one or of a
 * later one is unqueued.  Then what is due later than that must not run before
 * the buckets were visited again: p->beyond.
 */
TT_PART void pending_file(struct pending *p, struct entry e, int64_t now)
{
	wheel_advance(&p->wheel, now);
	if (e.deadline > near_limit(p, now))
		pending_send_back(p, &e, 1);
	else if (!add_to_wheel(p, e))
		add_to_heap(p, e);
}

/* A heap's first deadline. */
static int64_t top(const struct heap *h)
{
	return h->n > 0 ? heap_at(h, 0)->deadline : INT64_MAX;
}

/*
 * Puts a later deadline into e, if its timer has one.  False: e is no longer of
 * use.  Recycles the slot of a timer that has ended.
 */
static bool pending_refresh(struct pending *p, struct entry *e)
{
	struct bucket *b = intake_bucket(p->intake, e->index);
	struct slot *s = slots_of(&b->slots, e->index);
	enum expiry x = expiry_refresh(b, s, e);

	if (x == EXPIRY_OVER)
		intake_recycle(p->intake, s);
	return x == EXPIRY_PENDING;
}

/* To look at so few slots takes less than a sleep. */
#define BLOCK_SMALL 32

/* For open_block: looks at all entries, and files none. */
#define NONE_NEAR INT64_MIN

/* Prefetches the slot of an entry that will be looked at soon. */
static void prefetch(struct pending *p, const struct block *b, size_t i,
		     int64_t near)
{
	if (i < b->n && (near == NONE_NEAR || (b->entry[i].deadline <= near &&
					       !is_for_wheel(p, &b->entry[i]))))
		__builtin_prefetch(intake_slot_of(p->intake, &b->entry[i]));
}

/* Puts the entry into the wheel, or into the heap if it is of use. */
static bool take_near(struct pending *p, struct entry *e, int64_t near)
{
	if (e->deadline > near)
		return false;
	if (add_to_wheel(p, *e))
		return true;
	if (!pending_refresh(p, e))
		return true;
	if (e->deadline > near)
		return false;
	/* Its callback runs soon, and will most likely read that first. */
	__builtin_prefetch(slot_arg(intake_slot_of(p->intake, e)));
	add_to_heap(p, *e);
	return true;
}

/*
 * Files the near entries of a block, and sends the others back.  Those of a
 * small block are looked at before that: otherwise the driver would wake up for
 * the dead among them.  (A timeout of 30 ms that is scheduled anew each 10 ms,
 * 200 times: 197 sleeps ended, and 132 so.)
 */
static void open_block(struct pending *p, struct block *b, int64_t near)
{
	bool looks = near == NONE_NEAR || b->n <= BLOCK_SMALL;
	size_t far = 0;

	for (size_t i = 0; i < PENDING_PREFETCH; i++)
		prefetch(p, b, i, near);
	for (size_t i = 0; i < b->n; i++) {
		struct entry e = b->entry[i];

		prefetch(p, b, i + PENDING_PREFETCH, near);
		if (!take_near(p, &e, near) &&
		    (!looks || pending_refresh(p, &e)))
			b->entry[far++] = e;
	}
	pending_send_back(p, b->entry, far);
	/* Of a reserve, others need the blocks. */
	if (!p->spare && grows(p))
		p->spare = b;
	else
		block_pool_give(&p->intake->pool, b);
}

/* Drops the entries of a block that are of no use; puts the others back. */
TT_PART void pending_sift(struct pending *p, struct block *b)
{
	open_block(p, b, NONE_NEAR);
}

/* Nothing here is due earlier than this. */
static int64_t nearest(const struct pending *p)
{
	int64_t first = top(&p->heap);
	int64_t block = top(&p->blocks), slice = wheel_nearest(&p->wheel);

	first = block < first ? block : first;
	return slice < first ? slice : first;
}

/*
 * Opens the block that may hold the earliest timer.  If it came from a bucket,
 * nothing is due before its first deadline, so its first entries go to the
 * wheel's finest level.  If it was in the wheel, all its entries were near when
 * they were added, and still are, wherever the clock was set.  If one is far
 * now, its timer was rescheduled.
 */
static void open_next(struct pending *p, int64_t now)
{
	int64_t first = top(&p->blocks), near = near_limit(p, first);
	struct block *b;

	if (first <= wheel_nearest(&p->wheel)) {
		b = take_first_block(p);
		wheel_advance(&p->wheel, first);
	} else {
		b = wheel_open(&p->wheel, &near);
	}
	open_block(p, b, clock_later(near, near_limit(p, now)));
}

/*
 * Looks at the heap's first entry.  False: it was dropped, or filed again for a
 * later time.
 */
static bool is_first_right(struct pending *p, int64_t now)
{
	struct entry *first = heap_at(&p->heap, 0), e = *first;
	bool is_of_use = pending_refresh(p, &e);

	if (likely(is_of_use && e.deadline == first->deadline))
		return true;
	heap_pop(&p->heap);
	if (is_of_use)
		pending_file(p, e, now);
	return false;
}

/*
 * There are very many, and none is due soon.  Then the next is opened when its
 * time comes: if the wheel were turned that far, timers that arrive meanwhile
 * would not fit.
 */
static bool is_far_off(const struct pending *p, int64_t next, int64_t now)
{
	return (has_many(p) || wheel_is_deep(&p->wheel)) &&
	       next > clock_add(now, NEAR_NS);
}

/*
 * One step towards the earliest live timer, at the time now.  True: it is at
 * the heap's top, and *ret_next is its deadline; INT64_MAX: there is none.  Or
 * it is far off.  False: there are more steps to take.  In both cases nothing
 * is due before *ret_next.
 */
TT_PART bool pending_next(struct pending *p, int64_t now, int64_t *ret_next)
{
	for (int i = 0; i < PENDING_LOOKS; i++) {
		*ret_next = nearest(p);
		if (*ret_next < top(&p->heap)) {
			if (is_far_off(p, *ret_next, now))
				return true;
			open_next(p, now);
			return false;
		}
		if (p->heap.n == 0 || is_first_right(p, now))
			return true;
	}
	return false;
}

/* Has pending_next found this timer?  Else it is far off. */
static inline bool pending_has_found(const struct pending *p, int64_t next)
{
	return next == top(&p->heap);
}

/* Takes out the entry that pending_next has found. */
static inline struct entry pending_take(struct pending *p)
{
	return heap_pop(&p->heap);
}

/*
 * For a driver that has nothing to run at the time now.  Opens a block before
 * its time: the first, if more than a few are due at about the same time; or
 * one of the wheel, if its next slice is long.  True: there may be more to do.
 *
 * "About the same time" means within a millisecond.  If deadlines are in order,
 * fewer blocks are due in that time, and each is best opened once, when it is.
 */
TT_PART bool pending_open_ahead(struct pending *p, int64_t now)
{
	int64_t near = near_limit(p, now);
	struct block *b;

	if (!pending_make_room(p, &p->heap))
		return false;
	wheel_advance(&p->wheel, now);
	if (p->blocks.n > BLOCKS_FEW &&
	    heap_at(&p->blocks, BLOCKS_FEW)->deadline <=
		    clock_add(top(&p->blocks), NEAR_NS / 8))
		b = take_first_block(p);
	else
		b = wheel_open_ahead(&p->wheel, &near);
	if (b)
		open_block(p, b, near);
	return b != NULL;
}

/* Its memory, without blocks. */
TT_PART size_t pending_bytes(const struct pending *p)
{
	return heap_bytes(&p->heap) + heap_bytes(&p->blocks);
}
