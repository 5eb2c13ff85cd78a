/* SPDX-License-Identifier: MIT */
/*
 * The intake: all buckets of an instance, and which of them a call uses.
 *
 * A call uses the bucket of the CPU that it runs on.  So a bucket's cache lines
 * stay in one CPU's cache, and its lock is contended only if its holder was
 * preempted.  It does no harm if the thread moves to another CPU immediately
 * after it has asked for its CPU.  brpc's TimerThread, the model of this
 * library, spreads threads over 12 buckets by a hash of the threads' ids.  If
 * two busy threads share a bucket there, both pay for the other's cache lines
 * on every call.
 *
 * If the bucket's lock is held, its holder has usually been preempted on this
 * CPU, and will not go on before this thread has had its turn.  Then the call
 * uses another bucket.
 *
 * If there are more buckets than CPUs, the last one is the quiet bucket.  It is
 * for timers that repeat at least once a second, and for those that callbacks
 * on the timer thread schedule, for a second from now at most
 * (api/timerthread.c).  The driver takes the lock of such a timer's bucket for
 * each run: to begin and to end it, or to collect the next entry.  A call that
 * holds the lock may be preempted, and then the driver waits until that thread
 * gets a CPU again, even if the driver is a real-time thread.  Few calls use
 * the quiet bucket, so its lock is nearly always free.  (A real-time driver
 * with a timer of 1 ms, beside 8 threads that schedule and cancel and 16 that
 * compute, on two CPUs.  In 5 s, 131 to 134 runs were more than 10 ms late when
 * the timer was in the bucket of a CPU, and none or one when it was in the
 * quiet one.  A timer of 1 ms that schedules itself, beside 8 threads that
 * schedule and cancel: 102 to 116 runs a second, and 562 to 801 in the quiet
 * one.  If callbacks put all their timers there, and 16 threads reschedule
 * these, one that repeats each millisecond ran 118 to 287 times a second, and
 * 499 to 639 so.)
 *
 * Timers that repeat less often stay with their CPU.  There may be one for each
 * connection, and if all CPUs schedule into one bucket, a call takes 170 ns
 * instead of 35.
 *
 * A bucket that no call has scheduled into is all zero, and its memory was
 * never touched.  So an instance uses memory only for the CPUs that use it.  To
 * a call that schedules, such a bucket looks as if it were shut; the call then
 * has it set up.
 *
 * Any thread: pick, use, used, slot, and the buckets' own functions.  The
 * thread that starts or stops the instance: create, destroy, set_open.  The
 * driver: the rest.
 */
#pragma once

#include "intake/collect.h"
#include "os/cpu.h"
#include "os/memory.h"

#define INTAKE_MAX_BUCKETS BUCKET_SET_MAX

/* Ids can name at least this many timers, whatever the number of buckets. */
#define INTAKE_MAX_TIMERS ((size_t)1 << 30)

struct intake {
	/* Constant. */
	uint32_t n;
	uint32_t shift;      /* how many bits of an index are the bucket */
	uint32_t mask;       /* these bits */
	struct cpu_map cpus; /* a bucket for each; there may be one more */
	/* For all buckets; has its own lock. */
	struct block_pool pool __attribute__((aligned(TT_FAR_APART)));
	/* Taken before a bucket's lock. */
	struct lock lock;
	/* Protected by the lock. */
	bool open;              /* timers may be scheduled */
	struct bucket_set used; /* buckets that were set up */
	/* For the driver only: buckets with recycled slots. */
	struct bucket_set recycled __attribute__((aligned(TT_FAR_APART)));
	struct bucket bucket[];
};

/* How many other buckets are looked at. */
#define INTAKE_OTHERS 8

/*
 * The quiet bucket, if that is wanted and there is one.  Else the bucket of the
 * caller's CPU; or that of another CPU, if that one is locked.  The CPU is a
 * hint; any bucket will do.
 */
TT_PART struct bucket *intake_pick(struct intake *in, uint32_t cpu, bool quiet)
{
	uint32_t i = cpu;

	if (quiet && in->cpus.n < in->n)
		return &in->bucket[in->n - 1];
	for (uint32_t k = 0; k <= INTAKE_OTHERS && k < in->cpus.n; k++) {
		if (likely(!lock_is_held(&in->bucket[i].lock)))
			return &in->bucket[i];
		i = i + 1 < in->cpus.n ? i + 1 : 0;
	}
	return &in->bucket[cpu];
}

/* The slot that id names or once named; NULL if it never named one. */
static inline struct slot *intake_slot(struct intake *in, uint64_t id)
{
	uint32_t index = slot_index(id);
	uint32_t bucket = index & in->mask;

	if (unlikely(bucket >= in->n))
		return NULL;
	return slots_at(&in->bucket[bucket].slots, index >> in->shift);
}

/* The bucket of the slot with this index, which must be that of a slot. */
static inline struct bucket *intake_bucket(struct intake *in, uint32_t index)
{
	return &in->bucket[index & in->mask];
}

/* The slot that an entry refers to. */
static inline struct slot *intake_slot_of(struct intake *in,
					  const struct entry *e)
{
	return slots_of(&intake_bucket(in, e->index)->slots, e->index);
}

/* A bucket for each CPU that the machine may have, and one more. */
TT_PART uint32_t intake_default_buckets(void)
{
	long n = cpu_count() + 1;

	return n < INTAKE_MAX_BUCKETS ? (uint32_t)n : INTAKE_MAX_BUCKETS;
}

/* NULL: no memory. */
TT_PART struct intake *intake_create(uint32_t n)
{
	struct intake *in = pages_alloc(sizeof(*in) + n * sizeof(*in->bucket));

	if (!in)
		return NULL;
	in->n = n;
	cpu_map_init(&in->cpus, (long)n > cpu_count() ? n - 1 : n);
	while (UINT32_C(1) << in->shift < n)
		in->shift++;
	in->mask = (UINT32_C(1) << in->shift) - 1;
	return in;
}

/* Also in a child of fork(2): see bucket_destroy. */
TT_PART void intake_destroy(struct intake *in)
{
	for (uint32_t i = 0; i < in->n; i++)
		bucket_destroy(&in->bucket[i]);
	block_pool_destroy(&in->pool);
	pages_free(in, sizeof(*in) + in->n * sizeof(*in->bucket));
}

/* Which buckets have been set up?  No other bucket has a timer. */
TT_PART struct bucket_set intake_used(struct intake *in)
{
	struct bucket_set used;

	lock_acquire(&in->lock);
	used = in->used;
	lock_release(&in->lock);
	return used;
}

/* Takes a bucket out of such a set.  NULL: the set is empty. */
TT_PART struct bucket *intake_take(struct intake *in, struct bucket_set *set)
{
	uint32_t i;

	return bucket_set_take(set, &i) ? &in->bucket[i] : NULL;
}

/* If it is shut, a bucket that is used for the first time later is, too. */
TT_PART void intake_set_open(struct intake *in, bool open)
{
	struct bucket_set used;
	struct bucket *b;

	lock_acquire(&in->lock);
	in->open = open;
	used = in->used;
	lock_release(&in->lock);
	while ((b = intake_take(in, &used)))
		bucket_set_open(b, open);
}

/* Sets up a bucket.  Called from intake_use, and when the instance starts. */
TT_PART void intake_set_up(struct intake *in, struct bucket *b)
{
	uint32_t i = (uint32_t)(b - in->bucket);

	bucket_init(b, i, in->shift, &in->pool);
	bucket_set_add(&in->used, i);
}

/*
 * Sets up a bucket, if it was not used before.  False: it is shut.  The caller
 * does not hold the lock.
 */
TT_PART bool intake_use(struct intake *in, struct bucket *b)
{
	bool open;

	lock_acquire(&in->lock);
	lock_acquire(&b->lock);
	if (!b->pool && in->open) {
		intake_set_up(in, b);
		b->state = BUCKET_OPEN;
	}
	open = b->state != BUCKET_SHUT;
	lock_release(&b->lock);
	lock_release(&in->lock);
	return open;
}

/* Adds a slot that was freed.  After intake_flush calls can take it. */
TT_PART void intake_recycle(struct intake *in, struct slot *s)
{
	struct bucket *b = intake_bucket(in, s->index);

	bucket_set_add(&in->recycled, b->slots.bucket);
	if (slot_batch_add(&b->recycled, s))
		bucket_flush(b);
}

/* Flushes the recycled slots of all buckets.  Returns as bucket_flush. */
TT_PART bool intake_flush(struct intake *in)
{
	struct bucket *b;
	bool surplus = false;

	while ((b = intake_take(in, &in->recycled)))
		surplus = bucket_flush(b) || surplus;
	return surplus;
}
