/* SPDX-License-Identifier: MIT */
/*
 * A child is told from its parent at once, however it was made; and without the
 * kernel's help once the handler of fork(3) has run.  fork.c is compiled again
 * here, so that this can be refused.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

static bool no_handler; /* there is no memory for one */

static int try_atfork(void (*before)(void), void (*in_parent)(void),
		      void (*after)(void))
{
	return no_handler ? ENOMEM : pthread_atfork(before, in_parent, after);
}

#define pthread_atfork try_atfork
#define in_child       handle_in_child
#include "os/fork.c"
#undef in_child
#undef pthread_atfork

#include "inherited.h"

#include <string.h>
#include <sys/mman.h>

/*
 * What a program may do before the library's own constructors run: register a
 * handler, which then comes before the library's; and use an instance.
 */
static void (*first_in_child)(void);

static void run_first_in_child(void)
{
	if (first_in_child)
		first_in_child();
}

static struct timerthread *earliest;
static int r_refused = -1, r_earliest = -1, r_later = -1;

__attribute__((constructor(101))) static void begin(void)
{
	pthread_atfork(NULL, NULL, run_first_in_child);
	no_handler = true;
	r_refused = timerthread_create(&earliest);
	no_handler = false;
	r_earliest = timerthread_create(&earliest);
	if (r_earliest == 0)
		r_earliest = timerthread_start_virtual(earliest, 0);
}

/*
 * The ways to make a child.
 */
static pid_t by_fork(void)
{
	return fork();
}

#ifdef HAVE__FORK
static pid_t by__Fork(void)
{
	return _Fork();
}
#endif

/* Without the C library; nothing is shared. */
static pid_t by_clone(void)
{
	return bare_fork();
}

static pid_t (*const ways[])(void) = {
	by_fork,
#ifdef HAVE__FORK
	by__Fork,
#endif
	by_clone,
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static pid_t (*way)(void);

static bool wiped; /* the kernel does that for the library */

/*
 * Without it, fork(3) alone is noticed.  Nor does ThreadSanitizer notice the
 * others, whose threads it mistakes.
 */
static int n_ways(void)
{
	return __tsan_init || !wiped ? 1 : WAYS;
}

/* In the child: the body, and then it ends. */
static pid_t make_child(void (*body)(void))
{
	pid_t pid;

	prepare_fork();
	pid = way();
	if (pid == 0) {
		limit_child();
		body();
		_exit(EXIT_SUCCESS);
	}
	return pid;
}

static void in_child_of(void (*body)(void))
{
	pid_t pid = make_child(body);

	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(end_of(pid), EXIT_SUCCESS);
}

static bool ends_well(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Old kernels do not, and emulators may only say that they do. */
static bool kernel_wipes(void)
{
#if defined(TT_OS_LINUX) && defined(MADV_WIPEONFORK)
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (page == MAP_FAILED || madvise(page, size, MADV_WIPEONFORK) != 0)
		return false;
	*page = 1;
	pid = fork();
	if (pid == 0)
		_exit(*page);
	return ends_well(pid);
#else
	return false;
#endif
}

/*
 * Emulators may end a child that makes a thread if its parent had one.
 */
static void *wait_for_its_end(void *arg)
{
	pause();
	return arg;
}

static void *end_at_once(void *arg)
{
	return arg;
}

static bool children_have_threads(void)
{
	pthread_t t;
	pid_t parent = fork(), child;

	if (parent != 0)
		return ends_well(parent);
	NEED(pthread_create(&t, NULL, wait_for_its_end, NULL) == 0);
	prepare_fork();
	child = fork();
	if (child != 0)
		_exit(!ends_well(child));
	NEED(pthread_create(&t, NULL, end_at_once, NULL) == 0);
	NEED(pthread_join(t, NULL) == 0);
	_exit(EXIT_SUCCESS);
}

static struct timerthread *one, *childs;

static void need_two_refused(void)
{
	need_all_refused(tt);
	need_all_refused(one);
}

static void use_own(void)
{
	use_one_of_its_own(CLOCK_MONOTONIC);
	use_default();
}

/* Its mother's and its grandmother's are not its own. */
static void grandchild(void)
{
	need_all_refused(childs);
	need_two_refused();
	timerthread_destroy(tt);
	timerthread_destroy(childs);
	need_all_refused(one);
	use_own();
}

static void child(void)
{
	pid_t pid;
	int status;

	need_two_refused();
	NEED(timerthread_create(&childs) == 0);
	NEED(timerthread_start(childs, NULL) == 0);
	/* Now that the child has a generation, too. */
	need_two_refused();
	pid = make_child(grandchild);
	NEED(pid > 0);
	NEED(waitpid(pid, &status, 0) == pid);
	NEED(status == 0);
	NEED(timerthread_schedule(childs, 0, post, &ran, NULL) == 0);
	wait_for(&ran);
	timerthread_destroy(childs);
	timerthread_destroy(tt);
	use_own();
}

static void start_two(void)
{
	start();
	schedule_some(100);
	ck_assert_int_eq(timerthread_default(&one), 0);
}

START_TEST(each_way)
{
	start_two();
	for (int i = 0; i < n_ways(); i++) {
		way = ways[i];
		in_child_of(child);
	}
	ck_assert_int_eq(timerthread_cancel(tt, some_id), 0);
	timerthread_destroy(tt);
}
END_TEST

/* It has made no call that could have told it. */
static void destroy_and_default(void)
{
	struct timerthread *own;

	timerthread_destroy(tt);
	NEED(timerthread_default(&own) == 0);
	NEED(own != one);
	use_own();
}

START_TEST(destroyed_first)
{
	start_two();
	for (int i = 0; i < n_ways(); i++) {
		way = ways[i];
		in_child_of(destroy_and_default);
	}
	timerthread_destroy(tt);
}
END_TEST

/*
 * The thread compares with the generation, so that is there before the thread.
 * As in test_await.c, the linker puts this in the place of pthread_create.
 */
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr,
			  void *(*fn)(void *), void *arg);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr,
			  void *(*fn)(void *), void *arg);

static uint32_t generation_of_thread;

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr,
			  void *(*fn)(void *), void *arg)
{
	generation_of_thread = fork_generation();
	return __real_pthread_create(t, attr, fn, arg);
}

static void start_in_child(void)
{
	NEED(timerthread_schedule(tt, 0, never, NULL, NULL) == -EINVAL);
	NEED(timerthread_start(tt, NULL) == 0);
	NEED(generation_of_thread != 0);
	NEED(timerthread_schedule(tt, 0, post, &ran, NULL) == 0);
	wait_for(&ran);
	timerthread_destroy(tt);
}

START_TEST(started_in_the_child)
{
	setup();
	for (int i = 0; i < n_ways(); i++) {
		way = ways[i];
		in_child_of(start_in_child);
	}
	timerthread_destroy(tt);
}
END_TEST

/*
 * From a callback, on the timer thread: the child returns from it, and ends.
 */
static pid_t forked;
static atom32 *runs; /* of all processes */

static void count_run(void *arg)
{
	(void)arg;
	atom32_add(runs, 1);
}

static void fork_and_return(void *arg)
{
	pid_t pid;

	prepare_fork();
	pid = way();
	if (pid == 0) {
		limit_child();
		ends_by_exit = 1;
		return;
	}
	forked = pid;
	sem_post(arg);
}

START_TEST(from_a_callback)
{
	runs = (void *)mmap(NULL, sizeof(*runs), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(runs != MAP_FAILED);
	start();
	for (int i = 0; i < n_ways(); i++) {
		way = ways[i];
		/* All are due in the same turn, the fork first. */
		ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, NULL),
				 0);
		wait_for(&ran);
		ck_assert_int_eq(timerthread_schedule(tt, 1, fork_and_return,
						      &ran, NULL),
				 0);
		ck_assert_int_eq(
			timerthread_schedule(tt, 2, count_run, NULL, NULL), 0);
		ck_assert_int_eq(timerthread_schedule(tt, 3, post, &ran, NULL),
				 0);
		sem_post(&go);
		wait_for(&ran);
		wait_for(&ran);
		ck_assert_int_eq(end_of(forked), 0);
		ck_assert_uint_eq(atom32_load(runs), (uint32_t)i + 1);
	}
	timerthread_destroy(tt);
}
END_TEST

/*
 * In a handler that comes before the library's.
 */
static void use_in_handler(void)
{
	limit_child();
	need_all_refused(tt);
	timerthread_destroy(tt);
	NEED(timerthread_create(&childs) == 0);
	NEED(timerthread_start(childs, NULL) == 0);
}

/* The library's handler leaves alone what was started before it. */
static void use_after_handlers(void)
{
	NEED(timerthread_schedule(childs, 0, post, &ran, NULL) == 0);
	wait_for(&ran);
	NEED(timerthread_stop(childs) == 0);
	timerthread_destroy(childs);
}

START_TEST(in_an_early_handler)
{
	start();
	first_in_child = use_in_handler;
	in_child(use_after_handlers);
	first_in_child = NULL;
	timerthread_destroy(tt);
}
END_TEST

static void earliest_refused(void)
{
	need_all_refused(earliest);
	timerthread_destroy(earliest);
}

/* Check runs tests in children: what the program itself does is in main. */
static void use_earliest(void)
{
	r_later = timerthread_schedule(earliest, 10, post, &ran, &some_id);
	if (r_later == 0)
		r_later = timerthread_advance(earliest, 10);
}

START_TEST(before_the_constructors)
{
	ck_assert_int_eq(r_refused, -ENOMEM);
	ck_assert_int_eq(r_earliest, 0);
	ck_assert_int_eq(r_later, 1);
	in_child(earliest_refused);
}
END_TEST

/* The handler alone: for children of fork(3). */
START_TEST(without_the_kernel)
{
	set_wiped(false);
	start_two();
	way = by_fork;
	in_child_of(child);
	in_child_of(destroy_and_default);
	set_wiped(true);
	ck_assert_int_eq(timerthread_cancel(tt, some_id), 0);
	timerthread_destroy(tt);
}
END_TEST

/* The lock may be held by a thread that the child does not have. */
static void lock_is_free(void)
{
	NEED(!lock_is_held(&fork_page.lock));
	use_own();
}

START_TEST(lock_of_the_parent)
{
	start();
	way = by_fork;
	for (int i = 0; i < 2; i++) {
		lock_acquire(&fork_page.lock);
		in_child_of(lock_is_free);
		lock_release(&fork_page.lock);
		set_wiped(i > 0);
	}
	timerthread_destroy(tt);
}
END_TEST

/*
 * Two threads need the first generation at the same time, again and again.
 */
enum { ROUNDS = 100000 };

static atom32 arrived;

/* They spin, so that they go on together; unless there is no other CPU. */
static void meet(void)
{
	uint32_t round = atom32_load(&arrived) / 2;

	atom32_add(&arrived, 1);
	for (int i = 0; atom32_load(&arrived) / 2 == round; i++) {
		if (i > 10000)
			sched_yield();
	}
}

static void *need_generations(void *arg)
{
	uint32_t *seen = arg;

	for (int i = 0; i < ROUNDS; i++) {
		atom32_store(&fork_page.generation, 0);
		meet();
		seen[i] = fork_need_generation();
		meet();
	}
	return NULL;
}

START_TEST(both_threads_have_the_same)
{
	static uint32_t seen[2][ROUNDS];
	uint32_t last = fork_need_generation();
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(
			pthread_create(&t[i], NULL, need_generations, seen[i]),
			0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < ROUNDS; i++) {
		ck_assert_uint_eq(seen[0][i], seen[1][i]);
		ck_assert_uint_gt(seen[0][i], last);
		last = seen[0][i];
	}
}
END_TEST

int main(void)
{
	const TTest *const all[] = {
		before_the_constructors,
		both_threads_have_the_same,
		started_in_the_child,
		from_a_callback,
	};
	const TTest *const with_threads[] = {
		without_the_kernel,
		lock_of_the_parent,
		each_way,
		destroyed_first,
	};
	const TTest *const before_the_handler[] = {
		in_an_early_handler,
	};
	const bool threads = children_have_threads();
	TCase *tcase = tcase_create("child");

	sem_init(&ran, 0, 0);
	use_earliest();
	wiped = kernel_wipes();
	ADD_TESTS(tcase, all);
	if (threads)
		ADD_TESTS(tcase, with_threads);
	else
		puts("a child that makes a thread does not live here");
	if (threads && wiped)
		ADD_TESTS(tcase, before_the_handler);
	else if (!wiped)
		puts("the kernel does not wipe pages in a child");
	return run_case("child", tcase);
}
