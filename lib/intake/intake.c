/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/intake.h"
#include "os/pages.h"

/* So many others are looked at. */
#define OTHERS 8

TT_NOINLINE struct bucket *intake_pick_other(struct intake *in,
					     struct bucket *b)
{
	uint32_t i = (uint32_t)(b - in->bucket);

	for (uint32_t k = 0; k < OTHERS && k + 1 < in->n; k++) {
		i = i + 1 < in->n ? i + 1 : 0;
		if (!lock_is_held(&in->bucket[i].lock))
			return &in->bucket[i];
	}
	return b;
}

uint32_t intake_default_buckets(void)
{
	long n = cpu_count();

	return n < INTAKE_MAX_BUCKETS ? (uint32_t)n : INTAKE_MAX_BUCKETS;
}

static size_t size_of(uint32_t n)
{
	return sizeof(struct intake) + n * sizeof(struct bucket);
}

struct intake *intake_create(uint32_t n)
{
	struct intake *in = pages_alloc(size_of(n));

	if (!in)
		return NULL;
	in->n = n;
	cpu_map_init(&in->cpus, n);
	block_pool_init(&in->pool);
	while (UINT32_C(1) << in->shift < n)
		in->shift++;
	return in;
}

void intake_destroy(struct intake *in)
{
	for (uint32_t i = 0; i < in->n; i++)
		bucket_destroy(&in->bucket[i]);
	block_pool_destroy(&in->pool);
	pages_free(in, size_of(in->n));
}

void intake_destroy_inherited(struct intake *in)
{
	for (uint32_t i = 0; i < in->n; i++)
		bucket_destroy_inherited(&in->bucket[i]);
	block_pool_destroy_inherited(&in->pool);
	pages_free(in, size_of(in->n));
}

void intake_used(struct intake *in, struct bucket_set *ret_used)
{
	*ret_used = (struct bucket_set){0};
	for (uint32_t i = 0; i < in->n; i++) {
		if (slots_begun(&in->bucket[i].slots))
			bucket_set_add(ret_used, i);
	}
}

void intake_open(struct intake *in)
{
	atom32_store(&in->open, 1);
	for (uint32_t i = 0; i < in->n; i++) {
		if (slots_begun(&in->bucket[i].slots))
			bucket_open(&in->bucket[i]);
	}
}

/* Who uses a bucket after its turn here finds this, by its lock. */
void intake_shut(struct intake *in)
{
	atom32_store(&in->open, 0);
	for (uint32_t i = 0; i < in->n; i++)
		bucket_shut(&in->bucket[i]);
}

void intake_set_up(struct intake *in, struct bucket *b)
{
	bucket_init(b, (uint32_t)(b - in->bucket), in->shift, &in->pool);
}

bool intake_use(struct intake *in, struct bucket *b)
{
	bool open;

	lock_acquire(&b->lock);
	if (!b->pool && atom32_load(&in->open)) {
		intake_set_up(in, b);
		b->open = true;
	}
	open = b->open;
	lock_release(&b->lock);
	return open;
}

void intake_recycle(struct intake *in, struct slot *s)
{
	struct bucket *b = intake_bucket(in, s->index);

	bucket_set_add(&in->recycled, b->slots.bucket);
	if (slot_batch_add(&b->recycled, s))
		bucket_flush(b);
}

void intake_flush(struct intake *in)
{
	uint32_t i;

	while (bucket_set_take(&in->recycled, &i))
		bucket_flush(&in->bucket[i]);
}
