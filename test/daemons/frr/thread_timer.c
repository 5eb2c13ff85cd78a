/* SPDX-License-Identifier: MIT */
/*
 * The timers of FRR's event loop: lib/thread.c calls these functions, with the
 * lock of the master held.
 *
 * The loop polls the descriptor of an instance with its others.  A timer that
 * has expired is put into the ready list, as a descriptor with an event is.
 *
 * A master is created before the daemon goes into the background, so its
 * instance is started when its loop first runs.  Until then, timers are only in
 * the master's list.  Later they stay there, too: for "show thread timers", for
 * a cancel by argument, and for a loop that ends when nothing is left.
 */
#include <zebra.h>

#include <timerthread.h>

#include "lib_errors.h"
#include "linklist.h"
#include "log.h"
#include "thread.h"

DECLARE_DLIST(thread_timer_list, struct thread, timeritem);
DECLARE_LIST(thread_list, struct thread, threaditem);

#define LATE (4 * TIMERTHREAD_SEC)

static int64_t deadline(const struct thread *thread)
{
	return timerthread_from_timespec(thread->u.sands.tv_sec,
					 thread->u.sands.tv_usec * 1000);
}

/* Warns once for all timers that are late together. */
static void warn_late(struct thread *thread)
{
	struct thread_master *m = thread->master;

	atomic_fetch_add_explicit(&thread->hist->total_starv_warn, 1,
				  memory_order_relaxed);
	if (m->timer_late || thread->ignore_timer_late)
		return;
	m->timer_late = true;
	flog_warn(EC_LIB_STARVE_THREAD,
		  "Thread Starvation: %pTHD is more than 4 s late", thread);
}

static void expired(void *arg)
{
	struct thread *thread = arg;
	struct thread_master *m = thread->master;

	if (timerthread_now(m->timer_tt) - deadline(thread) > LATE)
		warn_late(thread);
	thread_timer_list_del(&m->timer, thread);
	thread->type = THREAD_READY;
	thread_list_add_tail(&m->ready, thread);
}

static void arm(struct thread *thread)
{
	int r = timerthread_schedule(thread->master->timer_tt, deadline(thread),
				     expired, thread, &thread->timer_id);

	assertf(r == 0, "no timer: %s", safe_strerror(-r));
}

void thread_timer_add(struct thread *thread)
{
	struct thread_master *m = thread->master;

	thread_timer_list_add_tail(&m->timer, thread);
	if (m->timer_tt)
		arm(thread);
}

void thread_timer_del(struct thread *thread)
{
	struct thread_master *m = thread->master;

	thread_timer_list_del(&m->timer, thread);
	timerthread_cancel(m->timer_tt, thread->timer_id);
}

static int compare(const void **a, const void **b)
{
	int64_t x = deadline(*a), y = deadline(*b);

	return (x > y) - (x < y);
}

/* Those that have expired already run in the order in which they are armed. */
static void arm_all(struct thread_master *m)
{
	struct list *sorted = list_new();
	struct listnode *node;
	struct thread *thread;

	frr_each(thread_timer_list, &m->timer, thread)
		listnode_add(sorted, thread);
	list_sort(sorted, compare);
	for (ALL_LIST_ELEMENTS_RO(sorted, node, thread))
		arm(thread);
	list_delete(&sorted);
}

void thread_timers_start(struct thread_master *m)
{
	int r = timerthread_create(&m->timer_tt);

	if (r == 0)
		r = timerthread_start_polled(m->timer_tt, &m->timer_fd);
	assertf(r == 0, "no timers: %s", safe_strerror(-r));
	arm_all(m);
}

void thread_timers_run(struct thread_master *m)
{
	m->timer_late = false;
	timerthread_dispatch(m->timer_tt);
}
