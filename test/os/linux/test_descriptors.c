/* SPDX-License-Identifier: MIT */
/*
 * Where the descriptors of the library lie, and what becomes of timers when
 * other code of the process closes, replaces or reads one.
 *
 * This program takes over poll and timerfd_settime, for the library too, whose
 * parts it links: to count them, and to read an expiry before the library sees
 * it.
 */
#include "config.h"

#include "real.h"
#include "timers.h"

#include "child.h"
#include "messages.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

#define GIVEN_UP 60000 /* milliseconds */

/*
 * More than an instance makes while a few timers run, and less than a thread
 * that spins makes in the time of one.
 */
enum { MANY_CALLS = 60 };

static atom32 polls, sets;
static atom32 steals;  /* poll reads what expires before it looks */
static atom32 refuses; /* timerfd_settime fails, with this error */
static atom32 signals; /* so many calls of poll are ended by a signal */
static atom32 awaited; /* what a test sleeps on; the last of them changes it */

static int real_poll(struct pollfd *p, nfds_t n, int ms)
{
	typedef int function(struct pollfd *, nfds_t, int);

	return ((function *)dlsym(RTLD_NEXT, "poll"))(p, n, ms);
}

static void steal(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t times;

	ck_assert_int_eq(real_poll(&p, 1, GIVEN_UP), 1);
	ck_assert_int_eq(read(fd, &times, sizeof(times)), sizeof(times));
}

int poll(struct pollfd *p, nfds_t n, int ms)
{
	int r;

	atom32_add(&polls, 1);
	if (atom32_load(&steals))
		steal(p->fd);
	if (atom32_load(&signals)) {
		if (atom32_add(&signals, UINT32_MAX) == 1)
			atom32_store(&awaited, 1);
		errno = EINTR;
		return -1;
	}
	r = real_poll(p, n, ms);
	real_wrote(p, n * sizeof(*p));
	return r;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *new,
		    struct itimerspec *old)
{
	atom32_add(&sets, 1);
	if (atom32_load(&refuses)) {
		errno = (int)atom32_load(&refuses);
		return -1;
	}
	return real_timerfd_settime(timer, flags, new, old);
}

static uint32_t calls(void)
{
	return atom32_load(&polls) + atom32_load(&sets);
}

/*
 * Instances.
 */
static int fd;

static void begin_thread(void)
{
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_BOOTTIME), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	fd = tt->engine.wakeup.sleeper.fd;
}

static void begin_polled(void)
{
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_BOOTTIME), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
}

static bool is_open(int file)
{
	return fcntl(file, F_GETFD) >= 0;
}

static bool readable_within(int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int r;

	do
		r = real_poll(&p, 1, ms);
	while (r < 0 && errno == EINTR);
	return r == 1;
}

static void run_one(int64_t delay)
{
	schedule(timerthread_now(tt) + delay, post, &ran);
	wait_for(&ran);
}

/* Timers run, and the thread sleeps meanwhile. */
static void run_some(void)
{
	uint32_t before = calls();

	for (int i = 0; i < 3; i++)
		run_one(i * MS);
	run_one(300 * MS);
	ck_assert_uint_lt(calls() - before, MANY_CALLS);
}

/*
 * Programs that have closed their standard files.
 */
static unsigned closed; /* a bit for each of them */

static void close_standard(void)
{
	for (int i = 0; i < 3; i++) {
		if (closed & 1u << i)
			close(i);
	}
}

static void need_standard(void)
{
	for (int i = 0; i < 3; i++)
		NEED(is_open(i) == !(closed & 1u << i));
}

static void need_high(void)
{
	NEED(fd >= 3);
	NEED(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	need_standard();
}

static void start_without(void)
{
	close_standard();
	begin_thread();
	need_high();
	run_one(MS);
	timerthread_destroy(tt);
	NEED(!is_open(fd));
	begin_polled();
	need_high();
	schedule(0, post, &ran);
	NEED(readable_within(0) && timerthread_dispatch(tt) == 1);
	timerthread_destroy(tt);
	NEED(!is_open(fd));
	need_standard();
}

START_TEST(no_standard_file)
{
	for (closed = 0; closed < 8; closed++)
		in_child(start_without);
}
END_TEST

/* To find a higher number, one is closed: that must not end the thread. */
static void *start_while_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	NEED(timerthread_start_polled(tt, &fd) == 0);
	return arg;
}

static void start_cancelled(void)
{
	pthread_t t;
	void *r;

	closed = 7;
	close_standard();
	NEED(timerthread_create(&tt) == 0);
	NEED(pthread_create(&t, NULL, start_while_cancelled, &fd) == 0);
	NEED(pthread_join(t, &r) == 0);
	NEED(r == &fd);
	need_high();
	timerthread_destroy(tt);
}

START_TEST(no_standard_file_for_one_that_is_cancelled)
{
	in_child(start_cancelled);
}
END_TEST

static atom32 over;

static void *read_standard_input(void *arg)
{
	char c[8];

	while (!atom32_load(&over)) {
		if (read(STDIN_FILENO, c, sizeof(c)) <= 0)
			sched_yield();
	}
	return arg;
}

static void run_beside_reader(void)
{
	pthread_t reader;

	close(STDIN_FILENO);
	begin_thread();
	NEED(pthread_create(&reader, NULL, read_standard_input, NULL) == 0);
	for (int i = 0; i < 40; i++)
		run_one(MS);
	atom32_store(&over, 1);
	pthread_join(reader, NULL);
	timerthread_destroy(tt);
}

START_TEST(standard_input_is_read)
{
	in_child(run_beside_reader);
}
END_TEST

/*
 * Ways to take a descriptor.  Each returns the file that is in its place, for
 * which the number is another one, too; -1: none is.
 */
static int put(int other)
{
	ck_assert_int_ge(other, 0);
	ck_assert_int_eq(dup2(other, fd), fd);
	return other;
}

static int closes(void)
{
	ck_assert_int_eq(close(fd), 0);
	return -1;
}

static int puts_null(void)
{
	return put(open("/dev/null", O_RDWR | O_CLOEXEC));
}

static int puts_pipe(void)
{
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(write(ends[1], "unread", 6), 6);
	return put(ends[0]);
}

static int puts_timer_on(clockid_t clock)
{
	const struct itimerspec hours = {.it_interval = {7200, 0},
					 .it_value = {7200, 0}};
	int other = timerfd_create(clock, TFD_CLOEXEC);

	timerfd_settime(other, 0, &hours, NULL);
	return put(other);
}

static int puts_timer(void)
{
	return puts_timer_on(CLOCK_MONOTONIC);
}

/* On which what is soon by another clock has long passed. */
static int puts_wall_timer(void)
{
	return puts_timer_on(CLOCK_REALTIME);
}

/* Another instance's. */
static struct timerthread *others;

static int puts_instance(void)
{
	int other;

	ck_assert_int_eq(timerthread_create(&others), 0);
	ck_assert_int_eq(timerthread_set_clock(others, CLOCK_REALTIME), 0);
	ck_assert_int_eq(timerthread_start_polled(others, &other), 0);
	ck_assert_int_eq(
		timerthread_schedule(others, timerthread_now(others) + 2 * HOUR,
				     never, NULL, NULL),
		0);
	ck_assert_int_eq(timerthread_dispatch(others), 0);
	return put(other);
}

static int (*const ways[])(void) = {
	closes,     puts_null,       puts_pipe,
	puts_timer, puts_wall_timer, puts_instance,
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* The file is as it was, and open, under both numbers. */
static void check_other(int way, int other)
{
	struct itimerspec t;
	char text[7] = "";

	if (other < 0) {
		ck_assert(!is_open(fd));
		return;
	}
	if (ways[way] == puts_pipe) {
		ck_assert_int_eq(read(fd, text, 6), 6);
		ck_assert_str_eq(text, "unread");
	} else if (ways[way] != puts_null) {
		ck_assert_int_eq(timerfd_gettime(fd, &t), 0);
		ck_assert_int_ge(t.it_value.tv_sec, 3600);
	}
	if (ways[way] == puts_instance)
		timerthread_destroy(others);
	else
		ck_assert_int_eq(close(other), 0);
	ck_assert_int_eq(close(fd), 0);
}

START_TEST(taken_from_a_thread)
{
	int other;

	begin_messages();
	begin_thread();
	schedule(INT64_MAX - 1, never, NULL);
	wait_for_sleep();
	other = ways[_i]();
	run_some();
	run_some();
	ck_assert_int_eq(reports(), 1);
	timerthread_destroy(tt);
	check_other(_i, other);
	ck_assert_int_eq(reports(), 1);
}
END_TEST

/* Nothing is pending: the thread sleeps on the futex. */
START_TEST(taken_from_an_idle_thread)
{
	int other;

	begin_messages();
	begin_thread();
	settle();
	wait_for_sleep();
	atom32_store(&polls, 0);
	other = ways[_i]();
	run_one(0);
	run_some();
	/* None but that for the first timer, which may not be due at once. */
	ck_assert_uint_le(atom32_load(&polls), 1);
	ck_assert_int_eq(reports(), 1);
	timerthread_destroy(tt);
	check_other(_i, other);
}
END_TEST

START_TEST(taken_from_a_loop)
{
	uint32_t before;
	int other;

	begin_messages();
	begin_polled();
	other = ways[_i]();
	before = calls();
	for (int i = 0; i < 5; i++) {
		schedule(0, post, &ran);
		schedule(timerthread_now(tt) + HOUR, never, NULL);
		ck_assert_int_eq(timerthread_dispatch(tt), 1);
		ck_assert_int_eq(timerthread_dispatch(tt), 0);
	}
	ck_assert_uint_lt(calls() - before, MANY_CALLS);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_dispatch(tt), -ESHUTDOWN);
	ck_assert_int_eq(reports(), 1);
	timerthread_destroy(tt);
	check_other(_i, other);
}
END_TEST

/* None is reported but by its own. */
START_TEST(each_instance_reports)
{
	begin_messages();
	for (int i = 1; i < 4; i++) {
		begin_polled();
		closes();
		schedule(0, post, &ran);
		ck_assert_int_eq(timerthread_dispatch(tt), 1);
		timerthread_destroy(tt);
		ck_assert_int_eq(reports(), i);
	}
}
END_TEST

START_TEST(errno_is_kept)
{
	begin_messages();
	begin_polled();
	closes();
	errno = E2BIG;
	schedule(0, post, &ran);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_eq(timerthread_dispatch(tt), 1);
	timerthread_destroy(tt);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_eq(reports(), 1);
}
END_TEST

/*
 * What expires is read.
 */
START_TEST(read_from_a_thread)
{
	int before = open_files() + 1;

	begin_messages();
	begin_thread();
	atom32_store(&steals, 1);
	/* If the thread comes too late, it does not sleep for that one. */
	while (reports() == 0)
		run_one(50 * MS);
	run_some();
	atom32_store(&steals, 0);
	ck_assert_int_eq(reports(), 1);
	timerthread_destroy(tt);
	ck_assert(!is_open(fd));
	ck_assert_int_eq(open_files(), before);
}
END_TEST

START_TEST(read_from_a_loop)
{
	uint64_t times;

	begin_messages();
	begin_polled();
	schedule(0, post, &ran);
	for (int i = 0; i < 2; i++) {
		ck_assert(readable_within(GIVEN_UP));
		ck_assert_int_eq(read(fd, &times, sizeof(times)),
				 sizeof(times));
	}
	ck_assert(readable_within(GIVEN_UP));
	ck_assert_int_eq(timerthread_dispatch(tt), 1);
	ck_assert(!readable_within(0));
	ck_assert_int_eq(reports(), 0);
	timerthread_destroy(tt);
}
END_TEST

/* O_NONBLOCK. */
START_TEST(flags_do_not_matter)
{
	begin_messages();
	begin_thread();
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(fcntl(fd, F_SETFL, i ? O_NONBLOCK : 0), 0);
		run_some();
	}
	ck_assert_int_eq(reports(), 0);
	timerthread_destroy(tt);
	ck_assert(!is_open(fd));
}
END_TEST

/*
 * A child holds a copy.
 */
static int gate[2];

static void hold_copy(void)
{
	char c;

	close(gate[1]);
	NEED(read(gate[0], &c, 1) == 0);
}

START_TEST(copy_in_a_child)
{
	struct epoll_event e = {.events = EPOLLIN};
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	pid_t pid;

	ck_assert_int_eq(pipe2(gate, O_CLOEXEC), 0);
	begin_polled();
	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e), 0);
	schedule(0, never, NULL);
	pid = fork_child(hold_copy);
	ck_assert_int_eq(epoll_wait(epoll, &e, 1, GIVEN_UP), 1);
	timerthread_destroy(tt);
	ck_assert_int_eq(epoll_wait(epoll, &e, 1, 0), 0);
	close(gate[1]);
	ck_assert_int_eq(end_of(pid), EXIT_SUCCESS);
	close(gate[0]);
	close(epoll);
}
END_TEST

/*
 * Limits.
 */
static struct rlimit limit;

static void set_limit(rlim_t n)
{
	limit.rlim_cur = n;
	NEED(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void start_refused(void)
{
	rlim_t before = limit.rlim_cur;

	close(STDIN_FILENO);
	setup();
	NEED(timerthread_set_clock(tt, CLOCK_BOOTTIME) == 0);
	for (rlim_t n = 0; n <= 3; n++) {
		set_limit(n);
		errno = E2BIG;
		NEED(timerthread_start(tt, NULL) == -EMFILE);
		NEED(timerthread_start_polled(tt, &fd) == -EMFILE);
		NEED(errno == E2BIG);
		NEED(!is_open(STDIN_FILENO));
	}
	set_limit(before);
	NEED(timerthread_start(tt, NULL) == 0);
	run_one(0);
	timerthread_destroy(tt);
}

START_TEST(none_is_high_enough)
{
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	in_child(start_refused);
}
END_TEST

/* A filter of system calls lets it be made, but not be set. */
START_TEST(none_may_be_set)
{
	int lowest = dup(STDERR_FILENO);

	close(lowest);
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_BOOTTIME), 0);
	atom32_store(&refuses, EPERM);
	errno = E2BIG;
	ck_assert_int_eq(timerthread_start(tt, NULL), -ENOSYS);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), -ENOSYS);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert(!is_open(lowest));
	atom32_store(&refuses, 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	run_one(0);
	timerthread_destroy(tt);
}
END_TEST

/* poll is refused to a process that may open no file at all. */
START_TEST(no_file_may_be_opened)
{
	rlim_t before;

	begin_messages();
	begin_thread();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = limit.rlim_cur;
	set_limit(0);
	run_some();
	set_limit(before);
	ck_assert_int_eq(reports(), 0);
	timerthread_destroy(tt);
	ck_assert(!is_open(fd));
}
END_TEST

/*
 * A thread whose descriptor is lost sleeps by futex_wait_for.  The linker puts
 * this in its place: it notes for how long, and wakes the thread at once.
 */
void __real_futex_wait_for(atom32 *word, uint32_t expected, long ns);
void __wrap_futex_wait_for(atom32 *word, uint32_t expected, long ns);

static long waited; /* 0: it has not */

void __wrap_futex_wait_for(atom32 *word, uint32_t expected, long ns)
{
	if (word != &awaited) {
		__real_futex_wait_for(word, expected, ns);
		return;
	}
	waited = ns;
	atom32_store(word, expected + 1);
}

/* The clock is looked at each second, and at the deadline if that is sooner. */
START_TEST(a_lost_descriptor_makes_no_sleep_longer)
{
	static const int64_t away[] = {MS, 130 * MS, 999 * MS, 2000 * MS, HOUR};
	struct sleeper s;

	ck_assert_int_eq(sleeper_open(&s, CLOCK_BOOTTIME, false), 0);
	atom32_store(&s.lost, 1);
	for (int i = 0; i < 5; i++) {
		int64_t most = away[i] < 1000 * MS ? away[i] : 1000 * MS;

		/* Where it took longer to come there, there is no sleep. */
		for (waited = 0; waited == 0;) {
			atom32_store(&awaited, 0);
			sleeper_sleep(&s, &awaited, 0,
				      clock_now(CLOCK_BOOTTIME) + away[i]);
		}
		ck_assert_int_gt(waited, 0);
		ck_assert_int_le(waited, most);
	}
	sleeper_close(&s, false);
}
END_TEST

/* It looks at the clock again, and does not wait for what was left before. */
START_TEST(a_signal_makes_no_sleep_longer)
{
	struct sleeper s;

	ck_assert_int_eq(sleeper_open(&s, CLOCK_BOOTTIME, false), 0);
	waited = 0;
	atom32_store(&awaited, 0);
	atom32_store(&signals, 3);
	sleeper_sleep(&s, &awaited, 0, clock_now(CLOCK_BOOTTIME) + HOUR);
	ck_assert_uint_eq(atom32_load(&signals), 0);
	ck_assert_int_eq(waited, 0);
	sleeper_close(&s, false);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		no_standard_file,
		no_standard_file_for_one_that_is_cancelled,
		standard_input_is_read,
		each_instance_reports,
		errno_is_kept,
		read_from_a_thread,
		read_from_a_loop,
		flags_do_not_matter,
		copy_in_a_child,
		none_is_high_enough,
		no_file_may_be_opened,
		none_may_be_set,
		a_lost_descriptor_makes_no_sleep_longer,
		a_signal_makes_no_sleep_longer,
	};
	const TTest *const taken[] = {
		taken_from_a_thread,
		taken_from_an_idle_thread,
		taken_from_a_loop,
	};
	TCase *tcase = tcase_create("descriptors");

	ADD_TESTS(tcase, tests);
	ADD_LOOP_TESTS(tcase, taken, WAYS);
	return run_case("descriptors", tcase);
}
