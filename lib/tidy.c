/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine.h"
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

	if (passed < TIDY_NS)
		return false;
	t->began = e->now;
	t->share = looks / e->parts.intake->n + 1;
	t->looks = looks < around ? looks : around;
	wakeup_listed(e->parts.wakeup, &t->buckets);
	engine_forget(e);
	return true;
}

/* False: no bucket has its turn any more. */
static bool tidy_buckets(struct engine *e)
{
	struct tidy *t = &e->tidy;
	struct bucket *b;
	struct slot *back;

	if (t->left == 0) {
		if (!bucket_set_take(&t->buckets, &t->bucket))
			return false;
		t->left = t->share;
	}
	b = &e->parts.intake->bucket[t->bucket];
	bucket_tidy(b, e->parts.wakeup, &e->pending.spares, &t->left, &back);
	engine_take_back(e, b, back);
	/* What has come back may be due; it is for the next batch. */
	if (back && e->parts.batch)
		e->over = true;
	return true;
}

static bool tidy_pending(struct engine *e)
{
	bool more = pending_trim(&e->pending);

	pending_sweep(&e->pending, &e->tidy.looks);
	return e->tidy.looks > 0 || more;
}

bool tidy_step(struct engine *e)
{
	struct tidy *t = &e->tidy;

	if (!t->active)
		return t->active = begin(e);
	return t->active = tidy_buckets(e) || tidy_pending(e);
}
