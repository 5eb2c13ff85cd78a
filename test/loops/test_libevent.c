/* SPDX-License-Identifier: MIT */
/*
 * Timers in a loop of libevent.
 */
#include "loop_test.h"

#include <event2/event.h>

/* Which system call waits, and how it reports a descriptor. */
static const struct way {
	const char *name;
	const char *avoid[4];
	short flags;
} ways[] = {
	{"libevent", {NULL}, 0},
	{"libevent, edges", {NULL}, EV_ET},
	{"libevent, poll", {"epoll", "select", NULL}, 0},
	{"libevent, select", {"epoll", "poll", NULL}, 0},
};

static const struct way *way;
static struct event_base *base;
static struct event *clock_event;

static struct event_base *open_base(const struct way *w)
{
	struct event_config *config = event_config_new();
	struct event_base *b;

	if (!config)
		return NULL;
	for (int i = 0; w->avoid[i]; i++)
		event_config_avoid_method(config, w->avoid[i]);
	if (w->flags & EV_ET)
		event_config_require_features(config, EV_FEATURE_ET);
	b = event_base_new_with_config(config);
	event_config_free(config);
	return b;
}

void loop_open(void)
{
	base = open_base(way);
	ck_assert_ptr_nonnull(base);
}

void loop_close(void)
{
	ck_assert_int_eq(
		event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0);
	event_base_free(base);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct watch *w = arg;

	ck_assert_int_eq(fd, w->fd);
	ck_assert(what & EV_READ);
	w->readable(w);
}

void loop_watch(struct watch *w)
{
	short what = (short)(EV_READ | EV_PERSIST | way->flags);
	struct event *e = event_new(base, w->fd, what, on_readable, w);

	ck_assert_ptr_nonnull(e);
	ck_assert_int_eq(event_add(e, NULL), 0);
	w->handle = e;
}

void loop_unwatch(struct watch *w)
{
	event_free(w->handle);
}

static void on_clock(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	beat();
}

void loop_start_clock(int ms)
{
	struct timeval t = {.tv_usec = ms * 1000};

	clock_event = event_new(base, -1, EV_PERSIST, on_clock, NULL);
	ck_assert_ptr_nonnull(clock_event);
	ck_assert_int_eq(event_add(clock_event, &t), 0);
}

void loop_stop_clock(void)
{
	event_free(clock_event);
}

void loop_run(void)
{
	ck_assert_int_ge(event_base_dispatch(base), 0);
}

void loop_quit(void)
{
	event_base_loopbreak(base);
}

bool loop_turn(void)
{
	return event_base_loop(base, EVLOOP_ONCE) == 0;
}

static bool exists(const struct way *w)
{
	struct event_base *b = open_base(w);

	if (b)
		event_base_free(b);
	return b != NULL;
}

int main(void)
{
	int failed = 0;

	for (way = ways; way < ways + sizeof(ways) / sizeof(ways[0]); way++) {
		if (exists(way))
			failed |= run_loop_tests(way->name);
	}
	return failed;
}
