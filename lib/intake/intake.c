/* SPDX-License-Identifier: MIT */
#include "intake/intake.h"
#include "intake/collect.h"
#include "os/memory.h"

/* How many other buckets are looked at. */
#define OTHERS 8

struct bucket *intake_pick(struct intake *in, uint32_t cpu, int64_t period)
{
	uint32_t i = cpu;

	if (period > 0 && period <= NS_PER_S && in->cpus.n < in->n)
		return &in->bucket[in->n - 1];
	for (uint32_t k = 0; k <= OTHERS && k < in->cpus.n; k++) {
		if (likely(!lock_is_held(&in->bucket[i].lock)))
			return &in->bucket[i];
		i = i + 1 < in->cpus.n ? i + 1 : 0;
	}
	return &in->bucket[cpu];
}

uint32_t intake_default_buckets(void)
{
	long n = cpu_count() + 1;

	return n < INTAKE_MAX_BUCKETS ? (uint32_t)n : INTAKE_MAX_BUCKETS;
}

struct intake *intake_create(uint32_t n)
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

void intake_destroy(struct intake *in)
{
	for (uint32_t i = 0; i < in->n; i++)
		bucket_destroy(&in->bucket[i]);
	block_pool_destroy(&in->pool);
	pages_free(in, sizeof(*in) + in->n * sizeof(*in->bucket));
}

struct bucket_set intake_used(struct intake *in)
{
	struct bucket_set used;

	lock_acquire(&in->lock);
	used = in->used;
	lock_release(&in->lock);
	return used;
}

struct bucket *intake_take(struct intake *in, struct bucket_set *set)
{
	uint32_t i;

	return bucket_set_take(set, &i) ? &in->bucket[i] : NULL;
}

/* If it is shut, a bucket that is used for the first time later is, too. */
void intake_set_open(struct intake *in, bool open)
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

void intake_set_up(struct intake *in, struct bucket *b)
{
	uint32_t i = (uint32_t)(b - in->bucket);

	bucket_init(b, i, in->shift, &in->pool);
	bucket_set_add(&in->used, i);
}

bool intake_use(struct intake *in, struct bucket *b)
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

void intake_recycle(struct intake *in, struct slot *s)
{
	struct bucket *b = intake_bucket(in, s->index);

	bucket_set_add(&in->recycled, b->slots.bucket);
	if (slot_batch_add(&b->recycled, s))
		bucket_flush(b);
}

bool intake_flush(struct intake *in)
{
	struct bucket *b;
	bool surplus = false;

	while ((b = intake_take(in, &in->recycled)))
		surplus = bucket_flush(b) || surplus;
	return surplus;
}
