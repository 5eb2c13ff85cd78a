/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine.h"
#include "rent.h"
#include "tidy.h"

/* Is it time again? */
static bool begin(struct engine *e)
{
	const struct pending *p = &e->pending;
	struct tidy *t = &e->tidy;
	/* Unsigned: the wall clock may have been set back. */
	uint64_t passed = (uint64_t)e->now - (uint64_t)t->began;
	uint64_t looks = passed / TIDY_LOOK_NS;
	uint64_t around = p->heap.n + p->wheel.n;

	if (passed < TIDY_NS || passed < t->pause)
		return false;
	t->began = e->now;
	wakeup_listed(e->parts.wakeup, &t->buckets);
	t->n = bucket_set_count(&t->buckets);
	t->pause = (uint64_t)t->n * RENT_TIDY * TIDY_LOOK_NS;
	t->paid = looks;
	t->looks = looks < around ? looks : around;
	engine_forget(e);
	return true;
}

/* To take one back costs about as much as to file a few entries. */
#define BACK_EFFORT 4

static void tidy_bucket(struct engine *e)
{
	struct tidy *t = &e->tidy;
	struct bucket *b = &e->parts.intake->bucket[t->bucket];
	struct slot *back;
	size_t looks = bucket_tidy(b, e->parts.wakeup, &e->pending.spares,
				   &t->left, &back);
	size_t taken = engine_take_back(e, b, back);

	t->paid -= t->paid < looks ? t->paid : looks;
	e->effort += 1 + looks + BACK_EFFORT * taken;
	/* What has come back may be due; it is for the next batch. */
	if (taken > 0 && e->parts.batch)
		e->over = true;
}

/* Whose turn is it?  False: all have had theirs. */
static bool next_bucket(struct tidy *t)
{
	if (t->left > 0)
		return true;
	if (!bucket_set_take(&t->buckets, &t->bucket))
		return false;
	/* And for those after it, what those before it have not used. */
	t->left = t->paid / t->n-- + 1;
	return true;
}

static bool tidy_buckets(struct engine *e)
{
	if (!next_bucket(&e->tidy))
		return false;
	tidy_bucket(e);
	return true;
}

static bool tidy_pending(struct engine *e)
{
	bool more = pending_trim(&e->pending);

	pending_sweep(&e->pending, &e->tidy.looks);
	e->effort += BLOCK_ENTRIES;
	return e->tidy.looks > 0 || more;
}

bool tidy_step(struct engine *e)
{
	struct tidy *t = &e->tidy;

	if (!t->active)
		return t->active = begin(e);
	return t->active = tidy_buckets(e) || tidy_pending(e);
}
