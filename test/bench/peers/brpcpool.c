/* SPDX-License-Identifier: MIT */
/*
 * A thread keeps up to two chunks of free tasks; what is more, and what it has
 * when it leaves, is for all to take.  With one chunk, a thread that gets and
 * puts by turns could come to need the lock each time.  brpc has a pool of the
 * same kind.
 */
#include "brpcpool.h"

#include <pthread.h>
#include <stdlib.h>

struct chunk {
	struct task *first;
	int count;
};

struct task *pool_blocks[BLOCKS];
static uint32_t blocks;
static struct task *chunks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct chunk used, kept;

static void give(struct chunk *c)
{
	if (!c->first)
		return;
	pthread_mutex_lock(&lock);
	c->first->chunk_count = c->count;
	c->first->next_chunk = chunks;
	chunks = c->first;
	pthread_mutex_unlock(&lock);
	*c = (struct chunk){NULL, 0};
}

static bool take(struct chunk *c)
{
	pthread_mutex_lock(&lock);
	c->first = chunks;
	if (c->first)
		chunks = c->first->next_chunk;
	pthread_mutex_unlock(&lock);
	if (c->first)
		c->count = c->first->chunk_count;
	return c->first != NULL;
}

/* -1 if there are too many. */
static int64_t add_block(struct task *tasks)
{
	int64_t n = -1;

	pthread_mutex_lock(&lock);
	if (blocks < BLOCKS) {
		n = blocks++;
		pool_blocks[n] = tasks;
	}
	pthread_mutex_unlock(&lock);
	return n;
}

static struct task *new_block(void)
{
	struct task *tasks = aligned_alloc(alignof(struct task),
					   BLOCK_TASKS * sizeof(*tasks));
	int64_t n;

	if (!tasks)
		return NULL;
	n = add_block(tasks);
	if (n < 0) {
		free(tasks);
		return NULL;
	}
	for (int i = 0; i < BLOCK_TASKS; i++) {
		tasks[i].slot = (uint32_t)(n * BLOCK_TASKS + i);
		tasks[i].next = i + 1 < BLOCK_TASKS ? &tasks[i + 1] : NULL;
		atomic_init(&tasks[i].version, 2);
	}
	return tasks;
}

static bool refill(void)
{
	if (kept.first) {
		used = kept;
		kept = (struct chunk){NULL, 0};
		return true;
	}
	if (take(&used))
		return true;
	used.first = new_block();
	used.count = used.first ? BLOCK_TASKS : 0;
	return used.first != NULL;
}

struct task *pool_get(void)
{
	struct task *t;

	if (!used.first && !refill())
		return NULL;
	t = used.first;
	used.first = t->next;
	used.count--;
	return t;
}

void pool_put(struct task *t)
{
	if (used.count == BLOCK_TASKS) {
		give(&kept);
		kept = used;
		used = (struct chunk){NULL, 0};
	}
	t->next = used.first;
	used.first = t;
	used.count++;
}

void pool_leave(void)
{
	give(&used);
	give(&kept);
}
