/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/arrival.h"

#include <stdlib.h>

/* What an arrival lacks. */
struct lack {
	int chunk;          /* of slots; -1: none */
	uint32_t untouched; /* word of slots; 0: none */
	bool block;
	uint32_t rows;
};

/* False: there may be no more slots. */
static bool look(struct bucket *b, struct lane *l, bool slot, struct lack *lack)
{
	bool full = !queue_has_room(&l->queue, 1);

	lack->rows = full ? queue_wants_rows(&l->queue) : 0;
	lack->block = full && !b->spares;
	lack->chunk = -1;
	lack->untouched = 0;
	if (!slot || slots_any(&b->slots))
		return true;
	lack->untouched = slots_untouched(&b->slots);
	if (lack->untouched > 0)
		return true;
	lack->chunk = slots_next_chunk(&b->slots);
	return lack->chunk >= 0;
}

struct memory {
	void *chunk;
	struct block *block;
	struct row *rows;
};

/* Its first page and its last, for the kernel finds them now. */
static void touch(struct block *b)
{
	b->next = NULL;
	b->entry[BLOCK_ENTRIES - 1].index = 0;
}

/* False: there is not all of it. */
static bool take(struct memory *m, const struct lack *lack)
{
	*m = (struct memory){NULL, NULL, NULL};
	if (lack->chunk >= 0)
		m->chunk = slots_chunk_alloc(lack->chunk);
	if (lack->block)
		m->block = block_alloc();
	if (m->block)
		touch(m->block);
	if (lack->rows)
		m->rows = malloc(lack->rows * sizeof(*m->rows));
	return !m->chunk == (lack->chunk < 0) && !m->block == !lack->block &&
	       !m->rows == !lack->rows;
}

/* Another thread may have done the same; then it is left in *m. */
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
	int saved_errno = errno, r = 0;
	struct lack lack;
	struct memory m;
	bool some;

	lock_acquire(&b->lock);
	some = look(b, l, slot, &lack);
	lock_release(&b->lock);
	if (!some)
		return -EAGAIN;
	if (!take(&m, &lack))
		r = -ENOMEM;
	if (lack.untouched > 0)
		slots_touch(&b->slots, lack.untouched);
	lock_acquire(&b->lock);
	give(b, l, &m, &lack);
	lock_release(&b->lock);
	if (m.chunk)
		slots_chunk_free(lack.chunk, m.chunk);
	free(m.block);
	free(m.rows);
	errno = saved_errno;
	return r;
}

/*
 * If it is near it may have passed; and if it is earlier by much the lane may
 * be one for what is farther.  Only by much: where each deadline is a little
 * earlier than the last, the clock would be read each time.
 */
static bool may_be_wrong(const struct bucket *b, const struct lane *l,
			 int64_t deadline)
{
	unsigned lane = (unsigned)(l - b->lane);

	return lane == 0 ||
	       deadline < clock_add(l->queue.nearest, -distance_ahead(lane));
}

TT_NOINLINE struct arrival arrival_place(struct bucket *b, struct wakeup *w,
					 int64_t deadline)
{
	struct arrival a = arrival_aim(b, deadline);
	int64_t now;

	if (!may_be_wrong(b, a.lane, deadline))
		return a;
	/* The clock may be a system call. */
	lock_release(&b->lock);
	now = watch_now(w->watch);
	lock_acquire(&b->lock);
	b->base = distance_base(now);
	a = arrival_aim(b, deadline);
	now = wakeup_earliest(w, now);
	a.due = deadline < now ? now : deadline;
	return a;
}

/* From here on it is far: two seconds. */
#define FAR_TICKS 2048

/* A little earlier is by a sixteenth of how far it is. */
#define LITTLE_LOG2 4

/* So many in a row are announced as they are. */
#define FALLS 16

/*
 * Who announces waits for other CPUs.  So where each deadline is a little
 * earlier than the last, and far, a time is announced that holds for those that
 * come next, too.  Then the driver may wake up once more, and finds when they
 * are due.  (Two threads that do nothing else: 92 to 108 ns, where each is
 * announced 172 to 220.)
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
				  int64_t deadline)
{
	b->nearest = to_announce(b, deadline);
	return wakeup_announce(w, b->slots.bucket, b->nearest);
}
