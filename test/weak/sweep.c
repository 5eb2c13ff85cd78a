/* SPDX-License-Identifier: MIT */
/*
 * A timer that is due is cancelled.  A call that sweeps finds it dead, and
 * schedules another one in its slot.  The driver, which takes no lock for that,
 * looks at the same timer's entry, and hands it over to an executor's thread,
 * which is the same here.
 *
 * The slot is freed once, the timer runs or is cancelled, and the old entry
 * neither begins nor frees the new one.
 *
 * BUG_FREED_FIRST: the slot is free before it has another ticket.
 * BUG_SAME_TICKET: the slot keeps its ticket.
 * BUG_NOT_TAKEN: the driver does not take the ticket of what it frees.
 */
#include "stand_ins.h"

#include "armed.h"
#include "intake/bucket.h"
#include "store/slot.c"
#include "store/slots.c"

static struct block_pool pool;
static struct bucket bucket;
static unsigned n_freed;

/* Under the lock. */
static void give(struct slots *t, struct slot *s, uint32_t number)
{
	n_freed++;
	slots_give(t, s, number);
}

#define slots_give give
#include "handing.h"
#ifdef BUG_NOT_TAKEN
#define slot_hand_over(s, e)                                                   \
	(slot_is_dead(atom32_load(&(s)->state)) || slot_hand_over(s, e))
#endif
#include "intake/expiry.c"
#undef slot_hand_over

#ifdef BUG_FREED_FIRST
static uint32_t take_later(struct slot *s, uint32_t from, uint32_t to)
{
	uint32_t word = atom32_load(&s->state);

	if (slot_is_dead(word))
		slot_free(s, word);
	return atom32_swap(&s->ticket, from, to);
}

#define atom32_swap(a, from, to) take_later(s, from, to)
#define slot_free(s, word)       ((void)(s), (void)(word))
#elif defined(BUG_SAME_TICKET)
#define atom32_swap(a, from, to) ((void)(to), (from))
#endif
#include "intake/sweep.c"
#undef atom32_swap
#undef slot_free

static struct watch watch;
static struct wakeup wakeup;
static char chunk[SLOT_FIRST_NUMBER * sizeof(struct slot)]
	__attribute__((aligned(TT_CACHE_LINE)));
static struct slot *slot;
static struct entry entry, new_entry;
static uint64_t id, new_id;
static bool ran, ran_new, scheduled;
static int cancelled;

static void callback(void *arg)
{
	(void)arg;
	ran = true;
}

static void new_callback(void *arg)
{
	(void)arg;
	ran_new = true;
}

static void setup(void)
{
	const struct timer t = {NOW, 0, callback, NULL, 0};
	struct slots *table = &bucket.slots;

	memset(&bucket, 0, sizeof(bucket));
	bucket.pool = &pool;
	memset(chunk, 0, sizeof(chunk));
	watch = (struct watch){.clock = CLOCK_MONOTONIC};
	memset(&wakeup, 0, sizeof(wakeup));
	wakeup.watch = &watch;
	slots_init(table, 0, 0);
	slots_add_chunk(table, 0, chunk);
	slot = slots_take(table);
	/* There is no other. */
	*table->at = 0;
	id = arm_slot(slot, &t, NOW);
	entry = slot_entry(slot);
	n_arrived = n_freed = 0;
	ran = ran_new = scheduled = false;
	cancelled = -EINVAL;
}

static void sweep_and_schedule(void)
{
	const struct timer t = {2 * NOW, 0, new_callback, NULL, 0};
	unsigned before;

	lock_acquire(&bucket.lock);
	before = n_freed;
	sweep_for_call(&bucket);
	if (n_freed > before) {
		weak_check(slots_take(&bucket.slots) == slot,
			   "another slot is free");
		new_id = arm_slot(slot, &t, 2 * NOW);
		new_entry = slot_entry(slot);
		scheduled = true;
	}
	lock_release(&bucket.lock);
}

static void cancel(void)
{
	cancelled = cancel_slot(slot, id);
}

static void recycle(void)
{
	lock_acquire(&bucket.lock);
	give(&bucket.slots, slot, SLOT_FIRST_NUMBER);
	lock_release(&bucket.lock);
}

static void execute(void)
{
	uint64_t overrun = 0;
	enum expiry x = slot_begin(slot)
				? EXPIRY_RUN
				: expiry_begin(&bucket, slot, NOW, &overrun);

	if (x == EXPIRY_OVER)
		recycle();
	if (x != EXPIRY_RUN)
		return;
	slot_fn(slot)(slot_arg(slot));
	expiry_end_and_give(&bucket, slot);
}

static void drive(void)
{
	struct entry e = entry;
	enum expiry x = expiry_look(&bucket, slot, &e);

	if (x == EXPIRY_PENDING)
		x = expiry_hand_over(&bucket, slot, &e, NOW);
	if (x == EXPIRY_OVER)
		recycle();
	else if (x == EXPIRY_RUN)
		execute();
	else
		weak_check(x == EXPIRY_STALE, "it is not due");
}

static void check(void)
{
	weak_check(ran + (cancelled == 0) == 1, "it has run, or is cancelled");
	weak_check(n_freed == 1, "its slot is not freed once");
	weak_check(n_arrived == 0, "it has an entry again");
	weak_check(!ran_new, "the new timer has run before its time");
	weak_check(!scheduled || (slot_owns(slot, &new_entry) &&
				  cancel_slot(slot, new_id) == 0),
		   "the new timer is lost");
	weak_check(bucket.slots.used == scheduled, "not so many are used");
}

const struct weak weak = {setup, {drive, cancel, sweep_and_schedule}, check};
