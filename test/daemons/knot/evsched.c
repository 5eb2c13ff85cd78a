/* SPDX-License-Identifier: MIT */
/*
 * Knot DNS: in place of src/knot/common/evsched.c.
 *
 * An event is a timer that is made once, and then armed and disarmed.  Zones
 * schedule events before the server has started.  So evsched_init starts the
 * instance; from evsched_start on, a thread of Knot's is the driver.  That
 * thread is made when the privileges have been dropped.
 *
 * No event runs while a thread holds the lock "turn": the driver takes it for
 * each dispatch, and evsched_pause keeps it until evsched_resume.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <timerthread.h>

#include "knot/common/evsched.h"
#include "libknot/libknot.h"

static int evsched_run(dthread_t *thread)
{
	evsched_t *sched = thread->data;
	struct pollfd p = {.fd = sched->fd, .events = POLLIN};
	int r;

	do {
		poll(&p, 1, -1);
		pthread_mutex_lock(&sched->turn);
		r = timerthread_dispatch(sched->tt);
		pthread_mutex_unlock(&sched->turn);
	} while (r >= 0);
	return KNOT_EOK;
}

int evsched_init(evsched_t *sched, void *ctx)
{
	memset(sched, 0, sizeof(*sched));
	sched->ctx = ctx;
	pthread_mutex_init(&sched->turn, NULL);
	sched->thread = dt_create(1, evsched_run, NULL, sched);
	if (!sched->thread || timerthread_create(&sched->tt) < 0 ||
	    timerthread_set_name(sched->tt, "evsched") < 0 ||
	    timerthread_start_polled(sched->tt, &sched->fd) < 0) {
		evsched_deinit(sched);
		return KNOT_ENOMEM;
	}
	return KNOT_EOK;
}

/* The scheduler owns an event as long as it is scheduled. */
static int is_scheduled(timerthread_id id, timerthread_fn *fn, void *ev,
			void *tt)
{
	int64_t deadline;

	return timerthread_get_deadline(tt, id, &deadline) == 0;
}

static void free_event(timerthread_id id, timerthread_fn *fn, void *ev,
		       void *tt)
{
	free(ev);
}

void evsched_deinit(evsched_t *sched)
{
	if (!sched)
		return;
	timerthread_stop(sched->tt);
	if (sched->thread)
		dt_delete(&sched->thread);
	timerthread_cancel_matching(sched->tt, is_scheduled, free_event,
				    sched->tt);
	timerthread_destroy(sched->tt);
	pthread_mutex_destroy(&sched->turn);
	memset(sched, 0, sizeof(*sched));
}

static void run_event(void *arg)
{
	event_t *ev = arg;

	ev->cb(ev);
}

event_t *evsched_event_create(evsched_t *sched, event_cb_t cb, void *data)
{
	event_t *ev = sched ? malloc(sizeof(*ev)) : NULL;

	if (!ev)
		return NULL;
	*ev = (event_t){.sched = sched, .cb = cb, .data = data};
	if (timerthread_prepare(sched->tt, run_event, ev, &ev->timer) < 0) {
		free(ev);
		return NULL;
	}
	return ev;
}

void evsched_event_free(event_t *ev)
{
	if (!ev)
		return;
	timerthread_cancel_wait(ev->sched->tt, ev->timer);
	free(ev);
}

int evsched_schedule(event_t *ev, uint32_t dt)
{
	if (!ev || !ev->sched)
		return KNOT_EINVAL;
	return timerthread_reschedule_after(ev->sched->tt, ev->timer,
					    dt * TIMERTHREAD_MSEC) < 0
		       ? KNOT_ERROR
		       : KNOT_EOK;
}

int evsched_cancel(event_t *ev)
{
	if (!ev || !ev->sched)
		return KNOT_EINVAL;
	timerthread_disarm_wait(ev->sched->tt, ev->timer);
	return KNOT_EOK;
}

void evsched_start(evsched_t *sched)
{
	dt_start(sched->thread);
}

void evsched_stop(evsched_t *sched)
{
	timerthread_stop(sched->tt);
	dt_stop(sched->thread);
}

void evsched_join(evsched_t *sched)
{
	dt_join(sched->thread);
}

void evsched_pause(evsched_t *sched)
{
	pthread_mutex_lock(&sched->turn);
}

void evsched_resume(evsched_t *sched)
{
	pthread_mutex_unlock(&sched->turn);
}
