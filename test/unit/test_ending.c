/* SPDX-License-Identifier: MIT */
/*
 * Calls from the timer thread after its last hook: from destructors of its
 * thread-specific data, in any round of them, and from those of C++'s
 * thread_local variables.
 */
#include "config.h"

#include "tasks.h"

#include "os/fork.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static atom32 detached;

/* By itself, ThreadSanitizer notices a thread that nobody joins or detaches. */
#ifndef UNDER_THREAD_SANITIZER
int pthread_detach(pthread_t thread)
{
	union {
		void *symbol;
		int (*fn)(pthread_t thread);
	} real = {dlsym(RTLD_NEXT, "pthread_detach")};

	atom32_add(&detached, 1);
	return real.fn(thread);
}
#endif

/* Since the last time, for one timer thread that was not joined, or none. */
static void check_detached(bool was)
{
#ifndef UNDER_THREAD_SANITIZER
	ck_assert_uint_eq(atom32_load(&detached), was);
#endif
	atom32_store(&detached, 0);
	(void)was;
}

enum place { FIRST_ROUND, LAST_ROUND, THREAD_LOCAL, PLACES };

static pthread_key_t key;
static char rounds[PTHREAD_DESTRUCTOR_ITERATIONS];

/* What the destructor does. */
static void (*body)(void);

/* A value is a place in rounds: how many rounds are to come before. */
static void destructor(void *value)
{
	char *left = value;

	if (left > rounds)
		pthread_setspecific(key, left - 1);
	else
		body();
}

/* glibc has it, for C++. */
extern int __cxa_thread_atexit_impl(void (*fn)(void *arg), void *arg, void *dso)
	__attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static bool has_place(enum place p)
{
#ifdef UNDER_THREAD_SANITIZER
	/* It forgets the thread in that round. */
	if (p == LAST_ROUND)
		return false;
#endif
	return p != THREAD_LOCAL || __cxa_thread_atexit_impl != NULL;
}

/* On the timer thread, or on another: it will call the body at its end. */
static void have_it_called(void *arg)
{
	switch (*(enum place *)arg) {
	case FIRST_ROUND:
		pthread_setspecific(key, rounds);
		break;
	case LAST_ROUND:
		pthread_setspecific(key, rounds + sizeof(rounds) - 1);
		break;
	default:
		__cxa_thread_atexit_impl(destructor, rounds, &__dso_handle);
	}
}

static void set_body(enum place *p, void (*what)(void))
{
	body = what;
	ck_assert_int_eq(
		timerthread_set_thread_hooks(tt, have_it_called, NULL, p), 0);
}

/* Until another thread waits for the end of this one. */
static void wait_for_reaping(void)
{
	bool joined;

	do {
		sched_yield();
		pthread_mutex_lock(&tt->mutex);
		joined = tt->joined;
		pthread_mutex_unlock(&tt->mutex);
	} while (!joined);
}

/* The call that scheduled it must have returned. */
static void stop_after_go(void *arg)
{
	wait_for(&go);
	ck_assert_int_eq(timerthread_stop(tt), 1);
	sem_post(arg);
}

static void *stopper(void *arg)
{
	return timerthread_stop(tt) == 0 ? NULL : arg;
}

static bool with_stopper;
static pthread_t stopping;

static void start_stopper(void)
{
	ck_assert_int_eq(pthread_create(&stopping, NULL, stopper, tt), 0);
}

/* Ends the thread: another one waits for that, or nobody does. */
static void end_thread(void)
{
	if (with_stopper) {
		start_stopper();
	} else {
		schedule(0, stop_after_go, &ran);
		sem_post(&go);
		wait_for(&ran);
	}
}

static void join_stopper(void)
{
	void *wrong = NULL;

	if (with_stopper)
		pthread_join(stopping, &wrong);
	ck_assert_ptr_null(wrong);
}

/* Each place, with another thread in stop and without one. */
static void each(void (*test)(enum place p))
{
	for (enum place p = 0; p < PLACES; p++) {
		for (int i = 0; i < 2 && has_place(p); i++) {
			with_stopper = i == 1;
			ck_assert_int_eq(pthread_key_create(&key, destructor),
					 0);
			test(p);
			pthread_key_delete(key);
		}
	}
}

static timerthread_id pending;
static int result[8];
static sem_t called_all;

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
}

static void call_all(void)
{
	if (with_stopper)
		wait_for_reaping();
	result[0] = timerthread_stop(tt);
	result[1] = timerthread_cancel_wait(tt, pending);
	result[2] = timerthread_cancel_wait(tt, pending);
	result[3] = timerthread_cancel_all(tt, visit, NULL);
	result[4] = timerthread_schedule(tt, 0, never, NULL, NULL);
	result[5] = timerthread_start(tt, NULL);
	result[6] = timerthread_dispatch(tt);
	result[7] = timerthread_stop(tt);
	sem_post(&called_all);
}

static void as_in_on_exit(enum place p)
{
	static const int expected[] = {
		1, 0, -ENOENT, 2, -ESHUTDOWN, -ESHUTDOWN, -EINVAL, 1,
	};

	setup();
	sem_init(&called_all, 0, 0);
	set_body(&p, call_all);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	pending = schedule(TIMERTHREAD_NEVER, never, NULL);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	end_thread();
	wait_for(&called_all);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(result[i], expected[i]);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	join_stopper();
	end();
}

START_TEST(calls_are_as_in_on_exit)
{
	each(as_in_on_exit);
}
END_TEST

static bool none_is_left(void)
{
	bool none;

	lock_acquire(&fork_page.lock);
	none = timerthread_instances.next == 0;
	lock_release(&fork_page.lock);
	return none;
}

static sem_t *destroyed;

static void destroy_it(void)
{
	sem_t *tell = destroyed;

	if (with_stopper)
		wait_for_reaping();
	timerthread_destroy(tt);
	sem_post(tell);
}

/* The last to leave frees it: this thread, or the one that was in stop. */
static void destroys(enum place p)
{
	sem_t over;

	sem_init(&over, 0, 0);
	destroyed = &over;
	setup();
	set_body(&p, destroy_it);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	end_thread();
	wait_for(&over);
	join_stopper();
	ck_assert(none_is_left());
	check_detached(!with_stopper);
	sem_destroy(&over);
}

START_TEST(destroy_from_a_destructor)
{
	for (int i = 0; i < 20; i++)
		each(destroys);
}
END_TEST

static void stop_and_hold(void *arg)
{
	if (!with_stopper)
		ck_assert_int_eq(timerthread_stop(tt), 1);
	hold(arg);
}

static void destroy_early(void)
{
	timerthread_destroy(tt);
	sem_post(destroyed);
}

/* An executor's callback outlives the thread, and the instance's end. */
static void destroys_before_a_callback_ends(enum place p)
{
	struct caller caller;
	sem_t over;

	sem_init(&over, 0, 0);
	destroyed = &over;
	begin_with(keep);
	set_body(&p, destroy_early);
	start_driver(OWN_THREAD);
	schedule(0, stop_and_hold, &ran);
	submit_due(1);
	start_call(&caller, 0);
	wait_for(&ran);
	if (with_stopper)
		start_stopper();
	wait_for(&over);
	ck_assert(!none_is_left());
	sem_post(&go);
	end_call(&caller);
	join_stopper();
	ck_assert(none_is_left());
	check_detached(!with_stopper);
	sem_destroy(&over);
}

START_TEST(destroy_before_a_callback_ends)
{
	each(destroys_before_a_callback_ends);
}
END_TEST

/* The call that scheduled it must have returned, and no stop come first. */
static void destroy_inside(void *arg)
{
	sem_post(&ran);
	wait_for(&go);
	if (with_stopper)
		wait_for_joiners(1);
	timerthread_destroy(arg);
}

/* The thread that was in stop joins the timer thread, or else nobody does. */
START_TEST(destroy_from_a_callback)
{
	for (int i = 0; i < 2; i++) {
		with_stopper = i == 1;
		setup();
		ck_assert_int_eq(timerthread_start(tt, NULL), 0);
		schedule(0, destroy_inside, tt);
		wait_for(&ran);
		if (with_stopper)
			start_stopper();
		sem_post(&go);
		while (!none_is_left())
			sched_yield();
		join_stopper();
		check_detached(!with_stopper);
	}
}
END_TEST

static void destroy(void *arg)
{
	timerthread_destroy(arg);
}

/*
 * When the numbers of an executor's runs have overflowed, the last run frees
 * the instance all the same: whether it destroys it itself, or comes after
 * that.  What the CPUs count has one bit less.
 */
static void destroys_after_runs(uint32_t n, bool inside)
{
	begin_with(keep);
	start_driver(VIRTUAL);
	tt->runs.given = TALLY_MAX + UINT32_C(1) + n;
	tally_open(&tt->runs.part[0].called, n);
	schedule(-1, post, &ran);
	schedule(0, inside ? destroy : never, tt);
	submit_due(2);
	call_task(called++);
	wait_for(&ran);
	if (!inside)
		timerthread_destroy(tt);
	ck_assert(!none_is_left());
	call_tasks();
	ck_assert(none_is_left());
}

START_TEST(destroy_after_two_thousand_million_runs)
{
	static const uint32_t more[] = {0, 1, TALLY_MAX - 1, TALLY_MAX};

	for (int i = 0; i < 4; i++) {
		destroys_after_runs(more[i], false);
		destroys_after_runs(more[i], true);
	}
}
END_TEST

static atom32 callback_is_over;
static sem_t is_over;

static void hold_and_tell(void *arg)
{
	hold(arg);
	atom32_store_release(&callback_is_over, 1);
}

static void stop_and_look(void)
{
	result[0] = timerthread_stop(tt);
	result[1] = (int)atom32_load_acquire(&callback_is_over);
	sem_post(&is_over);
}

static void post_and_hold(void)
{
	ck_assert(instance_owns_thread(tt));
	sem_post(&is_over);
	wait_for(&go);
}

static void *call_and_end(void *arg)
{
	have_it_called(arg);
	call_task(0);
	return NULL;
}

/* A thread that has run a callback for an executor waits as any other. */
START_TEST(a_thread_of_an_executor_is_not_ours)
{
	enum place first = FIRST_ROUND;
	struct caller other;
	pthread_t t;

	ck_assert_int_eq(pthread_key_create(&key, destructor), 0);
	sem_init(&is_over, 0, 0);
	begin_with(keep);
	body = stop_and_look;
	start_driver(OWN_THREAD);
	schedule(0, post, &ran);
	schedule(0, hold_and_tell, &ran);
	submit_due(2);
	start_call(&other, 1);
	wait_for(&ran);
	ck_assert_int_eq(pthread_create(&t, NULL, call_and_end, &first), 0);
	wait_for(&ran);
	wait_for_joiners(1);
	sem_post(&go);
	wait_for(&is_over);
	ck_assert_int_eq(result[0], 0);
	ck_assert_int_eq(result[1], 1);
	pthread_join(t, NULL);
	end_call(&other);
	end();
	pthread_key_delete(key);
}
END_TEST

static bool same_pthread, is_ours;
static sem_t looked;

static void *look_at_itself(void *arg)
{
	same_pthread = pthread_equal(pthread_self(), tt->thread);
	is_ours = instance_owns_thread(tt);
	sem_post(&looked);
	wait_for(arg);
	return NULL;
}

/*
 * Once the thread was joined, another may get its pthread_t before the one that
 * joined it has the mutex again.
 */
START_TEST(a_later_thread_is_not_ours)
{
	enum place first = FIRST_ROUND;
	pthread_t t[40];
	sem_t end_all;
	int n = 0;

	ck_assert_int_eq(pthread_key_create(&key, destructor), 0);
	sem_init(&is_over, 0, 0);
	sem_init(&looked, 0, 0);
	sem_init(&end_all, 0, 0);
	setup();
	set_body(&first, post_and_hold);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	start_stopper();
	wait_for(&is_over);
	wait_for_reaping();
	pthread_mutex_lock(&tt->mutex);
	sem_post(&go);
	while (n < 40 && !same_pthread) {
		ck_assert_int_eq(
			pthread_create(&t[n++], NULL, look_at_itself, &end_all),
			0);
		wait_for(&looked);
		ck_assert(!is_ours);
	}
	pthread_mutex_unlock(&tt->mutex);
	for (int i = 0; i < n; i++)
		sem_post(&end_all);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	with_stopper = true;
	join_stopper();
	end();
	pthread_key_delete(key);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		calls_are_as_in_on_exit,
		destroy_from_a_destructor,
		destroy_before_a_callback_ends,
		destroy_from_a_callback,
		destroy_after_two_thousand_million_runs,
		a_thread_of_an_executor_is_not_ours,
		a_later_thread_is_not_ours,
	};

	return RUN_TESTS("ending", tests);
}
