/* SPDX-License-Identifier: MIT */
/*
 * Tasks that are not threads: a callback on an executor goes on in another
 * thread.
 */
#include "config.h"

#include "failing.h"

#include "child.h"
#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOUR INT64_C(3600000000000)

/* What the thread is in; 0: no task. */
static _Thread_local uintptr_t task;

static uintptr_t task_id(void *ctx)
{
	ck_assert_ptr_eq(ctx, &task_id);
	return task;
}

/* What an executor has been given. */
static struct {
	timerthread_fn *run;
	void *arg;
} given[2];
static int n_given;

static int keep(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	given[n_given].run = run;
	given[n_given++].arg = arg;
	return 0;
}

/* On a virtual clock; with two timers that were submitted. */
static timerthread_id id[2];

static void setup_kept(bool with_task_id)
{
	void *ctx = (void *)(uintptr_t)&task_id;

	setup();
	n_given = 0;
	ck_assert_int_eq(timerthread_set_executor(tt, keep, NULL), 0);
	if (with_task_id)
		ck_assert_int_eq(timerthread_set_task_id(tt, task_id, ctx), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
}

static void submit(timerthread_fn *first, timerthread_fn *second)
{
	timerthread_schedule(tt, 0, first, &id[0], &id[0]);
	timerthread_schedule(tt, 0, second, &id[1], &id[1]);
	ck_assert_int_eq(timerthread_advance(tt, 0), 2);
	ck_assert_int_eq(n_given, 2);
}

START_TEST(option)
{
	ck_assert_int_eq(timerthread_set_task_id(NULL, NULL, NULL), -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_set_task_id(tt, NULL, NULL), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(timerthread_set_task_id(tt, NULL, NULL), -EBUSY);
	end();
}
END_TEST

/* What the calls say that are special in a callback. */
struct answers {
	int waited;
	int moved;
	int current;
	int advanced;
	int stopped;
};

static struct answers ask(void)
{
	timerthread_id now;

	return (struct answers){
		.waited = timerthread_cancel_wait(tt, id[0]),
		.moved = timerthread_reschedule(tt, id[0], HOUR),
		.current = timerthread_get_current(NULL, &now),
		.advanced = timerthread_advance(tt, 0),
		.stopped = timerthread_stop(tt),
	};
}

static struct answers elsewhere;

/* Another thread, in the task that arg says. */
static void *ask_as(void *arg)
{
	task = (uintptr_t)arg;
	elsewhere = ask();
	return NULL;
}

static void ask_on_another_thread(void *arg)
{
	pthread_t t;

	(void)arg;
	pthread_create(&t, NULL, ask_as, (void *)task);
	pthread_join(t, NULL);
}

/* The same task in another thread is inside. */
START_TEST(a_task_is_inside_wherever_it_is)
{
	setup_kept(true);
	submit(ask_on_another_thread, never);
	task = 5;
	given[0].run(given[0].arg);
	task = 0;
	ck_assert_int_eq(elsewhere.waited, -EDEADLK);
	ck_assert_int_eq(elsewhere.moved, 0);
	ck_assert_int_eq(elsewhere.current, -ENOENT);
	ck_assert_int_eq(elsewhere.advanced, -EBUSY);
	ck_assert_int_eq(elsewhere.stopped, 1);
	given[1].run(given[1].arg);
	timerthread_destroy(tt);
}
END_TEST

/* Another task on the same thread is not. */
static struct {
	struct answers here;
	int current;
	timerthread_id id;
} as_another;

static void become_another(void *arg)
{
	uintptr_t mine = task;
	timerthread_id now;

	(void)arg;
	task = 6;
	as_another.current = timerthread_get_current(NULL, &now);
	as_another.here.advanced = timerthread_advance(tt, 0);
	as_another.here.moved = timerthread_reschedule(tt, id[0], HOUR);
	task = mine;
	as_another.here.current = timerthread_get_current(NULL, &as_another.id);
}

START_TEST(another_task_on_the_thread_is_not)
{
	setup_kept(true);
	submit(become_another, never);
	task = 5;
	given[0].run(given[0].arg);
	task = 0;
	ck_assert_int_eq(as_another.current, -ENOENT);
	ck_assert_int_eq(as_another.here.advanced, 0);
	ck_assert_int_eq(as_another.here.moved, -ENOENT);
	ck_assert_int_eq(as_another.here.current, 0);
	ck_assert_uint_eq(as_another.id, id[0]);
	timerthread_stop(tt);
	given[1].run(given[1].arg);
	timerthread_destroy(tt);
}
END_TEST

static void ask_here(void *arg)
{
	(void)arg;
	elsewhere = ask();
}

/* It runs, and is inside; but nobody can say which timer it is of. */
START_TEST(without_memory_for_a_task)
{
	setup_kept(true);
	submit(ask_here, never);
	task = 5;
	/* The first memory that the run takes is for the task. */
	failing_arm(0, 1);
	given[0].run(given[0].arg);
	ck_assert_uint_ge(failing_disarm(), 1);
	task = 0;
	ck_assert_int_eq(elsewhere.current, -ENOENT);
	ck_assert_int_eq(elsewhere.waited, -EDEADLK);
	ck_assert_int_eq(elsewhere.moved, 0);
	ck_assert_int_eq(elsewhere.advanced, -EBUSY);
	ck_assert_int_eq(elsewhere.stopped, 1);
	given[1].run(given[1].arg);
	timerthread_destroy(tt);
}
END_TEST

/*
 * Callbacks on stacks of their own, which threads switch to and from.
 */
#ifdef HAS_UCONTEXT

enum { STACK = 256 * 1024 };

static struct fiber {
	ucontext_t self, outside;
	timerthread_fn *run;
	void *arg;
	bool over;
	char stack[STACK];
} fiber[2];

static struct fiber *starting;

static void fiber_main(void)
{
	struct fiber *f = starting;

	f->run(f->arg);
	f->over = true;
	swapcontext(&f->self, &f->outside);
}

static void fiber_make(int i)
{
	struct fiber *f = &fiber[i];

	f->run = given[i].run;
	f->arg = given[i].arg;
	f->over = false;
	getcontext(&f->self);
	f->self.uc_stack.ss_sp = f->stack;
	f->self.uc_stack.ss_size = STACK;
	f->self.uc_link = NULL;
	makecontext(&f->self, fiber_main, 0);
}

/* On the calling thread, until it blocks or is over. */
static void fiber_go_on(int i)
{
	task = (uintptr_t)(i + 1);
	starting = &fiber[i];
	swapcontext(&fiber[i].outside, &fiber[i].self);
	task = 0;
}

static void *fiber_thread(void *arg)
{
	fiber_go_on(*(int *)arg);
	return NULL;
}

/* On another thread. */
static void fiber_go_on_elsewhere(int i)
{
	pthread_t t;

	ck_assert_int_eq(pthread_create(&t, NULL, fiber_thread, &i), 0);
	pthread_join(t, NULL);
}

static void block(int i)
{
	swapcontext(&fiber[i].self, &fiber[i].outside);
}

static void block_and_ask(void *arg)
{
	(void)arg;
	block(0);
	elsewhere = ask();
}

static void block_second(void *arg)
{
	(void)arg;
	block(1);
}

/* gcc's ThreadSanitizer and valgrind lose their way where stacks change. */
static bool stacks_may_change(void)
{
	return !fork_is_delicate() && !getenv("TT_VALGRIND");
}

START_TEST(a_callback_ends_on_another_thread)
{
	if (!stacks_may_change())
		return;
	setup_kept(true);
	submit(block_and_ask, block_second);
	fiber_make(0);
	fiber_make(1);
	/* Both begin here. */
	fiber_go_on(0);
	fiber_go_on(1);
	ck_assert_int_eq(timerthread_get_current(NULL, NULL), -ENOENT);
	ck_assert_int_eq(timerthread_cancel(tt, id[1]), 1);
	fiber_go_on_elsewhere(0);
	ck_assert(fiber[0].over);
	ck_assert_int_eq(elsewhere.waited, -EDEADLK);
	ck_assert_int_eq(elsewhere.moved, 0);
	ck_assert_int_eq(elsewhere.advanced, -EBUSY);
	ck_assert_int_eq(elsewhere.stopped, 1);
	ck_assert_int_eq(timerthread_get_current(NULL, NULL), -ENOENT);
	fiber_go_on(1);
	ck_assert(fiber[1].over);
	ck_assert_int_eq(timerthread_get_current(NULL, NULL), -ENOENT);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	timerthread_destroy(tt);
	/* Nor is the task in a callback when it is back here. */
	task = 1;
	ck_assert_int_eq(timerthread_get_current(NULL, NULL), -ENOENT);
	task = 0;
}
END_TEST

static void *begin_and_exit(void *arg)
{
	(void)arg;
	fiber_go_on(0);
	sem_post(&ran);
	wait_for(&go);
	pthread_exit(&go);
}

static void *end_and_exit(void *arg)
{
	(void)arg;
	fiber_go_on(0);
	pthread_exit(&ran);
}

/* Whether a thread ends well does not depend on callbacks it was in. */
START_TEST(both_threads_exit_later)
{
	pthread_t first, second;
	void *r;

	if (!stacks_may_change())
		return;
	setup_kept(true);
	submit(block_and_ask, never);
	fiber_make(0);
	pthread_create(&first, NULL, begin_and_exit, NULL);
	wait_for(&ran);
	pthread_create(&second, NULL, end_and_exit, NULL);
	pthread_join(second, &r);
	ck_assert_ptr_eq(r, &ran);
	ck_assert(fiber[0].over);
	given[1].run(given[1].arg);
	timerthread_destroy(tt);
	memset(fiber[0].stack, 0xff, STACK);
	sem_post(&go);
	pthread_join(first, &r);
	ck_assert_ptr_eq(r, &go);
}
END_TEST

static int said[2]; /* a pipe: what the child has on standard error */

static void block_first(void *arg)
{
	(void)arg;
	block(0);
}

static void leave_here(int i)
{
	fiber_make(i);
	fiber_go_on(i);
	fiber_go_on_elsewhere(i);
	NEED(fiber[i].over);
	memset(fiber[i].stack, 0xff, STACK);
	timerthread_get_current(NULL, NULL);
}

/* The one whose stack is gone is not read again; and it is said once. */
static void unknown_tasks(void)
{
	dup2(said[1], STDERR_FILENO);
	setup_kept(false);
	submit(block_first, block_second);
	leave_here(0);
	leave_here(1);
	NEED(timerthread_advance(tt, 1) == 0);
	NEED(timerthread_stop(tt) == 0);
	timerthread_destroy(tt);
}

START_TEST(tasks_that_nobody_told_of_are_reported)
{
	char message[1000] = "";
	int status;
	pid_t pid;

	if (!stacks_may_change())
		return;
	ck_assert_int_eq(pipe(said), 0);
	pid = fork_child(unknown_tasks);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_gt(read(said[0], message, sizeof(message) - 1), 0);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s",
		      message);
	ck_assert_str_eq(message,
			 "libtimerthread: a callback ended on another thread "
			 "than it began on: see timerthread_set_task_id(3)\n");
	close(said[0]);
	close(said[1]);
}
END_TEST

/*
 * Two threads: on each a task begins that ends on the other, again and again.
 */
enum { EXCHANGES = 5 };

static pthread_barrier_t meeting;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void meet(void)
{
	pthread_barrier_wait(&meeting);
}

static void go_on_in_turn(int i)
{
	pthread_mutex_lock(&turn);
	fiber_go_on(i);
	pthread_mutex_unlock(&turn);
}

static void nothing(void *arg)
{
	(void)arg;
}

/* They end where they begin. */
static void run_two(void)
{
	submit(nothing, nothing);
	for (task = 1; task <= 2; task++)
		given[task - 1].run(given[task - 1].arg);
	task = 0;
}

static void make_two(void)
{
	n_given = 0;
	submit(block_first, block_second);
	fiber_make(0);
	fiber_make(1);
}

static void *exchange(void *arg)
{
	int own = arg == &fiber[1];

	for (int i = 0; i < EXCHANGES; i++) {
		if (own == 0)
			make_two();
		meet();
		go_on_in_turn(own);
		meet();
		go_on_in_turn(1 - own);
		meet();
	}
	return NULL;
}

/* What is remembered of tasks goes with them, or with the threads at last. */
START_TEST(no_memory_is_kept_of_tasks)
{
	uint32_t before = atom32_load(&pieces);
	pthread_t t[2];

	if (!stacks_may_change())
		return;
	setup_kept(true);
	run_two();
	pthread_barrier_init(&meeting, NULL, 2);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(
			pthread_create(&t[i], NULL, exchange, &fiber[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	timerthread_destroy(tt);
	ck_assert_uint_eq(atom32_load(&pieces), before);
	pthread_barrier_destroy(&meeting);
}
END_TEST

#endif

static atomic_bool gone;

static uintptr_t unless_gone(void *ctx)
{
	(void)ctx;
	if (atomic_load(&gone))
		abort();
	return 0;
}

static void destroy_after_go(void *arg)
{
	(void)arg;
	wait_for(&go);
	timerthread_destroy(tt);
	atomic_store(&gone, true);
}

static void not_run(void *arg)
{
	(void)arg;
	abort();
}

/*
 * on_exit is called after it, and another timer is soon due; what names a task
 * may have gone by then.
 */
START_TEST(no_task_is_asked_for_after_a_destroy)
{
	const int64_t spin = 200000;

	setup();
	ck_assert_int_eq(timerthread_set_spin(tt, spin), 0);
	ck_assert_int_eq(timerthread_set_task_id(tt, unless_gone, NULL), 0);
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, NULL, post, &ran), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, destroy_after_go, NULL, NULL), 0);
	ck_assert_int_eq(
		timerthread_schedule_after(tt, spin, not_run, NULL, NULL), 0);
	sem_post(&go);
	wait_for(&ran);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		option,
		a_task_is_inside_wherever_it_is,
		another_task_on_the_thread_is_not,
		without_memory_for_a_task,
		no_task_is_asked_for_after_a_destroy,
#ifdef HAS_UCONTEXT
		a_callback_ends_on_another_thread,
		both_threads_exit_later,
		tasks_that_nobody_told_of_are_reported,
		no_memory_is_kept_of_tasks,
#endif
	};

	return RUN_TESTS("task", tests);
}
