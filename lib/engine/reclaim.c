/* SPDX-License-Identifier: MIT */
#include "engine/reclaim.h"
#include "intake/garbage.h"

/*
 * How much time steps take, in entries that are opened: to sweep, and to give
 * back 64 KiB.
 */
#define SWEEP_EFFORT 128
#define GIVE_EFFORT  (4 * BLOCK_ENTRIES)

/* If a lock is stuck, the next step is tried after so long. */
#define STUCK_NS 1000000

/* What a pause may be. */
static int64_t bounded(int64_t pause)
{
	return pause < RECLAIM_MOST_NS ? clock_later(pause, RECLAIM_WINDOW_NS)
				       : RECLAIM_MOST_NS;
}

/* From one round to the next, if it has found something. */
static int64_t least_pause(uint32_t used)
{
	return bounded((int64_t)used * RECLAIM_SLOT_NS);
}

/* Not sooner than it would have been, however often one is owed. */
void reclaim_owe(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	int64_t pause = least_pause(atom32_load(&e->wakeup.used));
	int64_t soon = clock_now(CLOCK_MONOTONIC) + RECLAIM_WINDOW_NS;
	int64_t due = clock_later(soon, t->began + pause);

	t->due = due < t->due ? due : t->due;
}

int64_t reclaim_at(struct engine *e)
{
	const struct reclaim *t = &e->reclaim;
	uint32_t limit = atom32_load(&e->wakeup.limit);
	int64_t at = clock_now(CLOCK_MONOTONIC), due = t->due;

	if (t->stuck)
		due = at + STUCK_NS;
	/* It was told during a round, which has not heard that. */
	else if (!t->active && limit == GARBAGE_TOLD)
		due = at;
	return due == INT64_MAX ? INT64_MAX
				: clock_add(watch_now(&e->watch), due - at);
}

/* Is it time for a round? */
static bool begin_round(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	int64_t begins = clock_now(CLOCK_MONOTONIC);

	t->told = garbage_hear(&e->wakeup);
	if (!t->told && (t->if_told || (begins < t->due &&
					begins - t->began < bounded(t->pause))))
		return false;
	t->began = begins;
	t->ends = !t->if_told && begins - t->window >= RECLAIM_WINDOW_NS;
	if (t->ends)
		t->window = begins;
	t->buckets = intake_used(e->intake);
	t->used = atom32_load(&e->wakeup.used);
	t->due = INT64_MAX;
	t->live = t->freed = 0;
	t->again = t->found = false;
	return true;
}

/* Which bucket's turn is it?  False: all buckets have had theirs. */
static bool next_bucket(struct engine *e)
{
	struct reclaim *t = &e->reclaim;

	if (t->bucket)
		return true;
	t->bucket = intake_take(e->intake, &t->buckets);
	t->sweeps = true;
	t->sweep = (struct sweeping){.ends = t->ends};
	return t->bucket != NULL;
}

/*
 * The bucket was swept.  Its lanes are sifted if they have far more blocks than
 * the entries that are of use need, if each lane has one that is nearly empty.
 */
static void end_sweep(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	uint32_t queued = (uint32_t)t->sweep.queued, blocks, need;
	struct bucket *b = t->bucket;

	lock_acquire_hot(&b->lock);
	garbage_count(b, &e->wakeup);
	blocks = garbage_blocks(b);
	t->again |= vacancy_surplus_later(&b->slots) > 0;
	lock_release(&b->lock);
	t->freed += t->sweep.freed;
	t->live += t->sweep.seen - t->sweep.freed;
	need = queued / BLOCK_ENTRIES + (queued < LANE_OLD ? queued : LANE_OLD);
	t->lanes = blocks > GARBAGE_TIMES * need ? LANES : 0;
	/* What came meanwhile was not told. */
	t->again |= t->told && t->lanes > 0;
}

static void sweep_once(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	struct sweeping *s = &t->sweep;
	uint64_t seen = s->seen, freed = s->freed;

	t->sweeps = sweep_step(t->bucket, s);
	e->effort += s->gave ? GIVE_EFFORT : SWEEP_EFFORT;
	t->found =
		t->found || s->gave || 2 * (s->freed - freed) > s->seen - seen;
	t->again = t->again || s->gave;
	if (!t->sweeps)
		end_sweep(e);
}

/*
 * Each block once: as many of a lane as it has when its turn begins.  What
 * lives goes back, to the lanes of the old.  So these come first.
 */
static void sift(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	uint32_t n;
	struct block *b = bucket_take_oldest(t->bucket, t->lanes - 1, &n);

	t->sifts = b ? (t->sifts > 0 ? t->sifts : n) - 1 : 0;
	if (t->sifts == 0)
		t->lanes--;
	if (b)
		pending_sift(&e->pending, b);
	e->effort += b ? BLOCK_ENTRIES : 1;
}

static void end_bucket(struct engine *e)
{
	struct reclaim *t = &e->reclaim;

	if (bucket_shrink(t->bucket))
		e->effort += GIVE_EFFORT;
	else
		t->bucket = NULL;
}

static void end_round(struct engine *e)
{
	struct reclaim *t = &e->reclaim;
	uint32_t used = atom32_load(&e->wakeup.used);
	int64_t least = t->freed > t->live / RECLAIM_MUCH ? RECLAIM_WINDOW_NS
							  : least_pause(used);
	int64_t next;

	garbage_set_limit(&e->wakeup, t->live);
	t->again = t->again || used > GARBAGE_MUCH;
	if (t->found || t->told || !t->again || used < t->used / 2)
		t->pause = least;
	else
		t->pause = clock_later(least, bounded(2 * t->pause));
	next = clock_now(CLOCK_MONOTONIC) + t->pause;
	if (t->again && next < t->due)
		t->due = next;
}

bool reclaim_step(struct engine *e)
{
	struct reclaim *t = &e->reclaim;

	if (!t->active)
		return t->active = begin_round(e);
	t->active = next_bucket(e);
	if (!t->active)
		end_round(e);
	else if ((t->stuck = lock_is_stuck(&t->bucket->lock)))
		return false;
	else if (t->sweeps)
		sweep_once(e);
	else if (t->lanes > 0)
		sift(e);
	else
		end_bucket(e);
	return t->active;
}
