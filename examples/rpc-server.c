/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* pipe2 */
#include "rpc-server.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A reply that the server holds back. */
struct held {
	struct server *server;
	struct message reply;
};

static void server_flush(struct server *s)
{
	if (batch_send(&s->out, s->fd) < 0)
		shutdown(s->fd, SHUT_RDWR); /* the client will notice */
}

static void server_reply(struct server *s, const struct message *reply)
{
	s->out.msg[s->out.n++] = *reply;
	if (s->out.n == BATCH)
		server_flush(s);
}

/*
 * The callback of a slow reply.  Sending may block on the client, and a
 * callback that blocks holds up every other timer.  So it leaves that to the
 * connection's thread, by way of a pipe with room for thousands.
 */
static void held_due(void *arg)
{
	struct held *held = arg;

	if (write(held->server->due[1], &held->reply, sizeof(held->reply)) < 0)
		abort(); /* no error of write(2) can happen here */
	free(held);
}

/* From 0 up to but not including 1: enough to decide who waits. */
static double server_random(struct server *s)
{
	return rand_r(&s->seed) / (RAND_MAX + 1.0);
}

/*
 * How long to hold a reply back; 0 for most.  Half of the slow ones come
 * within a sixty-fourth of the timeout before or after the deadline, so that
 * replies come at the same time as timers expire.
 */
static int64_t server_delay(struct server *s)
{
	double timeout = (double)s->timeout;

	if (server_random(s) >= s->slow)
		return 0;
	if (server_random(s) < 0.5)
		return (int64_t)(1.5 * timeout);
	return (int64_t)((1 + (2 * server_random(s) - 1) / 64) * timeout);
}

static void server_answer(struct server *s, struct message m)
{
	int64_t delay = server_delay(s);
	struct held *held = delay == 0 ? NULL : malloc(sizeof(*held));

	m.value = ~m.value;
	if (held) {
		*held = (struct held){.server = s, .reply = m};
		if (timerthread_schedule_after(s->timers, delay, held_due, held,
					       NULL) == 0) {
			s->nheld++;
			return;
		}
		free(held);
	}
	server_reply(s, &m);
}

static void *server_serve(void *arg)
{
	struct server *s = arg;
	struct batch in = {.n = 0}, due = {.n = 0};
	/* The last reply is sent half a timeout after its deadline. */
	int patience = (int)(2 * s->timeout / TIMERTHREAD_MSEC) + 5000;
	struct pollfd fds[] = {{.fd = s->fd, .events = POLLIN},
			       {.fd = s->due[0], .events = POLLIN}};

	while (fds[0].fd >= 0 || s->nheld > 0) {
		int n = poll(fds, 2, fds[0].fd >= 0 ? -1 : patience);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break; /* what is still held will never be sent */
		if (fds[0].revents) {
			if (batch_read(&in, s->fd) <= 0)
				fds[0].fd = -1; /* poll skips it from now on */
			for (size_t i = 0; i < in.n; i++)
				server_answer(s, in.msg[i]);
		}
		if (fds[1].revents) {
			batch_read(&due, s->due[0]);
			for (size_t i = 0; i < due.n; i++)
				server_reply(s, &due.msg[i]);
			s->nheld -= due.n;
		}
		server_flush(s);
	}
	shutdown(s->fd, SHUT_WR);
	return NULL;
}

int server_start(struct server *s)
{
	if (pipe2(s->due, O_CLOEXEC) < 0)
		return -errno;
	return -pthread_create(&s->thread, NULL, server_serve, s);
}
