/* SPDX-License-Identifier: MIT */
/*
 * The server: the part to copy.
 *
 * The driver of the timers is the event loop: their file descriptor is one more
 * in the epoll set, and when it is readable the loop calls
 * timerthread_dispatch.  So callbacks run on the loop's own thread, between
 * its other work.  Nothing is locked, a callback may free a connection right
 * away, and a cancel never meets a callback that is running.
 *
 * One thing needs care.  epoll_wait returns a batch of events, and a callback
 * might free a connection that a later event of the batch refers to.  So the
 * loop calls timerthread_dispatch after it has handled the whole batch: then no
 * event is left that refers to anything, and the next batch can hold none of a
 * socket that is closed.  (The handlers of events free only their own
 * connection, and a batch has one event for each.)  It is also the better
 * order: if a packet is in the same batch as the timeout of its connection, the
 * timer has been rescheduled by then.
 */
#define _GNU_SOURCE 1 /* accept4 */
#include "echo-server.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long to accept nothing when there is no room for one more. */
#define ACCEPT_PAUSE (100 * TIMERTHREAD_MSEC)

enum { BATCH = 64 };

struct connection {
	struct server *server;
	timerthread_id timer;
	int fd;
	uint32_t events;   /* what to wait for: EPOLLIN or EPOLLOUT */
	size_t begin, end; /* what of buf is still to be written */
	char buf[4096];
};

void check(const char *what, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "epoll-echo: %s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

int must(const char *what, int ret)
{
	check(what, ret < 0 ? -errno : 0);
	return ret;
}

static int watch(const struct server *s, int op, int fd, uint32_t events,
		 void *ptr)
{
	struct epoll_event event = {.events = events, .data.ptr = ptr};

	return epoll_ctl(s->epoll, op, fd, &event);
}

/* Connections. */

/* Closing the socket takes it out of the epoll set too. */
static void connection_free(struct connection *c)
{
	close(c->fd);
	free(c);
}

/* Reschedules its timer to a later time: some tens of ns, no system call. */
static void connection_move(struct connection *c)
{
	struct timerthread *tt = c->server->tt;

	check("timerthread_reschedule_after",
	      timerthread_reschedule_after(tt, c->timer, c->server->idle));
}

/*
 * The timer's callback.  What has happened since epoll_wait returned is not the
 * peer's fault, however long ago that was.
 */
static void connection_expired(void *arg)
{
	struct connection *c = arg;
	short events = c->events == EPOLLIN ? POLLIN : POLLOUT;
	struct pollfd p = {.fd = c->fd, .events = events};

	if (poll(&p, 1, 0) == 1) {
		connection_move(c);
		return;
	}
	c->server->by_timer++;
	connection_free(c);
}

/* Its timer is pending: there is no connection without a timer. */
static void connection_close(struct connection *c)
{
	check("timerthread_cancel",
	      timerthread_cancel(c->server->tt, c->timer));
	c->server->by_peer++;
	connection_free(c);
}

static bool connection_read(struct connection *c)
{
	ssize_t n = recv(c->fd, c->buf, sizeof(c->buf), 0);

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	c->begin = 0;
	c->end = (size_t)n;
	return true;
}

/* MSG_NOSIGNAL: a peer that is gone is an error here, and no SIGPIPE. */
static bool connection_write(struct connection *c)
{
	const char *p = c->buf + c->begin;
	ssize_t n = send(c->fd, p, c->end - c->begin, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->begin += (size_t)n;
	return true;
}

/*
 * Nothing more is read until all has been written, so that a peer that does
 * not read fills its own buffers and not ours.
 */
static bool connection_wait(struct connection *c)
{
	uint32_t events = c->begin < c->end ? EPOLLOUT : EPOLLIN;

	if (events == c->events)
		return true;
	if (events == EPOLLOUT)
		c->server->stalled++;
	c->events = events;
	return watch(c->server, EPOLL_CTL_MOD, c->fd, events, c) == 0;
}

/*
 * Reads and writes once at most: the other connections want their turn, and
 * what is left to do makes the next batch.  Which events there are does not
 * matter, for errors and hang-ups come out of these calls as well.
 */
static void connection_ready(struct connection *c)
{
	bool alive = c->begin < c->end || connection_read(c);

	if (alive && c->begin < c->end)
		alive = connection_write(c);
	if (alive && connection_wait(c))
		connection_move(c);
	else
		connection_close(c);
}

/* Without memory for it there is no connection, but still a server. */
static void connection_begin(struct server *s, int fd)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return;
	}
	c->server = s;
	c->fd = fd;
	c->events = EPOLLIN;
	if (watch(s, EPOLL_CTL_ADD, fd, EPOLLIN, c) < 0 ||
	    timerthread_schedule_after(s->tt, s->idle, connection_expired, c,
				       &c->timer) < 0)
		connection_free(c);
	else
		s->accepted++;
}

/* The server's own events. */

static void accept_again(void *arg)
{
	struct server *s = arg;

	must("epoll_ctl",
	     watch(s, EPOLL_CTL_MOD, s->listener, EPOLLIN, &s->listener));
}

/*
 * The connection that cannot be accepted stays where it is, and the listener
 * readable: to go on would be to run in circles.  A timer ends the pause; if
 * that cannot be had either, circles it is.
 */
static void accept_later(struct server *s)
{
	s->full++;
	if (timerthread_schedule_after(s->tt, ACCEPT_PAUSE, accept_again, s,
				       NULL) == 0)
		must("epoll_ctl",
		     watch(s, EPOLL_CTL_MOD, s->listener, 0, &s->listener));
}

static void accept_one(struct server *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0)
		connection_begin(s, fd);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		 errno == ENOMEM)
		accept_later(s);
	/* All else concerns one connection only, which is gone by now. */
}

static void time_is_up(void *arg)
{
	struct server *s = arg;

	s->end = 0;
}

static void signal_ready(struct server *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) == sizeof(info))
		s->end = (int)info.ssi_signo;
}

static void server_turn(struct server *s)
{
	struct epoll_event events[BATCH];
	int n = epoll_wait(s->epoll, events, BATCH, -1);
	bool due = false;

	if (n < 0 && errno != EINTR)
		must("epoll_wait", n);
	for (int i = 0; i < n; i++) {
		void *ptr = events[i].data.ptr;

		if (ptr == &s->timers)
			due = true;
		else if (ptr == &s->listener)
			accept_one(s);
		else if (ptr == &s->signals)
			signal_ready(s);
		else
			connection_ready(ptr);
	}
	if (due)
		check("timerthread_dispatch", timerthread_dispatch(s->tt));
}

int server_run(struct server *s)
{
	s->end = -1;
	while (s->end < 0)
		server_turn(s);
	return s->end;
}

/* Its life. */

uint16_t server_listen(struct server *s, uint16_t port)
{
	struct sockaddr_in in = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr *addr = (struct sockaddr *)&in;
	socklen_t size = sizeof(in);
	int on = 1;

	s->listener =
		socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	must("socket", s->listener);
	must("SO_REUSEADDR", setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR,
					&on, sizeof(on)));
	/* The connections have this from the listener: an echo at once. */
	must("TCP_NODELAY", setsockopt(s->listener, IPPROTO_TCP, TCP_NODELAY,
				       &on, sizeof(on)));
	must("bind", bind(s->listener, addr, size));
	must("listen", listen(s->listener, SOMAXCONN));
	must("getsockname", getsockname(s->listener, addr, &size));
	return ntohs(in.sin_port);
}

void server_start(struct server *s, const sigset_t *signals, int64_t duration)
{
	s->signals = must("signalfd",
			  signalfd(-1, signals, SFD_NONBLOCK | SFD_CLOEXEC));
	check("timerthread_create", timerthread_create(&s->tt));
	check("timerthread_start_polled",
	      timerthread_start_polled(s->tt, &s->timers));
	s->epoll = must("epoll_create1", epoll_create1(EPOLL_CLOEXEC));
	must("epoll_ctl",
	     watch(s, EPOLL_CTL_ADD, s->listener, EPOLLIN, &s->listener));
	must("epoll_ctl",
	     watch(s, EPOLL_CTL_ADD, s->signals, EPOLLIN, &s->signals));
	must("epoll_ctl",
	     watch(s, EPOLL_CTL_ADD, s->timers, EPOLLIN, &s->timers));
	if (duration > 0)
		check("timerthread_schedule_after",
		      timerthread_schedule_after(s->tt, duration, time_is_up, s,
						 NULL));
}

/* Every connection has a timer, so the timers that are left list them all. */
static void close_one(timerthread_id id, timerthread_fn *fn, void *arg,
		      void *ctx)
{
	struct server *s = ctx;

	(void)id;
	if (fn != connection_expired)
		return;
	s->at_end++;
	connection_free(arg);
}

void server_stop(struct server *s)
{
	check("timerthread_stop", timerthread_stop(s->tt));
	check("timerthread_cancel_all",
	      timerthread_cancel_all(s->tt, close_one, s));
	/* The timers' descriptor is closed by destroy: out of the set first. */
	close(s->epoll);
	timerthread_destroy(s->tt);
	close(s->signals);
	close(s->listener);
}
