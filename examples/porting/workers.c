/* SPDX-License-Identifier: MIT */
/*
 * workers: a delay queue, from which worker threads take what is due.
 *
 *     cc workers.c ../pool.c -o workers \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Before: workers waited on a queue that was sorted by due time.
 *
 * Now: the delays are timers, and the workers wait on a plain queue (pool.c).
 * timerthread_set_executor puts there what is due.
 *
 *     put an item           timerthread_schedule_after
 *     remove an item        timerthread_cancel, also when a worker has it in
 *                           its queue and has not begun it
 *     put it back later     timerthread_reschedule_after in the callback
 *     what is left          timerthread_cancel_all, after timerthread_stop
 */
#include "../pool.h"
#include "porting.h"
#include <timerthread.h>

#define HOUR (3600 * TIMERTHREAD_SEC)

enum { ITEMS = 8 };

struct item {
	struct timerthread *tt;
	timerthread_id timer;
	int runs;
	sem_t *done;
};

/* Twice each: the first time it is put back. */
static void work(void *arg)
{
	struct item *i = arg;

	expect(pool_inside(), "a worker runs it");
	if (++i->runs == 1)
		timerthread_reschedule_after(i->tt, i->timer, TIMERTHREAD_MSEC);
	else
		sem_post(i->done);
}

static void put(struct item *i, int64_t delay)
{
	expect(timerthread_schedule_after(i->tt, delay, work, i, &i->timer) ==
		       0,
	       "an item is put into the queue");
}

static void left(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	struct item **last = ctx;

	(void)id;
	(void)fn;
	*last = arg;
}

static void use(struct timerthread *tt, struct item *items)
{
	sem_t done;

	sem_init(&done, 0, 0);
	for (int i = 0; i < ITEMS; i++) {
		items[i] = (struct item){.tt = tt, .done = &done};
		put(&items[i], i < ITEMS - 2 ? 0 : HOUR);
	}
	for (int i = 0; i < ITEMS - 2; i++)
		await(&done);
	expect(timerthread_cancel(tt, items[ITEMS - 2].timer) == 0,
	       "an item is removed");
	timerthread_stop(tt);
	sem_destroy(&done);
}

int main(void)
{
	struct item items[ITEMS], *last = NULL;
	struct timerthread *tt = NULL;
	struct pool pool;

	expect(pool_start(&pool) == 0 && timerthread_create(&tt) == 0 &&
		       timerthread_set_executor(tt, pool_submit, &pool) == 0 &&
		       timerthread_start(tt, NULL) == 0,
	       "there are workers and an instance");
	use(tt, items);
	pool_finish(&pool); /* it calls all that it has accepted */
	expect(timerthread_cancel_all(tt, left, &last) == 1 &&
		       last == &items[ITEMS - 1],
	       "one item is left");
	timerthread_destroy(tt);
	for (int i = 0; i < ITEMS; i++)
		expect(items[i].runs == (i < ITEMS - 2 ? 2 : 0),
		       "what was due ran twice, the rest never");
	printf("%d items, two runs each\n", ITEMS - 2);
	return 0;
}
