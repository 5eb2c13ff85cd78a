/* SPDX-License-Identifier: MIT */
/*
 * The life of an instance: options, start, stop and destroy.
 */
#include "config.h"

#include "attributes.h"
#include "child.h"
#include "fixture.h"
#include "mask.h"
#include "os/tool.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

START_TEST(null_instance)
{
	pthread_t thread;

	ck_assert_int_eq(timerthread_create(NULL), -EINVAL);
	ck_assert_int_eq(timerthread_set_thread_name(NULL, "a"), -EINVAL);
	ck_assert_int_eq(timerthread_set_buckets(NULL, 1), -EINVAL);
	ck_assert_int_eq(timerthread_start(NULL, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_stop(NULL), -EINVAL);
	ck_assert_int_eq(timerthread_get_pthread(NULL, &thread), -EINVAL);
	timerthread_destroy(NULL);
}
END_TEST

START_TEST(options)
{
	setup();
	ck_assert_int_eq(timerthread_set_thread_name(tt, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_set_thread_name(tt, ""), -EINVAL);
	ck_assert_int_eq(timerthread_set_thread_name(tt, "sixteen-letters!"),
			 -EINVAL);
	ck_assert_int_eq(timerthread_set_thread_name(tt, "fifteen-letters"), 0);
	ck_assert_int_eq(timerthread_set_buckets(tt, 0), -EINVAL);
	ck_assert_int_eq(timerthread_set_buckets(tt, 1025), -EINVAL);
	ck_assert_int_eq(timerthread_set_buckets(tt, 1024), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(timerthread_set_thread_name(tt, "late"), -EBUSY);
	ck_assert_int_eq(timerthread_set_buckets(tt, 1), -EBUSY);
	ck_assert_int_eq(timerthread_schedule(tt, 0, post, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_thread_name(tt, "late"), -EBUSY);
	ck_assert_int_eq(timerthread_set_buckets(tt, 1), -EBUSY);
	driver_destroy(tt);
}
END_TEST

/* Makes every futex call with a time fail in this process, and nothing else. */
static bool refuse_timed_futexes(void)
{
#ifdef SYS_futex_time64
	const unsigned nr = SYS_futex_time64;
#else
	const unsigned nr = SYS_futex;
#endif
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[1])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FUTEX_CMD_MASK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAIT_BITSET, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* Without futexes the timer thread would spin: better not to start. */
START_TEST(no_futex)
{
	setup();
	if (!refuse_timed_futexes()) {
		puts("no_futex: no filters here, nothing was tested");
	} else {
		ck_assert_int_eq(timerthread_start(tt, NULL), -ENOSYS);
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
				 -EINVAL);
	}
	timerthread_destroy(tt);
}
END_TEST

START_TEST(any_number_of_buckets)
{
	static const unsigned n[] = {1, 2, 3, 12, 1000, 1024};

	for (size_t i = 0; i < 6; i++) {
		timerthread_id id;

		setup();
		ck_assert_int_eq(timerthread_set_buckets(tt, n[i]), 0);
		ck_assert_int_eq(driver_start(tt), 0);
		ck_assert_int_eq(timerthread_schedule(tt, TIMERTHREAD_NEVER,
						      never, NULL, &id),
				 0);
		ck_assert_int_eq(timerthread_schedule(tt, 0, post, &ran, NULL),
				 0);
		wait_for(&ran);
		ck_assert_int_eq(timerthread_cancel(tt, id), 0);
		driver_destroy(tt);
	}
}
END_TEST

START_TEST(starts_once)
{
	start();
	ck_assert_int_eq(driver_start(tt), -EBUSY);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(driver_start(tt), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	driver_destroy(tt);

	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(driver_start(tt), -ESHUTDOWN);
	driver_destroy(tt);
}
END_TEST

static struct {
	char name[16];
	int slack;
	bool mask_is_right;
	pthread_t self;
	size_t stack;
} thread;

static void inspect(void *arg)
{
	pthread_attr_t attr;

	pthread_getname_np(pthread_self(), thread.name, sizeof(thread.name));
	thread.slack = prctl(PR_GET_TIMERSLACK);
	thread.self = pthread_self();
	thread.mask_is_right = mask_is_right();
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstacksize(&attr, &thread.stack);
	pthread_attr_destroy(&attr);
	sem_post(arg);
}

START_TEST(the_thread)
{
	sigset_t before, after;
	pthread_t t;

	setup();
	ck_assert_int_eq(timerthread_set_thread_name(tt, "my-timers"), 0);
	ck_assert_int_eq(timerthread_get_pthread(tt, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_get_pthread(tt, &t), -EINVAL);
	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	ck_assert_int_eq(sigismember(&after, SIGUSR2), 1);
	ck_assert_int_eq(sigismember(&after, SIGUSR1), 0);
	ck_assert_int_eq(timerthread_get_pthread(tt, &t), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, inspect, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_str_eq(thread.name, "my-timers");
	ck_assert_int_eq(thread.slack, 1);
	ck_assert(thread.mask_is_right);
	ck_assert(pthread_equal(thread.self, t));
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_get_pthread(tt, &t), -ESHUTDOWN);
	timerthread_destroy(tt);
}
END_TEST

START_TEST(thread_attributes)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 20);
	setup();
	ck_assert_int_eq(timerthread_start(tt, &attr), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, inspect, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_uint_ge(thread.stack, 1 << 20);
	ck_assert_str_eq(thread.name, "timerthread");
	timerthread_destroy(tt);

	/* One that fails leaves an instance that can be started. */
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	setup();
	ck_assert_int_eq(timerthread_start(tt, &attr), -EINVAL);
	ck_assert_int_eq(timerthread_set_thread_name(tt, "again"), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(timerthread_start(tt, &attr), -EINVAL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_start(tt, &attr), -EINVAL);
	timerthread_destroy(tt);
	pthread_attr_destroy(&attr);
}
END_TEST

/* The mask that the attributes ask for does not reach the thread. */
START_TEST(attributes_with_a_signal_mask)
{
	pthread_attr_t attr;
	sigset_t none;

	pthread_attr_init(&attr);
	sigemptyset(&none);
	if (!set_signal_mask(&attr, &none))
		return;
	setup();
	ck_assert_int_eq(timerthread_start(tt, &attr), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, inspect, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert(thread.mask_is_right);
	timerthread_destroy(tt);
	pthread_attr_destroy(&attr);
}
END_TEST

static cpu_set_t seen_cpus;
static int seen_policy;

static void inspect_scheduling(void *arg)
{
	struct sched_param param;

	sched_getaffinity(0, sizeof(seen_cpus), &seen_cpus);
	pthread_getschedparam(pthread_self(), &seen_policy, &param);
	sem_post(arg);
}

static void inspect_when_started(const pthread_attr_t *attr)
{
	ck_assert_int_eq(timerthread_start(tt, attr), 0);
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, inspect_scheduling, &ran, NULL), 0);
	wait_for(&ran);
	timerthread_destroy(tt);
}

START_TEST(attributes_with_an_affinity)
{
	cpu_set_t all, one;
	pthread_attr_t attr;
	int last = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &all))
			last = cpu;
	}
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	pthread_attr_init(&attr);
	if (!set_affinity(&attr, &one))
		return;
	setup();
	inspect_when_started(&attr);
	ck_assert(CPU_EQUAL(&seen_cpus, &one));

	/* A set that no CPU is in fails as pthread_create does. */
	CPU_ZERO(&one);
	ck_assert(set_affinity(&attr, &one));
	setup();
	ck_assert_int_eq(timerthread_start(tt, &attr), -EINVAL);
	inspect_when_started(NULL);
	ck_assert(CPU_EQUAL(&seen_cpus, &all));
	pthread_attr_destroy(&attr);
}
END_TEST

static void *return_arg(void *arg)
{
	return arg;
}

static void real_time(pthread_attr_t *attr)
{
	struct sched_param param = {.sched_priority = 1};

	pthread_attr_init(attr);
	pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(attr, SCHED_FIFO);
	pthread_attr_setschedparam(attr, &param);
}

/* As pthread_create says, whoever runs this. */
START_TEST(attributes_with_a_policy)
{
	pthread_attr_t attr;
	pthread_t t;
	int r;

	real_time(&attr);
	r = pthread_create(&t, &attr, return_arg, NULL);
	setup();
	if (r == 0) {
		pthread_join(t, NULL);
		inspect_when_started(&attr);
		ck_assert_int_eq(seen_policy, SCHED_FIFO);
	} else {
		ck_assert_int_eq(timerthread_start(tt, &attr), -r);
		inspect_when_started(NULL);
		ck_assert_int_eq(seen_policy, SCHED_OTHER);
	}
	pthread_attr_destroy(&attr);
}
END_TEST

static void start_without_privileges(void)
{
	const struct rlimit none = {0, 0};
	pthread_attr_t attr;

	if (setrlimit(RLIMIT_RTPRIO, &none) != 0 ||
	    (geteuid() == 0 && setuid(65534) != 0)) {
		puts("attributes_without_privileges: nothing was tested");
		return;
	}
	real_time(&attr);
	NEED(timerthread_start(tt, &attr) == -EPERM);
	NEED(timerthread_schedule(tt, 0, never, NULL, NULL) == -EINVAL);
	NEED(timerthread_set_thread_name(tt, "again") == 0);
	NEED(timerthread_start(tt, NULL) == 0);
	NEED(timerthread_schedule(tt, 0, post, &ran, NULL) == 0);
	wait_for(&ran);
	timerthread_destroy(tt);
}

START_TEST(attributes_without_privileges)
{
	setup();
	in_child(start_without_privileges);
	timerthread_destroy(tt);
}
END_TEST

static void *schedule_at_start(void *arg)
{
	int r;

	sem_post(&go);
	while ((r = timerthread_schedule(tt, 0, post, &ran, NULL)) == -EINVAL)
		;
	return r == 0 ? arg : NULL;
}

/* A call that meets start is early or in time, never too late. */
/* There is no memory for such a stack. */
START_TEST(a_thread_that_cannot_be_made)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	ck_assert_int_eq(pthread_attr_setstacksize(
				 &attr, SIZE_MAX / 8 & ~(size_t)0xffff),
			 0);
	setup();
	ck_assert_int_eq(timerthread_start(tt, &attr), -EAGAIN);
	pthread_attr_destroy(&attr);
	ck_assert(!tt->turning);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	end();
}
END_TEST

static pthread_key_t key;
static atomic_int ended;

/* The last that the timer thread does, and it takes its time. */
static void end_slowly(void *value)
{
	struct timespec ms50 = {.tv_nsec = 50000000};

	(void)value;
	nanosleep(&ms50, NULL);
	atomic_store(&ended, 1);
}

static void have_it_end_slowly(void *arg)
{
	pthread_setspecific(key, arg);
}

static void *stop_and_see(void *arg)
{
	return timerthread_stop(tt) == 0 && atomic_load(&ended) == 1 ? NULL
								     : arg;
}

/* Whoever stops comes after all that the thread does. */
START_TEST(stop_waits_for_the_end_of_the_thread)
{
	ck_assert_int_eq(pthread_key_create(&key, end_slowly), 0);
	for (int i = 0; i < 5; i++) {
		atomic_store(&ended, 0);
		setup();
		ck_assert_int_eq(timerthread_set_thread_hooks(
					 tt, have_it_end_slowly, NULL, tt),
				 0);
		ck_assert_int_eq(timerthread_start(tt, NULL), 0);
		run_threads(stop_and_see, 4);
		end();
	}
	pthread_key_delete(key);
}
END_TEST

START_TEST(schedule_while_starting)
{
	for (int i = 0; i < 200; i++) {
		pthread_t t;
		void *r;

		setup();
		ck_assert_int_eq(
			pthread_create(&t, NULL, schedule_at_start, &tt), 0);
		wait_for(&go);
		ck_assert_int_eq(driver_start(tt), 0);
		pthread_join(t, &r);
		ck_assert_ptr_eq(r, &tt);
		wait_for(&ran);
		driver_destroy(tt);
	}
}
END_TEST

static int stopped, schedule_in_stop;

static void stop_self(void *arg)
{
	stopped = timerthread_stop(tt);
	schedule_in_stop = timerthread_schedule(tt, 0, never, NULL, NULL);
	sem_post(arg);
	wait_for(&go);
}

static void *stopper(void *arg)
{
	return timerthread_stop(tt) == 0 ? arg : NULL;
}

/* A thread that is cancelled in stop finishes it first. */
START_TEST(stop_is_no_cancellation_point)
{
	pthread_t t;

	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, stop_self, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(pthread_create(&t, NULL, stopper, &tt), 0);
	pthread_cancel(t);
	sem_post(&go);
	pthread_join(t, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	driver_destroy(tt);
}
END_TEST

START_TEST(destroy_without_start)
{
	setup();
	driver_destroy(tt);
}
END_TEST

START_TEST(destroy_with_timers)
{
	start();
	for (int i = 0; i < 10000; i++)
		ck_assert_int_eq(timerthread_schedule_after(
					 tt, INT64_C(3600000000000) + i, never,
					 NULL, NULL),
				 0);
	driver_destroy(tt);
}
END_TEST

START_TEST(stop_from_a_callback)
{
	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, stop_self, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(stopped, 1);
	ck_assert_int_eq(schedule_in_stop, -ESHUTDOWN);
	sem_post(&go);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	driver_destroy(tt);
}
END_TEST

static void destroy_self(void *arg)
{
	/* The call that scheduled this must have returned. */
	wait_for(&go);
	driver_destroy(tt);
	sem_post(arg);
}

/* The thread is detached then, so what it frees last may come after us. */
START_TEST(destroy_from_a_callback)
{
	for (int i = 0; i < 20; i++) {
		start();
		ck_assert_int_eq(timerthread_schedule(tt, TIMERTHREAD_NEVER,
						      never, NULL, NULL),
				 0);
		ck_assert_int_eq(
			timerthread_schedule(tt, 0, destroy_self, &ran, NULL),
			0);
		sem_post(&go);
		wait_for(&ran);
	}
}
END_TEST

/* What is not due, or is due but behind the callback that runs, stays. */
START_TEST(stop_waits_for_the_callback_alone)
{
	timerthread_id behind;

	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_schedule(tt, 0, stop_self, &ran, NULL), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 1, never, NULL, &behind), 0);
	sem_post(&go);
	wait_for(&ran);
	sem_post(&go);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_cancel(tt, behind), 0);
	driver_destroy(tt);
}
END_TEST

START_TEST(stop_from_many_threads)
{
	enum { THREADS = 8 };
	pthread_t t[THREADS];
	void *r;

	start();
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, stopper, &tt), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &r);
		ck_assert_ptr_eq(r, &tt);
	}
	driver_destroy(tt);
}
END_TEST

static atom32 callback_is_over;

static void hold_and_tell(void *arg)
{
	hold(arg);
	atom32_store_release(&callback_is_over, 1);
}

/* Was the callback over when stop returned? */
static void *stop_and_look(void *arg)
{
	timerthread_stop(arg);
	return atom32_load_acquire(&callback_is_over) ? arg : NULL;
}

/* None of those in stop returns before the callback that runs is over. */
START_TEST(all_stops_wait)
{
	enum { THREADS = 3 };
	pthread_t t[THREADS];
	void *r;

	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold_and_tell, &ran, NULL),
			 0);
	wait_for(&ran);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, stop_and_look, tt),
				 0);
	wait_for_joiners(THREADS);
	sem_post(&go);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &r);
		ck_assert_ptr_eq(r, tt);
	}
	driver_destroy(tt);
}
END_TEST

/* Ends the callback, but not at once. */
static void *release(void *arg)
{
	for (int i = 0; i < 200; i++)
		sched_yield();
	sem_post(&go);
	return arg;
}

static void hold_and_destroy(void *arg)
{
	hold(arg);
	driver_destroy(tt);
}

static timerthread_id awaited;

static void *awaiter(void *arg)
{
	return timerthread_cancel_wait(arg, awaited) == 1 ? &awaited : NULL;
}

/* A periodic timer has a deadline while it runs, until it is cancelled. */
static void wait_for_cancel(void)
{
	int64_t deadline;

	while (timerthread_get_deadline(tt, awaited, &deadline) == 0)
		sched_yield();
}

/*
 * Of several threads in stop and one in destroy, none leaves before the
 * callback is over.
 */
START_TEST(destroy_waits_for_stops)
{
	enum { THREADS = 3, ROUNDS = 50 };

	for (int round = 0; round < ROUNDS; round++) {
		pthread_t t[THREADS], releaser;
		void *r;

		atom32_store(&callback_is_over, 0);
		start();
		ck_assert_int_eq(
			timerthread_schedule(tt, 0, hold_and_tell, &ran, NULL),
			0);
		wait_for(&ran);
		for (int i = 0; i < THREADS; i++)
			ck_assert_int_eq(
				pthread_create(&t[i], NULL, stop_and_look, tt),
				0);
		wait_for_joiners(THREADS);
		ck_assert_int_eq(pthread_create(&releaser, NULL, release, NULL),
				 0);
		driver_destroy(tt);
		ck_assert_uint_eq(atom32_load_acquire(&callback_is_over), 1);
		for (int i = 0; i < THREADS; i++) {
			pthread_join(t[i], &r);
			ck_assert_ptr_eq(r, tt);
		}
		pthread_join(releaser, NULL);
	}
}
END_TEST

/*
 * A thread in stop that is woken, and does not get the mutex for long; and one
 * in destroy that tells when it sleeps although all callbacks are over.
 */
static __thread bool is_held_up, tells_of_sleep;
static sem_t goes_on;

/* The linker puts this in the place of pthread_cond_wait; see test_await.c. */
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	int r;

	if (tells_of_sleep && instance_is_quiet(tt))
		sem_post(&ran);
	r = __real_pthread_cond_wait(cond, mutex);
	if (is_held_up) {
		pthread_mutex_unlock(mutex);
		wait_for(&goes_on);
		is_held_up = false;
		pthread_mutex_lock(mutex);
	}
	return r;
}

static void *stop_late(void *arg)
{
	is_held_up = true;
	return stopper(arg);
}

static atom32 destroy_is_over;

static void *destroy_and_tell(void *arg)
{
	tells_of_sleep = true;
	driver_destroy(tt);
	atom32_store_release(&destroy_is_over, 1);
	sem_post(&ran);
	return arg;
}

START_TEST(destroy_is_the_last)
{
	pthread_t stop, destroy;

	sem_init(&goes_on, 0, 0);
	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(pthread_create(&stop, NULL, stop_late, tt), 0);
	wait_for_joiners(1);
	ck_assert_int_eq(pthread_create(&destroy, NULL, destroy_and_tell, tt),
			 0);
	wait_for_joiners(2);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_uint_eq(atom32_load_acquire(&destroy_is_over), 0);
	sem_post(&goes_on);
	pthread_join(stop, NULL);
	pthread_join(destroy, NULL);
	ck_assert_uint_eq(atom32_load_acquire(&destroy_is_over), 1);
}
END_TEST

/* The last one to leave frees: a stop, or the timer thread. */
START_TEST(destroy_from_a_callback_while_others_stop)
{
	enum { THREADS = 3, ROUNDS = 50 };

	for (int round = 0; round < ROUNDS; round++) {
		pthread_t t[THREADS];
		int n = 1 + round % THREADS;
		void *r;

		start();
		ck_assert_int_eq(timerthread_schedule(tt, TIMERTHREAD_NEVER,
						      never, NULL, NULL),
				 0);
		ck_assert_int_eq(timerthread_schedule(tt, 0, hold_and_destroy,
						      &ran, NULL),
				 0);
		wait_for(&ran);
		for (int i = 0; i < n; i++)
			ck_assert_int_eq(
				pthread_create(&t[i], NULL, stopper, tt), 0);
		wait_for_joiners((unsigned)n);
		sem_post(&go);
		for (int i = 0; i < n; i++) {
			pthread_join(t[i], &r);
			ck_assert_ptr_eq(r, tt);
		}
	}
}
END_TEST

/* The same with one that waits for that callback's end. */
START_TEST(destroy_from_a_callback_that_is_awaited)
{
	for (int round = 0; round < 50; round++) {
		pthread_t t;
		void *r;

		start();
		ck_assert_int_eq(timerthread_schedule_every(tt, 0, 1,
							    hold_and_destroy,
							    &ran, &awaited),
				 0);
		wait_for(&ran);
		ck_assert_int_eq(pthread_create(&t, NULL, awaiter, tt), 0);
		wait_for_cancellers(1);
		sem_post(&go);
		pthread_join(t, &r);
		ck_assert_ptr_eq(r, &awaited);
	}
}
END_TEST

/*
 * A thread that is preempted where it tells tools of the callback's end, for as
 * long as it takes to show whether destroy waits for it.
 */
static _Thread_local bool preempt;
static sem_t destroyed, settled;
static bool destroyed_too_soon;

static void pause_here(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 300000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	preempt = false;
	if (sem_timedwait(&destroyed, &until) != 0)
		return;
	/* There is nothing left to go on with. */
	destroyed_too_soon = true;
	sem_post(&settled);
	for (;;)
		wait_for(&destroyed);
}

static void preempted(const volatile void *p)
{
	(void)p;
	if (preempt)
		pause_here();
}

static void not_told(const volatile void *p)
{
	(void)p;
}

static void hidden(const volatile void *p, size_t size)
{
	(void)p;
	(void)size;
}

static void nothing(void)
{
}

static void *preempted_awaiter(void *arg)
{
	void *r;

	preempt = true;
	r = awaiter(arg);
	preempt = false;
	sem_post(&settled);
	return r;
}

/*
 * A cancel_wait whose callback is over, and which was preempted before it has
 * left the instance: destroy waits for that too.
 */
START_TEST(destroy_waits_for_a_preempted_cancel_wait)
{
	const struct tool tool = {not_told, preempted, hidden, nothing,
				  nothing};
	const struct tool *before = tool_found;
	pthread_t t;
	void *r;

	sem_init(&destroyed, 0, 0);
	sem_init(&settled, 0, 0);
	tool_found = &tool;
	start();
	ck_assert_int_eq(
		timerthread_schedule_every(tt, 0, 1, hold, &ran, &awaited), 0);
	wait_for(&ran);
	ck_assert_int_eq(pthread_create(&t, NULL, preempted_awaiter, tt), 0);
	wait_for_cancel();
	sem_post(&go);
	driver_destroy(tt);
	sem_post(&destroyed);
	wait_for(&settled);
	ck_assert(!destroyed_too_soon);
	pthread_join(t, &r);
	ck_assert_ptr_eq(r, &awaited);
	tool_found = before;
}
END_TEST

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	*(int *)ctx += 1;
}

/* However long it runs: every other call comes back meanwhile. */
START_TEST(a_callback_blocks_no_other_call)
{
	enum { THREADS = 2 };
	pthread_t t[THREADS], self;
	struct timerthread *other = NULL;
	timerthread_id id, running;
	int64_t deadline;
	int drained = 0;
	void *r;

	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, &running), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_set_slack(tt, 1), -EBUSY);
	ck_assert_int_eq(driver_start(tt), -EBUSY);
	ck_assert_int_eq(timerthread_get_pthread(tt, &self),
			 tt->driver == DRIVER_THREAD ? 0 : -EINVAL);
	for (int i = 0; i < 20000; i++)
		ck_assert_int_eq(timerthread_schedule(tt, i, never, NULL, &id),
				 0);
	ck_assert_int_eq(timerthread_reschedule(tt, id, TIMERTHREAD_NEVER), 0);
	ck_assert_int_eq(timerthread_get_deadline(tt, id, &deadline), 0);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, &id), 0);
	ck_assert_int_eq(timerthread_cancel_wait(tt, id), 0);
	ck_assert_int_eq(timerthread_cancel(tt, running), 1);
	ck_assert_int_eq(timerthread_drain(tt, visit, &drained), 19999);
	ck_assert_int_eq(timerthread_create(&other), 0);
	ck_assert_int_eq(driver_start(other), 0);
	ck_assert_int_eq(timerthread_schedule(other, 0, post, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop(other), 0);
	driver_destroy(other);

	/* Also while others are in stop. */
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, &id), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, stopper, tt), 0);
	wait_for_joiners(THREADS);
	ck_assert_int_eq(timerthread_set_slack(tt, 1), -EBUSY);
	ck_assert_int_eq(driver_start(tt), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_get_pthread(tt, &self), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
			 -ESHUTDOWN);
	ck_assert_int_eq(timerthread_reschedule(tt, id, 0), -ESHUTDOWN);
	ck_assert_int_eq(timerthread_get_deadline(tt, id, &deadline), 0);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert_int_eq(timerthread_cancel(tt, running), 1);
	ck_assert_int_eq(timerthread_drain(tt, visit, &drained), 0);
	ck_assert_int_gt(timerthread_now(tt), 0);

	sem_post(&go);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &r);
		ck_assert_ptr_eq(r, tt);
	}
	ck_assert_int_eq(timerthread_drain(tt, visit, &drained), 0);
	ck_assert_int_eq(drained, 19999);
	driver_destroy(tt);
}
END_TEST

static int shut_out;

static void *produce(void *arg)
{
	int r;

	do {
		timerthread_id id;

		r = timerthread_schedule_after(arg, 1000000000, never, NULL,
					       &id);
		if (r == 0)
			timerthread_cancel(arg, id);
	} while (r == 0);
	return r == -ESHUTDOWN ? &shut_out : NULL;
}

START_TEST(stop_under_load)
{
	enum { THREADS = 4, ROUNDS = 30 };

	for (int round = 0; round < ROUNDS; round++) {
		pthread_t t[THREADS];
		void *r;

		start();
		for (int i = 0; i < THREADS; i++)
			ck_assert_int_eq(
				pthread_create(&t[i], NULL, produce, tt), 0);
		ck_assert_int_eq(timerthread_schedule_after(tt, round * 100000,
							    post, &ran, NULL),
				 0);
		wait_for(&ran);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		for (int i = 0; i < THREADS; i++) {
			pthread_join(t[i], &r);
			ck_assert_ptr_eq(r, &shut_out);
		}
		driver_destroy(tt);
	}
}
END_TEST

/* A created instance may be started by the child of a fork. */
START_TEST(start_after_fork)
{
	int status;
	pid_t child;

	setup();
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (driver_start(tt) != 0 ||
		    timerthread_schedule(tt, 0, post, &ran, NULL) != 0)
			_exit(1);
		wait_for(&ran);
		driver_destroy(tt);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	driver_destroy(tt);
}
END_TEST

int main(void)
{
	const TTest *const any[] = {
		null_instance,
		options,
		any_number_of_buckets,
		starts_once,
		schedule_while_starting,
		stop_is_no_cancellation_point,
		destroy_without_start,
		destroy_with_timers,
		stop_from_a_callback,
		destroy_from_a_callback,
		stop_waits_for_the_callback_alone,
		stop_from_many_threads,
		all_stops_wait,
		destroy_waits_for_stops,
		destroy_is_the_last,
		destroy_from_a_callback_while_others_stop,
		destroy_from_a_callback_that_is_awaited,
		destroy_waits_for_a_preempted_cancel_wait,
		a_callback_blocks_no_other_call,
		stop_under_load,
		start_after_fork,
	};
	const TTest *const of_the_thread[] = {
		no_futex,
		the_thread,
		thread_attributes,
		attributes_with_a_signal_mask,
		attributes_with_an_affinity,
		attributes_with_a_policy,
		attributes_without_privileges,
		a_thread_that_cannot_be_made,
		stop_waits_for_the_end_of_the_thread,
	};
	TCase *tcase = tcase_create("life");

	ADD_TESTS(tcase, any);
	if (driver_tested() == ON_THREAD)
		ADD_TESTS(tcase, of_the_thread);
	return run_case("life", tcase);
}
