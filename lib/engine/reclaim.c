/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/engine.h"
#include "engine/reclaim.h"
#include "intake/rent.h"

/* Is it time again? */
static bool begin(struct engine *e)
{
	const struct pending *p = &e->pending;
	struct reclaim *t = &e->reclaim;
	/* Unsigned: the wall clock may have been set back. */
	uint64_t passed = (uint64_t)e->now - (uint64_t)t->began;
	uint64_t looks = passed / RECLAIM_LOOK_NS;
	uint64_t around = filed_count(&p->filed);

	if (passed < RECLAIM_NS || passed < t->pause)
		return false;
	t->began = e->now;
	wakeup_listed(&e->wakeup, &t->buckets);
	t->n = bucket_set_count(&t->buckets);
	t->pause = (uint64_t)t->n * RENT_RECLAIM * RECLAIM_LOOK_NS;
	t->paid = looks;
	t->looks = looks < around ? looks : around;
	engine_unreserve(e);
	return true;
}

/* To take a rearmed timer costs about as much as to file a few entries. */
#define REARMED_EFFORT 4

static void reclaim_bucket(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	struct bucket *b = &e->intake->bucket[t->bucket];
	struct slot *rearmed;
	size_t looks = bucket_reclaim(b, &e->wakeup, &e->pending.filed.spares,
				      &t->left, &rearmed);
	size_t taken = engine_take_rearmed(e, b, rearmed);

	t->paid -= t->paid < looks ? t->paid : looks;
	e->effort += 1 + looks + REARMED_EFFORT * taken;
	/* What was rearmed may be due; it is for the next batch. */
	if (taken > 0 && e->batch)
		e->over = true;
}

/* Whose turn is it?  False: all have had theirs. */
static bool next_bucket(struct reclaim *t)
{
	if (t->left > 0)
		return true;
	if (!bucket_set_take(&t->buckets, &t->bucket))
		return false;
	/* And for those after it, what those before it have not used. */
	t->left = t->paid / t->n-- + 1;
	return true;
}

static bool reclaim_buckets(struct engine *e)
{
	if (!next_bucket(&e->reclaim))
		return false;
	reclaim_bucket(e);
	return true;
}

static bool reclaim_pending(struct engine *e)
{
	bool more = pending_trim(&e->pending);

	pending_sweep(&e->pending, &e->reclaim.looks);
	e->effort += BLOCK_ENTRIES;
	return e->reclaim.looks > 0 || more;
}

bool reclaim_step(struct engine *e)
{
	struct reclaim *t = &e->reclaim;

	if (!t->active)
		return t->active = begin(e);
	return t->active = reclaim_buckets(e) || reclaim_pending(e);
}
