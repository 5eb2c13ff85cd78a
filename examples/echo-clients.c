/* SPDX-License-Identifier: MIT */
#include "echo-clients.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <timerthread.h>
#include <unistd.h>

/* Ends a client for which the server does nothing at all. */
enum { PATIENCE_S = 60 };

struct client {
	int fd;
	int64_t idle;
	int64_t sent;    /* when it last connected, or began to send */
	int64_t touched; /* when it last did anything */
	int64_t pause;   /* the longest time for which it did nothing */
};

/* What a client does: returns NULL, or what the server did wrong. */
typedef const char *behaviour(struct client *c);

static int64_t touch(struct client *c)
{
	int64_t t = timerthread_now(NULL);

	if (t - c->touched > c->pause)
		c->pause = t - c->touched;
	c->touched = t;
	return t;
}

enum { BLOCK = 16384, PERIOD = 251 };

static char bytes[PERIOD + BLOCK]; /* filled before the clients begin */

/* Byte number i of all that a client sends, and a block of those after it. */
static const char *pattern(size_t i)
{
	return bytes + i % PERIOD;
}

static const char *send_some(struct client *c, size_t begin, size_t size)
{
	const char *block = pattern(begin);

	c->sent = touch(c);
	for (size_t i = 0; i < size;) {
		ssize_t n = send(c->fd, block + i, size - i, MSG_NOSIGNAL);

		touch(c);
		if (n < 0)
			return "it closed the connection to a sender";
		i += (size_t)n;
	}
	return NULL;
}

static const char *receive(struct client *c, size_t begin, size_t size)
{
	char block[BLOCK];

	for (size_t end = begin + size; begin < end;) {
		size_t room = end - begin < BLOCK ? end - begin : BLOCK;
		ssize_t n = recv(c->fd, block, room, 0);

		touch(c);
		if (n <= 0)
			return "it closed the connection to a reader";
		if (memcmp(block, pattern(begin), (size_t)n) != 0)
			return "the echo is not what was sent";
		begin += (size_t)n;
	}
	return NULL;
}

static const char *exchange(struct client *c, size_t begin, size_t size)
{
	const char *wrong = send_some(c, begin, size);

	return wrong ? wrong : receive(c, begin, size);
}

static const char *end_of_stream(struct client *c)
{
	char byte;

	return recv(c->fd, &byte, 1, 0) == 0 ? NULL : "no end came";
}

static const char *hang_up(struct client *c)
{
	shutdown(c->fd, SHUT_WR);
	return end_of_stream(c);
}

/* Talks a little and closes. */
static const char *talk(struct client *c)
{
	const char *wrong = NULL;

	for (size_t size = 1; size < 10000 && !wrong; size *= 3)
		wrong = exchange(c, 0, size);
	return wrong ? wrong : hang_up(c);
}

/* Sends seldom, and all in all for longer than the timeout. */
static const char *talk_slowly(struct client *c)
{
	const struct timespec pause = {c->idle / 4 / TIMERTHREAD_SEC,
				       c->idle / 4 % TIMERTHREAD_SEC};
	const char *wrong = NULL;

	for (size_t i = 0; i < 10 && !wrong; i++) {
		nanosleep(&pause, NULL);
		wrong = exchange(c, i, 1);
	}
	return wrong ? wrong : hang_up(c);
}

/*
 * The server counts from when it got the packet, which was not before the
 * client sent it.  How late it may be is for the machine's load to say.
 */
static const char *check_idle(const struct client *c, int64_t since)
{
	bool early = timerthread_now(NULL) - since < c->idle;

	return early ? "it closed too early" : NULL;
}

static const char *say_nothing(struct client *c)
{
	const char *wrong = end_of_stream(c);

	return wrong ? wrong : check_idle(c, c->sent);
}

static const char *fall_silent(struct client *c)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < 3 && !wrong; i++)
		wrong = exchange(c, i, 1);
	return wrong ? wrong : say_nothing(c);
}

/* Sends until the server takes no more.  Returns how much that was. */
static size_t flood(struct client *c, size_t begin)
{
	struct pollfd p = {.fd = c->fd, .events = POLLOUT};
	int stalled = (int)(c->idle / 6 / TIMERTHREAD_MSEC);
	size_t sent = begin;

	while (poll(&p, 1, stalled) == 1) {
		ssize_t n = send(c->fd, pattern(sent), BLOCK,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0)
			sent += (size_t)n;
		else if (errno != EAGAIN)
			break; /* the reader will notice */
	}
	return sent - begin;
}

/*
 * Keeps the server from getting rid of the echo, and reads all of it when the
 * server has stopped to read.  Until it has caught up it is as if it paused.
 */
static const char *read_late(struct client *c)
{
	const char *wrong = exchange(c, 0, 1);
	int64_t begun = touch(c);

	if (wrong)
		return wrong;
	wrong = receive(c, 1, flood(c, 1));
	c->touched = begun;
	touch(c);
	return wrong ? wrong : hang_up(c);
}

/* Sends all the time, but never reads: that is idle as well, in the end. */
static const char *never_read(struct client *c)
{
	int64_t since = c->sent;

	while (!send_some(c, 0, BLOCK))
		continue;
	return check_idle(c, since);
}

/* Goes without a goodbye, and leaves the server with an echo to write. */
static const char *vanish(struct client *c)
{
	struct linger reset = {.l_onoff = 1, .l_linger = 0};

	setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	return send_some(c, 0, 5000);
}

/* The same when the server has seen the end: that is what makes SIGPIPE. */
static const char *end_and_vanish(struct client *c)
{
	const char *wrong = vanish(c);

	shutdown(c->fd, SHUT_WR);
	return wrong;
}

static bool client_connect(struct client *c, uint16_t port)
{
	struct sockaddr_in in = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	c->pause = 0;
	c->sent = c->touched = timerthread_now(NULL);
	return c->fd >= 0 &&
	       connect(c->fd, (struct sockaddr *)&in, sizeof(in)) == 0;
}

/*
 * On a busy machine a client may be kept from sending for so long that the
 * server is right to close.  Then it tries again.
 */
static int client_run(behaviour *behave, uint16_t port, int64_t idle)
{
	struct client c = {.idle = idle};
	const char *wrong;

	alarm(PATIENCE_S);
	do {
		if (client_connect(&c, port))
			wrong = behave(&c);
		else
			wrong = strerror(errno);
		close(c.fd);
	} while (wrong && c.pause >= idle / 2);
	if (wrong)
		fprintf(stderr, "client: %s\n", wrong);
	return wrong ? 1 : 0;
}

int clients_fork(uint16_t port, int64_t idle)
{
	static const struct {
		behaviour *behave;
		int clients;
	} kinds[] = {{talk, 8},        {talk_slowly, 3},   {say_nothing, 2},
		     {fall_silent, 4}, {read_late, 2},     {never_read, 1},
		     {vanish, 2},      {end_and_vanish, 2}};
	int n = 0;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i % PERIOD);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (int i = 0; i < kinds[k].clients; i++, n++) {
			pid_t pid = fork();

			if (pid < 0)
				return -errno;
			if (pid == 0)
				_exit(client_run(kinds[k].behave, port, idle));
		}
	return n;
}
