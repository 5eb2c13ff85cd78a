/* SPDX-License-Identifier: MIT */
/*
 * The driver's own thread sleeps on the futex, whatever its clock.  For a
 * program that polls, there is a bell: a pair of sockets, of which the program
 * polls one, and a thread that sends a byte over the other when it is time.
 * (With timerthread_set_wake, there is none.)
 *
 * They are sockets because send can be told not to raise SIGPIPE.  Before a
 * socket is used, its identity is compared: in its place, other code may have
 * put a file of its own.  Only code that does that at this very moment is not
 * noticed.
 *
 * The thread sleeps until `until`.  It is woken for an earlier time, but not
 * for a later one: it wakes up, looks, and sleeps again.  While a byte is on
 * its way, it looks each second whether somebody else has taken it.
 */
#include "os/sleeper.h"
#include "base/keep.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/memory.h"
#include "os/thread.h"

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_NS NS_PER_S

/* macOS has neither. */
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif
#ifndef SOCK_CLOEXEC
#define SOCK_CLOEXEC 0
#endif

struct bell {
	/* Constant. */
	struct end {
		int fd;
		dev_t dev;
		ino_t ino;
	} polled, rung;
	pthread_t thread;
	pthread_mutex_t mutex;
	atom32 seq; /* the thread's futex; written under the mutex */
	/* Protected by the mutex. */
	int64_t at;    /* when it rings; INT64_MAX: never */
	int64_t until; /* the thread sleeps until then */
	bool ringing;  /* a byte was sent, and we did not take it back */
	bool untold;   /* the descriptor was lost */
	bool ended;
};

static bool is_ours(const struct end *e)
{
	struct stat now;

	return fstat(e->fd, &now) == 0 && S_ISSOCK(now.st_mode) &&
	       now.st_dev == e->dev && now.st_ino == e->ino;
}

/* With the mutex, as the next ones. */
static bool check(struct sleeper *s)
{
	if (is_ours(&s->bell->polled) && is_ours(&s->bell->rung))
		return true;
	if (atom32_swap(&s->lost, 0, 1) == 0)
		s->bell->untold = true;
	return false;
}

static void leave(struct sleeper *s)
{
	bool tell = s->bell->untold;

	s->bell->untold = false;
	pthread_mutex_unlock(&s->bell->mutex);
	if (tell)
		report("somebody has closed or replaced the descriptor of an "
		       "instance");
}

static void ring(struct sleeper *s)
{
	struct bell *b = s->bell;
	char byte = 0;

	b->ringing = true;
	if (check(s) &&
	    recv(b->polled.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 1)
		send(b->rung.fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void silence(struct sleeper *s)
{
	char byte;

	if (s->bell->ringing && check(s))
		while (recv(s->bell->polled.fd, &byte, 1, MSG_DONTWAIT) > 0)
			;
	s->bell->ringing = false;
}

static void change(struct bell *b)
{
	atom32_store(&b->seq, atom32_load(&b->seq) + 1);
	futex_wake(&b->seq, 1);
}

/* Returns when the thread must look again. */
static int64_t look(struct sleeper *s)
{
	int64_t now = clock_now(s->clock);

	if (atom32_load(&s->lost) != 0)
		return INT64_MAX;
	if (s->bell->at > now)
		return s->bell->at;
	ring(s);
	return now + LOOK_NS;
}

static void *run(void *sleeper)
{
	struct sleeper *s = sleeper;
	struct bell *b = s->bell;

	thread_prepare("timerthread-fd", s);
	pthread_mutex_lock(&b->mutex);
	while (!b->ended) {
		uint32_t seq = atom32_load(&b->seq);
		int64_t until = b->until = look(s);

		leave(s);
		futex_wait_until(&b->seq, seq, s->clock, until);
		pthread_mutex_lock(&b->mutex);
	}
	leave(s);
	return NULL;
}

/*
 * Takes a number above those of the standard streams, which other code uses
 * without asking where they come from.  0, or a negative errno.
 *
 * NetBSD gives a socket its inode number when somebody first looks at it, and
 * tells him 0: so the second look counts.
 */
static int open_end(struct end *e, int low)
{
	struct stat is;

	e->fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	/* EINVAL: there may not even be that many descriptors. */
	if (e->fd < 0)
		return errno == EINVAL ? -EMFILE : -errno;
	if (fstat(e->fd, &is) != 0 || fstat(e->fd, &is) != 0 ||
	    fcntl(e->fd, F_SETFL, O_NONBLOCK) != 0) {
		int r = -errno;

		close(e->fd);
		e->fd = -1;
		return r;
	}
	e->dev = is.st_dev;
	e->ino = is.st_ino;
	return 0;
}

static int open_ends(struct bell *b)
{
	int low[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) != 0)
		return -errno;
	r = open_end(&b->polled, low[0]);
	if (r == 0)
		r = open_end(&b->rung, low[1]);
	close(low[0]);
	close(low[1]);
	return r;
}

/* Closes what is open, and frees the bell. */
static void bell_free(struct bell *b)
{
	if (is_ours(&b->polled))
		close(b->polled.fd);
	if (is_ours(&b->rung))
		close(b->rung.fd);
	memory_free(b);
}

static int bell_start(struct sleeper *s)
{
	struct bell *b = s->bell;
	int r = open_ends(b);

	if (r == 0)
		r = -pthread_mutex_init(&b->mutex, NULL);
	if (r == 0) {
		r = -thread_create(&b->thread, NULL, run, s);
		if (r < 0)
			pthread_mutex_destroy(&b->mutex);
	}
	if (r < 0)
		bell_free(b);
	else
		s->fd = b->polled.fd;
	return r;
}

/* A system call filter may cause any error; all of these become -ENOSYS. */
static int allowed(int r)
{
	if (r == -ENOBUFS)
		return -ENOMEM;
	return r == 0 || r == -EMFILE || r == -ENFILE || r == -ENOMEM ||
			       r == -EAGAIN
		       ? r
		       : -ENOSYS;
}

int sleeper_open(struct sleeper *s, clockid_t clock, bool polled)
{
	const struct end none = {.fd = -1};
	KEEP_THREAD;
	int r;

	*s = (struct sleeper){.clock = clock, .fd = -1, .polled = polled};
	if (!futex_works())
		return -ENOSYS;
	if (!polled)
		return 0;
	s->bell = memory_alloc(sizeof(*s->bell));
	if (!s->bell)
		return -ENOMEM;
	*s->bell = (struct bell){.polled = none, .rung = none, .at = INT64_MAX};
	r = allowed(bell_start(s));
	if (r < 0)
		s->bell = NULL;
	return r;
}

static void bell_end(struct sleeper *s)
{
	struct bell *b = s->bell;

	pthread_mutex_lock(&b->mutex);
	silence(s);
	b->ended = true;
	change(b);
	leave(s);
	pthread_join(b->thread, NULL);
}

/* In a child, it may be held for ever; what it may have allocated is lost. */
static void end_mutex(pthread_mutex_t *m)
{
	if (pthread_mutex_trylock(m) != 0)
		return;
	pthread_mutex_unlock(m);
	pthread_mutex_destroy(m);
}

/* In a child, the thread is not there. */
void sleeper_close(struct sleeper *s, bool inherited)
{
	KEEP_THREAD;

	if (s->bell) {
		if (!inherited)
			bell_end(s);
		end_mutex(&s->bell->mutex);
		bell_free(s->bell);
	}
	s->bell = NULL;
	s->fd = -1;
}

/* On whichever clock the time is, one that has passed rings at once. */
void sleeper_set(struct sleeper *s, int64_t t)
{
	KEEP_THREAD;
	struct bell *b = s->bell;

	pthread_mutex_lock(&b->mutex);
	b->at = t;
	/* For a loop that is told of changes alone, each ring is one. */
	silence(s);
	if (t <= clock_now(s->clock))
		ring(s);
	if (t < b->until)
		change(b);
	leave(s);
}

void sleeper_sleep(struct sleeper *s, atom32 *word, uint32_t expected,
		   int64_t deadline)
{
	futex_wait_until(word, expected, s->clock, deadline);
}

void sleeper_wake(struct sleeper *s, atom32 *word)
{
	if (s->bell)
		sleeper_set(s, 0);
	else
		futex_wake(word, 1);
}
