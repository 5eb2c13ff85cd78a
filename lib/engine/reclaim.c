/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/reclaim.h"
#include "intake/rent.h"

/* Is it time again? */
static bool begin_round(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	/* Unsigned: very large if the wall clock was set back. */
	uint64_t passed = (uint64_t)e->until - (uint64_t)t->began;

	if (passed < RECLAIM_NS || passed < t->pause)
		return false;
	t->began = e->until;
	t->buckets = intake_used(e->intake);
	t->n = bucket_set_count(&t->buckets);
	t->pause = (uint64_t)t->n * RENT_RECLAIM * RECLAIM_LOOK_NS;
	t->paid = passed / RECLAIM_LOOK_NS;
	return true;
}

/* Which bucket's turn is it?  False: all buckets have had theirs. */
static bool next_bucket(struct reclaim *t)
{
	if (t->left > 0)
		return true;
	if (!bucket_set_take(&t->buckets, &t->bucket))
		return false;
	/* Looks that one bucket has not used are for those after it. */
	t->left = t->paid / t->n-- + 1;
	t->ended = false;
	return true;
}

static void reclaim_bucket(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	size_t looks = bucket_reclaim(&e->intake->bucket[t->bucket],
				      &e->pending.spares, &t->left);

	if (looks == 0) {
		t->left = t->ended ? 0 : t->left;
		t->ended = true;
	}
	t->paid -= t->paid < looks ? t->paid : looks;
	e->effort += 1 + looks;
}

bool reclaim_step(struct engine *e)
{
	struct reclaim *t = &e->reclaim;

	if (!t->active)
		return t->active = begin_round(e);
	t->active = next_bucket(t);
	if (t->active)
		reclaim_bucket(e);
	return t->active;
}
