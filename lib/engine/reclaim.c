/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/reclaim.h"
#include "intake/garbage.h"
#include "intake/handover.h"
#include "intake/rent.h"
#include "intake/trim.h"
#include "os/clock.h"

/* A timer that was stranded takes as long as this many looks. */
#define RESTORE_EFFORT 32

/* Very large if the wall clock was set back. */
static uint64_t since(const struct engine *e, int64_t then)
{
	return (uint64_t)e->until - (uint64_t)then;
}

/* Is it time again? */
static bool begin_round(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	uint64_t passed = since(e, t->began);
	bool told = atom32_load(&e->wakeup.limit) == WAKEUP_TOLD;

	if (!told && e->until < t->next &&
	    (passed < RECLAIM_NS || passed < t->pause))
		return false;
	t->began = e->until;
	t->buckets = intake_used(e->intake);
	t->n = bucket_set_count(&t->buckets);
	t->pause = (uint64_t)t->n * RENT_RECLAIM * RECLAIM_LOOK_NS;
	t->paid = passed / RECLAIM_LOOK_NS;
	t->ends = since(e, t->period) >= RECLAIM_PERIOD_NS;
	t->surveys = t->ends || told;
	t->live = 0;
	t->again = t->found = false;
	return true;
}

/* Which bucket's turn is it?  False: all buckets have had theirs. */
static bool next_bucket(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	struct bucket *b;

	if (t->left > 0 || t->counts || t->steps > 0)
		return true;
	if (!bucket_set_take(&t->buckets, &t->bucket))
		return false;
	/* Looks that one bucket has not used are for those after it. */
	t->left = t->paid / t->n-- + 1;
	t->ended = false;
	t->restores = true;
	t->counts = t->surveys;
	b = &e->intake->bucket[t->bucket];
	/* Then it ends when all lanes have been visited. */
	if (t->surveys && garbage_is_most(b, &t->live)) {
		t->left = UINT64_MAX;
		t->found = true;
	}
	return true;
}

static void restore(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	struct bucket *b = &e->intake->bucket[t->bucket];

	t->restores = handover_restore(b, &e->wakeup, e->until);
	if (t->restores)
		e->effort += RESTORE_EFFORT;
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

/* After its looks, which may have found that few slots are used. */
static void trim_bucket(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	struct bucket *b = &e->intake->bucket[t->bucket];

	if (t->counts) {
		t->counts = false;
		t->again |= bucket_survey(b, &e->wakeup, t->ends, &t->steps);
		return;
	}
	t->steps--;
	if (bucket_trim(b)) {
		t->found = true;
		e->effort += BLOCK_ENTRIES;
	}
	e->effort += 1;
}

static void end_round(struct engine *e)
{
	struct reclaim *t = &e->reclaim;

	if (!t->surveys)
		return;
	if (t->ends)
		t->period = e->until;
	garbage_set_limit(&e->wakeup, t->live);
	t->again = t->again || atom32_load(&e->wakeup.used) > GARBAGE_MUCH;
	if (t->found || !t->again || t->rest == 0)
		t->rest = RECLAIM_PERIOD_NS;
	else if (t->rest < RECLAIM_REST_NS)
		t->rest *= 2;
	t->next = t->again ? clock_add(e->until, (int64_t)t->rest) : INT64_MAX;
}

bool reclaim_step(struct engine *e)
{
	struct reclaim *t = &e->reclaim;

	if (!t->active)
		return t->active = begin_round(e);
	t->active = next_bucket(e);
	if (!t->active)
		end_round(e);
	else if (t->restores)
		restore(e);
	else if (t->left > 0)
		reclaim_bucket(e);
	else
		trim_bucket(e);
	return t->active;
}
