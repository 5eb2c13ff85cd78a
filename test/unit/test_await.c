/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the ends of several callbacks at a time, as those of an executor
 * are.
 */
#include "config.h"

#include "harness.h"
#include "intake/expiry.h"
#include "os/futex.h"
#include "os/tool.h"
#include "whole_waits.h"

#include <errno.h>
#include <sched.h>

enum { TIMERS = 3, WAITERS = 4 };

static struct bucket bucket;
static struct slot slots[TIMERS];

static atom32 sleeps, wakes;
static unsigned wake_calls;

/* What await.h calls to sleep; an end wakes each of these once. */
static void counted_wait(atom32 *word, uint32_t expected, clockid_t clock,
			 int64_t deadline)
{
	atom32_add(&sleeps, 1);
	futex_wait_until(word, expected, clock, deadline);
	atom32_add(&wakes, 1);
}

static void counted_wake(atom32 *word, int n)
{
	wake_calls++;
	futex_wake(word, n);
}

#define futex_wait_until counted_wait
#define futex_wake       counted_wake
#include "engine/await.h"
#undef futex_wait_until
#undef futex_wake

static struct await await;

struct canceller {
	pthread_t thread;
	struct slot *s;
	uint64_t id;
	int result;
	atom32 *over; /* what the callback wrote */
	uint32_t seen;
};

static atom32 over[TIMERS];

static int cancel_and_wait(struct slot *s, uint64_t id)
{
	await_begin(&await);
	return await_end(&await, NULL, s, id, 0, INT64_MAX, slot_cancel(s, id));
}

static void *cancel(void *arg)
{
	struct canceller *c = arg;

	c->result = cancel_and_wait(c->s, c->id);
	c->seen = atom32_load(c->over);
	return NULL;
}

/* Or about to sleep. */
static unsigned sleeping(void)
{
	return atom32_load(&sleeps) - atom32_load(&wakes);
}

/* Ends the run of a timer, which was cancelled. */
static void end_run(unsigned i)
{
	atom32_store(&over[i], 1);
	ck_assert(expiry_end(&slots[i]));
	await_wake(&await, &slots[i]);
}

static void set_up(void)
{
	atom32_store(&await.waiting, 0);
	for (uint32_t i = 0; i < TIMERS; i++) {
		slots[i] = (struct slot){.index = i};
		atom32_store(&slots[i].state,
			     slot_in(SLOT_GENERATION * (i + 1), SLOT_RUNNING));
		atom32_store(&over[i], 0);
	}
}

static void start(struct canceller *c, unsigned i)
{
	struct slot *s = &slots[i];

	*c = (struct canceller){
		.s = s,
		.id = slot_id(s, atom32_load(&s->state)),
		.over = &over[i],
	};
	ck_assert_int_eq(pthread_create(&c->thread, NULL, cancel, c), 0);
}

static void check(struct canceller *c)
{
	pthread_join(c->thread, NULL);
	ck_assert_int_eq(c->result, 1);
	ck_assert_uint_eq(c->seen, 1);
}

/* One after the other, in another order than they came. */
START_TEST(an_end_wakes_those_that_wait_for_it)
{
	static const unsigned order[TIMERS] = {1, 2, 0};
	struct canceller c[TIMERS][WAITERS];

	set_up();
	for (unsigned k = 0; k < WAITERS; k++) {
		for (unsigned i = 0; i < TIMERS; i++)
			start(&c[i][k], i);
	}
	while (sleeping() < TIMERS * WAITERS)
		sched_yield();
	for (unsigned n = 0; n < TIMERS; n++) {
		unsigned i = order[n];

		end_run(i);
		for (unsigned k = 0; k < WAITERS; k++)
			check(&c[i][k]);
		ck_assert_uint_eq(atom32_load(&wakes), (n + 1) * WAITERS);
		ck_assert_uint_eq(sleeping(), (TIMERS - n - 1) * WAITERS);
	}
	await_empty(&await);
}
END_TEST

/*
 * A timer that was cancelled while it ran, by a thread that did not wait.  The
 * one that waits for another is counted by hand: a thread could see the state
 * change, and leave, before it is looked for.
 */
START_TEST(an_end_wakes_if_a_thread_waits)
{
	set_up();
	for (unsigned waiting = 0; waiting < 2; waiting++) {
		struct slot *s = &slots[waiting];

		ck_assert_int_eq(
			slot_cancel(s, slot_id(s, atom32_load(&s->state))), 1);
		atom32_store(&await.waiting, waiting);
		end_run(waiting);
		ck_assert_uint_eq(wake_calls, waiting);
	}
}
END_TEST

static void *empty(void *arg)
{
	await_empty(&await);
	atom32_store(arg, 1);
	return NULL;
}

START_TEST(empty_waits_for_all)
{
	struct canceller c[TIMERS];
	atom32 done = 0;
	pthread_t t;

	set_up();
	for (unsigned i = 0; i < TIMERS; i++)
		start(&c[i], i);
	while (sleeping() < TIMERS)
		sched_yield();
	ck_assert_int_eq(
		pthread_create(&t, NULL, empty, (void *)(uintptr_t)&done), 0);
	for (unsigned i = 0; i < TIMERS; i++) {
		ck_assert_uint_eq(atom32_load(&done), 0);
		end_run(i);
		check(&c[i]);
	}
	pthread_join(t, NULL);
	ck_assert_uint_eq(atom32_load(&done), 1);
}
END_TEST

static unsigned told; /* of slots[0] while a thread counted as waiting */

static void tell_tool(enum tool_event event, const volatile void *p,
		      size_t size)
{
	(void)size;
	if (event == TOOL_ACQUIRE && p == &slots[0] &&
	    atom32_load(&await.waiting) == 1)
		told++;
}

/* Once the thread does not count as waiting, the slot may be gone. */
START_TEST(tools_are_told_while_it_waits)
{
	tool_fn *before = tool_found;
	struct canceller c;

	set_up();
	tool_found = tell_tool;
	start(&c, 0);
	while (sleeping() < 1)
		sched_yield();
	end_run(0);
	check(&c);
	tool_found = before;
	ck_assert_uint_eq(told, 1);
}
END_TEST

/*
 * A thread that has disarmed a run waits for no later one: its ticket is
 * another one, even if its state is the same.
 */
static void *disarm(void *arg)
{
	struct canceller *c = arg;
	uint32_t ticket = TICKET_AWAITED | TICKET_STEP;

	await_begin(&await);
	slot_disarm(c->s, c->id, true);
	atom32_store(&c->s->ticket, ticket);
	c->result =
		await_end(&await, &bucket, c->s, c->id, ticket, INT64_MAX, 1);
	return NULL;
}

START_TEST(a_later_run_is_not_waited_for)
{
	struct slot *s = &slots[0];
	struct canceller c = {.s = s};

	set_up();
	s->period = PERIOD_PREPARED;
	c.id = slot_id(s, atom32_load(&s->state));
	ck_assert_int_eq(pthread_create(&c.thread, NULL, disarm, &c), 0);
	while (sleeping() < 1)
		sched_yield();
	ck_assert_int_eq(expiry_after_run(&bucket, s, 0), EXPIRY_STALE);
	ck_assert_uint_eq(atom32_load(&s->ticket), 2 * TICKET_STEP);
	/* The next one was disarmed, too, before the thread looks again. */
	atom32_store(&s->state, slot_in(slot_word(c.id), SLOT_AWAITED));
	await_wake(&await, s);
	pthread_join(c.thread, NULL);
	ck_assert_int_eq(c.result, 1);
	ck_assert_uint_eq(atom32_load(&sleeps), 1);
}
END_TEST

/*
 * Before it does not count as waiting any more: the bucket may be gone then.
 */
START_TEST(the_last_lock_is_taken_while_it_waits)
{
	struct slot *s = &slots[0];
	struct canceller c = {.s = s};

	set_up();
	s->period = PERIOD_PREPARED;
	c.id = slot_id(s, atom32_load(&s->state));
	ck_assert_int_eq(pthread_create(&c.thread, NULL, disarm, &c), 0);
	while (sleeping() < 1)
		sched_yield();
	ck_assert_int_eq(expiry_after_run(&bucket, s, 0), EXPIRY_STALE);
	lock_acquire(&bucket.lock);
	await_wake(&await, s);
	while (atom32_load(&bucket.lock.slept) == 0)
		sched_yield();
	ck_assert_uint_eq(atom32_load(&await.waiting), 1);
	lock_release(&bucket.lock);
	pthread_join(c.thread, NULL);
	await_empty(&await);
}
END_TEST

/* A cancelled one has no later run, so the ticket does not count. */
START_TEST(what_is_cancelled_has_no_later_run)
{
	struct slot *s = &slots[0];
	uint64_t id;

	set_up();
	s->period = PERIOD_PREPARED;
	id = slot_id(s, atom32_load(&s->state));
	ck_assert_int_eq(slot_cancel(s, id), 1);
	ck_assert_int_eq(slot_disarm(s, id, true), 1);
	ck_assert_int_eq(expiry_after_run(&bucket, s, 0), EXPIRY_OVER);
	ck_assert(expiry_end(s));
	ck_assert_int_eq(slot_cancel(s, id), -ENOENT);
	ck_assert_int_eq(slot_disarm(s, id, true), -ENOENT);
}
END_TEST

/* Its page may have been given back when its end is told, and be all zero. */
START_TEST(an_end_does_not_look_at_the_slot)
{
	struct canceller c;

	set_up();
	start(&c, 2);
	while (sleeping() < 1)
		sched_yield();
	atom32_store(&over[2], 1);
	ck_assert(expiry_end(&slots[2]));
	slots[2].index = 0;
	await_wake(&await, &slots[2]);
	check(&c);
}
END_TEST

/* What came too late does not sleep. */
START_TEST(nothing_to_wait_for)
{
	uint64_t id;

	set_up();
	id = slot_id(&slots[0], atom32_load(&slots[0].state));
	atom32_store(&slots[0].state, slot_in(slot_word(id), SLOT_ARMED));
	ck_assert_int_eq(cancel_and_wait(&slots[0], id), 0);
	ck_assert_int_eq(cancel_and_wait(&slots[0], id), -ENOENT);
	ck_assert_uint_eq(atom32_load(&wakes), 0);
	await_empty(&await);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_end_wakes_those_that_wait_for_it,
		an_end_wakes_if_a_thread_waits,
		empty_waits_for_all,
		tools_are_told_while_it_waits,
		nothing_to_wait_for,
		an_end_does_not_look_at_the_slot,
		a_later_run_is_not_waited_for,
		the_last_lock_is_taken_while_it_waits,
		what_is_cancelled_has_no_later_run,
	};

	return RUN_TESTS("await", tests);
}
