/* SPDX-License-Identifier: MIT */
/*
 * A callback of one instance within one of another.
 */
#include "config.h"

#include "tasks.h"

static timerthread_id self;

static struct {
	struct timerthread *outer, *inner;
	int turned[2], waited, moved, stopped;
	bool destroys;
} nest;

static void at_the_bottom(void *arg)
{
	nest.turned[0] = timerthread_advance(nest.outer, 0);
	nest.turned[1] = timerthread_advance(nest.inner, 0);
	nest.waited = timerthread_cancel_wait(nest.outer, self);
	nest.moved =
		timerthread_reschedule(nest.outer, self, TIMERTHREAD_NEVER);
	nest.stopped = timerthread_stop(nest.outer);
	if (nest.destroys)
		timerthread_destroy(nest.outer);
	(void)arg;
}

static void turn_inner(void *arg)
{
	*(int *)arg = timerthread_advance(nest.inner, 0);
}

START_TEST(nested)
{
	for (int i = 0; i < 4; i++) {
		int turned = 0;
		struct caller c;

		start_with(VIRTUAL, i < 2 ? keep : call_inside);
		nest.outer = tt;
		nest.destroys = i % 2;
		ck_assert_int_eq(timerthread_create(&nest.inner), 0);
		ck_assert_int_eq(timerthread_start_virtual(nest.inner, 0), 0);
		ck_assert_int_eq(timerthread_schedule(nest.inner, 0,
						      at_the_bottom, NULL,
						      NULL),
				 0);
		self = schedule(0, turn_inner, &turned);
		ck_assert_int_eq(advance(0), 1);
		if (i < 2) {
			start_call(&c, called++);
			end_call(&c);
		}
		ck_assert_int_eq(turned, 1);
		ck_assert_int_eq(nest.turned[0], -EBUSY);
		ck_assert_int_eq(nest.turned[1], -EBUSY);
		ck_assert_int_eq(nest.waited, -EDEADLK);
		ck_assert_int_eq(nest.moved, 0);
		ck_assert_int_eq(nest.stopped, 1);
		if (!nest.destroys) {
			ck_assert_int_eq(timerthread_stop(tt), 0);
			ck_assert_int_eq(timerthread_cancel(tt, self), 0);
			end();
		}
		timerthread_destroy(nest.inner);
	}
}
END_TEST

/* The other way round a stop waits: the callback is of another instance. */
static void stop_another(void *arg)
{
	*(int *)arg = timerthread_stop(nest.outer);
}

START_TEST(stopped_from_a_callback_of_another)
{
	struct timerthread *other;
	struct caller c;
	int r = -77;

	start_with(VIRTUAL, keep);
	nest.outer = tt;
	schedule(0, hold_and_write, &ran);
	ck_assert_int_eq(advance(0), 1);
	written = 0;
	start_call(&c, called++);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_create(&other), 0);
	ck_assert_int_eq(timerthread_start(other, NULL), 0);
	ck_assert_int_eq(timerthread_schedule(other, 0, stop_another, &r, NULL),
			 0);
	wait_for_joiners(1);
	sem_post(&go);
	timerthread_destroy(other);
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(written, 1);
	end_call(&c);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		nested,
		stopped_from_a_callback_of_another,
	};

	return RUN_TESTS("nested", tests);
}
