/* SPDX-License-Identifier: MIT */
/*
 * Instances in a child of fork(2), and what the fork does to their parent.
 *
 * Children end by _exit: what they inherit of the parent's threads would else
 * count as leaked.
 */
#include "config.h"

#include "base/atomic.h"
#include "clocks.h"
#include "inherited.h"
#include "real.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Only LeakSanitizer has it. */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static void *shared_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert(p != MAP_FAILED);
	return p;
}

static int64_t time_on(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return timerthread_from_timespec(t.tv_sec, t.tv_nsec);
}

/* The one call that goes on; the child's time is the parent's. */
static void need_time(const struct timerthread *t, clockid_t clock)
{
	int64_t before = time_on(clock);
	int64_t now = timerthread_now(t);

	NEED(before <= now);
	NEED(now <= time_on(clock));
}

/* Its timer thread sleeps. */
START_TEST(inherited_idle)
{
	start();
	in_child(refused_and_destroyed);
	timerthread_destroy(tt);
}
END_TEST

START_TEST(inherited_with_timers)
{
	start();
	schedule_some(10000);
	in_child(refused_and_destroyed);
	ck_assert_int_eq(timerthread_cancel(tt, some_id), 0);
	timerthread_destroy(tt);
}
END_TEST

/* A callback runs, and another thread is in stop. */
static void *stopper(void *arg)
{
	return timerthread_stop(arg) == 0 ? arg : NULL;
}

START_TEST(inherited_running_and_stopping)
{
	pthread_t t;
	void *r;

	start();
	schedule_some(1000);
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, &running_id),
			 0);
	wait_for(&ran);
	in_child(refused_and_destroyed);
	ck_assert_int_eq(pthread_create(&t, NULL, stopper, tt), 0);
	while (timerthread_schedule(tt, TIMERTHREAD_NEVER, never, NULL, NULL) ==
	       0)
		sched_yield();
	in_child(refused_and_destroyed);
	sem_post(&go);
	pthread_join(t, &r);
	ck_assert_ptr_eq(r, tt);
	timerthread_destroy(tt);
}
END_TEST

START_TEST(inherited_stopped)
{
	start();
	schedule_some(1000);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	in_child(refused_and_destroyed);
	ck_assert_int_eq(timerthread_cancel(tt, some_id), 0);
	timerthread_destroy(tt);
}
END_TEST

static struct timerthread_snapshot *taken;

/* A snapshot is memory, and nothing else. */
static void read_and_free(void)
{
	int64_t value = -1;

	NEED(timerthread_get_quantile(taken, NULL,
				      TIMERTHREAD_HISTOGRAM_RUN_TIME, 1,
				      &value) == 0);
	NEED(value >= 0);
	timerthread_free_snapshot(taken);
}

START_TEST(inherited_snapshot)
{
	timerthread_id id;

	start();
	ck_assert_int_eq(timerthread_schedule(tt, 0, post, &ran, &id), 0);
	wait_for(&ran);
	/* Counted, too. */
	timerthread_cancel_wait(tt, id);
	ck_assert_int_eq(timerthread_take_snapshot(tt, &taken), 0);
	in_child(read_and_free);
	timerthread_free_snapshot(taken);
	timerthread_destroy(tt);
}
END_TEST

static clockid_t chosen;

static void created_but_not_started(void)
{
	need_time(tt, chosen);
	timerthread_destroy(tt);
}

static void refused_but_now(void)
{
	need_time(tt, chosen);
	need_all_refused(tt);
	need_time(tt, chosen);
	need_time(NULL, CLOCK_MONOTONIC);
	timerthread_destroy(tt);
}

START_TEST(inherited_on_each_clock)
{
	for (size_t i = 0; i < 3; i++) {
		chosen = clocks[i];
		setup();
		ck_assert_int_eq(timerthread_set_clock(tt, chosen), 0);
		in_child(created_but_not_started);
		ck_assert_int_eq(timerthread_start(tt, NULL), 0);
		schedule_some(1);
		in_child(refused_but_now);
		/* The child has closed nothing of the parent's. */
		ck_assert_int_eq(
			timerthread_schedule_after(tt, 1000, post, &ran, NULL),
			0);
		wait_for(&ran);
		timerthread_destroy(tt);
	}
}
END_TEST

/*
 * What was being changed when the process was forked is not looked at.  Here
 * it is what no program could look at: addresses of nothing.
 */
static void *const nothing = (void *)16;

static void destroy_half_changed(void)
{
	struct pending *p = &tt->engine.pending;
	struct bucket *b = &tt->engine.intake->bucket[0];

	atom32_store(&tt->engine.busy, 1);
	p->heap.array = nothing;
	p->spare = nothing;
	atom32_store(&b->lock.held, 1);
	b->spares = nothing;
	timerthread_destroy(tt);
}

START_TEST(inherited_half_changed)
{
	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, 1), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	schedule_some(10);
	in_child(destroy_half_changed);
	ck_assert_int_eq(timerthread_cancel(tt, some_id), 0);
	timerthread_destroy(tt);
}
END_TEST

/* The descriptor was closed by the child, and is another file's by now. */
static int descriptor;

static void replace_and_destroy(void)
{
	int other = open("/dev/null", O_RDONLY | O_CLOEXEC);

	NEED(other >= 0);
	NEED(dup2(other, descriptor) == descriptor);
	timerthread_destroy(tt);
	NEED(fcntl(descriptor, F_GETFD) >= 0);
}

static void destroy_and_look(void)
{
	timerthread_destroy(tt);
	NEED(fcntl(descriptor, F_GETFD) < 0);
}

START_TEST(inherited_descriptor)
{
	setup();
	ck_assert_int_eq(timerthread_start_polled(tt, &descriptor), 0);
	in_child(replace_and_destroy);
	in_child(destroy_and_look);
	timerthread_destroy(tt);
}
END_TEST

/* A handler that the program has registered may call, too. */
static int cancelled_in_handler;

static void cancel_in_handler(void)
{
	cancelled_in_handler = timerthread_cancel(tt, some_id);
}

static void need_refused_in_handler(void)
{
	NEED(cancelled_in_handler == -ECHILD);
}

START_TEST(handlers_of_the_program)
{
	ck_assert_int_eq(pthread_atfork(NULL, NULL, cancel_in_handler), 0);
	start();
	schedule_some(1);
	in_child(need_refused_in_handler);
	set_wiped(false);
	in_child(need_refused_in_handler);
	set_wiped(true);
	timerthread_destroy(tt);
}
END_TEST

static void destroy_null(void)
{
	timerthread_destroy(NULL);
	use_one_of_its_own(CLOCK_MONOTONIC);
}

START_TEST(destroy_of_null)
{
	start();
	in_child(destroy_null);
	timerthread_destroy(tt);
}
END_TEST

/* Never started: it is the child's as it was the parent's. */
static void stopped_unstarted(void)
{
	NEED(timerthread_stop(tt) == 0);
	NEED(timerthread_start(tt, NULL) == -ESHUTDOWN);
	NEED(timerthread_schedule(tt, 0, never, NULL, NULL) == -ESHUTDOWN);
	NEED(timerthread_cancel_all(tt, no_visit, NULL) == 0);
	timerthread_destroy(tt);
}

START_TEST(stopped_without_a_start)
{
	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	in_child(stopped_unstarted);
	timerthread_destroy(tt);
}
END_TEST

/*
 * What is freed by a destroy in the child, as malloc counts it.  The tools
 * that watch allocations have a malloc of their own, which does not count.
 */
static size_t allocated(void)
{
#ifdef HAVE_MALLINFO2
	struct mallinfo2 m = mallinfo2();

	real_wrote(&m, sizeof(m));
	return m.uordblks;
#else
	return 0;
#endif
}

static size_t allocated_before;

/* What the C library keeps of a thread. */
#define SMALL_CHANGE 16384

static void destroy_frees_all(void)
{
	size_t with = allocated();

	timerthread_destroy(tt);
	tt = NULL;
	if (with > allocated_before + 10 * SMALL_CHANGE)
		NEED(allocated() < allocated_before + SMALL_CHANGE);
	if (__lsan_do_recoverable_leak_check)
		NEED(__lsan_do_recoverable_leak_check() == 0);
}

/* Nothing changes at the moment of the fork, so there is nothing to lose. */
START_TEST(destroy_in_the_child_frees)
{
	enum { N = 20000 };

	allocated_before = allocated();
	start();
	/* In the timer thread's heap, and in the buckets. */
	schedule_some(N);
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, NULL), 0);
	wait_for(&ran);
	schedule_some(N);
	in_child(destroy_frees_all);
	sem_post(&go);
	timerthread_destroy(tt);
}
END_TEST

static void new_ones(void)
{
	for (size_t i = 0; i < 3; i++)
		use_one_of_its_own(clocks[i]);
	use_default();
}

START_TEST(new_ones_work)
{
	struct timerthread *one;

	start();
	in_child(new_ones);
	ck_assert_int_eq(timerthread_default(&one), 0);
	in_child(new_ones);
	timerthread_destroy(tt);
}
END_TEST

static struct timerthread *parents_default;

static void another_default(void)
{
	struct timerthread *one, *again;

	need_all_refused(parents_default);
	NEED(timerthread_default(&one) == 0);
	NEED(one != parents_default);
	NEED(timerthread_default(&again) == 0);
	NEED(one == again);
	NEED(timerthread_stop(one) == -EPERM);
	use_default();
	need_all_refused(parents_default);
}

START_TEST(default_starts_afresh)
{
	struct timerthread *one;

	ck_assert_int_eq(timerthread_default(&parents_default), 0);
	ck_assert_int_eq(timerthread_schedule_after(parents_default, HOUR,
						    never, NULL, &some_id),
			 0);
	in_child(another_default);
	ck_assert_int_eq(timerthread_default(&one), 0);
	ck_assert_ptr_eq(one, parents_default);
	ck_assert_int_eq(timerthread_cancel(one, some_id), 0);
}
END_TEST

static void start_in_child(void)
{
	NEED(timerthread_set_name(tt, "daemon") == 0);
	NEED(timerthread_start(tt, NULL) == 0);
	NEED(timerthread_schedule_after(tt, 1000, post, &ran, NULL) == 0);
	wait_for(&ran);
	NEED(timerthread_stop(tt) == 0);
	timerthread_destroy(tt);
}

/* As a daemon does that creates what it needs before it calls daemon(3). */
START_TEST(created_before_started_after)
{
	setup();
	in_child(start_in_child);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, post, &ran, NULL), 0);
	wait_for(&ran);
	timerthread_destroy(tt);
}
END_TEST

/* Its mother's and its grandmother's are not its own. */
static struct timerthread *childs;

static void grandchild(void)
{
	need_all_refused(tt);
	need_all_refused(childs);
	timerthread_destroy(childs);
	timerthread_destroy(tt);
	use_one_of_its_own(CLOCK_MONOTONIC);
	use_default();
}

static void child_of_grandchild(void)
{
	int status;
	pid_t pid;

	NEED(timerthread_create(&childs) == 0);
	NEED(timerthread_start(childs, NULL) == 0);
	use_default();
	prepare_fork();
	pid = fork();
	NEED(pid >= 0);
	if (pid == 0) {
		limit_child();
		grandchild();
		_exit(EXIT_SUCCESS);
	}
	NEED(waitpid(pid, &status, 0) == pid);
	NEED(status == 0);
	NEED(timerthread_schedule(childs, 0, post, &ran, NULL) == 0);
	wait_for(&ran);
	need_all_refused(tt);
	timerthread_destroy(childs);
}

START_TEST(grandchildren)
{
	start();
	schedule_some(1);
	in_child(child_of_grandchild);
	timerthread_destroy(tt);
}
END_TEST

/*
 * Forks while all else is in full swing.
 */
enum { LOADERS = 3, RING = 500 };
static atom32 quit;
static struct timerthread *boot;

/* The first two together are the third in the end. */
static atom32 runs, cancelled, wanted;

static void count(void *arg)
{
	(void)arg;
	atom32_add(&runs, 1);
}

static void move(struct timerthread *t, timerthread_id *id, uint64_t dice)
{
	int r;

	switch (dice % 4) {
	case 0:
		r = timerthread_cancel_wait(t, *id);
		break;
	case 1:
		timerthread_reschedule(t, *id, (int64_t)(dice % 1000));
		return;
	case 2:
		timerthread_reschedule(t, *id, timerthread_now(t) + HOUR);
		return;
	default:
		r = timerthread_cancel(t, *id);
		break;
	}
	if (r == 0)
		atom32_add(&cancelled, 1);
	*id = 0;
}

static void *load(void *arg)
{
	struct timerthread *const t[] = {tt, tt, parents_default, boot};
	uint64_t rng = test_seed() + (uintptr_t)arg;
	timerthread_id ids[RING] = {0};

	while (!atom32_load(&quit)) {
		size_t i = random_below(&rng, RING);
		int64_t delay = (int64_t)random_below(&rng, 300000);
		timerthread_id *id = &ids[i];

		if (*id)
			move(t[i % 4], id, next_random(&rng));
		else if (timerthread_schedule_after(
				 t[i % 4], i % 3 ? delay : HOUR + delay, count,
				 NULL, id) == 0)
			atom32_add(&wanted, 1);
	}
	for (size_t i = 0; i < RING; i++) {
		if (timerthread_cancel_wait(t[i % 4], ids[i]) == 0)
			atom32_add(&cancelled, 1);
	}
	return arg;
}

static void child_of_load(void)
{
	int64_t deadline;

	NEED(timerthread_schedule(tt, 0, never, NULL, NULL) == -ECHILD);
	NEED(timerthread_cancel_wait(tt, some_id) == -ECHILD);
	NEED(timerthread_reschedule(tt, some_id, 0) == -ECHILD);
	NEED(timerthread_get_deadline(tt, some_id, &deadline) == -ECHILD);
	NEED(timerthread_stop(tt) == -ECHILD);
	NEED(timerthread_stop(parents_default) == -ECHILD);
	need_all_refused(boot);
	timerthread_destroy(tt);
	timerthread_destroy(boot);
	use_one_of_its_own(clocks[(unsigned)getpid() % 3]);
	use_default();
	/* What was being changed is lost, which is for valgrind not to see. */
	if (getenv("TT_VALGRIND"))
		execlp("true", "true", (char *)NULL);
}

/* Where a fork is slow, fewer have to do. */
START_TEST(fork_under_load)
{
	enum { FORKS = 150, FORKS_MIN = 20, SECONDS = 4 };
	pthread_t threads[LOADERS];
	time_t end = time(NULL) + SECONDS;
	int forks;
	void *r;

	if (fork_is_delicate()) {
		puts("fork_under_load: the sanitizer does not allow it");
		return;
	}
	ck_assert_int_eq(timerthread_create(&boot), 0);
	ck_assert_int_eq(timerthread_set_clock(boot, CLOCK_BOOTTIME), 0);
	ck_assert_int_eq(timerthread_start(boot, NULL), 0);
	ck_assert_int_eq(timerthread_default(&parents_default), 0);
	start();
	schedule_some(1);
	for (uintptr_t i = 0; i < LOADERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, load,
						(void *)(i + 1)),
				 0);
	for (forks = 0; forks < FORKS; forks++) {
		if (forks >= FORKS_MIN && time(NULL) > end)
			break;
		in_child(child_of_load);
	}
	atom32_store(&quit, 1);
	for (uintptr_t i = 0; i < LOADERS; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &r), 0);
		ck_assert_ptr_eq(r, (void *)(i + 1));
	}
	/* In the parent nothing was lost. */
	ck_assert_int_eq(timerthread_cancel(tt, some_id), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, post, &ran, NULL), 0);
	wait_for(&ran);
	timerthread_destroy(tt);
	timerthread_destroy(boot);
	ck_assert_uint_eq(atom32_load(&runs) + atom32_load(&cancelled),
			  atom32_load(&wanted));
	if (forks < FORKS)
		printf("fork_under_load: %d forks\n", forks);
}
END_TEST

/*
 * Forks from a callback.
 */
static pid_t main_process, forked;
static void (*child_body)(void);

static void fork_here(void *arg)
{
	pid_t pid;

	prepare_fork();
	pid = fork();
	if (pid == 0) {
		limit_child();
		ends_by_exit = 1;
		if (child_body)
			child_body();
		return;
	}
	forked = pid;
	if (arg)
		sem_post(arg);
}

static void exit_7(void)
{
	_exit(7);
}

/* Counts for all processes which of them ran it. */
struct counts {
	atom32 in_parent;
	atom32 in_child;
};

static struct counts *shared;

static void count_process(void *arg)
{
	(void)arg;
	atom32_add(getpid() == main_process ? &shared->in_parent
					    : &shared->in_child,
		   1);
}

static void watch_processes(void)
{
	main_process = getpid();
	shared = shared_memory(sizeof(*shared));
}

static int fork_in_callback(void (*body)(void))
{
	child_body = body;
	ck_assert_int_eq(timerthread_schedule(tt, 0, fork_here, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_gt(forked, 0);
	return end_of(forked);
}

/* What the child is in is no callback, but those of its own are. */
static struct {
	struct timerthread *tt;
	timerthread_id id;
	uint64_t overrun;
} told;

static void be_told(void *arg)
{
	(void)arg;
	NEED(timerthread_get_current(&told.tt, &told.id) == 0);
	NEED(timerthread_get_overrun(&told.overrun) == 0);
}

static void need_no_callback(void)
{
	struct timerthread *one = NULL;
	timerthread_id id = 5;
	uint64_t n = 5;

	NEED(timerthread_get_current(&one, &id) == -ENOENT);
	NEED(timerthread_get_overrun(&n) == -ENOENT);
	NEED(timerthread_get_overrun(NULL) == -EINVAL);
	NEED(!one && id == 5 && n == 5);
}

static void be_told_of_own(void)
{
	struct timerthread *own;
	timerthread_id id;

	need_no_callback();
	NEED(timerthread_create(&own) == 0);
	NEED(timerthread_start_virtual(own, 0) == 0);
	NEED(timerthread_schedule_every(own, -10, 5, be_told, NULL, &id) == 0);
	NEED(timerthread_advance(own, 0) == 1);
	NEED(told.tt == own && told.id == id && told.overrun == 2);
	need_no_callback();
	timerthread_destroy(own);
}

static void refused_and_own(void)
{
	need_all_refused(tt);
	be_told_of_own();
	use_one_of_its_own(CLOCK_MONOTONIC);
}

/*
 * A new instance where the old one was, or NULL: malloc does not want to.
 * ThreadSanitizer's does.
 */
static struct timerthread *create_at(uintptr_t place)
{
	enum { N = 200 };
	static void *volatile kept[N][2];
	struct timerthread *made;

	for (size_t i = 0; i < N; i++) {
		NEED(timerthread_create(&made) == 0);
		if ((uintptr_t)made == place)
			return made;
		/* Neither is freed, so that the next one lies elsewhere. */
		kept[i][0] = made;
		kept[i][1] = malloc(16 + i % 8 * 16);
		NEED(kept[i][1] != NULL);
	}
	return NULL;
}

/*
 * The callback goes on with what it has destroyed.  A new instance in the same
 * place is another one: its thread is not the caller.
 */
static void destroy_and_own(void)
{
	struct timerthread *made;
	uintptr_t place = (uintptr_t)tt;

	timerthread_destroy(tt);
	made = create_at(place);
	if (made) {
		NEED(timerthread_start(made, NULL) == 0);
		NEED(timerthread_stop(made) == 0);
		timerthread_destroy(made);
	}
	use_one_of_its_own(CLOCK_MONOTONIC);
}

/* It exits there, or returns: then the child ends, with nothing else run. */
START_TEST(fork_from_a_callback)
{
#ifdef M_ARENA_MAX
	/* So that the timer thread gets memory that another one had. */
	mallopt(M_ARENA_MAX, 1);
#endif
	start();
	watch_processes();
	/*
	 * Due with the fork, but after it; and what the child might go on to.
	 */
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_schedule(tt, 2, count_process, NULL, NULL),
			 0);
	child_body = NULL;
	ck_assert_int_eq(timerthread_schedule(tt, 1, fork_here, &ran, NULL), 0);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(end_of(forked), 0);

	ck_assert_int_eq(fork_in_callback(exit_7), 7);
	ck_assert_int_eq(fork_in_callback(NULL), 0);
	ck_assert_int_eq(fork_in_callback(refused_and_own), 0);
	ck_assert_int_eq(fork_in_callback(destroy_and_own), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, post, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_uint_eq(atom32_load(&shared->in_parent), 1);
	ck_assert_uint_eq(atom32_load(&shared->in_child), 0);
	timerthread_destroy(tt);
}
END_TEST

/* The parent's timer repeats, the child's does not. */
enum { PERIODS = 3 };
static pid_t children[PERIODS];
static int periods;

static void fork_periodically(void *arg)
{
	if (periods == PERIODS)
		return;
	fork_here(NULL);
	if (getpid() != main_process)
		return;
	children[periods++] = forked;
	sem_post(arg);
}

START_TEST(fork_from_a_periodic_callback)
{
	timerthread_id id;

	start();
	watch_processes();
	ck_assert_int_eq(timerthread_schedule_every(
				 tt, 0, 1000000, fork_periodically, &ran, &id),
			 0);
	for (int i = 0; i < PERIODS; i++) {
		wait_for(&ran);
		ck_assert_int_eq(end_of(children[i]), 0);
	}
	timerthread_cancel_wait(tt, id);
	timerthread_destroy(tt);
}
END_TEST

/* Not so long where a child that does not end is what is looked for. */
#define SOON_S 15

/*
 * The rules for callbacks hold for the hooks too: one that returns in a child
 * has nothing there to go on with.
 */
static void schedule_and_fork(void *arg)
{
	timerthread_schedule(tt, 0, count_process, NULL, NULL);
	fork_here(arg);
}

static void fork_in_hook(timerthread_fn *on_start, timerthread_fn *on_exit,
			 clockid_t clock)
{
	setup();
	watch_processes();
	child_body = NULL;
	ck_assert_int_eq(timerthread_set_clock(tt, clock), 0);
	ck_assert_int_eq(
		timerthread_set_thread_hooks(tt, on_start, on_exit, &ran), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	if (on_start)
		wait_for(&ran);
	ck_assert_int_eq(timerthread_schedule(tt, 1, post, &ran, NULL), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(end_within(forked, SOON_S), 0);
	ck_assert_uint_eq(atom32_load(&shared->in_parent), on_start ? 1 : 0);
	ck_assert_uint_eq(atom32_load(&shared->in_child), 0);
	timerthread_destroy(tt);
}

START_TEST(fork_from_on_start)
{
	fork_in_hook(schedule_and_fork, NULL, CLOCK_MONOTONIC);
}
END_TEST

/* The child must not read from the timer that it shares with its parent. */
START_TEST(fork_from_on_start_with_boottime)
{
	fork_in_hook(schedule_and_fork, NULL, CLOCK_BOOTTIME);
}
END_TEST

START_TEST(fork_from_on_exit)
{
	fork_in_hook(NULL, fork_here, CLOCK_MONOTONIC);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		inherited_idle,
		inherited_with_timers,
		inherited_running_and_stopping,
		inherited_stopped,
		inherited_snapshot,
		inherited_on_each_clock,
		inherited_half_changed,
		inherited_descriptor,
		handlers_of_the_program,
		destroy_of_null,
		stopped_without_a_start,
		destroy_in_the_child_frees,
		new_ones_work,
		default_starts_afresh,
		created_before_started_after,
		grandchildren,
		fork_under_load,
		fork_from_a_callback,
		fork_from_a_periodic_callback,
		fork_from_on_start,
		fork_from_on_start_with_boottime,
		fork_from_on_exit,
	};

	return RUN_TESTS("fork", tests);
}
