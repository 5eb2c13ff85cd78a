/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/arrival.h"
#include "os/errno.h"
#include "os/memory.h"

/* What is missing for an arrival. */
struct lack {
	int chunk;          /* of slots; -1: none */
	uint32_t untouched; /* word of slots; 0: none */
	bool block;
	uint32_t rows;
	bool allocate; /* may allocate a block, if none is kept */
};

/* How to get the slots that are missing. */
static int look_for_slots(const struct bucket *b, struct lack *lack)
{
	if (!b->grows)
		return -ENOMEM;
	lack->untouched = slots_untouched(&b->slots);
	if (lack->untouched > 0)
		return 0;
	lack->chunk = slots_next_chunk(&b->slots);
	return lack->chunk >= 0 ? 0 : -EAGAIN;
}

/*
 * -ENOMEM: memory is missing, and none may be allocated.  -EAGAIN: there may be
 * no more slots.
 */
static int look(const struct bucket *b, const struct lane *l, bool slot,
		struct lack *lack)
{
	bool full = !queue_has_room(&l->queue, 1);

	*lack = (struct lack){
		.chunk = -1,
		.block = full && !b->spares,
		.rows = full ? queue_wants_rows(&l->queue) : 0,
		.allocate = b->grows,
	};
	if (lack->rows > 0 && !b->grows)
		return -ENOMEM;
	return slot && !slots_any(&b->slots) ? look_for_slots(b, lack) : 0;
}

struct memory {
	void *chunk;
	struct block *block;
	struct row *rows;
};

static struct block *take_block(struct bucket *b, bool allocate)
{
	struct block *block = block_pool_take(b->pool);

	return block || !allocate ? block : block_alloc();
}

/* Allocates what is missing.  False: some of it could not be had. */
static bool take(struct bucket *b, struct memory *m, const struct lack *lack)
{
	*m = (struct memory){NULL, NULL, NULL};
	if (lack->chunk >= 0)
		m->chunk = slots_chunk_alloc(lack->chunk);
	if (lack->block)
		m->block = take_block(b, lack->allocate);
	if (lack->rows)
		m->rows = memory_alloc(lack->rows * sizeof(*m->rows));
	return !m->chunk == (lack->chunk < 0) && !m->block == !lack->block &&
	       !m->rows == !lack->rows;
}

/*
 * Gives the memory to the bucket.  If another thread has done the same, it is
 * left in *m.
 */
static void give(struct bucket *b, struct lane *l, struct memory *m,
		 const struct lack *lack)
{
	if (m->chunk && slots_add_chunk(&b->slots, lack->chunk, m->chunk))
		m->chunk = NULL;
	if (lack->untouched > 0)
		slots_add_touched(&b->slots, lack->untouched);
	if (m->block && !b->spares) {
		block_push(&b->spares, m->block);
		m->block = NULL;
	}
	if (m->rows)
		m->rows = queue_give_rows(&l->queue, m->rows, lack->rows);
}

TT_NOINLINE int arrival_grow(struct bucket *b, struct lane *l, bool slot)
{
	KEEP_ERRNO;
	struct lack lack;
	struct memory m;
	int r;

	lock_acquire(&b->lock);
	r = look(b, l, slot, &lack);
	lock_release(&b->lock);
	if (r < 0)
		return r;
	/* With slots, the call can go on without room for an entry. */
	if (!take(b, &m, &lack) && !m.chunk && lack.untouched == 0)
		r = -ENOMEM;
	if (lack.untouched > 0)
		slots_touch(&b->slots, lack.untouched);
	lock_acquire(&b->lock);
	give(b, l, &m, &lack);
	lock_release(&b->lock);
	if (m.chunk)
		slots_chunk_free(lack.chunk, m.chunk);
	block_pool_give(b->pool, m.block);
	memory_free(m.rows);
	return r;
}

/*
 * True: the bucket is open.  Under the lock, which is released while the call
 * is made that another thread has not made yet.
 */
TT_NOINLINE bool arrival_is_open(struct bucket *b, struct wakeup *w)
{
	while (b->state == BUCKET_KICKED && wakeup_owes_kick(w)) {
		lock_release(&b->lock);
		wakeup_kick(w);
		lock_acquire(&b->lock);
	}
	if (b->state == BUCKET_KICKED)
		b->state = BUCKET_OPEN;
	return b->state == BUCKET_OPEN;
}

TT_NOINLINE int arrival_without_room(struct bucket *b, struct wakeup *w,
				     bool slot, int r)
{
	lock_acquire(&b->lock);
	if (!arrival_is_open(b, w))
		r = -ESHUTDOWN;
	else if (!slot || slots_any(&b->slots))
		return ARRIVAL_NO_ROOM;
	lock_release(&b->lock);
	return r;
}

/*
 * A deadline that is a little earlier than the others in a lane for timers that
 * are far is taken as it is: otherwise the clock would be read for each
 * deadline that is a little earlier than the last.
 */
static bool may_be_wrong(const struct bucket *b, const struct lane *l,
			 int64_t deadline)
{
	unsigned lane = (unsigned)(l - b->lane);

	return deadline < b->doubtful ||
	       deadline < clock_add(l->queue.nearest, -distance_ahead(lane));
}

TT_NOINLINE struct arrival arrival_place(struct bucket *b, struct wakeup *w,
					 int64_t deadline, int64_t now)
{
	struct arrival a = arrival_aim(b, deadline);

	if (!may_be_wrong(b, a.lane, deadline))
		return a;
	if (now == 0) {
		/* Reading the clock may be a system call. */
		lock_release(&b->lock);
		now = watch_now(w->watch);
		lock_acquire(&b->lock);
	}
	bucket_set_time(b, w, now);
	a = arrival_aim(b, deadline);
	if (deadline <= now)
		a.due = clock_later(deadline, wakeup_earliest(w, now));
	return a;
}

/* From this distance on, a timer is far: two seconds. */
#define FAR_TICKS 2048

/* "A little earlier" means: by a sixteenth of the distance. */
#define LITTLE_LOG2 4

/* This many in a row are announced as they are. */
#define FALLS 16

/*
 * An announcement waits for other CPUs.  If deadlines are far, and each is a
 * little earlier than the last, an earlier time is announced, which also holds
 * for the next ones.  Then the driver may wake up once more, and finds when
 * they are due.  (Threads that do nothing else, per pair: one 91 ns, two 101,
 * eight 88; if each deadline is announced 110, 113 and 93.  Simulated, 1, 4, 16
 * and 64 threads do 15.7, 62.7, 253 and 1,007 million pairs per second; if each
 * is announced 13.4, 6.8, 3.7 and 1.03 million.)
 */
static int64_t to_announce(struct bucket *b, int64_t deadline)
{
	int64_t ticks = distance_base(deadline) - b->base;
	int64_t little = ticks * (INT64_C(1) << (TICK_LOG2 - LITTLE_LOG2));

	if (ticks < FAR_TICKS || b->nearest - little >= deadline)
		b->falls = 0;
	else if (b->falls < FALLS)
		b->falls++;
	return b->falls < FALLS ? deadline : deadline - little;
}

TT_NOINLINE bool arrival_announce(struct bucket *b, struct wakeup *w,
				  int64_t time)
{
	bool kick;

	b->nearest = to_announce(b, time);
	bucket_set_doubtful(b, w);
	kick = wakeup_announce(w, b->slots.bucket, b->nearest);
	if (kick && b->state == BUCKET_OPEN)
		b->state = BUCKET_KICKED;
	return kick;
}

bool arrival_push_at_once(struct bucket *b, struct wakeup *w, struct lane *l,
			  struct entry e)
{
	int64_t time = clock_add(e.deadline, -w->slack);

	queue_push(&l->queue, e);
	return time < b->nearest && arrival_announce(b, w, time);
}
