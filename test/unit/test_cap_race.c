/* SPDX-License-Identifier: MIT */
/*
 * Places under a cap, and what another thread does in the middle of a call.
 *
 * cap.h is compiled with steps in it.  Before it takes a lock, changes the
 * number of openings, or looks at or changes the common share, "another thread"
 * does its step.
 */
#include "config.h"

#include "base/tally.h"
#include "cpus.h"
#include "harness.h"
#include "os/cpu.h"
#include "os/lock.h"
#include "os/memory.h"

#include <pthread.h>
#include <sched.h>

/* The other thread's next step, and where: once. */
static void (*other_step)(void);
static const volatile void *other_place;

static void step_at(const volatile void *place)
{
	void (*step)(void) = other_step;

	if (place != other_place || !step)
		return;
	other_step = NULL;
	step();
}

/* A thread that is real has come to a lock, or is done. */
static const struct lock *awaited;
static atom32 has_come;

static void step_and_acquire(struct lock *l)
{
	step_at(l);
	if (l == awaited)
		atom32_store_release(&has_come, 1);
	lock_acquire(l);
}

static uintptr_t step_and_load(const atomword *a)
{
	step_at(a);
	return atomword_load_acquire(a);
}

static void step_and_add(atomword *a, uintptr_t n)
{
	step_at(a);
	atomword_add(a, n);
}

static void step_and_store(atom32 *a, uint32_t value)
{
	step_at(a);
	atom32_store_release(a, value);
}

static bool step_and_add_tally(struct tally *t, int32_t n)
{
	step_at(t);
	return tally_add(t, n);
}

#define lock_acquire          step_and_acquire
#define atomword_load_acquire step_and_load
#define atomword_add          step_and_add
#define atom32_store_release  step_and_store
#define tally_add             step_and_add_tally
#include "engine/cap.h"
#undef lock_acquire
#undef atomword_load_acquire
#undef atomword_add
#undef atom32_store_release
#undef tally_add

#include "checks/cap.h"

/* How many shares, and how many places: all are enough for many batches. */
enum { CPUS = 2, MANY = 20 * CAP_BATCH };

static struct cap cap;
static size_t taken;

/* All shares are closed. */
static void begin(size_t max)
{
	cap = (struct cap){.max = max};
	ck_assert(cap_open(&cap, CPUS));
	call_in(&cap);
	taken = 0;
	cpu_now = 0;
}

static bool take_one(void)
{
	bool ok = cap_take(&cap, cpu_map_pick(&cap.cpus));

	taken += ok;
	return ok;
}

static void take(size_t n)
{
	while (n-- > 0) {
		if (!take_one())
			ck_abort_msg("refused, but not all are taken");
	}
}

static void give(size_t n)
{
	taken -= n;
	while (n-- > 0)
		cap_give(&cap);
}

/* There are as many as there were, and each can be taken. */
static void end(void)
{
	ck_assert_ptr_null((void *)(uintptr_t)other_step);
	ck_assert_uint_eq(cap_free(&cap), cap.max - taken);
	take(cap.max - taken);
	ck_assert(!take_one());
	cap_close(&cap);
}

static void before(const volatile void *place, void (*step)(void))
{
	other_place = place;
	other_step = step;
}

static uint32_t in_share(uint32_t cpu)
{
	return tally_count(&cap.share[cpu].places);
}

static bool is_closed(uint32_t cpu)
{
	return !tally_is_open(&cap.share[cpu].places);
}

/* This CPU's share has n. */
static void fill_share(uint32_t n)
{
	take(n + 1);
	while (in_share(0) < n)
		give(1);
	ck_assert_uint_eq(in_share(0), n);
}

static size_t others;

static void take_others(void)
{
	take(others);
}

/*
 * The share is full, and a thread comes to give a batch of it back.  Others
 * take from it first, so that it may have no batch any more.
 */
START_TEST(a_full_share_is_used_meanwhile)
{
	for (others = 0; others <= CAP_SHARE_MAX; others++) {
		uint32_t left = CAP_SHARE_MAX - (uint32_t)others;

		begin(MANY);
		fill_share(CAP_SHARE_MAX);
		before(&cap.share[0].lock, take_others);
		give(1);
		ck_assert_uint_eq(in_share(0),
				  left < CAP_BATCH ? left : left - CAP_BATCH);
		end();
	}
}
END_TEST

/* On another CPU, until there are none; n of them are given back there. */
static void call_in_and_give(void)
{
	cpu_now = 1;
	while (take_one())
		;
	give(others);
	cpu_now = 0;
}

/* The share is empty, and a thread comes to take a batch for it. */
START_TEST(an_empty_share_is_closed_meanwhile)
{
	for (others = 1; others < 10 * CAP_BATCH; others += 1 + others / 2) {
		begin(MANY);
		fill_share(0);
		before(&cap.share[0].lock, call_in_and_give);
		take(1);
		end();
	}
}
END_TEST

START_TEST(a_full_share_is_closed_meanwhile)
{
	for (others = 0; others < 10 * CAP_BATCH; others += 1 + others / 2) {
		begin(MANY);
		take(2);
		fill_share(CAP_SHARE_MAX);
		before(&cap.share[0].lock, call_in_and_give);
		give(1);
		end();
	}
}
END_TEST

/* Leaves some in the share that it opens. */
static void open_and_fill(void)
{
	give(2 * CAP_SHARE_MAX);
	ck_assert(!is_closed(0));
	ck_assert_uint_gt(in_share(0), 0);
}

/* A thread comes to open the share, and another one was faster. */
START_TEST(a_share_is_opened_and_used_meanwhile)
{
	begin(MANY);
	take(MANY);
	ck_assert(!take_one());
	ck_assert(is_closed(0));
	give(2 * CPUS - 1);
	ck_assert(is_closed(0));
	before(&cap.common->lock, open_and_fill);
	give(1);
	end();
}
END_TEST

/* All that are free are in the share then. */
static void move_to_share(void)
{
	give(2 * CPUS);
	ck_assert(!is_closed(0));
	while (atomword_load(&cap.common->places) > 0)
		take(1);
	give(1);
	ck_assert_uint_eq(cap_free(&cap), in_share(0));
}

/* A thread has seen that no share is open; then the common one is empty. */
START_TEST(places_move_to_a_share_meanwhile)
{
	begin(MANY);
	take(MANY);
	ck_assert(!take_one());
	before(&cap.common->places, move_to_share);
	take(1);
	end();
}
END_TEST

/* Whoever finds no share open, and no place, may rely on it. */
static void take_while_it_opens(void)
{
	take(1);
	cpu_now = 1;
	while (take_one())
		;
	cpu_now = 0;
	ck_assert_uint_eq(cap_free(&cap), 0);
}

START_TEST(a_share_is_open_when_it_counts)
{
	begin(MANY);
	take(MANY);
	ck_assert(!take_one());
	give(2 * CPUS - 1);
	before(&cap.common->openings, take_while_it_opens);
	give(1);
	end();
}
END_TEST

/* A thread that takes all places that are free. */
static pthread_t taker;

static void *take_all(void *arg)
{
	(void)arg;
	cpu_now = 1;
	while (take_one())
		;
	atom32_store_release(&has_come, 1);
	return NULL;
}

/* It does not get through while a batch is on its way. */
static void let_take_all(void)
{
	atom32_store(&has_come, 0);
	ck_assert_int_eq(pthread_create(&taker, NULL, take_all, NULL), 0);
	while (!atom32_load_acquire(&has_come))
		sched_yield();
}

START_TEST(a_batch_is_on_its_way_to_a_share)
{
	begin(MANY);
	fill_share(0);
	awaited = &cap.share[0].lock;
	before(&cap.share[0].places, let_take_all);
	ck_assert(cap_take(&cap, 0));
	pthread_join(taker, NULL);
	awaited = NULL;
	/* By this thread, which does not count while the other one does. */
	taken++;
	end();
}
END_TEST

START_TEST(a_batch_is_on_its_way_from_a_share)
{
	begin(MANY);
	fill_share(CAP_SHARE_MAX);
	awaited = &cap.share[0].lock;
	before(&cap.common->places, let_take_all);
	cap_give(&cap);
	pthread_join(taker, NULL);
	/* All but, perhaps, the one that was given. */
	ck_assert_uint_le(cap_free(&cap), 1);
	cap_close(&cap);
	awaited = NULL;
}
END_TEST

/* Nobody is refused a place because all shares are about to be closed. */
START_TEST(a_share_is_not_yet_closed)
{
	begin(MANY);
	fill_share(CAP_SHARE_MAX);
	cpu_now = 1;
	while (atomword_load(&cap.common->places) > 0 || in_share(1) > 0)
		take(1);
	awaited = &cap.common->lock;
	before(&cap.share[0].lock, let_take_all);
	/* One of the two is refused, when all are taken. */
	cap_take(&cap, 1);
	pthread_join(taker, NULL);
	ck_assert_uint_eq(cap_free(&cap), 0);
	cap_close(&cap);
	awaited = NULL;
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_full_share_is_used_meanwhile,
		an_empty_share_is_closed_meanwhile,
		a_full_share_is_closed_meanwhile,
		a_share_is_opened_and_used_meanwhile,
		places_move_to_a_share_meanwhile,
		a_share_is_open_when_it_counts,
		a_batch_is_on_its_way_to_a_share,
		a_batch_is_on_its_way_from_a_share,
		a_share_is_not_yet_closed,
	};

	return RUN_TESTS("cap_race", tests);
}
