/* SPDX-License-Identifier: MIT */
/*
 * Tasks for the design of brpc's TimerThread.  An id is a version in the upper
 * 32 bits and a slot in the lower.  The memory of a task stays a task for ever,
 * so that an id of long ago can be looked up, and its version tells that it is
 * over.
 *
 * A task that is taken has an even version, v.  It is v + 1 while its callback
 * runs, and v + 2 when it is over, or cancelled: the next id's version.
 */
#pragma once

#include "peer.h"

#include <stdalign.h>
#include <stdatomic.h>

enum { BLOCK_BITS = 8, BLOCK_TASKS = 1 << BLOCK_BITS, BLOCKS = 1 << 18 };

/* One cache line. */
struct task {
	alignas(64) struct task *next; /* in a bucket's list, or a chunk */
	int64_t run_time;
	peer_fn *fn;
	void *arg;
	struct task *next_chunk; /* of the first one of a chunk, */
	int chunk_count;         /* and this too */
	uint32_t slot;
	uint32_t scheduled;       /* the version that is in its id */
	_Atomic uint32_t version; /* by now */
};

extern struct task *pool_blocks[BLOCKS];

/* NULL if there is no memory. */
struct task *pool_get(void);

/* By any thread; for the next one that gets. */
void pool_put(struct task *t);

/* Gives up what the calling thread keeps. */
void pool_leave(void);

static inline struct task *pool_task(uint64_t id)
{
	uint32_t slot = (uint32_t)id;

	return &pool_blocks[slot >> BLOCK_BITS][slot & (BLOCK_TASKS - 1)];
}
