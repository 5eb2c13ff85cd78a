/* SPDX-License-Identifier: MIT */
#include "engine/cap.h"
#include "os/memory.h"

static size_t shares_size(uint32_t n)
{
	return (n + 1) * sizeof(struct share);
}

bool cap_open(struct cap *c, uint32_t n)
{
	if (c->max == 0)
		return true;
	c->share = pages_alloc(shares_size(n));
	if (!c->share)
		return false;
	c->common = (struct common_share *)&c->share[n];
	cpu_map_init(&c->cpus, n);
	atomword_store(&c->common->places, c->max);
	/* The shares are open, and empty. */
	atom32_store(&c->common->openings, 1);
	return true;
}

void cap_close(struct cap *c)
{
	pages_free(c->share, shares_size(c->cpus.n));
	c->share = NULL;
}

/* How many places a CPU may take: so few that each CPU can have as many. */
static size_t batch_of(const struct cap *c, size_t common)
{
	size_t n = common / (2 * (size_t)c->cpus.n);

	return n < CAP_BATCH ? n : CAP_BATCH;
}

/*
 * Takes a common place, and a batch.  Returns how many places these are; 0:
 * none.
 */
static size_t take_common(struct cap *c, size_t batch_max)
{
	size_t common;

	while ((common = atomword_load(&c->common->places)) > 0) {
		size_t batch = batch_of(c, common);
		size_t n = 1 + (batch < batch_max ? batch : batch_max);

		if (atomword_swap(&c->common->places, common, common - n))
			return n;
	}
	return 0;
}

/*
 * Are all places taken?  If no share was open before the common one was empty,
 * and none after that, then no place was on its way.  Acquire: pairs with
 * count_opening, and with the compare-and-swap in take_common when take_batch
 * calls that.
 */
static bool all_are_taken(const struct cap *c)
{
	uint32_t openings = atom32_load_acquire(&c->common->openings);

	return openings % 2 == 0 &&
	       atomword_load_acquire(&c->common->places) == 0 &&
	       atom32_load(&c->common->openings) == openings;
}

/* Under the lock.  Release: pairs with the loads in all_are_taken. */
static void count_opening(struct cap *c)
{
	atom32_store_release(&c->common->openings,
			     atom32_load(&c->common->openings) + 1);
}

static bool is_open(const struct cap *c)
{
	return atom32_load(&c->common->openings) % 2 != 0;
}

/*
 * Under the cap's lock, so that the share does not open meanwhile.  Here and
 * below, adding to the common share orders nothing; closing a share does.
 */
static void close_share(struct cap *c, struct share *p)
{
	if (!tally_is_open(&p->places))
		return;
	lock_acquire(&p->lock);
	atomword_add(&c->common->places, tally_close(&p->places));
	lock_release(&p->lock);
}

static TT_NOINLINE void call_in(struct cap *c)
{
	lock_acquire(&c->common->lock);
	if (is_open(c)) {
		for (uint32_t i = 0; i < c->cpus.n; i++)
			close_share(c, &c->share[i]);
		count_opening(c);
	}
	lock_release(&c->common->lock);
}

/* Opens a share, if the common one has enough for all CPUs again. */
static void open_if_enough(struct cap *c, struct share *p)
{
	if (likely(batch_of(c, atomword_load(&c->common->places)) == 0))
		return;
	lock_acquire(&c->common->lock);
	if (!is_open(c))
		count_opening(c);
	if (!tally_is_open(&p->places))
		tally_open(&p->places, 0);
	lock_release(&c->common->lock);
}

/*
 * Takes a place, and a batch for this share unless another thread has filled
 * it.  False: the share is closed, or no place is left.
 */
static bool take_batch(struct cap *c, struct share *p)
{
	bool taken;
	size_t n = 0;

	lock_acquire(&p->lock);
	taken = tally_add_within(&p->places, -1, 1, TALLY_MAX);
	if (!taken && tally_is_open(&p->places))
		n = take_common(c, CAP_BATCH);
	if (n > 1)
		tally_add(&p->places, (int32_t)n - 1);
	lock_release(&p->lock);
	return taken || n > 0;
}

TT_NOINLINE bool cap_take_slow(struct cap *c, struct share *p)
{
	if (tally_is_open(&p->places) && take_batch(c, p))
		return true;
	while (take_common(c, 0) == 0) {
		if (all_are_taken(c))
			return false;
		call_in(c);
	}
	open_if_enough(c, p);
	return true;
}

/*
 * Gives a place to the common share, and a batch from this share unless another
 * thread has taken from it meanwhile.
 */
static void give_batch(struct cap *c, struct share *p)
{
	size_t n = 1;

	lock_acquire(&p->lock);
	if (tally_add_within(&p->places, -CAP_BATCH, CAP_BATCH, TALLY_MAX))
		n += CAP_BATCH;
	atomword_add(&c->common->places, n);
	lock_release(&p->lock);
}

TT_NOINLINE void cap_give_slow(struct cap *c, struct share *p)
{
	if (likely(tally_is_open(&p->places))) {
		give_batch(c, p);
		return;
	}
	atomword_add(&c->common->places, 1);
	open_if_enough(c, p);
}
