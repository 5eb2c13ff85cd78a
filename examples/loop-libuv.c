/* SPDX-License-Identifier: MIT */
/*
 * loop-libuv: timers in a loop of libuv.
 *
 *     cc loop-libuv.c -o loop-libuv \
 *         $(pkg-config --cflags --libs timerthread libuv) -pthread
 *
 * The loop watches the descriptor of the instance as any other.  Callbacks run
 * in timerthread_dispatch, so on the loop's thread: they may use its handles,
 * and need no lock.  Other threads set timers, too; the loop runs them.
 *
 * To copy from here: timers_begin, timers_readable and timers_end.
 *
 * Here a connection has an idle timeout.  Its peer is a thread, which sets two
 * timers, sends some bytes, and falls silent.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <timerthread.h>
#include <unistd.h>
#include <uv.h>

#define IDLE  (200 * TIMERTHREAD_MSEC)
#define PAUSE (20 * TIMERTHREAD_MSEC)
#define HOUR  (3600 * TIMERTHREAD_SEC)

static uv_loop_t loop;
static struct timerthread *tt;
static uv_poll_t timers; /* the descriptor of tt, in the loop */

struct connection {
	uv_pipe_t pipe;
	timerthread_id idle_timer;
	ssize_t bytes;
};

/* An error of libuv is a negative errno, as one of the library is. */
static void check(const char *what, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "loop-libuv: %s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

static void timers_readable(uv_poll_t *poll, int status, int events)
{
	int ret;

	(void)events;
	check("uv_poll", status);
	ret = timerthread_dispatch(tt);
	/* Stopped elsewhere: the descriptor stays readable. */
	if (ret == -ESHUTDOWN)
		uv_poll_stop(poll);
	else
		check("timerthread_dispatch", ret);
}

static void timers_begin(void)
{
	int fd;

	check("timerthread_create", timerthread_create(&tt));
	check("timerthread_start_polled", timerthread_start_polled(tt, &fd));
	check("uv_poll_init", uv_poll_init(&loop, &timers, fd));
	check("uv_poll_start",
	      uv_poll_start(&timers, UV_READABLE, timers_readable));
}

/*
 * On the loop's thread, but not in a callback of a timer.  timerthread_destroy
 * follows when no other thread uses tt any more.
 */
static void timers_end(timerthread_visit_fn *take_back)
{
	/* From now on no callback runs, and other threads get -ESHUTDOWN. */
	timerthread_stop(tt);
	uv_poll_stop(&timers);
	uv_close((uv_handle_t *)&timers, NULL);
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
static void closed(uv_handle_t *handle)
{
	(void)handle;
	timers_end(take_back);
}

static void idle(void *arg)
{
	struct connection *c = arg;

	printf("idle after %zd bytes\n", c->bytes);
	uv_close((uv_handle_t *)&c->pipe, closed);
}

static void received(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct connection *c = stream->data;

	(void)buf;
	if (n == 0)
		return; /* nothing to read after all */
	if (n > 0) {
		c->bytes += n;
		timerthread_reschedule_after(tt, c->idle_timer, IDLE);
	} else {
		timerthread_cancel(tt, c->idle_timer);
		uv_close((uv_handle_t *)stream, closed);
	}
}

static void give_buffer(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
	static char bytes[64];

	(void)handle;
	(void)size;
	*buf = uv_buf_init(bytes, sizeof(bytes));
}

static void connection_begin(struct connection *c, int fd)
{
	uv_stream_t *stream = (uv_stream_t *)&c->pipe;

	check("uv_pipe_init", uv_pipe_init(&loop, &c->pipe, 0));
	check("uv_pipe_open", uv_pipe_open(&c->pipe, fd));
	stream->data = c;
	check("uv_read_start", uv_read_start(stream, give_buffer, received));
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

	check("uv_loop_init", uv_loop_init(&loop));
	check("socketpair",
	      socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0 ? -errno : 0);
	timers_begin();
	connection_begin(&connection, fds[0]);
	check("pthread_create",
	      -pthread_create(&peer, NULL, peer_main, &fds[1]));
	uv_run(&loop, UV_RUN_DEFAULT); /* until no handle is left */
	pthread_join(peer, NULL);
	timerthread_destroy(tt);
	close(fds[1]);
	check("uv_loop_close", uv_loop_close(&loop));
	return 0;
}
