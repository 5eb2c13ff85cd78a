/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bucket.h"

#include <errno.h>
#include <stdlib.h>

/* Fetched so many entries before the rent comes to them. */
#define PREFETCH 8

void bucket_init(struct bucket *b, uint32_t number, uint32_t shift)
{
	lock_init(&b->lock);
	b->open = false;
	b->listed = false;
	b->nearest = INT64_MAX;
	b->lived = 0;
	b->rests = 0;
	queue_init(&b->arrivals);
	slots_init(&b->slots, number, shift);
	b->returns = (struct slot_list){NULL, NULL, 0};
}

void bucket_destroy(struct bucket *b)
{
	queue_destroy(&b->arrivals);
	slots_destroy(&b->slots);
}

void bucket_open(struct bucket *b)
{
	lock_acquire(&b->lock);
	b->open = true;
	lock_release(&b->lock);
}

void bucket_shut(struct bucket *b)
{
	lock_acquire(&b->lock);
	b->open = false;
	lock_release(&b->lock);
}

/*
 * Begins to fetch the slots that later calls will look at.  Where another CPU
 * has cancelled the timers, their lines must come from there, and the next
 * atomic operation here would wait until what is written to them has arrived:
 * between CPUs that are far apart this took a pair from 205 to 120 ns.
 */
static inline void prefetch_slots(struct bucket *b, unsigned ahead)
{
	const struct entry *e = queue_ahead(&b->arrivals, ahead, 2);

	if (unlikely(!e))
		return;
	prefetch_to_write(slots_of(&b->slots, e[0].id));
	prefetch_to_write(slots_of(&b->slots, e[1].id));
}

/* Drops the oldest arrival if its timer was cancelled. */
static inline bool drop_dead(struct bucket *b)
{
	const struct entry *e = queue_front(&b->arrivals);
	struct slot *s;

	if (!e)
		return false;
	s = slots_of(&b->slots, e->id);
	if (!slot_is_dead(s, e->id))
		return false;
	queue_pop(&b->arrivals);
	slots_recycle(&b->slots, s);
	return true;
}

/* The oldest arrival lives: what is behind it shall have its turn. */
static inline void rotate(struct bucket *b)
{
	struct queue *q = &b->arrivals;
	struct entry e;

	if (!queue_front(q) || !queue_has_room(q, 2))
		return;
	e = *queue_front(q);
	queue_pop(q);
	queue_push(q, e);
}

/*
 * Looks at two old arrivals.  Most timers are cancelled about in the order in
 * which they were scheduled, so the oldest is the most likely to be dead, the
 * slots are used again in the order in which they lie in memory, and CPUs
 * fetch them ahead by themselves.
 */
static inline void look(struct bucket *b)
{
	if (likely(drop_dead(b))) {
		b->lived = 0;
	} else {
		rotate(b);
		b->lived++;
	}
	drop_dead(b);
}

/*
 * Where all that it comes upon lives, rent has caught up with whoever cancels,
 * and rests: on another CPU that thread is about to write the very lines that
 * would be fetched here.  LIVED is many enough to leave a bucket where as many
 * live as are dead with hardly a rest; RESTS, well above PREFETCH.
 */
#define LIVED 8
#define RESTS 64

static inline void rent(struct bucket *b)
{
	if (unlikely(b->rests > 0)) {
		if (--b->rests < PREFETCH / 2)
			prefetch_slots(b, PREFETCH - 2 - 2 * b->rests);
		return;
	}
	prefetch_slots(b, PREFETCH);
	look(b);
	if (unlikely(b->lived >= LIVED)) {
		b->lived = 0;
		b->rests = RESTS;
	}
}

static TT_NOINLINE bool sweep(struct bucket *b)
{
	for (unsigned i = 0; i < BLOCK_ENTRIES && !slots_any(&b->slots); i++)
		look(b);
	return slots_any(&b->slots);
}

/* Is there a slot?  Perhaps after some sweeping. */
static inline bool has_slot(struct bucket *b)
{
	return likely(slots_any(&b->slots)) || sweep(b);
}

static inline bool has_room(struct bucket *b)
{
	return likely(queue_has_room(&b->arrivals, 1)) ||
	       queue_extend(&b->arrivals);
}

/*
 * Takes memory for what is missing, with the lock free meanwhile; another
 * thread may do the same, and then this one's is given back.
 */
static TT_NOINLINE int grow(struct bucket *b)
{
	struct block *block = NULL;
	void *memory = NULL;
	bool need_chunk, need_block;
	int chunk, r = 0;
	int saved_errno = errno;

	lock_acquire(&b->lock);
	need_block = !queue_has_room(&b->arrivals, 1) && !b->arrivals.spares;
	need_chunk = !slots_any(&b->slots);
	chunk = need_chunk ? slots_next_chunk(&b->slots) : 0;
	lock_release(&b->lock);

	if (chunk < 0)
		return -EAGAIN;
	if (need_chunk && !(memory = slots_chunk_alloc(chunk)))
		r = -ENOMEM;
	if (need_block && !(block = block_alloc()))
		r = -ENOMEM;

	lock_acquire(&b->lock);
	if (memory && slots_add_chunk(&b->slots, chunk, memory))
		memory = NULL;
	if (block && !queue_has_room(&b->arrivals, 1) && !b->arrivals.spares) {
		block_push(&b->arrivals.spares, block);
		block = NULL;
	}
	lock_release(&b->lock);

	free(memory);
	free(block);
	errno = saved_errno;
	return r;
}

/* Are there so many arrivals that the timer thread should fetch them? */
static inline bool is_burst(const struct bucket *b)
{
	return b->arrivals.blocks >= BUCKET_BURST;
}

static TT_NOINLINE bool announce(struct bucket *b, struct wakeup *w,
				 int64_t deadline)
{
	b->listed = true;
	b->nearest = deadline < b->nearest ? deadline : b->nearest;
	return wakeup_announce(w, b->slots.bucket, deadline);
}

int bucket_schedule(struct bucket *b, struct wakeup *w, int64_t deadline,
		    timerthread_fn *fn, void *arg, timerthread_id *ret_id)
{
	bool kick = false;
	uint64_t id;
	int r;

	lock_acquire(&b->lock);
	while (true) {
		if (unlikely(!b->open)) {
			lock_release(&b->lock);
			return -ESHUTDOWN;
		}
		rent(b);
		if (likely(has_slot(b) && has_room(b)))
			break;
		lock_release(&b->lock);
		r = grow(b);
		if (r < 0)
			return r;
		lock_acquire(&b->lock);
	}
	id = slot_arm(slots_take(&b->slots), deadline, fn, arg);
	if (ret_id)
		*ret_id = id;
	queue_push(&b->arrivals, (struct entry){deadline, id});
	if (unlikely(deadline < b->nearest || !b->listed))
		kick = announce(b, w, deadline);
	if (unlikely(!queue_has_room(&b->arrivals, 1)) && is_burst(b))
		kick |= wakeup_announce(w, b->slots.bucket, INT64_MIN);
	lock_release(&b->lock);
	if (unlikely(kick))
		wakeup_kick(w);
	return 0;
}

struct block *bucket_collect(struct bucket *b, struct block **spares)
{
	struct block *taken, *surplus, *one = NULL;

	lock_acquire(&b->lock);
	b->listed = false;
	b->nearest = INT64_MAX;
	taken = queue_take(&b->arrivals);
	surplus = b->arrivals.spares;
	b->arrivals.spares = NULL;
	if (taken)
		one = surplus ? block_pop(&surplus) : block_pop(spares);
	if (one)
		block_push(&b->arrivals.spares, one);
	slots_give(&b->slots, &b->returns);
	lock_release(&b->lock);

	while ((one = block_pop(&surplus)) != NULL)
		block_push(spares, one);
	return taken;
}

void bucket_give_back(struct bucket *b)
{
	lock_acquire(&b->lock);
	slots_give(&b->slots, &b->returns);
	lock_release(&b->lock);
}

void bucket_check(struct bucket *b)
{
	lock_acquire(&b->lock);
	queue_check(&b->arrivals);
	slots_check(&b->slots);
	lock_release(&b->lock);
}
