/* SPDX-License-Identifier: MIT */
/*
 * The intake: all buckets of an instance, and which one a call uses.
 *
 * A call uses the bucket of the CPU that it runs on.  Then a bucket's lines
 * stay in one CPU's cache and its lock is contended only if its holder was
 * preempted; that a thread may move to another CPU just after it has asked is
 * harmless.  brpc's TimerThread, the plan of this library, spreads threads
 * over 12 buckets by a hash of their ids: two busy threads in one bucket then
 * pay for each other's cache lines on every call.
 *
 * Where that bucket's lock is held, its holder has usually been preempted on
 * this CPU, and will not go on before this thread has had its turn.  Then the
 * call uses another bucket.
 *
 * A bucket that nobody has scheduled into is all zero, and its memory was never
 * touched: so an instance takes memory for the CPUs that use it.  To a call
 * that schedules it looks as if it were shut, and that call has it set up.
 *
 * Any thread: pick, use, used, slot, and the buckets' own functions.  The
 * thread that starts or stops the instance: create, destroy, open, shut.  The
 * driver: the rest.
 */
#ifndef TT_INTAKE_H
#define TT_INTAKE_H

#include "intake/block.h"
#include "intake/bucket.h"
#include "os/cpu.h"

#define INTAKE_MAX_BUCKETS BUCKET_SET_MAX

/* So many ids can name at least, whatever the buckets. */
#define INTAKE_MAX_TIMERS ((size_t)1 << 30)

struct intake {
	/* Constant. */
	uint32_t n;
	uint32_t shift;         /* bits of a slot's index that say the bucket */
	struct cpu_map cpus;    /* a bucket for each */
	struct block_pool pool; /* for blocks of all; it has a lock */
	/* Before a bucket's. */
	struct lock lock;
	/* Protected by the lock. */
	bool open;              /* timers may be scheduled */
	struct bucket_set used; /* buckets that were set up */
	/* The driver's own: buckets with recycled slots. */
	struct bucket_set recycled __attribute__((aligned(TT_FAR_APART)));
	struct bucket bucket[];
};

/* NULL: no memory. */
struct intake *intake_create(uint32_t n);
void intake_destroy(struct intake *in);

/* In a child of fork(2): as bucket_destroy_inherited. */
void intake_destroy_inherited(struct intake *in);

void intake_open(struct intake *in);
void intake_shut(struct intake *in);

/*
 * Sets up a bucket, if nobody has used it.  False: it is shut.  Without the
 * lock.
 */
bool intake_use(struct intake *in, struct bucket *b);

/* The same, at the start of the instance. */
void intake_set_up(struct intake *in, struct bucket *b);

/* Which buckets have been set up: no other has a timer. */
void intake_used(struct intake *in, struct bucket_set *ret_used);

/* A bucket for each CPU that the machine may have. */
uint32_t intake_default_buckets(void);

/* Another bucket than b, if one of the next few is free. */
struct bucket *intake_pick_other(struct intake *in, struct bucket *b);

/* For a timer, by the caller's CPU: a hint, and any bucket will do. */
static inline struct bucket *intake_pick(struct intake *in, uint32_t cpu)
{
	struct bucket *b = &in->bucket[cpu];

	return likely(!lock_is_held(&b->lock)) ? b : intake_pick_other(in, b);
}

/* The slot that id names or once named; NULL if it never named one. */
static inline struct slot *intake_slot(struct intake *in, uint64_t id)
{
	uint32_t index = slot_index(id);
	uint32_t bucket = index & ((UINT32_C(1) << in->shift) - 1);

	if (unlikely(bucket >= in->n))
		return NULL;
	return slots_at(&in->bucket[bucket].slots, index >> in->shift);
}

/* The bucket of a slot with this index, which must be one that was given. */
static inline struct bucket *intake_bucket(struct intake *in, uint32_t index)
{
	return &in->bucket[index & ((UINT32_C(1) << in->shift) - 1)];
}

/* The slot that an entry refers to. */
static inline struct slot *intake_slot_of(struct intake *in,
					  const struct entry *e)
{
	return slots_of(&intake_bucket(in, e->index)->slots, e->index);
}

/*
 * Begins to read the slot of an entry that will be looked at: INTAKE_PREFETCH
 * entries before, where many are.
 */
#define INTAKE_PREFETCH 8

static inline void intake_prefetch(struct intake *in, const struct entry *e)
{
	__builtin_prefetch(intake_slot_of(in, e));
}

/* Adds a slot that was freed.  A call may take it after intake_flush. */
void intake_recycle(struct intake *in, struct slot *s);

/* Flushes the recycled slots of all buckets. */
void intake_flush(struct intake *in);

#endif
