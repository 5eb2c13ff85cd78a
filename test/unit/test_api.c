/* SPDX-License-Identifier: MIT */
/*
 * The calls on timers, through the public header alone.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define S INT64_C(1000000000)

static timerthread_id schedule(int64_t deadline, timerthread_fn *fn, void *arg)
{
	timerthread_id id = 0;

	ck_assert_int_eq(timerthread_schedule(tt, deadline, fn, arg, &id), 0);
	ck_assert_uint_ne(id, 0);
	return id;
}

/* All that was due before this call has run when it returns. */
static void settle(void)
{
	schedule(timerthread_now(tt), post, &ran);
	wait_for(&ran);
}

START_TEST(null_arguments)
{
	timerthread_id id = 5, left;
	void *arg = &id;

	start();
	ck_assert_int_eq(timerthread_schedule(NULL, 0, never, NULL, &id),
			 -EINVAL);
	ck_assert_int_eq(timerthread_schedule(tt, 0, NULL, NULL, &id), -EINVAL);
	ck_assert_int_eq(timerthread_schedule_after(NULL, 0, never, NULL, &id),
			 -EINVAL);
	ck_assert_int_eq(timerthread_schedule_after(tt, 0, NULL, NULL, &id),
			 -EINVAL);
	ck_assert_int_eq(timerthread_cancel(NULL, 1), -EINVAL);
	ck_assert_int_eq(timerthread_cancel_take(NULL, 1, &arg), -EINVAL);
	ck_assert_int_eq(timerthread_cancel_take(NULL, 1, NULL), -EINVAL);
	ck_assert_ptr_eq(arg, &id);
	left = schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(timerthread_cancel_take(tt, left, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_cancel_take(tt, 0, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_cancel(tt, left), 0);
	ck_assert_uint_eq(id, 5);
	end();
}
END_TEST

START_TEST(before_start_and_after_stop)
{
	timerthread_id id = 5, left, taken;
	void *arg = &id;

	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, &id),
			 -EINVAL);
	ck_assert_int_eq(timerthread_schedule_after(tt, 0, never, NULL, &id),
			 -EINVAL);
	ck_assert_int_eq(timerthread_cancel(tt, 1), -ENOENT);
	ck_assert_int_eq(timerthread_cancel_take(tt, 1, &arg), -ENOENT);
	ck_assert_int_gt(timerthread_now(tt), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	left = schedule(TIMERTHREAD_NEVER, never, NULL);
	taken = schedule(TIMERTHREAD_NEVER, never, &taken);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, &id),
			 -ESHUTDOWN);
	ck_assert_int_eq(timerthread_schedule_after(tt, 0, never, NULL, &id),
			 -ESHUTDOWN);
	ck_assert_int_eq(timerthread_cancel(tt, left), 0);
	ck_assert_int_eq(timerthread_cancel(tt, left), -ENOENT);
	ck_assert_ptr_eq(arg, &id);
	ck_assert_int_eq(timerthread_cancel_take(tt, taken, &arg), 0);
	ck_assert_ptr_eq(arg, &taken);
	ck_assert_int_eq(timerthread_cancel_take(tt, taken, &arg), -ENOENT);
	ck_assert_uint_eq(id, 5);
	driver_destroy(tt);

	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, &id),
			 -ESHUTDOWN);
	ck_assert_int_eq(timerthread_cancel(tt, 1), -ENOENT);
	driver_destroy(tt);
}
END_TEST

START_TEST(past_deadlines_run_at_once)
{
	static const int64_t past[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1};

	start();
	for (size_t i = 0; i < 5; i++) {
		schedule(past[i], post, &ran);
		wait_for(&ran);
	}
	ck_assert_int_eq(
		timerthread_schedule_after(tt, INT64_MIN, post, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_schedule_after(tt, -5, post, &ran, NULL),
			 0);
	wait_for(&ran);
	end();
}
END_TEST

START_TEST(far_deadlines_wait)
{
	static const int64_t far[] = {
		TIMERTHREAD_NEVER,
		TIMERTHREAD_NEVER - 1,
		TIMERTHREAD_NEVER / 2,
		INT64_C(4294967296) * S,
	};
	timerthread_id id[4], sum;

	start();
	for (size_t i = 0; i < 4; i++)
		id[i] = schedule(far[i], never, NULL);
	ck_assert_int_eq(
		timerthread_schedule_after(tt, INT64_MAX, never, NULL, &sum),
		0);
	settle();
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(timerthread_cancel(tt, id[i]), 0);
	ck_assert_int_eq(timerthread_cancel(tt, sum), 0);
	settle();
	end();
}
END_TEST

static bool early;

static void check_time(void *arg)
{
	if (timerthread_now(tt) < *(const int64_t *)arg)
		early = true;
}

START_TEST(never_early)
{
	enum { N = 2000 };
	static int64_t deadline[N];
	uint64_t rng = test_seed();
	int64_t now, last = 0;

	start();
	now = timerthread_now(tt);
	for (int i = 0; i < N; i++) {
		deadline[i] = now + (int64_t)random_below(&rng, 20000000);
		last = deadline[i] > last ? deadline[i] : last;
		schedule(deadline[i], check_time, &deadline[i]);
	}
	schedule(last + 1, post, &ran);
	wait_for(&ran);
	ck_assert(!early);
	end();
}
END_TEST

static int sequence[1000], sequence_length;

static void note(void *arg)
{
	sequence[sequence_length++] = (int)(intptr_t)arg;
}

/* Holds the thread that runs callbacks inside of one. */
static timerthread_id hold_thread(void)
{
	timerthread_id id = schedule(0, hold, &ran);

	wait_for(&ran);
	return id;
}

START_TEST(in_deadline_order)
{
	enum { N = 1000 };
	uint64_t rng = test_seed();
	int64_t soon;
	int order[N];

	start();
	for (int i = 0; i < N; i++)
		order[i] = i;
	for (int i = N - 1; i > 0; i--) {
		int j = (int)random_below(&rng, (uint64_t)i + 1);
		int t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	driver_keep_order(tt);
	hold_thread();
	soon = timerthread_now(tt) + S / 2;
	for (int i = 0; i < N; i++)
		schedule(soon + order[i], note, (void *)(intptr_t)order[i]);
	schedule(soon + N, post, &ran);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(sequence_length, N);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(sequence[i], i);
	end();
}
END_TEST

START_TEST(cancel_says_what_happened)
{
	timerthread_id waiting, running;

	start();
	waiting = schedule(timerthread_now(tt) + 1000 * S, never, NULL);
	ck_assert_int_eq(timerthread_cancel(tt, waiting), 0);
	ck_assert_int_eq(timerthread_cancel(tt, waiting), -ENOENT);
	running = hold_thread();
	ck_assert_int_eq(timerthread_cancel(tt, running), 1);
	ck_assert_int_eq(timerthread_cancel(tt, running), 1);
	waiting = schedule(0, never, NULL);
	ck_assert_int_eq(timerthread_cancel(tt, waiting), 0);
	sem_post(&go);
	settle();
	ck_assert_int_eq(timerthread_cancel(tt, running), -ENOENT);
	end();
}
END_TEST

static int take(timerthread_id id, void **ret_arg)
{
	return timerthread_cancel_take(tt, id, ret_arg);
}

static int taken_inside;

static void take_itself(void *arg)
{
	timerthread_id *id = arg;
	void *taken = arg;

	taken_inside = take(*id, &taken);
	if (taken != arg)
		taken_inside = -1;
	sem_post(&ran);
}

/* Nothing but 0 gives the argument. */
START_TEST(cancel_take_says_what_happened)
{
	int one = 1, two = 2;
	timerthread_id waiting, running;
	void *arg = &two;

	start();
	waiting = schedule(timerthread_now(tt) + 1000 * S, never, &one);
	ck_assert_int_eq(take(waiting ^ UINT64_C(1) << 63, &arg), -ENOENT);
	ck_assert_int_eq(take(0, &arg), -ENOENT);
	ck_assert_int_eq(take(UINT64_MAX, &arg), -ENOENT);
	ck_assert_ptr_eq(arg, &two);
	ck_assert_int_eq(take(waiting, &arg), 0);
	ck_assert_ptr_eq(arg, &one);
	arg = &two;
	ck_assert_int_eq(take(waiting, &arg), -ENOENT);
	ck_assert_int_eq(timerthread_cancel(tt, waiting), -ENOENT);
	/* Of one that was cancelled, and no argument is one, too. */
	waiting = schedule(TIMERTHREAD_NEVER, never, &one);
	ck_assert_int_eq(timerthread_cancel(tt, waiting), 0);
	ck_assert_int_eq(take(waiting, &arg), -ENOENT);
	ck_assert_ptr_eq(arg, &two);
	waiting = schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(take(waiting, &arg), 0);
	ck_assert_ptr_null(arg);
	arg = &two;
	/* Moved: to later, and to earlier. */
	for (int i = 0; i < 2; i++) {
		waiting = schedule(timerthread_now(tt) + 1000 * S, never, &one);
		ck_assert_int_eq(
			timerthread_reschedule(tt, waiting,
					       timerthread_now(tt) +
						       (i ? 500 : 2000) * S),
			0);
		ck_assert_int_eq(take(waiting, &arg), 0);
		ck_assert_ptr_eq(arg, &one);
		arg = &two;
	}
	running = hold_thread();
	ck_assert_int_eq(take(running, &arg), 1);
	ck_assert_int_eq(take(running, &arg), 1);
	ck_assert_int_eq(timerthread_cancel(tt, running), 1);
	sem_post(&go);
	settle();
	ck_assert_int_eq(take(running, &arg), -ENOENT);
	ck_assert_ptr_eq(arg, &two);
	end();
}
END_TEST

/* One that repeats: between its runs, and during one, which is the last. */
START_TEST(cancel_take_of_a_periodic_one)
{
	timerthread_id id;
	void *arg = NULL;

	start();
	ck_assert_int_eq(timerthread_schedule_every(tt, timerthread_now(tt),
						    1000 * S, post, &ran, &id),
			 0);
	wait_for(&ran);
	/* Its callback may not be over until the next one runs. */
	settle();
	ck_assert_int_eq(take(id, &arg), 0);
	ck_assert_ptr_eq(arg, &ran);
	arg = NULL;
	ck_assert_int_eq(timerthread_schedule_every(tt, 0, 1, hold, &ran, &id),
			 0);
	wait_for(&ran);
	ck_assert_int_eq(take(id, &arg), 1);
	sem_post(&go);
	for (int i = 0; i < 20; i++)
		settle();
	ck_assert_int_eq(sem_trywait(&ran), -1);
	ck_assert_int_eq(take(id, &arg), -ENOENT);
	ck_assert_ptr_null(arg);
	/* From its own callback. */
	id = 0;
	ck_assert_int_eq(
		timerthread_schedule_every(tt, 0, 1, take_itself, &id, &id), 0);
	wait_for(&ran);
	for (int i = 0; i < 20; i++)
		settle();
	ck_assert_int_eq(taken_inside, 1);
	ck_assert_int_eq(sem_trywait(&ran), -1);
	end();
}
END_TEST

START_TEST(cancel_take_gives_a_place_back)
{
	timerthread_id id[3];
	void *arg;

	setup();
	ck_assert_int_eq(timerthread_set_max_timers(tt, 3), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	for (int i = 0; i < 3; i++)
		id[i] = schedule(TIMERTHREAD_NEVER, never, &id[i]);
	for (int i = 0; i < 3000; i++) {
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
				 -EAGAIN);
		ck_assert_int_eq(take(id[i % 3], &arg), 0);
		ck_assert_ptr_eq(arg, &id[i % 3]);
		ck_assert_int_eq(take(id[i % 3], &arg), -ENOENT);
		id[i % 3] = schedule(TIMERTHREAD_NEVER, never, &id[i % 3]);
	}
	end();
}
END_TEST

/* Many threads: each argument goes to one of them, or to the callback. */
enum { OWNED = 4000, TAKERS = 4 };

static struct owned {
	timerthread_id id;
	_Atomic int owners;
} owned[OWNED];

static void own(void *arg)
{
	struct owned *o = arg;

	o->owners++;
}

static void *take_all(void *arg)
{
	uint64_t rng = test_seed() + (uintptr_t)arg;
	size_t i = random_below(&rng, OWNED);

	for (int n = 0; n < OWNED; n++) {
		struct owned *o = &owned[i++ % OWNED];
		void *got = &rng;
		int r = take(o->id, &got);

		if (r == 0)
			own(got);
		if ((r != 0 && r != 1 && r != -ENOENT) ||
		    got != (r == 0 ? (void *)o : &rng))
			return arg;
	}
	return NULL;
}

START_TEST(cancel_take_gives_each_to_one)
{
	for (int round = 0; round < 3; round++) {
		memset(owned, 0, sizeof(owned));
		start();
		for (int i = 0; i < OWNED; i++)
			owned[i].id =
				schedule(timerthread_now(tt) +
						 (i % 2 ? 1000 * S : i * 1000),
					 own, &owned[i]);
		run_threads(take_all, TAKERS);
		end();
		for (int i = 0; i < OWNED; i++)
			ck_assert_int_eq(owned[i].owners, 1);
	}
}
END_TEST

START_TEST(ids_that_name_nothing)
{
	uint64_t rng = test_seed();
	timerthread_id live, stale;

	start();
	stale = schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(timerthread_cancel(tt, stale), 0);
	live = schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(timerthread_cancel(tt, 0), -ENOENT);
	ck_assert_int_eq(timerthread_cancel(tt, UINT64_MAX), -ENOENT);
	for (int bit = 0; bit < 64; bit++) {
		ck_assert_int_eq(
			timerthread_cancel(tt, live ^ UINT64_C(1) << bit),
			-ENOENT);
	}
	for (int i = 0; i < 200000; i++) {
		timerthread_id made_up = next_random(&rng);

		if (i % 2)
			made_up &= UINT64_C(0xffffffff000000ff);
		if (made_up != live)
			ck_assert_int_eq(timerthread_cancel(tt, made_up),
					 -ENOENT);
	}
	for (int i = 0; i < 100000; i++) {
		timerthread_id id = schedule(TIMERTHREAD_NEVER, never, NULL);

		ck_assert_uint_ne(id, stale);
		ck_assert_uint_ne(id, live);
		ck_assert_int_eq(timerthread_cancel(tt, stale), -ENOENT);
		ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	}
	ck_assert_int_eq(timerthread_cancel(tt, live), 0);
	end();
}
END_TEST

static atom32 looks, grown;

/* In all slots of the first chunk, once more after that was made. */
static void *look_for_made_up(void *arg)
{
	bool over;

	do {
		over = atom32_load(&grown) != 0;
		for (uint64_t i = 64; i < 128; i++)
			ck_assert_int_eq(
				timerthread_cancel(
					tt, UINT64_C(0x7ffffff1) << 32 | i),
				-ENOENT);
		atom32_store(&looks, 1);
	} while (!over);
	return arg;
}

/*
 * In slots that come into being meanwhile, and of which nobody has told.
 * ThreadSanitizer sees whether their zeros come before them.
 */
START_TEST(ids_that_name_nothing_yet)
{
	for (int round = 0; round < 20; round++) {
		pthread_t t;

		setup();
		ck_assert_int_eq(timerthread_set_buckets(tt, 1), 0);
		ck_assert_int_eq(driver_start(tt), 0);
		looks = grown = 0;
		ck_assert_int_eq(
			pthread_create(&t, NULL, look_for_made_up, NULL), 0);
		while (atom32_load(&looks) == 0)
			sched_yield();
		schedule(TIMERTHREAD_NEVER, never, NULL);
		atom32_store(&grown, 1);
		pthread_join(t, NULL);
		end();
	}
}
END_TEST

static timerthread_id seen_id, given_id;

static void look_at_id(void *arg)
{
	seen_id = *(timerthread_id *)arg;
	sem_post(&ran);
}

START_TEST(id_is_written_before_it_runs)
{
	start();
	for (int i = 0; i < 5000; i++) {
		given_id = 0;
		ck_assert_int_eq(timerthread_schedule(tt, 0, look_at_id,
						      &given_id, &given_id),
				 0);
		wait_for(&ran);
		ck_assert_uint_ne(given_id, 0);
		ck_assert_uint_eq(seen_id, given_id);
	}
	end();
}
END_TEST

/* What a callback wrote is there once cancel says that it is over. */
static int plain;

static void write_plain(void *arg)
{
	plain = *(int *)arg;
}

START_TEST(enoent_shows_what_the_callback_wrote)
{
	int over = 0;

	start();
	for (int i = 1; i < 2000; i++) {
		timerthread_id id = schedule(0, write_plain, &i);
		int r;

		if (i % 16 == 0)
			settle();
		while ((r = timerthread_cancel(tt, id)) == 1)
			;
		if (r == -ENOENT) {
			ck_assert_int_eq(plain, i);
			over++;
		}
	}
	ck_assert_int_ge(over, 1999 / 16);
	end();
}
END_TEST

static timerthread_id self;
static int cancelled_self, cancelled_other;

static void from_callback(void *arg)
{
	timerthread_id other = 0;

	cancelled_self = timerthread_cancel(tt, self);
	if (timerthread_schedule(tt, 0, never, NULL, &other) == 0)
		cancelled_other = timerthread_cancel(tt, other);
	timerthread_schedule_after(tt, 0, post, arg, NULL);
}

START_TEST(calls_from_a_callback)
{
	start();
	cancelled_other = -1;
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, from_callback, &ran, &self), 0);
	wait_for(&ran);
	ck_assert_int_eq(cancelled_self, 1);
	ck_assert_int_eq(cancelled_other, 0);
	end();
}
END_TEST

START_TEST(no_id_wanted)
{
	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, post, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_schedule_after(tt, 1, post, &ran, NULL),
			 0);
	wait_for(&ran);
	end();
}
END_TEST

START_TEST(errno_is_left_alone)
{
	timerthread_id id;

	errno = 4711;
	start();
	for (int i = 0; i < 3000; i++)
		id = schedule(TIMERTHREAD_NEVER, never, NULL);
	timerthread_cancel(tt, id);
	timerthread_cancel(tt, id);
	schedule(0, post, &ran);
	ck_assert_int_eq(errno, 4711);
	wait_for(&ran);
	/* That may have changed it, as every call of the C library. */
	errno = 4711;
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(errno, 4711);
	end();
	ck_assert_int_eq(errno, 4711);
}
END_TEST

START_TEST(now_is_monotonic_time)
{
	struct timespec t;
	int64_t a, b, c;

	start();
	a = timerthread_now(tt);
	clock_gettime(CLOCK_MONOTONIC, &t);
	b = (int64_t)t.tv_sec * S + t.tv_nsec;
	c = timerthread_now(tt);
	ck_assert_int_le(a, b);
	ck_assert_int_le(b, c);
	end();
}
END_TEST

START_TEST(now_of_none_is_monotonic_time)
{
	struct timespec t;
	int64_t a, b, c;

	a = timerthread_now(NULL);
	clock_gettime(CLOCK_MONOTONIC, &t);
	b = (int64_t)t.tv_sec * S + t.tv_nsec;
	c = timerthread_now(NULL);
	ck_assert_int_le(a, b);
	ck_assert_int_le(b, c);
}
END_TEST

START_TEST(units)
{
	ck_assert_int_eq(TIMERTHREAD_USEC, 1000);
	ck_assert_int_eq(TIMERTHREAD_MSEC, 1000 * TIMERTHREAD_USEC);
	ck_assert_int_eq(TIMERTHREAD_SEC, 1000 * TIMERTHREAD_MSEC);
	ck_assert_int_eq(TIMERTHREAD_SEC, S);
	/* As wide as a time, also where an int is multiplied. */
	ck_assert_int_eq(3600 * 24 * 365 * TIMERTHREAD_SEC / S, 31536000);
	ck_assert_int_eq(TIMERTHREAD_NEVER, INT64_MAX);
}
END_TEST

#if TIMERTHREAD_VERSION != TIMERTHREAD_VERSION_MAJOR * 1000000 +               \
				   TIMERTHREAD_VERSION_MINOR * 1000 +          \
				   TIMERTHREAD_VERSION_PATCH
#error "TIMERTHREAD_VERSION"
#endif

START_TEST(version)
{
	char header[40];

	ck_assert_str_eq(timerthread_version(), PACKAGE_VERSION);
	snprintf(header, sizeof(header), "%d.%d.%d", TIMERTHREAD_VERSION_MAJOR,
		 TIMERTHREAD_VERSION_MINOR, TIMERTHREAD_VERSION_PATCH);
	ck_assert_str_eq(header, PACKAGE_VERSION);
}
END_TEST

/* Instances know nothing of each other's timers. */
START_TEST(two_instances)
{
	struct timerthread *second;
	timerthread_id id;

	start();
	ck_assert_int_eq(timerthread_create(&second), 0);
	ck_assert_int_eq(driver_start(second), 0);
	id = schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(timerthread_cancel(second, id), -ENOENT);
	ck_assert_int_eq(timerthread_schedule(second, 0, post, &ran, NULL), 0);
	wait_for(&ran);
	driver_destroy(second);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	end();
}
END_TEST

int main(void)
{
	const TTest *const any[] = {
		null_arguments,
		before_start_and_after_stop,
		past_deadlines_run_at_once,
		far_deadlines_wait,
		never_early,
		in_deadline_order,
		cancel_says_what_happened,
		cancel_take_says_what_happened,
		cancel_take_of_a_periodic_one,
		cancel_take_gives_a_place_back,
		cancel_take_gives_each_to_one,
		ids_that_name_nothing,
		ids_that_name_nothing_yet,
		id_is_written_before_it_runs,
		enoent_shows_what_the_callback_wrote,
		calls_from_a_callback,
		no_id_wanted,
		errno_is_left_alone,
		now_of_none_is_monotonic_time,
		units,
		version,
		two_instances,
	};
	const TTest *const real_time[] = {
		now_is_monotonic_time,
	};
	TCase *tcase = tcase_create("api");

	ADD_TESTS(tcase, any);
	if (driver_tested() != ON_VIRTUAL)
		ADD_TESTS(tcase, real_time);
	return run_case("api", tcase);
}
