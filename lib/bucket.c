/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bucket.h"

#include <errno.h>
#include <stdlib.h>

#define PREFETCH 48

void bucket_init(struct bucket *b, uint32_t number, uint32_t shift)
{
	lock_init(&b->lock);
	b->open = false;
	b->listed = false;
	b->nearest = INT64_MAX;
	bag_init(&b->arrivals);
	slots_init(&b->slots, number, shift);
	b->returns = (struct slot_list){NULL, NULL, 0};
}

void bucket_destroy(struct bucket *b)
{
	bag_destroy(&b->arrivals);
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
 * Begins to fetch a slot that a later call will look at, to write it: where
 * another CPU has cancelled the timer, its line must come from there.
 */
static inline void prefetch(struct bucket *b, size_t ahead)
{
	const struct entry *e = bag_ahead(&b->arrivals, ahead);

	if (likely(e != NULL))
		__builtin_prefetch(slots_of(&b->slots, e->id), 1);
}

/* Looks at n older arrivals and recycles the dead. */
static inline void rent(struct bucket *b, unsigned n)
{
	struct entry *e;

	while (n-- > 0 && (e = bag_look(&b->arrivals)) != NULL) {
		struct slot *s = slots_of(&b->slots, e->id);

		if (slot_is_dead(s, e->id)) {
			bag_drop(&b->arrivals);
			slots_recycle(&b->slots, s);
		} else {
			bag_skip(&b->arrivals);
		}
	}
}

/* Is there a slot and room for an entry?  May do with some sweeping. */
static TT_NOINLINE bool make_room(struct bucket *b)
{
	rent(b, BLOCK_ENTRIES);
	return slots_any(&b->slots) &&
	       (bag_has_room(&b->arrivals) || bag_extend(&b->arrivals));
}

static inline bool has_room(struct bucket *b)
{
	return likely(slots_any(&b->slots) && bag_has_room(&b->arrivals)) ||
	       make_room(b);
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
	need_block = !bag_has_room(&b->arrivals) && !b->arrivals.spare;
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
	if (block && !bag_has_room(&b->arrivals) && !b->arrivals.spare) {
		bag_add_spare(&b->arrivals, block);
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
	return b->arrivals.blocks % BUCKET_BURST == 0;
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
		prefetch(b, PREFETCH);
		prefetch(b, PREFETCH + 1);
		rent(b, BUCKET_RENT);
		if (has_room(b))
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
	bag_add(&b->arrivals, (struct entry){deadline, id});
	if (unlikely(deadline < b->nearest || !b->listed))
		kick = announce(b, w, deadline);
	if (unlikely(!bag_has_room(&b->arrivals)) && is_burst(b))
		kick |= wakeup_announce(w, b->slots.bucket, INT64_MIN);
	lock_release(&b->lock);
	if (unlikely(kick))
		wakeup_kick(w);
	return 0;
}

struct block *bucket_collect(struct bucket *b, struct block **spares)
{
	struct block *taken, *surplus;

	lock_acquire(&b->lock);
	b->listed = false;
	b->nearest = INT64_MAX;
	taken = bag_take(&b->arrivals);
	surplus = bag_take_spares(&b->arrivals);
	if (taken && !surplus && *spares) {
		surplus = *spares;
		*spares = surplus->next;
		surplus->next = NULL;
	}
	if (taken && surplus) {
		struct block *one = surplus;

		surplus = one->next;
		bag_add_spare(&b->arrivals, one);
	}
	slots_give(&b->slots, &b->returns);
	lock_release(&b->lock);

	while (surplus) {
		struct block *next = surplus->next;

		surplus->next = *spares;
		*spares = surplus;
		surplus = next;
	}
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
	bag_check(&b->arrivals);
	slots_check(&b->slots);
	lock_release(&b->lock);
}
