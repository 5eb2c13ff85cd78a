/* SPDX-License-Identifier: MIT */
/*
 * The hooks of the timer thread are before and after the callbacks that run on
 * it, after who started it and before who has stopped it.
 */
#include "guest.h"

struct state {
	int *own; /* the timer thread's */
	int given, result;
};

static struct hint ran;

static void on_start(void *arg)
{
	struct state *s = arg;

	s->own = malloc(sizeof(*s->own));
	expect(s->own != NULL);
	*s->own = s->given;
}

static void add(void *arg)
{
	struct state *s = arg;

	++*s->own;
	hint_give(&ran);
}

static void on_exit_of_thread(void *arg)
{
	struct state *s = arg;

	s->result = *s->own;
	free(s->own);
}

int main(void)
{
	struct timerthread *tt = create();
	struct state s = {.given = 5};

	hint_open(&ran);
	expect(timerthread_set_thread_hooks(tt, on_start, on_exit_of_thread,
					    &s) == 0);
	expect(timerthread_start(tt, NULL) == 0);
	for (int i = 0; i < 10; i++)
		expect(timerthread_schedule(tt, 0, add, &s, NULL) == 0);
	hint_take(&ran, 10);
	expect(timerthread_stop(tt) == 0);
	expect(s.result == 15);
	timerthread_destroy(tt);
	hint_close(&ran);
	return 0;
}
