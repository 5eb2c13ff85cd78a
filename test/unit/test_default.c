/* SPDX-License-Identifier: MIT */
/*
 * The default instance.  There is one a process, so most tests look at that of
 * a child of theirs, or of this program run again.
 */
#include "config.h"

#include "child.h"
#include "fail_alloc.h"
#include "fixture.h"
#include "works.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

START_TEST(null_argument)
{
	ck_assert_int_eq(timerthread_default(NULL), -EINVAL);
}
END_TEST

START_TEST(is_the_same_for_all)
{
	struct timerthread *one = NULL, *two = NULL;
	pthread_t thread;

	ck_assert_int_eq(timerthread_default(&one), 0);
	ck_assert_int_eq(timerthread_default(&two), 0);
	ck_assert_ptr_nonnull(one);
	ck_assert_ptr_eq(one, two);
	ck_assert(works(one));
	ck_assert_int_eq(timerthread_get_pthread(one, &thread), 0);
	/* Default options: the default clock is the monotonic one. */
	ck_assert_int_le(timerthread_now(one), timerthread_now(two));
	/* It is not one that create returns. */
	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_ptr_ne(tt, one);
	timerthread_destroy(tt);
	ck_assert(works(one));
}
END_TEST

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
	abort();
}

static void no_hook(timerthread_id id, timerthread_fn *fn, void *arg,
		    int64_t run_time, void *ctx)
{
	(void)run_time;
	visit(id, fn, arg, ctx);
}

START_TEST(cannot_be_ended_or_set)
{
	timerthread_id id;

	ck_assert_int_eq(timerthread_default(&tt), 0);
	ck_assert_int_eq(
		timerthread_schedule(tt, TIMERTHREAD_NEVER, never, NULL, &id),
		0);
	ck_assert_int_eq(timerthread_stop(tt), -EPERM);
	ck_assert(works(tt));
	timerthread_destroy(tt);
	ck_assert(works(tt));
	ck_assert_int_eq(timerthread_stop(tt), -EPERM);
	ck_assert_int_eq(timerthread_start(tt, NULL), -EBUSY);
	ck_assert_int_eq(timerthread_set_name(tt, "other"), -EBUSY);
	ck_assert_int_eq(timerthread_set_buckets(tt, 1), -EBUSY);
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), -EBUSY);
	ck_assert_int_eq(timerthread_set_slack(tt, 1), -EBUSY);
	ck_assert_int_eq(timerthread_set_spin(tt, 1), -EBUSY);
	ck_assert_int_eq(timerthread_set_reserve(tt, 1), -EBUSY);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 1), -EBUSY);
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, never, never, NULL),
			 -EBUSY);
	ck_assert_int_eq(timerthread_set_slow_hook(tt, 0, no_hook, NULL),
			 -EBUSY);
	ck_assert_int_eq(timerthread_cancel_all(tt, visit, NULL), -EPERM);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert(works(tt));
}
END_TEST

static int stop_inside;

static void stop_and_destroy(void *arg)
{
	stop_inside = timerthread_stop(tt);
	timerthread_destroy(tt);
	sem_post(arg);
}

START_TEST(cannot_be_ended_from_a_callback)
{
	sem_init(&ran, 0, 0);
	ck_assert_int_eq(timerthread_default(&tt), 0);
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, stop_and_destroy, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(stop_inside, -EPERM);
	ck_assert(works(tt));
}
END_TEST

/*
 * All come first.
 */
enum { RACERS = 16, RACES = 40, RACES_MIN = 3, SECONDS = 2 };
static pthread_barrier_t line;
static struct timerthread *got[RACERS];

static void *racer(void *arg)
{
	struct timerthread **ret = arg;

	pthread_barrier_wait(&line);
	if (timerthread_default(ret) != 0 || !works(*ret))
		*ret = NULL;
	return NULL;
}

static bool is_timer_thread(const char *task)
{
	char path[300], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task);
	f = fopen(path, "r");
	if (!f)
		return false; /* it is over */
	if (!fgets(name, sizeof(name), f))
		name[0] = 0;
	fclose(f);
	return strcmp(name, "timerthread\n") == 0;
}

static int timer_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	int n = 0;

	NEED(d != NULL);
	while ((e = readdir(d)) != NULL)
		n += is_timer_thread(e->d_name);
	closedir(d);
	return n;
}

/* Those that come too late leave no thread behind. */
static void race(void)
{
	pthread_t t[RACERS];

	pthread_barrier_init(&line, NULL, RACERS);
	for (int i = 0; i < RACERS; i++)
		NEED(pthread_create(&t[i], NULL, racer, &got[i]) == 0);
	for (int i = 0; i < RACERS; i++)
		pthread_join(t[i], NULL);
	NEED(got[0] != NULL);
	for (int i = 1; i < RACERS; i++)
		NEED(got[i] == got[0]);
	NEED(works(got[0]));
	NEED(timerthread_stop(got[0]) == -EPERM);
	/* A thread that was joined may still be on its way out. */
	while (timer_threads() > 1)
		sched_yield();
	NEED(timer_threads() == 1);
}

/* Where a race is slow, fewer have to do. */
static void races(void)
{
	time_t end = time(NULL) + SECONDS;

	for (int i = 0; i < RACES && (i < RACES_MIN || time(NULL) < end); i++)
		in_child(race);
}

START_TEST(many_come_first)
{
	races();
}
END_TEST

/* The same, where all of them find an instance that they inherited. */
START_TEST(many_come_first_in_a_child)
{
	ck_assert_int_eq(timerthread_default(&tt), 0);
	races();
	ck_assert(works(tt));
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

static uint32_t fail_number;

enum { NOTHING_FAILED = 9 };

/* One allocation fails, or the thread does: then the next call tries again. */
static void fail_then_work(void)
{
	struct timerthread *const unset = (void *)&fail_number;
	struct timerthread *one = unset;
	int r;

	fail_arm(fail_number, 1);
	errno = E2BIG;
	r = timerthread_default(&one);
	NEED(errno == E2BIG);
	if (fail_disarm() <= fail_number) {
		NEED(r == 0 && works(one));
		_exit(NOTHING_FAILED);
	}
	NEED(r == -ENOMEM || r == -EAGAIN);
	NEED(one == unset);
	NEED(timerthread_default(&one) == 0);
	NEED(works(one));
	NEED(timerthread_stop(one) == -EPERM);
}

/*
 * The same; but another thread has made one by then, and that is given.  What
 * that one does is done here, where the failing call would be.
 */
static struct timerthread *faster;

static void be_faster(void)
{
	fail_disarm();
	NEED(timerthread_default(&faster) == 0);
}

static void fail_and_find_one(void)
{
	struct timerthread *one = NULL;

	faster = NULL;
	fail_step = be_faster;
	fail_arm(fail_number, 1);
	NEED(timerthread_default(&one) == 0);
	fail_disarm();
	NEED(works(one));
	if (!faster)
		_exit(NOTHING_FAILED);
	NEED(one == faster);
}

static void each_fails(void (*body)(void))
{
	int end = EXIT_SUCCESS;

	for (fail_number = 0; end == EXIT_SUCCESS; fail_number++)
		end = end_of(fork_child(body));
	ck_assert_int_eq(end, NOTHING_FAILED);
	/* The instance, its buckets and its thread, at the least. */
	ck_assert_uint_gt(fail_number, 3);
}

START_TEST(finds_another_after_a_failure)
{
	each_fails(fail_and_find_one);
}
END_TEST

START_TEST(tries_again_after_a_failure)
{
	each_fails(fail_then_work);
}
END_TEST

#endif

/*
 * Before main, and after it.  This program is run again for that, with a role
 * in its environment.
 */
#define ROLE "TT_TEST_DEFAULT_ROLE"

enum { FROM_CONSTRUCTOR = 41, FROM_ATEXIT = 42, FROM_DESTRUCTOR = 43 };

static bool has_role(const char *name)
{
	const char *role = getenv(ROLE);

	return role && strcmp(role, name) == 0;
}

/* Ends the process, so that it shows that this was reached. */
static void use_and_exit(int status)
{
	struct timerthread *one;

	limit_child();
	NEED(timerthread_default(&one) == 0);
	NEED(works(one));
	_exit(status);
}

__attribute__((constructor)) static void before_main(void)
{
	if (has_role("constructor"))
		use_and_exit(FROM_CONSTRUCTOR);
	/* main goes on to use it. */
	if (has_role("constructor and main")) {
		NEED(timerthread_default(&tt) == 0);
		NEED(works(tt));
	}
}

__attribute__((destructor)) static void after_main(void)
{
	if (has_role("destructor") || has_role("destructor, used before"))
		use_and_exit(FROM_DESTRUCTOR);
}

static void at_exit(void)
{
	use_and_exit(FROM_ATEXIT);
}

static void fire_on(void *arg)
{
	struct timerthread *one = arg;

	timerthread_schedule_after(one, 1000, fire_on, one, NULL);
}

static int play(void)
{
	struct timerthread *one;

	limit_child();
	if (has_role("atexit") || has_role("atexit, used before"))
		NEED(atexit(at_exit) == 0);
	if (has_role("constructor and main")) {
		NEED(timerthread_default(&one) == 0);
		NEED(one == tt && works(one));
	} else if (!has_role("atexit") && !has_role("destructor")) {
		NEED(timerthread_default(&one) == 0);
		NEED(works(one));
		if (has_role("busy"))
			fire_on(one);
	}
	return EXIT_SUCCESS;
}

static const char *next_role;

static void run_again(void)
{
	char path[4096];
	char *argv[] = {path, NULL};
	ssize_t n;

	/* Not the link itself, which under valgrind is valgrind's. */
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	NEED(n > 0);
	path[n] = 0;
	setenv(ROLE, next_role, 1);
	execv(path, argv);
	NEED(!"execv");
}

static int end_of_role(const char *role)
{
	next_role = role;
	return end_of(fork_child(run_again));
}

START_TEST(from_a_constructor)
{
	ck_assert_int_eq(end_of_role("constructor"), FROM_CONSTRUCTOR);
	ck_assert_int_eq(end_of_role("constructor and main"), EXIT_SUCCESS);
}
END_TEST

START_TEST(from_an_exit_handler)
{
	ck_assert_int_eq(end_of_role("atexit"), FROM_ATEXIT);
	ck_assert_int_eq(end_of_role("atexit, used before"), FROM_ATEXIT);
}
END_TEST

START_TEST(from_a_destructor)
{
	ck_assert_int_eq(end_of_role("destructor"), FROM_DESTRUCTOR);
	ck_assert_int_eq(end_of_role("destructor, used before"),
			 FROM_DESTRUCTOR);
}
END_TEST

/* Its thread goes on while the process exits. */
START_TEST(exit_while_it_is_busy)
{
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(end_of_role("busy"), EXIT_SUCCESS);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		null_argument,
		is_the_same_for_all,
		cannot_be_ended_or_set,
		cannot_be_ended_from_a_callback,
		many_come_first,
		many_come_first_in_a_child,
#ifndef FAIL_ALLOC_UNAVAILABLE
		tries_again_after_a_failure,
		finds_another_after_a_failure,
#endif
		from_a_constructor,
		from_an_exit_handler,
		from_a_destructor,
		exit_while_it_is_busy,
	};

	if (getenv(ROLE))
		return play();
	return RUN_TESTS("default", tests);
}
