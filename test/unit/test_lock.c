/* SPDX-License-Identifier: MIT */
#include "attributes.h"
#include "harness.h"
#include "os/futex.h"
#include "os/lock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/* Between two looks of a thread that spins. */
static _Thread_local void (*between_looks)(void);

static void look_again(void)
{
	if (between_looks)
		between_looks();
	else
		spin_relax();
}

/* lock.c is compiled again here. */
#define spin_relax look_again
#include "os/lock.c"
#undef spin_relax

static struct lock lock;
static long counter;
static bool entered;
static atom32 held;

/* No nap ends by itself: a wake-up that does not come is missed for ever. */
static bool endless;
/* Called by who is about to sleep; once. */
static void (*_Atomic before_sleep)(void);
/* Called by who is about to sleep, in the place of that. */
static void (*instead_of_sleep)(void);

void __real_futex_wait_for(atom32 *word, uint32_t expected, long ns);
void __wrap_futex_wait_for(atom32 *word, uint32_t expected, long ns);

/* The length of the last nap on this thread. */
static _Thread_local long nap;

/* The linker puts this in the place of the library's, which it calls. */
void __wrap_futex_wait_for(atom32 *word, uint32_t expected, long ns)
{
	void (*hook)(void) = atomic_exchange(&before_sleep, NULL);

	nap = ns;
	if (hook)
		hook();
	if (instead_of_sleep)
		instead_of_sleep();
	else if (endless)
		futex_wait_until(word, expected, CLOCK_MONOTONIC, INT64_MAX);
	else
		__real_futex_wait_for(word, expected, ns);
}

START_TEST(excludes)
{
	lock = (struct lock){0};
	ck_assert(lock_try(&lock));
	ck_assert(!lock_try(&lock));
	lock_release(&lock);
	ck_assert(lock_try(&lock));
	lock_release(&lock);
}
END_TEST

/* How who waits acquires it. */
static bool hot;

static void acquire(void)
{
	if (hot)
		lock_acquire_hot(&lock);
	else
		lock_acquire(&lock);
}

static void *count(void *arg)
{
	long n = *(const long *)arg;

	for (long i = 0; i < n; i++) {
		if (i % 2)
			lock_acquire(&lock);
		else
			lock_acquire_hot(&lock);
		counter++;
		if (i % 1000 == 0)
			sched_yield();
		lock_release(&lock);
	}
	return NULL;
}

START_TEST(counts)
{
	enum { THREADS = 4 };
	long n = 50000;
	pthread_t t[THREADS];

	lock = (struct lock){0};
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, count, &n), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	ck_assert_int_eq(counter, THREADS * n);
	ck_assert_uint_eq(atom32_load(&lock.held), 0);
}
END_TEST

static void *enter(void *arg)
{
	(void)arg;
	acquire();
	entered = true;
	lock_release(&lock);
	return NULL;
}

/* Another thread waits for the lock, which this one holds. */
static pthread_t begin_waiter(void)
{
	pthread_t t;

	lock = (struct lock){0};
	entered = false;
	atom32_store(&held, 0);
	lock_acquire(&lock);
	ck_assert_int_eq(pthread_create(&t, NULL, enter, NULL), 0);
	return t;
}

/* Once that says that it sleeps; it has not got in so far. */
static void let_in(pthread_t t)
{
	while (atom32_load(&lock.slept) == 0)
		sched_yield();
	ck_assert(!entered);
	lock_release(&lock);
	pthread_join(t, NULL);
	ck_assert(entered);
}

static int looks, most;

/* After so many looks, its holder goes on. */
static void count_looks(void)
{
	if (++looks == most)
		lock_release(&lock);
}

/* Else one that is held for a moment would be taken for stuck. */
START_TEST(is_stuck_if_its_holder_does_not_go_on)
{
	ck_assert(!lock_is_stuck(&lock));
	between_looks = count_looks;
	lock_acquire(&lock);
	ck_assert(lock_is_stuck(&lock));
	ck_assert_int_eq(looks, SPINS);
	for (most = 1; most < SPINS; most++) {
		looks = 0;
		ck_assert(!lock_is_stuck(&lock));
		ck_assert_int_eq(looks, most);
		lock_acquire(&lock);
	}
	lock_release(&lock);
	between_looks = NULL;
}
END_TEST

/* Who waits for a holder that does not go on lies down, and gets up again. */
START_TEST(sleeps_behind_a_stuck_holder)
{
	endless = true;
	for (int i = 0; i < 2; i++) {
		hot = i == 1;
		let_in(begin_waiter());
	}
}
END_TEST

/* The holder lets go, and another one takes the lock. */
static void change_hands(void)
{
	lock_release(&lock);
	lock_acquire(&lock);
	atom32_store_release(&held, 1);
}

/* That wakes nobody yet, but is not lost. */
START_TEST(wake_before_sleep_counts)
{
	pthread_t t;

	endless = true;
	for (int i = 0; i < 2; i++) {
		hot = i == 1;
		before_sleep = change_hands;
		t = begin_waiter();
		while (!atom32_load_acquire(&held))
			sched_yield();
		/* It is to sleep once more, and says so again. */
		let_in(t);
	}
}
END_TEST

/* A release that misses the sleeper: it ends its nap by itself. */
START_TEST(a_missed_wake_heals)
{
	for (int i = 0; i < 2; i++) {
		pthread_t t;

		hot = i == 1;
		t = begin_waiter();
		while (atom32_load(&lock.slept) == 0)
			sched_yield();
		atom32_store_release(&lock.held, 0);
		pthread_join(t, NULL);
		ck_assert(entered);
	}
}
END_TEST

static int sleeps;

/*
 * The holder lets go, and wakes one.  At first another one takes the lock then.
 */
static void sleep_until_woken(void)
{
	ck_assert_uint_eq(atom32_load(&lock.slept), 1);
	lock_release(&lock);
	ck_assert_uint_eq(atom32_load(&lock.slept), 0);
	if (++sleeps < 3)
		ck_assert(lock_try(&lock));
}

/*
 * Who sleeps says so each time.  And who was woken does not know whether it was
 * the only one: its release is to wake the next.
 */
START_TEST(a_sleeper_says_so)
{
	instead_of_sleep = sleep_until_woken;
	for (int i = 0; i < 2; i++) {
		hot = i == 1;
		sleeps = 0;
		lock = (struct lock){0};
		lock_acquire(&lock);
		acquire();
		ck_assert_int_eq(sleeps, 3);
		ck_assert_uint_eq(atom32_load(&lock.slept), 1);
		lock_release(&lock);
	}
}
END_TEST

/* Of the last nap, and how many there were. */
static long length;
static int naps;

/* Each ends by itself, but for one that a release ends. */
static void nap_on(void)
{
	enum { WOKEN = 3, LAST = 12 };

	if (naps == 0)
		ck_assert_int_eq(nap, LOCK_NAP_NS);
	else if (naps == WOKEN + 1 || length == LOCK_NAP_MAX_NS)
		ck_assert_int_eq(nap, length);
	else
		ck_assert_int_eq(nap, 2 * length);
	length = nap;
	if (naps == WOKEN)
		atom32_store(&lock.slept, 0);
	if (naps++ == LAST)
		lock_release(&lock);
}

START_TEST(naps_get_longer)
{
	instead_of_sleep = nap_on;
	lock = (struct lock){0};
	lock_acquire(&lock);
	lock_acquire(&lock);
	ck_assert_int_eq(length, LOCK_NAP_MAX_NS);
	lock_release(&lock);
	instead_of_sleep = NULL;
}
END_TEST

/*
 * A SCHED_FIFO thread that shares its CPU with a holder that was preempted
 * must let it finish.
 */
static void *hold_on_cpu(void *arg)
{
	(void)arg;
	lock_acquire(&lock);
	atom32_store_release(&held, 1);
	for (int i = 0; i < 1000; i++)
		sched_yield();
	lock_release(&lock);
	return NULL;
}

START_TEST(realtime_thread_lets_the_holder_run)
{
	struct sched_param param = {.sched_priority = 1};
	pthread_attr_t attr;
	pthread_t holder;
	int cpu;

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) != 0)
		return; /* not permitted here */
	cpu = this_cpu();
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	if (!set_cpu(&attr, cpu))
		return;
	lock = (struct lock){0};
	ck_assert_int_eq(pthread_create(&holder, &attr, hold_on_cpu, NULL), 0);
	while (!atom32_load_acquire(&held))
		usleep(100);
	ck_assert(stay_on(cpu));
	lock_acquire(&lock);
	lock_release(&lock);
	pthread_join(holder, NULL);
	pthread_attr_destroy(&attr);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		excludes,
		counts,
		is_stuck_if_its_holder_does_not_go_on,
		sleeps_behind_a_stuck_holder,
		wake_before_sleep_counts,
		a_missed_wake_heals,
		a_sleeper_says_so,
		naps_get_longer,
		realtime_thread_lets_the_holder_run,
	};

	return RUN_TESTS("lock", tests);
}
