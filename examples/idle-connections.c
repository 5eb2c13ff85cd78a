/* SPDX-License-Identifier: MIT */
/*
 * idle-connections: close connections on which nothing comes in for a while.
 *
 *     cc idle-connections.c -o idle-connections \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Each connection has one timer, from its beginning to its end.  At each packet
 * timerthread_reschedule_after gives it a later deadline, which costs tens of
 * nanoseconds and makes no second timer.  When the timer expires, the callback
 * only shuts the socket down, and notes that, for the report.  The connection's
 * own thread then sees the end of the stream, in the place where it sees all
 * others.  That thread frees the connection, after a cancel that waits: a
 * callback that has just begun has returned by then.
 *
 * Here the peers are threads on socket pairs, each of which sends some packets
 * and then falls silent.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <timerthread.h>
#include <unistd.h>

#define IDLE        (200 * TIMERTHREAD_MSEC)
#define PAUSE       (20 * TIMERTHREAD_MSEC)
#define CONNECTIONS 4

struct connection {
	struct timerthread *tt;
	timerthread_id idle_timer;
	int number;
	int fd;
	bool idle; /* written by the callback */
};

struct peer {
	int fd;
	int packets;
};

static void fail(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(1);
}

/* Runs on the timer thread. */
static void expired(void *arg)
{
	struct connection *c = arg;

	c->idle = true;
	shutdown(c->fd, SHUT_RDWR);
}

static void serve(struct connection *c)
{
	int packets = 0;
	char byte;

	while (read(c->fd, &byte, 1) == 1) {
		packets++;
		/* -ENOENT: the callback has begun; read will see the end. */
		timerthread_reschedule_after(c->tt, c->idle_timer, IDLE);
	}
	/* From here on the callback does not run, and c->idle can be read. */
	timerthread_cancel_wait(c->tt, c->idle_timer);
	printf("connection %d: %d packets, then %s\n", c->number, packets,
	       c->idle ? "idle for too long" : "closed by its peer");
}

static void *connection_main(void *arg)
{
	struct connection *c = arg;
	int r;

	r = timerthread_schedule_after(c->tt, IDLE, expired, c, &c->idle_timer);
	if (r < 0)
		fail("timerthread_schedule_after", -r);
	serve(c);
	close(c->fd);
	free(c);
	return NULL;
}

static void *peer_main(void *arg)
{
	const struct peer *p = arg;
	const struct timespec pause = {0, PAUSE};
	char byte = 0;

	for (int i = 0; i < p->packets; i++) {
		if (send(p->fd, &byte, 1, MSG_NOSIGNAL) < 0)
			break;
		nanosleep(&pause, NULL);
	}
	/* Those of an even number hang up, the others just fall silent. */
	if (p->packets % 2 == 0)
		shutdown(p->fd, SHUT_RDWR);
	return NULL;
}

static pthread_t begin(void *(*fn)(void *), void *arg)
{
	pthread_t thread;
	int r = pthread_create(&thread, NULL, fn, arg);

	if (r != 0)
		fail("pthread_create", r);
	return thread;
}

static void run_connections(struct timerthread *tt)
{
	pthread_t ours[CONNECTIONS], theirs[CONNECTIONS];
	struct peer peers[CONNECTIONS];

	for (int i = 0; i < CONNECTIONS; i++) {
		struct connection *c = calloc(1, sizeof(*c));
		int fds[2];

		if (!c || socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
			fail("a connection", errno);
		c->tt = tt;
		c->number = i;
		c->fd = fds[0];
		peers[i] = (struct peer){fds[1], 10 + i};
		ours[i] = begin(connection_main, c);
		theirs[i] = begin(peer_main, &peers[i]);
	}
	for (int i = 0; i < CONNECTIONS; i++) {
		pthread_join(ours[i], NULL);
		pthread_join(theirs[i], NULL);
		close(peers[i].fd);
	}
}

int main(void)
{
	struct timerthread *tt;
	int r = timerthread_create(&tt);

	if (r < 0)
		fail("timerthread_create", -r);
	/* Nobody minds if an idle connection lives 20 ms longer. */
	r = timerthread_set_slack(tt, 20 * TIMERTHREAD_MSEC);
	if (r == 0)
		r = timerthread_start(tt, NULL);
	if (r < 0)
		fail("timerthread_start", -r);
	run_connections(tt);
	timerthread_destroy(tt);
	return 0;
}
