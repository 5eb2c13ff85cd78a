/* SPDX-License-Identifier: MIT */
#include "intake/arrival.h"
#include "base/keep.h"
#include "intake/garbage.h"
#include "intake/sweep.h"

int arrival_grow_slots(struct bucket *b)
{
	struct slots *t = &b->slots;
	void *memory = NULL;
	struct words w;
	int chunk;

	if (!block_pool_grows(b->pool))
		return -ENOMEM;
	lock_acquire(&b->lock);
	w = vacancy_take(t);
	chunk = slots_next_chunk(t);
	lock_release(&b->lock);
	if (w.n > 0)
		vacancy_fill(t, w);
	else if (chunk < 0)
		return -EAGAIN;
	else if (!(memory = slots_chunk_alloc(chunk)))
		return -ENOMEM;
	lock_acquire(&b->lock);
	if (w.n > 0)
		vacancy_add(t, w);
	else if (slots_add_chunk(t, chunk, memory))
		memory = NULL;
	lock_release(&b->lock);
	/* Another thread has added that chunk. */
	if (memory)
		slots_chunk_free(chunk, memory);
	return 0;
}

/* As arrival_grow_slots; but if it fails, the last few slots may be taken. */
static int find_memory(struct bucket *b)
{
	int r = arrival_grow_slots(b);

	if (r == 0)
		return r;
	lock_acquire(&b->lock);
	r = slots_use_all(&b->slots) ? 0 : r;
	lock_release(&b->lock);
	return r;
}

bool arrival_give_rows(struct bucket *b, struct lane *l, uint32_t size)
{
	struct rows rows;

	if (!rows_alloc(&rows, size))
		return false;
	lock_acquire(&b->lock);
	queue_give_rows(&l->queue, &rows);
	lock_release(&b->lock);
	rows_free(rows);
	return true;
}

static bool add_spare(struct bucket *b)
{
	struct block *block = block_pool_take(b->pool);

	if (!block)
		return false;
	lock_acquire(&b->lock);
	block_push(&b->spares, block);
	lock_release(&b->lock);
	return true;
}

TT_NOINLINE bool arrival_find_slot(struct bucket *b, struct lane *l)
{
	recycle_look(b, l);
	if (!slots_any(&b->slots) && sweep_for_call(b))
		l->aside = l->queue.blocks * BLOCK_ENTRIES;
	return slots_any(&b->slots);
}

/* Makes room for an entry.  False: no memory. */
static bool grow_lane(struct bucket *b, struct lane *l)
{
	bool full, more, spare;
	uint32_t rows;

	lock_acquire(&b->lock);
	full = !queue_has_room(&l->queue, 1);
	rows = queue_wants_rows(&l->queue);
	more = full && rows > l->queue.size;
	spare = full && !b->spares;
	lock_release(&b->lock);
	return (!more ||
		(block_pool_grows(b->pool) && arrival_give_rows(b, l, rows))) &&
	       (!spare || add_spare(b));
}

/*
 * Also wakes the driver if there may be much garbage, or if it is time to visit
 * the lane, which grows.
 */
TT_NOINLINE int arrival_grow(struct bucket *b, struct wakeup *w, struct lane *l,
			     bool slot)
{
	KEEP_ERRNO;
	struct lane *old;
	int64_t at;
	bool told;

	lock_acquire(&b->lock);
	slot = slot && !slots_any(&b->slots);
	old = b->old_full;
	told = garbage_tell(b, w);
	at = told ? b->now : bucket_visit_at(b, l);
	arrival_leave(b, w, arrival_visit_by(b, w, at, told));
	/* If there is no memory for the old, they stay where they are. */
	if (old && grow_lane(b, old)) {
		/* Else this call's own lane would take the block. */
		lock_acquire(&b->lock);
		arrival_has_room(b, old);
		b->old_full = NULL;
		lock_release(&b->lock);
	}
	if (slot)
		return find_memory(b);
	return grow_lane(b, l) ? 0 : -ENOMEM;
}

/*
 * True: the bucket is open.  Under the lock, which is released while the call
 * is made that another thread has not made yet.
 */
TT_NOINLINE bool arrival_is_open(struct bucket *b, struct wakeup *w)
{
	while (b->state == BUCKET_KICKED && wakeup_owes_kick(w)) {
		/* The caller's call will call the program (wakeup_calls). */
		if (w->wake)
			return true;
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

TT_NOINLINE void arrival_aim_now(struct bucket *b, struct wakeup *w,
				 int64_t deadline, int64_t now,
				 struct arrival *a)
{
	if (!may_be_wrong(b, a->lane, deadline))
		return;
	if (now == 0) {
		/* Reading the clock may be a system call. */
		lock_release(&b->lock);
		now = watch_now(w->watch);
		lock_acquire(&b->lock);
	}
	bucket_set_time(b, w, now);
	*a = arrival_aim(b, deadline);
	if (deadline <= now)
		a->due = clock_later(deadline, wakeup_earliest(w, now));
}

/* Deadlines that are not so far ahead are announced as they are: 2 s. */
#define LITTLE_TICKS 2048

/* "A little earlier" means: by a sixteenth of the distance. */
#define LITTLE_LOG2 4

/* This many in a row are announced as they are. */
#define LITTLE_MANY 16

/*
 * An announcement waits for other CPUs.  If deadlines are that far ahead, and
 * each is a little earlier than the last, an earlier time is announced, which
 * also holds for the next ones.  Then the driver may wake up once more, and
 * finds when they are due.  (Threads that do nothing else, per pair: one 91 ns,
 * two 101, eight 88; if each deadline is announced 110, 113 and 93.  Simulated,
 * 1, 4, 16 and 64 threads do 15.7, 62.7, 253 and 1,007 million pairs per
 * second; if each is announced 13.4, 6.8, 3.7 and 1.03 million.)
 */
static int64_t to_announce(struct bucket *b, int64_t deadline)
{
	int64_t ticks = distance_base(deadline) - b->base;
	int64_t little = ticks * (INT64_C(1) << (TICK_LOG2 - LITTLE_LOG2));

	if (ticks < LITTLE_TICKS || b->nearest - little >= deadline)
		b->little_earlier = 0;
	else if (b->little_earlier < LITTLE_MANY)
		b->little_earlier++;
	return b->little_earlier < LITTLE_MANY ? deadline : deadline - little;
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
