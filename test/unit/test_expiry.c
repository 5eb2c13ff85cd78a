/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a timer whose entry has come up, while another thread does
 * something to it at any moment.  What becomes of it where nobody interferes is
 * in test_recycle, test_reschedule and test_every.
 */
#include "config.h"

#include "armed.h"
#include "begun.h"
#include "harness.h"
#include "must.h"

#include <errno.h>
#include <string.h>

/*
 * expiry.c again, under other names and with places to stop at: behind one of
 * its loads, or before it hands over, "another thread" does its step.
 */
static void (*other_step)(void);
static unsigned loads_until_step;

static bool may_step(void);

static void step_now(void)
{
	void (*step)(void) = other_step;

	if (!step || (loads_until_step > 0 && --loads_until_step > 0) ||
	    !may_step())
		return;
	other_step = NULL;
	step();
}

static uint32_t step_behind(uint32_t value)
{
	step_now();
	return value;
}

enum expiry stepped_hand_over(struct bucket *b, struct slot *s, struct entry *e,
			      int64_t now);
enum expiry stepped_begin(struct bucket *b, struct slot *s, int64_t now,
			  uint64_t *overrun);
enum expiry stepped_after_run(struct bucket *b, struct slot *s,
			      int64_t earliest);
bool stepped_end(struct slot *s);
bool stepped_end_and_give(struct bucket *b, struct slot *s);
enum expiry stepped_look(struct bucket *b, struct slot *s,
			 const struct entry *e);
enum expiry stepped_refresh(struct bucket *b, struct slot *s, struct entry *e);
int64_t stepped_next(int64_t deadline, int64_t period, int64_t now,
		     uint64_t *overrun);

#define expiry_hand_over       stepped_hand_over
#define expiry_begin           stepped_begin
#define expiry_after_run       stepped_after_run
#define expiry_end             stepped_end
#define expiry_end_and_give    stepped_end_and_give
#define expiry_look            stepped_look
#define expiry_refresh         stepped_refresh
#define expiry_next            stepped_next
#define atom32_load(a)         step_behind(atom32_load(a))
#define atom32_load_acquire(a) step_behind(atom32_load_acquire(a))
#define slot_owns(s, e)        step_behind(slot_owns(s, e))
#define slot_hand_over(s, e)   (step_now(), slot_hand_over(s, e))
#include "intake/expiry.c"
#undef expiry_hand_over
#undef expiry_begin
#undef expiry_after_run
#undef expiry_end
#undef expiry_end_and_give
#undef expiry_look
#undef expiry_refresh
#undef expiry_next
#undef atom32_load
#undef atom32_load_acquire
#undef slot_owns
#undef slot_hand_over

#define DEADLINE 1000
#define NOW      2000
#define LATER    3000
#define NOT_DONE 77

static struct bucket bucket;
static struct slot slot;
static struct entry entry;
static uint64_t id;

/* What the other thread's step has come to; 0: so did one before it. */
static int cancelled;
static bool is_moved;
static bool has_new_entry;

static void fn(void *arg)
{
	(void)arg;
}

static enum slot_state state(void)
{
	return slot_state(atom32_load(&slot.state));
}

/*
 * Steps.  A cancel needs no lock; the others hold it, so they come before the
 * code that is stepped takes it, or when that has released it.
 */
static bool step_needs_lock;

static bool may_step(void)
{
	return !step_needs_lock || !lock_is_held(&bucket.lock);
}

static void step_cancel(void)
{
	int r = slot_cancel(&slot, id);

	if (cancelled != 0)
		cancelled = r;
}

/* Reschedules to a later time. */
static void step_later(void)
{
	uint32_t word = atom32_load(&slot.state);

	if (slot_in(word, SLOT_ARMED) == slot_word(id) &&
	    slot_state(word) == SLOT_ARMED &&
	    slot_change(&slot, &word, SLOT_MOVED)) {
		slot.deadline = LATER;
		is_moved = true;
	}
}

/* Unless it is handed over: then it has none. */
static void get_new_entry(void)
{
	uint32_t ticket = entry.ticket;

	slot.due = slot.deadline = DEADLINE - 1;
	has_new_entry = atom32_swap(&slot.ticket, ticket,
				    ticket_next(ticket)) == ticket;
}

/* Reschedules to an earlier time. */
static void step_earlier(void)
{
	uint32_t word = atom32_load(&slot.state);

	if (slot_in(word, SLOT_ARMED) == slot_word(id) &&
	    (slot_state(word) == SLOT_MOVED ||
	     (slot_state(word) == SLOT_ARMED &&
	      slot_change(&slot, &word, SLOT_MOVED))))
		get_new_entry();
}

/*
 * The same, where the timer was cancelled between mark and ticket.  The slot
 * may be free by now.
 */
static void step_earlier_and_dead(void)
{
	if (is_moved && cancelled == 0)
		get_new_entry();
}

static const struct step {
	void (*run)(void);
	bool needs_lock;
} steps[] = {
	{step_cancel, false},
	{step_later, true},
	{step_earlier, true},
	{step_earlier_and_dead, true},
};

/* How it is before: a timer whose entry has come up. */
static void arm(int64_t period)
{
	memset(&bucket, 0, sizeof(bucket));
	memset(&slot, 0, sizeof(slot));
	slot.index = SLOT_FIRST_NUMBER;
	id = arm_slot(&slot, &(struct timer){DEADLINE, period, fn, NULL, 0},
		      DEADLINE);
	entry = slot_entry(&slot);
	cancelled = NOT_DONE;
	is_moved = has_new_entry = false;
}

static void arm_once(void)
{
	arm(0);
}

static void arm_periodic(void)
{
	arm(10);
}

static void arm_and_move(void)
{
	arm(0);
	step_later();
}

/* To a later time and back again. */
static void arm_and_move_back(void)
{
	arm_and_move();
	slot.deadline = DEADLINE;
}

static void arm_and_cancel(void)
{
	arm(0);
	step_cancel();
}

static void arm_move_and_cancel(void)
{
	arm_and_move();
	step_cancel();
}

static void (*const beginnings[])(void) = {
	arm_once,          arm_periodic,   arm_and_move,
	arm_and_move_back, arm_and_cancel, arm_move_and_cancel,
};

/* What the driver does. */
static enum expiry begin(void)
{
	uint64_t overrun = 0;
	enum expiry x = stepped_hand_over(&bucket, &slot, &entry, NOW);

	if (x != EXPIRY_RUN)
		return x;
	ck_assert(slot_is_handed_over(&slot));
	return slot_begin(&slot) ? EXPIRY_RUN
				 : stepped_begin(&bucket, &slot, NOW, &overrun);
}

static enum expiry look(void)
{
	return stepped_look(&bucket, &slot, &entry);
}

static enum expiry refresh(void)
{
	return stepped_refresh(&bucket, &slot, &entry);
}

static enum expiry (*const calls[])(void) = {begin, look, refresh};

static bool is_pending(void)
{
	return state() == SLOT_ARMED || state() == SLOT_MOVED;
}

/* Exactly one has the timer: who cancelled it, a run, or an entry. */
static void check(enum expiry x)
{
	bool freed = atom32_load(&slot.state) == slot_next(slot_word(id));

	ck_assert_int_eq(freed, x == EXPIRY_OVER);
	switch (x) {
	case EXPIRY_RUN:
		ck_assert_int_ne(cancelled, 0);
		ck_assert(!has_new_entry);
		ck_assert(cancelled == 1 ? state() == SLOT_ENDING
					 : state() == SLOT_RUNNING ||
						   state() == SLOT_REPEATING);
		break;
	case EXPIRY_OVER:
		ck_assert_int_eq(cancelled, 0);
		ck_assert(!has_new_entry);
		break;
	case EXPIRY_STALE:
		ck_assert(has_new_entry);
		break;
	case EXPIRY_LATER:
		ck_assert(!has_new_entry);
		ck_assert(slot_is_handed_over(&slot) ||
			  entry.deadline == LATER);
		ck_assert_int_eq(slot.due, LATER);
		ck_assert(cancelled == 0 || is_pending());
		break;
	case EXPIRY_PENDING:
		ck_assert(!has_new_entry || !slot_owns(&slot, &entry));
		ck_assert(cancelled == 0 || is_pending());
		break;
	default:
		ck_abort();
	}
}

/*
 * Each call of the driver, from each state, with each step behind each load.
 * The last is behind the end.
 */
static bool one(size_t call, size_t beginning, const struct step *step,
		unsigned after)
{
	enum expiry x;
	bool stepped;

	other_step = NULL;
	beginnings[beginning]();
	step_needs_lock = step->needs_lock;
	loads_until_step = after;
	other_step = step->run;
	x = calls[call]();
	stepped = !other_step;
	other_step = NULL;
	check(x);
	return stepped;
}

START_TEST(another_thread_at_any_moment)
{
	const size_t n_steps = sizeof(steps) / sizeof(steps[0]);
	const size_t n_begin = sizeof(beginnings) / sizeof(beginnings[0]);
	const size_t n_calls = sizeof(calls) / sizeof(calls[0]);
	unsigned runs = 0;

	for (size_t c = 0; c < n_calls; c++) {
		for (size_t b = 0; b < n_begin; b++) {
			for (size_t s = 0; s < n_steps; s++) {
				unsigned after = 1;

				while (one(c, b, &steps[s], after))
					after++;
				runs += after - 1;
			}
		}
	}
	/* Some have no load at all that is stepped. */
	ck_assert_uint_gt(runs, n_calls * n_begin);
}
END_TEST

/* Cancelled when it is about to be put back, or to end: it is ending then. */
START_TEST(cancelled_as_it_ends)
{
	uint64_t overrun = 0;

	for (int periodic = 0; periodic < 2; periodic++) {
		arm(periodic ? 10 : 0);
		ck_assert_int_eq(
			begin_entry(&bucket, &slot, &entry, NOW, &overrun),
			EXPIRY_RUN);
		step_needs_lock = false;
		loads_until_step = 0;
		other_step = step_cancel;
		if (periodic)
			ck_assert_int_eq(stepped_after_run(&bucket, &slot, NOW),
					 EXPIRY_OVER);
		else
			ck_assert(stepped_end(&slot));
		ck_assert_ptr_null(other_step);
		ck_assert_int_eq(cancelled, 1);
		ck_assert_int_eq(state(), periodic ? SLOT_ENDING : SLOT_FREE);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		another_thread_at_any_moment,
		cancelled_as_it_ends,
	};

	return RUN_TESTS("expiry", tests);
}
