/* SPDX-License-Identifier: MIT */
/*
 * The descriptor of an instance in an event loop, where there is no timerfd.
 * sleeper.c is compiled again here, so that a test sees what the thread of the
 * bell sleeps for.
 */
#include "config.h"

#include "clocks.h"
#include "harness.h"

#include "child.h"
#include "messages.h"

#include <sys/socket.h>
#include <sys/stat.h>

static int pair_errno; /* 0: it may succeed */

static int try_socketpair(int domain, int type, int protocol, int ends[2])
{
	if (!pair_errno)
		return socketpair(domain, type, protocol, ends);
	errno = pair_errno;
	return -1;
}

/* As on NetBSD: who looks at a socket first sees no inode number. */
static int look_at(int fd, struct stat *ret)
{
	static _Atomic ino_t seen[1024];
	int r = fstat(fd, ret);

	if (r == 0 && fd < 1024 && S_ISSOCK(ret->st_mode) &&
	    seen[fd] != ret->st_ino) {
		seen[fd] = ret->st_ino;
		ret->st_ino = 0;
	}
	return r;
}

#define socketpair     try_socketpair
#define fstat(fd, ret) look_at(fd, ret)
#include "os/posix/sleeper.c"
#undef socketpair
#undef fstat

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>

#define HOUR     (INT64_C(3600) * NS_PER_S)
#define MS       (NS_PER_S / 1000)
#define GIVEN_UP 60000 /* milliseconds */

static struct sleeper s;

static void begin_on(clockid_t clock)
{
	ck_assert_int_eq(sleeper_open(&s, clock, true), 0);
}

static void begin(void)
{
	begin_on(CLOCK_MONOTONIC);
}

static void end(void)
{
	sleeper_close(&s, false);
	ck_assert_ptr_null(s.bell);
	ck_assert_int_eq(s.fd, -1);
}

static int64_t now(void)
{
	return clock_now(s.clock);
}

static bool readable_within(int ms)
{
	struct pollfd p = {.fd = s.fd, .events = POLLIN};
	int r;

	do
		r = poll(&p, 1, ms);
	while (r < 0 && errno == EINTR);
	return r == 1;
}

/* The thread of the bell sleeps until that time. */
static void wait_for_sleep_until(int64_t t)
{
	int64_t until;

	do {
		sched_yield();
		pthread_mutex_lock(&s.bell->mutex);
		until = s.bell->until;
		pthread_mutex_unlock(&s.bell->mutex);
	} while (until != t);
}

static int bytes(void)
{
	char text[8];

	return (int)recv(s.fd, text, sizeof(text), MSG_PEEK | MSG_DONTWAIT);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += is_open(fd);
	return n;
}

START_TEST(rings_at_the_time)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t t;
		bool early;

		begin_on(clocks[i]);
		ck_assert(!readable_within(0));
		t = now() + 20 * MS;
		sleeper_set(&s, t);
		early = readable_within(0);
		ck_assert(!early || now() >= t);
		ck_assert(readable_within(GIVEN_UP));
		ck_assert_int_ge(now(), t);
		ck_assert_int_eq(bytes(), 1);
		/* What has passed, on whichever clock. */
		sleeper_set(&s, now() + HOUR);
		ck_assert(!readable_within(0));
		sleeper_set(&s, 0);
		ck_assert(readable_within(0));
		end();
	}
}
END_TEST

START_TEST(earlier_and_later)
{
	int64_t far, near;

	begin();
	far = now() + HOUR;
	sleeper_set(&s, far);
	wait_for_sleep_until(far);
	near = now() + 10 * MS;
	sleeper_set(&s, near);
	ck_assert(readable_within(GIVEN_UP));
	ck_assert_int_ge(now(), near);
	sleeper_set(&s, far);
	ck_assert(!readable_within(0));
	/* The thread wakes up for what was moved away, and does not ring. */
	near = now() + 10 * MS;
	sleeper_set(&s, near);
	sleeper_set(&s, far + 1);
	wait_for_sleep_until(far + 1);
	ck_assert(!readable_within(0));
	sleeper_set(&s, INT64_MAX);
	ck_assert(!readable_within(0));
	end();
}
END_TEST

/* Any number of wakes are one byte. */
START_TEST(a_wake_rings_at_once)
{
	atom32 word = 0;

	begin();
	for (int i = 0; i < 5; i++) {
		sleeper_wake(&s, &word);
		ck_assert_int_eq(bytes(), 1);
	}
	sleeper_set(&s, INT64_MAX);
	ck_assert(!readable_within(0));
	end();
}
END_TEST

START_TEST(somebody_reads_the_byte)
{
	int64_t taken;
	char byte;

	begin();
	sleeper_set(&s, now() + MS);
	ck_assert(readable_within(GIVEN_UP));
	/* The thread that has rung lies down. */
	pthread_mutex_lock(&s.bell->mutex);
	pthread_mutex_unlock(&s.bell->mutex);
	ck_assert_int_eq(read(s.fd, &byte, 1), 1);
	taken = now();
	ck_assert(readable_within(GIVEN_UP));
	ck_assert_int_lt(now() - taken, INT64_C(20) * NS_PER_S);
	ck_assert_int_eq(bytes(), 1);
	sleeper_set(&s, INT64_MAX);
	ck_assert(!readable_within(0));
	end();
}
END_TEST

/* Who finds it tells it a moment later. */
static void wait_for_report(int n)
{
	while (reports() < n)
		sched_yield();
}

/*
 * What comes into the place of one of the two.  far_end: what is written to it
 * would come out there.
 */
enum { NOTHING, PIPE, SOCKET, WAYS };

static int far_end;

static int replace(int fd, int way)
{
	int two[2] = {-1, -1};

	if (way == NOTHING) {
		ck_assert_int_eq(close(fd), 0);
		return -1;
	}
	if (way == PIPE)
		ck_assert_int_eq(pipe(two), 0);
	else
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, two), 0);
	ck_assert_int_eq(write(two[1], "unread", 6), 6);
	ck_assert_int_eq(dup2(two[0], fd), fd);
	far_end = two[1];
	return two[0];
}

static void check_other(int fd, int other, int way)
{
	char text[8] = "";

	if (way == NOTHING) {
		ck_assert(!is_open(fd));
		return;
	}
	ck_assert_int_eq(read(fd, text, sizeof(text)), 6);
	ck_assert_str_eq(text, "unread");
	if (way == SOCKET)
		ck_assert_int_lt(recv(far_end, text, 1, MSG_DONTWAIT), 0);
	ck_assert(is_open(other));
	close(fd);
	close(other);
	close(far_end);
}

static void use(void)
{
	for (int i = 0; i < 3; i++) {
		sleeper_set(&s, 0);
		sleeper_set(&s, now() + MS);
		sleeper_set(&s, INT64_MAX);
	}
}

static void check_taken(bool rung, bool while_ringing, int way)
{
	int fd, other, n = reports();

	begin();
	if (while_ringing)
		sleeper_set(&s, 0);
	fd = rung ? s.bell->rung.fd : s.bell->polled.fd;
	other = replace(fd, way);
	use();
	wait_for_report(n + 1);
	end();
	ck_assert_int_eq(reports(), n + 1);
	check_other(fd, other, way);
}

START_TEST(taken)
{
	int before;

	begin_messages();
	before = open_descriptors();
	for (int i = 0; i < 4; i++) {
		for (int way = NOTHING; way < WAYS; way++)
			check_taken(i % 2, i / 2, way);
	}
	ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

/* The thread finds it, when it is time. */
START_TEST(taken_while_all_sleep)
{
	int other, fd;

	begin_messages();
	begin();
	fd = s.fd;
	other = replace(fd, SOCKET);
	sleeper_set(&s, now() + MS);
	while (atom32_load(&s.lost) == 0)
		sched_yield();
	wait_for_sleep_until(INT64_MAX);
	wait_for_report(1);
	ck_assert_int_eq(reports(), 1);
	end();
	check_other(fd, other, SOCKET);
}
END_TEST

/* No signal. */
START_TEST(shut_down)
{
	begin();
	ck_assert_int_eq(shutdown(s.fd, SHUT_RDWR), 0);
	use();
	end();
}
END_TEST

static int both[2];

static void close_in_child(void)
{
	sleeper_close(&s, true);
	NEED(!is_open(both[0]));
	NEED(!is_open(both[1]));
	NEED(s.fd == -1 && !s.bell);
}

START_TEST(closed_here_and_in_a_child)
{
	int before = open_descriptors();

	for (int ringing = 0; ringing < 2; ringing++) {
		begin();
		both[0] = s.bell->polled.fd;
		both[1] = s.bell->rung.fd;
		for (int i = 0; i < 2; i++) {
			ck_assert_int_ge(both[i], 3);
			ck_assert(fcntl(both[i], F_GETFD) & FD_CLOEXEC);
			ck_assert(fcntl(both[i], F_GETFL) & O_NONBLOCK);
		}
		sleeper_set(&s, ringing ? 0 : now() + HOUR);
		/* Its mutex may be held. */
		pthread_mutex_lock(&s.bell->mutex);
		in_child(close_in_child);
		pthread_mutex_unlock(&s.bell->mutex);
		ck_assert(readable_within(0) == ringing);
		sleeper_set(&s, 0);
		ck_assert(readable_within(0));
		end();
		ck_assert(!is_open(both[0]) && !is_open(both[1]));
		ck_assert_int_eq(open_descriptors(), before);
	}
}
END_TEST

/* Nor memory: this is more often than threads fit in. */
START_TEST(no_thread_is_left)
{
	enum { TIMES = 3000 };

	for (int i = 0; i < TIMES; i++) {
		begin();
		sleeper_set(&s, i % 2 ? 0 : now() + HOUR);
		end();
	}
}
END_TEST

/* Descriptors run out with the first, the second, ... */
START_TEST(no_descriptor_left)
{
	struct rlimit old, few;
	int before = open_descriptors(), fails = 0;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	for (few.rlim_cur = 0;; few.rlim_cur++) {
		int r;

		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		r = sleeper_open(&s, CLOCK_MONOTONIC, true);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
		if (r == 0)
			break;
		ck_assert_int_eq(open_descriptors(), before);
		ck_assert_int_eq(r, -EMFILE);
		ck_assert_ptr_null(s.bell);
		ck_assert_int_eq(s.fd, -1);
		fails++;
	}
	/* It takes four for a moment. */
	ck_assert_int_ge(fails, 4);
	end();
	ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

/* No other errors than those in the manual, whatever the system says. */
START_TEST(no_sockets_to_be_had)
{
	static const int errors[][2] = {
		{EMFILE, EMFILE},  {ENFILE, ENFILE},       {ENOMEM, ENOMEM},
		{ENOBUFS, ENOMEM}, {EAFNOSUPPORT, ENOSYS}, {EPERM, ENOSYS},
	};
	int before = open_descriptors();

	for (int i = 0; i < 6; i++) {
		pair_errno = errors[i][0];
		ck_assert_int_eq(sleeper_open(&s, CLOCK_MONOTONIC, true),
				 -errors[i][1]);
		pair_errno = 0;
		ck_assert_ptr_null(s.bell);
		ck_assert_int_eq(s.fd, -1);
		ck_assert_int_eq(open_descriptors(), before);
		begin();
		end();
	}
}
END_TEST

START_TEST(not_polled)
{
	atom32 word = 0;
	int before = open_descriptors();

	ck_assert_int_eq(sleeper_open(&s, CLOCK_MONOTONIC, false), 0);
	ck_assert_int_eq(s.fd, -1);
	sleeper_wake(&s, &word);
	sleeper_sleep(&s, &word, 1, INT64_MAX);
	ck_assert_ptr_null(s.bell);
	ck_assert_int_eq(open_descriptors(), before);
	end();
}
END_TEST

START_TEST(errno_is_kept)
{
	begin_messages();
	begin();
	errno = E2BIG;
	sleeper_set(&s, 0);
	sleeper_set(&s, 0);
	sleeper_set(&s, INT64_MAX);
	ck_assert_int_eq(close(s.fd), 0);
	sleeper_set(&s, 0);
	ck_assert_int_eq(errno, E2BIG);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		rings_at_the_time,
		earlier_and_later,
		a_wake_rings_at_once,
		somebody_reads_the_byte,
		taken,
		taken_while_all_sleep,
		shut_down,
		closed_here_and_in_a_child,
		no_thread_is_left,
		no_descriptor_left,
		no_sockets_to_be_had,
		not_polled,
		errno_is_kept,
	};

	return RUN_TESTS("bell", tests);
}
