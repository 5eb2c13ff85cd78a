/* SPDX-License-Identifier: MIT */
#include "rpc-client.h"
#include <errno.h>
#include <sys/socket.h>

static void client_fail(struct client *c, int error)
{
	int none = 0;

	atomic_compare_exchange_strong(&c->error, &none, error);
	window_close(&c->window);
	/* Whoever waits for the other end, there or here, waits no more. */
	shutdown(c->fd, SHUT_RDWR);
}

/* Sends a request from every record that is free, all at once. */
static void *client_send(void *arg)
{
	struct client *c = arg;
	struct window *w = &c->window;
	struct batch out = {.n = 0};
	struct request *r;
	uint64_t value = 0;
	int ret;

	while ((r = window_take(w, true))) {
		do {
			ret = request_arm(r, ++value, &out.msg[out.n]);
			if (ret > 0)
				out.n++;
		} while (ret >= 0 && out.n < BATCH &&
			 (r = window_take(w, false)));
		if (ret >= 0)
			ret = batch_send(&out, c->fd);
		if (ret < 0)
			client_fail(c, -ret);
	}
	window_drain(w);
	shutdown(c->fd, SHUT_WR);
	return NULL;
}

static void *client_read(void *arg)
{
	struct client *c = arg;
	struct batch in = {.n = 0};
	int ret;

	while ((ret = batch_read(&in, c->fd)) > 0)
		for (size_t i = 0; i < in.n; i++)
			request_reply(&c->window, &in.msg[i]);
	if (ret == 0 && !atomic_load(&c->window.closed))
		ret = -ECONNRESET;
	if (ret < 0)
		client_fail(c, -ret);
	return NULL;
}

int client_start(struct client *c, int fd, struct timerthread *timers,
		 int64_t timeout)
{
	int error;

	c->fd = fd;
	window_init(&c->window, timers, timeout);
	error = pthread_create(&c->reader, NULL, client_read, c);
	if (error != 0)
		return -error;
	error = pthread_create(&c->sender, NULL, client_send, c);
	if (error != 0) {
		client_fail(c, error);
		pthread_join(c->reader, NULL);
	}
	return -error;
}
