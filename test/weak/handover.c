/* SPDX-License-Identifier: MIT */
/*
 * A timer that is due is rescheduled, to a later time and then to an earlier
 * one, and cancelled, while the driver looks at it, hands it over, and begins
 * it.
 *
 * Who reschedules it, who cancels it and the driver are three threads.  One of
 * the last two has it in the end, and no entry counts; or it is pending, and
 * then just one does, which is not later than its deadline.  If it was moved to
 * a later time, and no more, it does not run.
 *
 * BUG_NOT_MOVED: it is moved to a later time, but not marked.
 * BUG_SAME_TICKET: its new entry has the old one's ticket.
 * BUG_NOT_TAKEN: the driver does not take the ticket of what it frees.
 */
#include "armed.h"
#include "begun.h"
#include "harness.h"
#include "stand_ins.h"

#include "handing.h"
#ifdef BUG_NOT_TAKEN
#define slot_hand_over(s, e)                                                   \
	(slot_is_dead(atom32_load(&(s)->state)) || slot_hand_over(s, e))
#endif
#include "intake/expiry.c"
#undef slot_hand_over
#include "store/slot.c"
#include "store/slots.c"

#ifdef BUG_NOT_MOVED
#define slot_change(s, word, to) ((void)(s), (void)(word), (void)(to), true)
#elif defined(BUG_SAME_TICKET)
#define atom32_swap(a, from, to) ((void)(a), (void)(to), (from))
#endif
#include "intake/schedule.c"
#undef slot_change
#undef atom32_swap

#define EARLIER (NOW / 2)
#define LATER   (2 * NOW)

static struct bucket bucket;
static struct watch watch;
static struct wakeup wakeup;
static struct slot slot;
static struct entry first;
static uint64_t id;
static int argument;
static bool ran;
static int moved_later, moved_earlier, cancelled;
static unsigned freed;

/* Entries that the driver has put back. */
static struct entry kept[1 + ARRIVALS];
static unsigned n_kept;

static void callback(void *arg)
{
	*(int *)arg = 1;
}

static void setup(void)
{
	const struct timer t = {NOW, 0, callback, &argument, 0};

	memset(&bucket, 0, sizeof(bucket));
	bucket.lock = (struct lock){0};
	bucket.state = BUCKET_OPEN;
	watch = (struct watch){.clock = CLOCK_MONOTONIC};
	memset(&wakeup, 0, sizeof(wakeup));
	wakeup.watch = &watch;
	memset(&slot, 0, sizeof(slot));
	slot.index = SLOT_FIRST_NUMBER;
	id = arm_slot(&slot, &t, NOW);
	first = slot_entry(&slot);
	argument = 0;
	ran = false;
	moved_later = moved_earlier = cancelled = -EINVAL;
	n_arrived = n_kept = freed = 0;
}

static void move_twice(void)
{
	moved_later =
		bucket_reschedule(&bucket, &wakeup, &slot, id, LATER, false);
	moved_earlier =
		bucket_reschedule(&bucket, &wakeup, &slot, id, EARLIER, false);
}

static void cancel(void)
{
	cancelled = cancel_slot(&slot, id);
	if (cancelled == 0)
		argument = 2;
}

static void run_callback(void)
{
	ran = true;
	slot_fn (&slot)(slot_arg(&slot));
	/* As await_end. */
	if (!expiry_end(&slot))
		atom32_store_release(&slot.state,
				     slot_next(atom32_load(&slot.state)));
	freed++;
}

/* It takes one that has arrived. */
static bool take_arrival(struct entry *ret)
{
	bool any;

	lock_acquire(&bucket.lock);
	any = n_arrived > 0;
	if (any)
		*ret = arrived[--n_arrived];
	lock_release(&bucket.lock);
	return any;
}

static void come_upon(struct entry e)
{
	uint64_t overrun = 0;
	enum expiry x = expiry_look(&bucket, &slot, &e);

	if (x == EXPIRY_PENDING)
		x = begin_entry(&bucket, &slot, &e, NOW, &overrun);
	switch (x) {
	case EXPIRY_RUN:
		run_callback();
		break;
	case EXPIRY_LATER:
		if (slot_is_handed_over(&slot))
			unqueued_file(&bucket, &wakeup, &slot, NOW);
		else
			kept[n_kept++] = e;
		break;
	case EXPIRY_OVER:
		freed++;
		break;
	default:
		break;
	}
}

static void fire(void)
{
	struct entry e;

	come_upon(first);
	if (!take_arrival(&e))
		return;
	weak_check(freed == 0 || !slot_owns(&slot, &e),
		   "an entry of a free slot counts");
	if (e.deadline <= NOW)
		come_upon(e);
	else
		kept[n_kept++] = e;
}

/* Entries that count, and are not later than the deadline. */
static unsigned count_good(const struct entry *e, unsigned n)
{
	unsigned good = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!slot_owns(&slot, &e[i]))
			continue;
		weak_check(e[i].deadline <= slot.deadline ||
				   slot_is_dead(slot.state),
			   "the entry is too late");
		good++;
	}
	return good;
}

static void check(void)
{
	uint32_t word = slot.state;
	unsigned good =
		count_good(kept, n_kept) + count_good(arrived, n_arrived);

	weak_check(!ran || cancelled != 0, "it has run and is cancelled");
	weak_check(!ran || moved_later != 0 || moved_earlier == 0,
		   "it has run before its time");
	weak_check(freed == (slot_state(word) == SLOT_FREE),
		   "its slot is not freed once");
	weak_check(good == (freed == 0), "too many entries count, or none");
	if (freed == 0)
		weak_check((cancelled == 0) == slot_is_dead(word),
			   "it is not what the cancel has said");
}

const struct weak weak = {setup, {fire, move_twice, cancel}, check};
