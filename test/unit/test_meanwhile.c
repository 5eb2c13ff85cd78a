/* SPDX-License-Identifier: MIT */
/*
 * What a second thread does, or finds, at one moment of a run: of the driver,
 * which is held up at a lock; or of an executor, which keeps what it is given.
 */
#include "config.h"

#include "intake/expiry.h"

#include "sweeping.h"
#include "tasks.h"

/* What was counted when the last timer's end was about to be seen. */
static uint64_t ended_before;

static void look_before(void)
{
	ended_before = counter_read(&tt->engine.intake->bucket[0].ended);
}

/* In the place of the library's: with a look. */
#define slot_next(word) (look_before(), slot_next(word))
#include "intake/expiry.c"
#undef slot_next

static void start_on(int d, bool executor)
{
	if (executor)
		begin_with(keep);
	else
		setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, 1), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 8), 0);
	start_driver(d);
}

static struct bucket *only_bucket(void)
{
	return &tt->engine.intake->bucket[0];
}

/* Until a thread waits for it. */
static void wait_for_sleeper(const struct lock *l)
{
	while (atom32_load(&l->slept) == 0)
		sched_yield();
}

/*
 * A cancelled timer that an executor has is not swept: the run that is
 * outstanding would find another timer in its slot.
 */
START_TEST(what_an_executor_has_is_not_swept)
{
	struct bucket *b;
	timerthread_id id;

	start_on(VIRTUAL, true);
	b = only_bucket();
	id = schedule(0, never, NULL);
	ck_assert_int_eq(advance(0), 1);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert(!sweep_some_of(b));
	ck_assert_uint_eq(slots_in_use(), 1);
	/* It would be the same slot, and run an hour early. */
	schedule(HOUR, never, NULL);
	call_tasks();
	ck_assert_uint_eq(slots_in_use(), 1);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_PENDING), 1);
	check_inside();
	end();
}
END_TEST

/* Moved and dead, too; and what comes back to a bucket is, when it is dead. */
START_TEST(swept_when_it_is_back)
{
	struct bucket *b;
	timerthread_id id;

	start_on(VIRTUAL, true);
	b = only_bucket();
	id = schedule(0, never, NULL);
	ck_assert_int_eq(advance(0), 1);
	ck_assert_int_eq(timerthread_reschedule(tt, id, HOUR), 0);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert(!sweep_some_of(b));
	call_tasks();
	ck_assert_uint_eq(slots_in_use(), 0);

	id = schedule(0, never, NULL);
	ck_assert_int_eq(advance(0), 1);
	ck_assert_int_eq(timerthread_reschedule(tt, id, HOUR), 0);
	call_tasks();
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert(sweep_some_of(b));
	ck_assert_uint_eq(slots_in_use(), 0);
	check_inside();
	end();
}
END_TEST

static void hold_and_repeat(void *arg)
{
	static int runs;

	hold(arg);
	if (++runs == 2)
		timerthread_stop(tt);
}

/*
 * A child that is made between two callbacks must not free what the driver is
 * changing then.
 */
START_TEST(busy_between_callbacks)
{
	struct lock *l;

	start_on(OWN_THREAD, false);
	l = &only_bucket()->lock;
	every(0, 1, hold_and_repeat, &ran);
	wait_for(&ran);
	ck_assert_uint_eq(atom32_load(&tt->engine.busy), 0);
	lock_acquire(l);
	sem_post(&go);
	wait_for_sleeper(l);
	ck_assert_uint_eq(atom32_load(&tt->engine.busy), 1);
	lock_release(l);
	wait_for(&ran);
	ck_assert_uint_eq(atom32_load(&tt->engine.busy), 0);
	sem_post(&go);
	end();
}
END_TEST

static int hold_and_keep(void *ctx, timerthread_fn *run, void *arg)
{
	if (kept < 2)
		hold(&ran);
	return keep(ctx, run, arg);
}

/* The same behind a submit. */
START_TEST(busy_behind_a_submit)
{
	timerthread_id id;
	struct lock *l;
	int64_t now;

	begin_with(hold_and_keep);
	ck_assert_int_eq(timerthread_set_buckets(tt, 1), 0);
	start_driver(OWN_THREAD);
	l = &only_bucket()->lock;
	schedule(0, never, NULL);
	wait_for(&ran);
	/* For the next turn, in this order. */
	schedule(0, never, NULL);
	now = timerthread_now(tt);
	while (timerthread_now(tt) == now)
		sched_yield();
	id = schedule(0, never, NULL);
	sem_post(&go);
	wait_for(&ran);
	/* The driver needs the lock for what was moved. */
	ck_assert_int_eq(timerthread_reschedule(tt, id, TIMERTHREAD_NEVER), 0);
	ck_assert_uint_eq(atom32_load(&tt->engine.busy), 0);
	lock_acquire(l);
	sem_post(&go);
	wait_for_sleeper(l);
	ck_assert_uint_eq(atom32_load(&tt->engine.busy), 1);
	lock_release(l);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	timerthread_destroy(tt);
	tt = NULL;
	call_tasks();
}
END_TEST

/*
 * An end is counted before another thread can learn of it: none seems to be
 * cancelled.  A lock of the cap holds up the driver, which gives the place back
 * in between.
 */
START_TEST(an_end_is_counted_first)
{
	struct cap *c;
	const struct slot *s;
	timerthread_id id;

	start_on(OWN_THREAD, false);
	c = &tt->engine.cap;
	id = hold_thread();
	s = intake_slot(tt->engine.intake, id);
	ck_assert_int_eq(timerthread_cancel(tt, id), 1);
	lock_acquire(&c->common->lock);
	atomword_add(&c->common->places, tally_close(&c->share[0].places));
	sem_post(&go);
	wait_for_sleeper(&c->common->lock);
	ck_assert_int_eq(slot_state(atom32_load(&s->state)), SLOT_ENDING);
	ck_assert_uint_eq(counter_read(&tt->engine.ended), 1);
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_FIRED), 1);
	lock_release(&c->common->lock);
	ck_assert_int_ne(timerthread_cancel_wait(tt, id), 0);
	end();
}
END_TEST

/* The same for a run elsewhere. */
START_TEST(an_end_elsewhere_is_counted_first)
{
	struct caller c;
	timerthread_id id;

	start_on(OWN_THREAD, true);
	id = schedule(0, hold, &ran);
	wait_for(&came);
	start_call(&c, 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_cancel(tt, id), 1);
	sem_post(&go);
	end_call(&c);
	ck_assert_uint_eq(ended_before, 1);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		what_an_executor_has_is_not_swept,
		swept_when_it_is_back,
		busy_between_callbacks,
		busy_behind_a_submit,
		an_end_is_counted_first,
		an_end_elsewhere_is_counted_first,
	};

	return RUN_TESTS("meanwhile", tests);
}
