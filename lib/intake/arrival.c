/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/arrival.h"
#include "os/clock.h"

#include <errno.h>
#include <stdlib.h>

/* Another thread may do the same; then what this one took is freed. */
TT_NOINLINE int arrival_grow(struct bucket *b, bool slot)
{
	struct block *block = NULL;
	void *memory = NULL;
	bool need_chunk, need_block;
	int chunk, r = 0;
	int saved_errno = errno;

	lock_acquire(&b->lock);
	need_block = !b->arrivals.spares;
	/* Not before the arrivals were swept, which takes a spare block. */
	need_chunk = slot && !slots_any(&b->slots) && !need_block;
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
	if (block && !b->arrivals.spares) {
		block_push(&b->arrivals.spares, block);
		block = NULL;
	}
	lock_release(&b->lock);

	free(memory);
	free(block);
	errno = saved_errno;
	return r;
}

/*
 * Once for each time, until the bucket is emptied: else each block's end, on
 * each CPU, would go for a lock that all share.
 */
TT_NOINLINE bool arrival_burst(struct bucket *b, int64_t *ret_time)
{
	bool full = b->arrivals.blocks >= b->full;
	int64_t time = full ? INT64_MIN : clock_add(b->nearest, -BUCKET_LEAD);

	if (time >= b->asked)
		return false;
	b->asked = time;
	*ret_time = time;
	return true;
}

TT_NOINLINE bool arrival_announce(struct bucket *b, struct wakeup *w,
				  int64_t deadline)
{
	b->listed = true;
	b->nearest = deadline < b->nearest ? deadline : b->nearest;
	return wakeup_announce(w, b->slots.bucket, deadline);
}
