/* SPDX-License-Identifier: MIT */
/*
 * loop-glib: timers in a main loop of GLib.
 *
 *     cc loop-glib.c -o loop-glib \
 *         $(pkg-config --cflags --libs timerthread glib-2.0) -pthread
 *
 * The loop watches the descriptor of the instance as any other.  Callbacks run
 * in timerthread_dispatch, so on the loop's thread: they may use its sources,
 * and need no lock.  Other threads set timers, too; the loop runs them.
 *
 * To copy from here: timers_begin, timers_readable and timers_end.
 *
 * Here a connection has an idle timeout.  Its peer is a thread, which sets two
 * timers, sends some bytes, and falls silent.
 */
#include <errno.h>
#include <glib-unix.h>
#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <timerthread.h>
#include <unistd.h>

#define IDLE  (200 * TIMERTHREAD_MSEC)
#define PAUSE (20 * TIMERTHREAD_MSEC)
#define HOUR  (3600 * TIMERTHREAD_SEC)

static GMainLoop *loop;
static struct timerthread *tt;
static guint timers; /* the source for the descriptor of tt; 0: none */

struct connection {
	int fd;
	guint source;
	timerthread_id idle_timer;
	ssize_t bytes;
};

static void check(const char *what, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "loop-glib: %s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

static gboolean timers_readable(gint fd, GIOCondition condition, gpointer data)
{
	int ret = timerthread_dispatch(tt);

	(void)fd;
	(void)condition;
	(void)data;
	/* Stopped elsewhere: the descriptor stays readable. */
	if (ret == -ESHUTDOWN) {
		timers = 0;
		return G_SOURCE_REMOVE;
	}
	check("timerthread_dispatch", ret);
	return G_SOURCE_CONTINUE;
}

/* In the default context; for another one, g_unix_fd_source_new. */
static void timers_begin(void)
{
	int fd;

	check("timerthread_create", timerthread_create(&tt));
	check("timerthread_start_polled", timerthread_start_polled(tt, &fd));
	timers = g_unix_fd_add(fd, G_IO_IN, timers_readable, NULL);
}

/*
 * On the loop's thread, but not in a callback of a timer.  timerthread_destroy
 * follows when no other thread uses tt any more.
 */
static void timers_end(timerthread_visit_fn *take_back)
{
	/* From now on no callback runs, and other threads get -ESHUTDOWN. */
	timerthread_stop(tt);
	if (timers != 0)
		g_source_remove(timers);
	timerthread_cancel_all(tt, take_back, NULL);
}

static void say(void *arg)
{
	printf("%s: ran\n", (const char *)arg);
}

/* If a timer owns memory, this frees it. */
static void take_back(timerthread_id id, timerthread_fn *fn, void *arg,
		      void *ctx)
{
	(void)id;
	(void)fn;
	(void)ctx;
	printf("%s: did not run\n", (const char *)arg);
}

/* The last connection: this is the end. */
static void connection_end(struct connection *c)
{
	g_source_remove(c->source);
	close(c->fd);
	g_main_loop_quit(loop);
}

static void idle(void *arg)
{
	struct connection *c = arg;

	printf("idle after %zd bytes\n", c->bytes);
	connection_end(c);
}

static gboolean received(gint fd, GIOCondition condition, gpointer data)
{
	struct connection *c = data;
	char bytes[64];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	(void)condition;
	if (n > 0) {
		c->bytes += n;
		timerthread_reschedule_after(tt, c->idle_timer, IDLE);
	} else {
		timerthread_cancel(tt, c->idle_timer);
		connection_end(c);
	}
	/* (Of a source that was removed, GLib ignores the result.) */
	return G_SOURCE_CONTINUE;
}

static void connection_begin(struct connection *c, int fd)
{
	c->fd = fd;
	c->source = g_unix_fd_add(fd, G_IO_IN | G_IO_HUP, received, c);
	check("timerthread_schedule_after",
	      timerthread_schedule_after(tt, IDLE, idle, c, &c->idle_timer));
}

static void *peer_main(void *arg)
{
	static char soon[] = "a timer of another thread";
	static char late[] = "one of an hour";
	const struct timespec pause = {0, PAUSE};
	const int *fd = arg;

	/* -ESHUTDOWN after the end: memory of such a timer is freed here. */
	timerthread_schedule_after(tt, PAUSE, say, soon, NULL);
	timerthread_schedule_after(tt, HOUR, say, late, NULL);
	for (int i = 0; i < 5 && send(*fd, "", 1, MSG_NOSIGNAL) == 1; i++)
		nanosleep(&pause, NULL);
	return NULL;
}

int main(void)
{
	struct connection connection = {0};
	pthread_t peer;
	int fds[2];

	loop = g_main_loop_new(NULL, FALSE);
	check("socketpair",
	      socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0 ? -errno : 0);
	timers_begin();
	connection_begin(&connection, fds[0]);
	check("pthread_create",
	      -pthread_create(&peer, NULL, peer_main, &fds[1]));
	g_main_loop_run(loop);
	timers_end(take_back);
	pthread_join(peer, NULL);
	timerthread_destroy(tt);
	close(fds[1]);
	g_main_loop_unref(loop);
	return 0;
}
