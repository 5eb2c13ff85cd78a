/* SPDX-License-Identifier: MIT */
/*
 * Timers in a loop of libuv.
 */
#include "loop_test.h"

#include <uv.h>

static uv_loop_t loop;
static uv_timer_t clock_timer;

void loop_open(void)
{
	ck_assert_int_eq(uv_loop_init(&loop), 0);
}

/* Handles are closed by the loop. */
void loop_close(void)
{
	ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct watch *w = poll->data;

	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(events, UV_READABLE);
	w->readable(w);
}

void loop_watch(struct watch *w)
{
	uv_poll_t *poll = malloc(sizeof(*poll));

	ck_assert_ptr_nonnull(poll);
	ck_assert_int_eq(uv_poll_init(&loop, poll, w->fd), 0);
	poll->data = w;
	ck_assert_int_eq(uv_poll_start(poll, UV_READABLE, on_readable), 0);
	w->handle = poll;
}

static void free_poll(uv_handle_t *handle)
{
	free(handle);
}

/* From then on the descriptor may be closed. */
void loop_unwatch(struct watch *w)
{
	ck_assert_int_eq(uv_poll_stop(w->handle), 0);
	uv_close(w->handle, free_poll);
}

static void on_clock(uv_timer_t *timer)
{
	(void)timer;
	beat();
}

void loop_start_clock(int ms)
{
	uint64_t t = (uint64_t)ms;

	/* It counts from the time that the loop has seen last. */
	uv_update_time(&loop);
	ck_assert_int_eq(uv_timer_init(&loop, &clock_timer), 0);
	ck_assert_int_eq(uv_timer_start(&clock_timer, on_clock, t, t), 0);
}

void loop_stop_clock(void)
{
	uv_close((uv_handle_t *)&clock_timer, NULL);
	/* It may be used again once the loop has seen this. */
	uv_run(&loop, UV_RUN_NOWAIT);
}

void loop_run(void)
{
	uv_run(&loop, UV_RUN_DEFAULT);
}

void loop_quit(void)
{
	uv_stop(&loop);
}

bool loop_turn(void)
{
	return uv_run(&loop, UV_RUN_ONCE) != 0;
}

int main(void)
{
	return run_loop_tests("libuv");
}
