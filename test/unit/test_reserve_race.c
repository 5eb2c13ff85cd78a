/* SPDX-License-Identifier: MIT */
/*
 * A reserve, and threads that race for it: as long as no more timers exist than
 * it is for, no call fails, and nothing takes memory, although slots become
 * free in one bucket while a call looks in another.
 *
 * reserve.h is compiled with a step in it.  Before a call sweeps a bucket,
 * "another thread" does it, or the CPU goes to a thread that is real.
 */
#include "config.h"

#include "bare_intake.h"
#include "fail_alloc.h"
#include "intake/collect.h"
#include "intake/schedule.h"
#include "intake/sweep.h"
#include "sweeping.h"
#include "timers.h"

#include <sched.h>

static void (*other_step)(struct bucket *b);

/* The race is about passes over all slots: the first, short one finds none. */
static bool step_and_sweep(struct bucket *b, uint64_t *looks)
{
	if (*looks <= SWEEP_LOOKS)
		return false;
	if (other_step)
		other_step(b);
	return sweep_until_found(b, looks);
}

/* So many attempts fail, in buckets that seemed to have slots. */
static int failing, failure;

static int fail_or_schedule(struct bucket *b, struct wakeup *w,
			    const struct timer *t, uint64_t *ret_id)
{
	if (failing == 0)
		return bucket_schedule(b, w, t, ret_id);
	failing--;
	return failure;
}

#define sweep_until_found step_and_sweep
#define bucket_schedule   fail_or_schedule
#include "intake/reserve.h"
#undef sweep_until_found
#undef bucket_schedule

enum { N = 1000, BUCKETS = 4 };

/*
 * First alone, with buckets and nothing else.
 */
static void begin(size_t n)
{
	watch = WATCH_VIRTUAL(0);
	make_intake(BUCKETS);
	ck_assert(intake_reserve(intake, n));
	intake_set_open(intake, true);
	fail_arm(0, UINT32_MAX);
}

/* No bucket may take memory, and none has tried. */
static void end_alone(void)
{
	ck_assert_uint_eq(fail_disarm(), 0);
	ck_assert(!block_pool_grows(&intake->pool));
	end_intake();
}

static const struct timer far = {HOUR, 0, never, NULL, 0};

/* The timers that exist: all are in one bucket. */
static uint64_t live[N];
static size_t lives;

static void cancel_live(void)
{
	while (lives > 0)
		must(cancel(live[--lives]) == 0);
}

/* Cancels them, and then takes all slots of this bucket. */
static void fill(struct bucket *b)
{
	cancel_live();
	sweep_all_of(b);
	while (slots_any(&b->slots)) {
		must(lives < N - 1);
		must(bucket_schedule(b, &wakeup, &far, &live[lives++]) == 0);
	}
}

/* As if b had no slot; another thread's steps are over when it returns. */
static int schedule_from(struct bucket *b)
{
	int r = intake_schedule_elsewhere(intake, b, &wakeup, &far, NULL,
					  -ENOMEM);

	other_step = NULL;
	return r;
}

/* As if the driver had all entries, where no call looks. */
static void take_entries(struct bucket *b)
{
	struct block *chain = NULL;
	struct visit v;
	bool more;

	visit_begin(&v, INT64_MAX, 0);
	do {
		more = bucket_collect(b, &wakeup, &v);
		for (uint32_t i = 0; i < v.cursor.taken; i++)
			block_push(&chain, v.cursor.row[i].block);
	} while (more);
	block_pool_give(&intake->pool, chain);
}

/* All slots that a call may take are dead. */
static void use_up(void)
{
	for (uint32_t i = 0; i < BUCKETS; i++)
		fill(&intake->bucket[i]);
	cancel_live();
	for (uint32_t i = 0; i < BUCKETS; i++)
		take_entries(&intake->bucket[i]);
}

static unsigned steps;

/* The timers are always where the call looks, for a while. */
static void fill_next(struct bucket *b)
{
	if (steps > 0) {
		steps--;
		fill(b);
	}
}

START_TEST(timers_move_to_where_the_call_looks)
{
	for (unsigned n = 1; n <= 5 * BUCKETS; n++) {
		begin(N);
		use_up();
		steps = n;
		other_step = fill_next;
		ck_assert_int_eq(schedule_from(&intake->bucket[n % BUCKETS]),
				 0);
		cancel_live();
		end_alone();
	}
}
END_TEST

/* The driver, or another call, is faster. */
static void free_dead(struct bucket *b)
{
	sweep_all_of(b);
}

START_TEST(the_dead_are_freed_before_the_call_sweeps)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		begin(N);
		use_up();
		other_step = free_dead;
		ck_assert_int_eq(schedule_from(&intake->bucket[i]), 0);
		end_alone();
	}
}
END_TEST

/* As timerthread_schedule does. */
static int schedule_far_in(struct bucket *b, uint64_t *ret_id)
{
	int r = bucket_schedule(b, &wakeup, &far, ret_id);

	return r == 0 ? 0
		      : intake_schedule_elsewhere(intake, b, &wakeup, &far,
						  ret_id, r);
}

/*
 * Another thread takes the last slot, or there may be no more of them, or the
 * instance is being stopped: the call goes on, and returns what its own bucket
 * has said, or that all are shut.
 */
static void begin_plain(void)
{
	watch = WATCH_VIRTUAL(0);
	begin_intake(BUCKETS);
	for (uint32_t i = 0; i < BUCKETS; i++)
		must(bucket_schedule(&intake->bucket[i], &wakeup, &far, NULL) ==
		     0);
}

static int schedule_elsewhere(int r)
{
	return intake_schedule_elsewhere(intake, &intake->bucket[0], &wakeup,
					 &far, NULL, r);
}

START_TEST(one_that_fails_is_not_the_last)
{
	static const int errors[] = {-ENOMEM, -EAGAIN};

	for (int i = 0; i < 2; i++) {
		begin_plain();
		failure = errors[i];
		for (int n = 0; n < 3 * (int)BUCKETS; n++) {
			failing = n;
			ck_assert_int_eq(schedule_elsewhere(-ENOMEM), 0);
			ck_assert_int_eq(failing, 0);
		}
		end_intake();
	}
}
END_TEST

/* No bucket has a slot, and none takes memory. */
static void use_all_up(void)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		struct bucket *b = &intake->bucket[i];

		atom32_store(&intake->pool.fixed, 1);
		while (bucket_schedule(b, &wakeup, &far, NULL) == 0)
			;
	}
}

START_TEST(says_why_the_first_attempt_failed)
{
	begin_plain();
	use_all_up();
	ck_assert_int_eq(schedule_elsewhere(-ENOMEM), -ENOMEM);
	ck_assert_int_eq(schedule_elsewhere(-EAGAIN), -EAGAIN);
	end_intake();
}
END_TEST

START_TEST(says_that_it_is_being_stopped)
{
	for (uint32_t shut = 0; shut < BUCKETS; shut++) {
		begin_plain();
		use_all_up();
		bucket_set_open(&intake->bucket[shut], false);
		ck_assert_int_eq(schedule_elsewhere(-ENOMEM), -ESHUTDOWN);
		ck_assert_int_eq(schedule_elsewhere(-EAGAIN), -ESHUTDOWN);
		end_intake();
	}
}
END_TEST

/*
 * For so many timers a bucket has just the slots that it needs: with a batch
 * less, it would have a step less of them; or without the eighth.
 */
static const size_t fulls[] = {1376, 2332};

enum { VISIT = 33 };

/* A new timer's slot. */
static struct slot *slot_in_use(struct bucket *b)
{
	uint64_t id = 0;

	ck_assert_int_eq(bucket_schedule(b, &wakeup, &far, &id), 0);
	return intake_slot(intake, id);
}

/* It has freed them, but their bits do not say so. */
static void hold_batch(struct bucket *b)
{
	while (b->recycled.n < SLOT_BATCH) {
		struct slot *s = slot_in_use(b);

		atom32_store(&s->state,
			     slot_in(atom32_load(&s->state), SLOT_DEAD));
		slot_free(s, atom32_load(&s->state));
		slot_batch_add(&b->recycled, s);
	}
}

/* An eighth of its share has used up its generations. */
static void retire(struct bucket *b, size_t full)
{
	struct slot *s[N];
	bool has_share = b->slots.bucket < intake->cpus.n;
	size_t n = has_share ? full / intake->cpus.n / 8 : 0;

	for (size_t i = 0; i < n; i++) {
		s[i] = slot_in_use(b);
		atom32_store(&s[i]->state,
			     slot_in(0 - SLOT_GENERATION, SLOT_ARMED));
	}
	for (size_t i = 0; i < n; i++)
		atom32_store(&s[i]->state,
			     slot_in(0 - SLOT_GENERATION, SLOT_DEAD));
	free_dead(b);
	for (size_t i = 0; i < n; i++)
		ck_assert(slot_is_retired(s[i]));
}

/* Nor does a call get those that it is filing, and the one that it ends. */
START_TEST(the_driver_holds_some_back)
{
	for (size_t k = 0; k < 2; k++) {
		begin(fulls[k]);
		for (uint32_t i = 0; i < BUCKETS; i++) {
			retire(&intake->bucket[i], fulls[k]);
			hold_batch(&intake->bucket[i]);
		}
		for (int i = 0; i < VISIT; i++)
			slot_in_use(&intake->bucket[BUCKETS - 1]);
		for (size_t i = 0; i < fulls[k]; i++)
			ck_assert_int_eq(
				schedule_far_in(&intake->bucket[0], NULL), 0);
		end_alone();
	}
}
END_TEST

/* And together. */
enum { THREADS = MAX_THREADS, SHARE = N / THREADS, ROUNDS = 20 };

static void yield_once(struct bucket *b)
{
	(void)b;
	sched_yield();
}

static pthread_barrier_t barrier;

/* All go on when all have come.  True: for one of them. */
static bool meet(void)
{
	return pthread_barrier_wait(&barrier) != 0;
}

/* Each takes its share, and all of them together all that there is. */
static void *race(void *arg)
{
	struct bucket *b = &intake->bucket[(uintptr_t)arg % BUCKETS];
	bool wrong = false, grows = false;

	for (int round = 0; round < ROUNDS && !grows; round++) {
		uint64_t id[SHARE] = {0};

		if (meet())
			use_up();
		meet();
		for (int i = 0; i < SHARE; i++)
			wrong |= schedule_far_in(b, &id[i]) != 0;
		meet();
		for (int i = 0; i < SHARE; i++)
			slot_cancel(intake_slot(intake, id[i]), id[i]);
		meet();
		grows = block_pool_grows(&intake->pool);
	}
	return wrong || grows ? arg : NULL;
}

START_TEST(many_threads)
{
	begin(N);
	/* Threads take memory. */
	atom32_store(&fail_armed, 0);
	pthread_barrier_init(&barrier, NULL, THREADS);
	other_step = yield_once;
	run_threads(race, THREADS);
	other_step = NULL;
	pthread_barrier_destroy(&barrier);
	end_alone();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		timers_move_to_where_the_call_looks,
		the_dead_are_freed_before_the_call_sweeps,
		one_that_fails_is_not_the_last,
		says_why_the_first_attempt_failed,
		says_that_it_is_being_stopped,
		the_driver_holds_some_back,
		many_threads,
	};

	return RUN_TESTS("reserve_race", tests);
}
