/* SPDX-License-Identifier: MIT */
/*
 * Memory that is given back at each chance, while other threads use old ids,
 * and schedule.
 *
 * vacancy.h, sweep.c and arrival.c are compiled again here.  At each of their
 * steps that are taken without the lock, "another thread" does its own.  The
 * last test does the same with threads that are real.
 */
#include "config.h"

#include "os/system.h"
#include "store/slots.h"

static uint32_t step_and_load(const atom32 *a);
static void step_and_store(atom32 *a, uint32_t value);
static void step_and_release(atom32 *a, uint32_t value);
static bool step_and_empty(void *p, size_t size);

#define atom32_load          step_and_load
#define atom32_store         step_and_store
#define atom32_store_release step_and_release
#define system_empty_pages   step_and_empty
#include "store/vacancy.h"
#undef atom32_load
#undef atom32_store
#undef atom32_store_release
#undef system_empty_pages

#include "api/instance.h"
#include "bare.h"
#include "intake/arrival.h"
#include "intake/garbage.h"
#include "intake/sweep.h"
#include "intake/walk.h"
#include "must.h"
#include "os/memory.h"
#include "slots.h"
#include "sweeping.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

static struct bucket *bucket;
static void (*other_step)(void);
static unsigned taken;

/* Where the lock is held nobody comes between. */
static void step(void)
{
	void (*other)(void) = other_step;

	if (!other || !lock_try(&bucket->lock))
		return;
	lock_release(&bucket->lock);
	/* It takes none in the middle of its own. */
	other_step = NULL;
	other();
	other_step = other;
	taken++;
}

static uint32_t step_and_load(const atom32 *a)
{
	step();
	return atom32_load(a);
}

static void step_and_store(atom32 *a, uint32_t value)
{
	step();
	atom32_store(a, value);
}

static void step_and_release(atom32 *a, uint32_t value)
{
	step();
	atom32_store_release(a, value);
}

static bool step_and_empty(void *p, size_t size)
{
	bool emptied;

	step();
	emptied = system_empty_pages(p, size);
	step();
	return emptied;
}

static void step_and_acquire(struct lock *l)
{
	step();
	lock_acquire(l);
}

#define lock_acquire step_and_acquire
#include "intake/arrival.c"
#include "intake/sweep.c"
#undef lock_acquire

static const int64_t hour = INT64_C(3600000000000);

static void fn(void *arg)
{
	(void)arg;
}

static void begin_empty(void)
{
	engine_init(&engine, NULL);
	engine.watch = WATCH_VIRTUAL(hour);
	bare_open(1, CLOCK_MONOTONIC);
	bucket = &engine.intake->bucket[0];
}

/*
 * How near the deadlines are.  Then they are in one lane or two: in others,
 * where no call recycles, old entries stay.
 */
static unsigned nearness;

static void change_lanes(int round)
{
	nearness = 3 * (unsigned)round % 16;
}

static int64_t any_deadline(uint64_t *rng)
{
	return hour + (hour >> nearness) + (int64_t)random_below(rng, 1000);
}

static bool add(uint64_t *rng, uint64_t *ret_id)
{
	const struct timer t = {any_deadline(rng), 0, fn, NULL, 0};

	return bucket_schedule(bucket, &engine.wakeup, &t, ret_id) == 0;
}

static int move(uint64_t id, int64_t deadline)
{
	return bucket_reschedule(bucket, &engine.wakeup,
				 intake_slot(engine.intake, id), id, deadline,
				 false);
}

static int look(uint64_t id)
{
	int64_t deadline;

	return bucket_get_deadline(bucket, intake_slot(engine.intake, id), id,
				   &deadline);
}

/* To an earlier time, so that an entry is left that does not count any more. */
static int move_earlier(uint64_t id)
{
	return move(id, hour + hour / 100000);
}

/* No call finds a timer that is over. */
static bool is_refused(uint64_t id)
{
	return bare_cancel(id) == -ENOENT && look(id) == -ENOENT &&
	       move_earlier(id) == -ENOENT && move(id, 3 * hour) == -ENOENT;
}

/* As if hardly any slot had been used for long. */
static void forget_peaks(void)
{
	lock_acquire(&bucket->lock);
	bucket->slots.least = 0;
	bucket->slots.peak = bucket->slots.before = 0;
	lock_release(&bucket->lock);
}

/* Returns how often it gave something back. */
static unsigned give(void)
{
	struct sweeping s = {0};
	unsigned n = 0;
	bool more;

	do {
		s.gave = false;
		forget_peaks();
		more = sweep_step(bucket, &s);
		n += s.gave;
	} while (more);
	return n;
}

/* Alone. */

enum {
	WORDS = 64,
	N = WORDS * SLOT_FIRST_NUMBER,
	OLD = 4 * N,
	ROOM = 8,
	APART = 6
};

static uint64_t rng;
static uint64_t live[N], old[OLD];
static size_t lives, olds;

static void add_one(void)
{
	uint64_t id = 0;

	must(add(&rng, &id));
	/* Not for each: where there are few entries they are soon dropped. */
	if (random_below(&rng, 3) == 0)
		must(move_earlier(id) == 0);
	must(lives < N);
	live[lives++] = id;
}

static void cancel_one(void)
{
	uint64_t id = live[--lives];

	must(look(id) == 0 && bare_cancel(id) == 0);
	/* Some of each age. */
	old[olds < OLD ? olds++ : random_below(&rng, OLD)] = id;
}

/* Leaves n, which lie apart. */
static void cancel_all_but(size_t n)
{
	for (size_t i = 0; i < n && lives > 0; i++) {
		size_t k = i * lives / n;
		uint64_t id = live[k];

		live[k] = live[i];
		live[i] = id;
	}
	while (lives > n)
		cancel_one();
}

static void look_at_all(void)
{
	for (size_t i = 0; i < lives; i++)
		must(look(live[i]) == 0);
	for (size_t i = 0; i < olds; i++)
		must(is_refused(old[i]));
}

static void check(void)
{
	look_at_all();
	slots_check_owners(&engine);
}

static void use_old_ids(void)
{
	for (int i = 0; i < 4; i++)
		must(is_refused(old[random_below(&rng, olds)]));
	must(is_refused(old[taken % olds]));
}

static void use_old_ids_and_schedule(void)
{
	use_old_ids();
	if (random_below(&rng, 8) == 0 && lives < N - ROOM)
		add_one();
	if (random_below(&rng, 8) == 0 && lives > APART)
		cancel_one();
}

/* Takes nearly as many slots as there were, and so many that are vacant. */
static void fill(void)
{
	while (lives < N - ROOM)
		add_one();
}

static void begin_full(void)
{
	begin_empty();
	rng = test_seed();
	lives = olds = taken = 0;
	fill();
}

static void give_and_fill(void (*meanwhile)(void))
{
	uint32_t vacancies;
	unsigned given;

	begin_empty();
	rng = test_seed();
	lives = olds = taken = 0;
	fill();
	for (int round = 0; round < 8; round++) {
		/* With large pages, those that stay may be in each. */
		bool none = round % 2 == 0;

		change_lanes(round);
		cancel_all_but(none ? 0 : APART);
		other_step = meanwhile;
		given = give();
		other_step = NULL;
		ck_assert(!none || given > 0);
		check();
		vacancies = bucket->slots.vacancies;
		other_step = meanwhile;
		fill();
		other_step = NULL;
		ck_assert(!none || bucket->slots.vacancies < vacancies);
		check();
	}
	ck_assert_uint_gt(taken, 8 * SLOT_FIRST_NUMBER);
	cancel_all_but(0);
	check();
	bare_end();
}

START_TEST(old_ids_are_used_meanwhile)
{
	give_and_fill(use_old_ids);
}
END_TEST

START_TEST(others_schedule_meanwhile)
{
	give_and_fill(use_old_ids_and_schedule);
}
END_TEST

/* Brings memory twice, and leaves no slot. */
static void schedule_many(void)
{
	for (int i = 0; i < 2; i++) {
		do {
			if (lives == N - ROOM)
				return;
			add_one();
		} while (slots_any(&bucket->slots));
	}
}

/* After a peak, who needs a few slots does not bring all of them back. */
START_TEST(a_few_bring_a_few_back)
{
	enum { FEW = N / 8 };
	uint32_t before;

	begin_full();
	cancel_all_but(0);
	ck_assert_uint_gt(give(), 0);
	before = slots_words(&bucket->slots);
	while (lives < FEW)
		add_one();
	ck_assert_uint_gt(bucket->slots.vacancies, 0);
	ck_assert_uint_le(slots_words(&bucket->slots),
			  before + 2 * FEW / SLOT_FIRST_NUMBER);
	check();
	cancel_all_but(0);
	bare_end();
}
END_TEST

/* Memory that was never used: several threads bring the same. */
START_TEST(others_take_memory_meanwhile)
{
	begin_empty();
	rng = test_seed();
	lives = olds = taken = 0;
	other_step = schedule_many;
	while (lives < N - ROOM) {
		add_one();
		/* Nothing is in use behind the table's end. */
		must(bucket->slots.fresh <= bucket->slots.end);
	}
	other_step = NULL;
	ck_assert_uint_gt(taken, 0);
	check();
	cancel_all_but(0);
	check();
	bare_end();
}
END_TEST

/* Writes this state into a slot of each vacant word.  Returns how many. */
static uint32_t plant(uint32_t state)
{
	const struct slots *t = &bucket->slots;
	uint32_t n = 0;

	for (uint32_t i = 2; i < t->fresh; i++) {
		if (!vacancy_has(t, i))
			continue;
		for (uint32_t k = 0; k < SLOT_FIRST_NUMBER; k++)
			atom32_store(
				&slots_get(t, i << SLOT_WORD_LOG2 | k)->state,
				state);
		n++;
	}
	return n;
}

static bool count(const struct seen_timer *t, void *ctx)
{
	(void)t;
	++*(size_t *)ctx;
	return true;
}

/* Else the system would give memory for the read. */
START_TEST(what_is_vacant_is_not_read)
{
	struct sweeping s;
	size_t seen = 0;

	begin_full();
	cancel_all_but(0);
	give();
	ck_assert_uint_gt(plant(SLOT_GENERATION | SLOT_DEAD), 0);
	intake_walk(engine.intake, true, count, &seen);
	intake_walk(engine.intake, false, count, &seen);
	ck_assert_uint_eq(seen, 0);
	ck_assert(!sweep_some_of(bucket));
	s = sweep_as_driver(bucket, false);
	ck_assert_uint_eq(s.seen, 0);
	ck_assert_uint_eq(s.seen, s.freed);
	plant(0);
	fill();
	intake_walk(engine.intake, true, count, &seen);
	intake_walk(engine.intake, false, count, &seen);
	ck_assert_uint_eq(seen, 2 * lives);
	cancel_all_but(0);
	bare_end();
}
END_TEST

/* Else the driver, and calls, would wait for who reads statistics. */
START_TEST(counting_takes_no_lock)
{
	struct seen_timer seen[WALK_STEP];

	begin_full();
	lock_acquire(&bucket->lock);
	ck_assert_uint_eq(look_at_some(bucket, WALK_STEP, false, seen),
			  WALK_STEP);
	lock_release(&bucket->lock);
	cancel_all_but(0);
	bare_end();
}
END_TEST

/* Else the system would give memory to the page: a write there would fail. */
START_TEST(an_old_id_writes_nothing)
{
	struct timerthread *tt;
	static timerthread_id ids[N];
	void *arg;
	int vacant = 0;

	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(
			timerthread_schedule(tt, hour, fn, NULL, &ids[i]), 0);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(timerthread_cancel(tt, ids[i]), 0);
	bucket = intake_bucket(tt->engine.intake, slot_index(ids[0]));
	ck_assert_uint_gt(give(), 0);
	for (int i = 0; i < N; i++) {
		struct slot *s = intake_slot(tt->engine.intake, ids[i]);

		if (!vacancy_has(&bucket->slots, slot_index(ids[i]) >>
							 bucket->slots.shift >>
							 SLOT_WORD_LOG2))
			continue;
		vacant++;
		if ((uintptr_t)s % pages_size() == 0)
			must(mprotect((void *)s, pages_size(), PROT_READ) == 0);
		must(timerthread_cancel(tt, ids[i]) == -ENOENT);
		must(timerthread_cancel_wait(tt, ids[i]) == -ENOENT);
		must(timerthread_cancel_take(tt, ids[i], &arg) == -ENOENT);
		must(timerthread_disarm(tt, ids[i]) == -ENOENT);
		must(timerthread_reschedule(tt, ids[i], hour) == -ENOENT);
	}
	ck_assert_int_gt(vacant, 0);
	timerthread_destroy(tt);
}
END_TEST

/* Together. */

#ifdef UNDER_SANITIZER
#define ROUNDS 4
#else
#define ROUNDS 16
#endif

enum {
	ADDERS = 2,
	STRANGERS = 2,
	BURSTS = 40,
	BURST = 300,
	ALL = ADDERS * ROUNDS * BURSTS * BURST,
	KNOWN = 4096,
};

/* Of timers that are over; 0: of none yet. */
static _Atomic uint64_t known[KNOWN];
static atomic_uint_least32_t adders, wrong;
static atomic_uint_least64_t cancels; /* that have begun */
static uint64_t seed;
static pthread_barrier_t barrier;

/* The ids of all timers that there were, and of those that are pending. */
static struct adder {
	uint64_t rng;
	uint64_t ids[ALL / ADDERS];
	size_t n, pending;
} adder[ADDERS];

/* Helpers say only that something was wrong: the test's own thread asserts. */
static void expect(bool holds)
{
	if (!holds)
		atomic_fetch_add(&wrong, 1);
}

static void add_some(struct adder *a)
{
	size_t n = 1 + random_below(&a->rng, BURST);

	for (size_t i = 0; i < n; i++) {
		uint64_t *id = &a->ids[a->n];

		if (!add(&a->rng, id)) {
			expect(false);
			return;
		}
		a->n++;
		a->pending++;
		if (random_below(&a->rng, 3) == 0)
			expect(move_earlier(*id) == 0);
	}
}

/* The last that it has scheduled. */
static void cancel_some(struct adder *a)
{
	for (; a->pending > 0; a->pending--) {
		uint64_t id = a->ids[a->n - a->pending];

		expect(look(id) == 0);
		atomic_fetch_add(&cancels, 1);
		expect(bare_cancel(id) == 0);
		expect(is_refused(id));
		atomic_store_explicit(&known[random_below(&a->rng, KNOWN)], id,
				      memory_order_release);
	}
}

/* What it has scheduled last stays until the next round. */
static void *add_and_cancel(void *arg)
{
	struct adder *a = arg;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < BURSTS; i++) {
		cancel_some(a);
		add_some(a);
		/* Else it is soon done, and the others have not begun. */
		sched_yield();
	}
	atomic_fetch_sub(&adders, 1);
	return NULL;
}

static void *use_known(void *arg)
{
	uint64_t random = seed + (uintptr_t)arg;

	pthread_barrier_wait(&barrier);
	for (unsigned n = 1; atomic_load(&adders) > 0; n++) {
		uint64_t id = atomic_load_explicit(
			&known[random_below(&random, KNOWN)],
			memory_order_acquire);

		expect(id == 0 || is_refused(id));
		if (n % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static bool add_pending(const struct seen_timer *t, void *ctx)
{
	*(uint64_t *)ctx += slot_is_pending(t->word);
	return true;
}

/* No timer is missed that was there all the time. */
static void *count_on(void *arg)
{
	pthread_barrier_wait(&barrier);
	while (atomic_load(&adders) > 0) {
		uint64_t scheduled, pending = 0;

		lock_acquire(&bucket->lock);
		scheduled = counter_read(&bucket->scheduled);
		lock_release(&bucket->lock);
		intake_walk(engine.intake, false, add_pending, &pending);
		expect(scheduled <= pending + atomic_load(&cancels));
		sched_yield();
	}
	return arg;
}

static void *give_on(void *arg)
{
	pthread_barrier_wait(&barrier);
	while (atomic_load(&adders) > 0) {
		give();
		sched_yield();
	}
	return arg;
}

static void run_round(void)
{
	pthread_t t[ADDERS + STRANGERS + 2];
	size_t n = 0;

	atomic_store(&adders, ADDERS);
	pthread_barrier_init(&barrier, NULL, ADDERS + STRANGERS + 2);
	for (size_t i = 0; i < ADDERS; i++)
		ck_assert_int_eq(pthread_create(&t[n++], NULL, add_and_cancel,
						&adder[i]),
				 0);
	for (uintptr_t i = 0; i < STRANGERS; i++)
		ck_assert_int_eq(
			pthread_create(&t[n++], NULL, use_known, (void *)i), 0);
	ck_assert_int_eq(pthread_create(&t[n++], NULL, count_on, NULL), 0);
	ck_assert_int_eq(pthread_create(&t[n++], NULL, give_on, NULL), 0);
	while (n > 0)
		pthread_join(t[--n], NULL);
	pthread_barrier_destroy(&barrier);
	ck_assert_uint_eq(atomic_load(&wrong), 0);
	slots_check_owners(&engine);
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* No two timers had the same. */
static void check_ids(void)
{
	static uint64_t all[ALL];
	size_t n = 0;

	for (size_t i = 0; i < ADDERS; i++) {
		memcpy(&all[n], adder[i].ids, adder[i].n * sizeof(all[0]));
		n += adder[i].n;
	}
	qsort(all, n, sizeof(all[0]), by_id);
	for (size_t i = 1; i < n; i++)
		ck_assert_uint_ne(all[i - 1], all[i]);
}

START_TEST(threads_use_old_ids)
{
	unsigned given = 0;

	seed = rng = test_seed();
	begin_empty();
	/* So that there is something to give back from the first round on. */
	fill();
	cancel_all_but(0);
	atomic_store(&cancels, counter_read(&bucket->scheduled));
	for (size_t i = 0; i < ADDERS; i++)
		adder[i].rng = seed - i;
	for (int round = 0; round < ROUNDS; round++) {
		change_lanes(round);
		run_round();
		for (size_t i = 0; i < ADDERS; i++)
			cancel_some(&adder[i]);
		given += give();
		slots_check_owners(&engine);
	}
	ck_assert_uint_gt(given, 0);
	ck_assert_uint_eq(atomic_load(&wrong), 0);
	check_ids();
	bare_end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		old_ids_are_used_meanwhile, others_schedule_meanwhile,
		a_few_bring_a_few_back,     others_take_memory_meanwhile,
		what_is_vacant_is_not_read, counting_takes_no_lock,
		threads_use_old_ids,        an_old_id_writes_nothing,
	};

	return RUN_TESTS("giveback", tests);
}
