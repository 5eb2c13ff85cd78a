/* SPDX-License-Identifier: MIT */
/*
 * So many timers that memory is taken by one thread, and used and freed by
 * others; most of them are cancelled, so that what is left is moved together.
 * Also with a cap and a reserve.  BOXES says how many of each thread.
 */
#include "guest.h"

#ifndef BOXES
#define BOXES 1000
#endif

enum {
	THREADS = 4,
	MOST = THREADS * BOXES,
};

static struct timerthread *tt;

struct box {
	timerthread_id id;
	int n;
};

static void add(void *arg)
{
	struct box *b = arg;

	b->n++;
}

static int64_t delay_of(int i)
{
	return i % 16 == 0 ? i % 5 * TIMERTHREAD_MSEC
			   : HOUR + i % 7 * TIMERTHREAD_SEC;
}

static void *use(void *arg)
{
	struct box *box = calloc(BOXES, sizeof(*box));

	(void)arg;
	expect(box != NULL);
	for (int i = 0; i < BOXES; i++)
		expect(timerthread_schedule_after(tt, delay_of(i), add, &box[i],
						  &box[i].id) == 0);
	for (int i = 0; i < BOXES; i++) {
		if (i % 16 == 0)
			wait_until_over(tt, box[i].id);
		else
			expect(timerthread_cancel(tt, box[i].id) == 0);
		expect(box[i].n == (i % 16 == 0));
	}
	free(box);
	return NULL;
}

static void try(bool cap, bool reserve)
{
	pthread_t thread[THREADS];

	tt = create();
	if (cap)
		expect(timerthread_set_max_timers(tt, MOST) == 0);
	if (reserve)
		expect(timerthread_set_reserve(tt, MOST) == 0);
	expect(timerthread_start(tt, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		thread[i] = spawn(use, NULL);
	for (int i = 0; i < THREADS; i++)
		join(thread[i]);
	timerthread_destroy(tt);
}

int main(void)
{
	try(false, false);
	try(true, true);
	return 0;
}
