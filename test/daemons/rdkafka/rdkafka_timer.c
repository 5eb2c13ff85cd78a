/* SPDX-License-Identifier: MIT */
/*
 * The timers of librdkafka's main threads.  A thread sleeps on its queue until
 * the next deadline, and an earlier timer of another thread yields the queue.
 *
 * The lock guards the members of timers.  It is not held in callbacks.  The
 * lock of the queue is taken under it.
 *
 * A timer is started if it has an interval, and then it has an id.  Its memory
 * may be freed when it was stopped, and in the callback of a timer that fires
 * once.
 */
#include "rdkafka_int.h"

#include "rdkafka_queue.h"

/* There is no queue any more when the instance is destroyed. */
static void wake(void *ctx)
{
	rd_kafka_timers_t *rkts = ctx;

	if (rkts->rkts_wakeq)
		rd_kafka_q_yield(rkts->rkts_wakeq);
}

/* With the lock held.  Stores when it fires next. */
static rd_bool_t is_pending(rd_kafka_timers_t *rkts,
			    const rd_kafka_timer_t *rtmr, int64_t *ret_deadline)
{
	return timerthread_get_deadline(rkts->rkts_tt, rtmr->rtmr_id,
					ret_deadline) == 0;
}

/* With the lock held: takes the timer over for a run. */
static rd_bool_t begin(rd_kafka_timers_t *rkts, rd_kafka_timer_t *rtmr,
		       timerthread_id id, rd_kafka_timer_t *ret_run)
{
	rd_bool_t mine;

	mtx_lock(&rkts->rkts_lock);
	mine = rtmr->rtmr_interval && rtmr->rtmr_id == id;
	*ret_run = *rtmr;
	if (mine && rtmr->rtmr_oneshot)
		rtmr->rtmr_interval = rtmr->rtmr_id = 0;
	mtx_unlock(&rkts->rkts_lock);
	return mine;
}

/* The interval begins when the callback has returned. */
static void rearm(rd_kafka_timers_t *rkts, rd_kafka_timer_t *rtmr,
		  timerthread_id id)
{
	int64_t deadline, delay;

	mtx_lock(&rkts->rkts_lock);
	delay = rtmr->rtmr_interval * TIMERTHREAD_USEC;
	if (delay && rtmr->rtmr_id == id && !is_pending(rkts, rtmr, &deadline))
		timerthread_reschedule_after(rkts->rkts_tt, id, delay);
	mtx_unlock(&rkts->rkts_lock);
}

static void fired(void *arg)
{
	rd_kafka_timers_t *rkts;
	rd_kafka_timer_t run;
	struct timerthread *tt;
	timerthread_id id;

	timerthread_get_current(&tt, &id);
	rkts = timerthread_get_data(tt);
	if (!begin(rkts, arg, id, &run))
		return;
	run.rtmr_callback(rkts, run.rtmr_arg);
	if (!run.rtmr_oneshot)
		rearm(rkts, arg, id);
}

/*
 * With the lock held.  A timer that is running can be rescheduled only by its
 * callback; for others it gets a new id, and the run does not rearm it.  After
 * rd_kafka_timers_destroy there is nothing to arm.
 */
static void arm(rd_kafka_timers_t *rkts, rd_kafka_timer_t *rtmr,
		rd_ts_t interval)
{
	int64_t delay = interval * TIMERTHREAD_USEC;
	int r = -ENOENT;

	if (!rkts->rkts_enabled)
		return;
	if (rtmr->rtmr_id)
		r = timerthread_reschedule_after(rkts->rkts_tt, rtmr->rtmr_id,
						 delay);
	if (r == -ENOENT)
		r = timerthread_schedule_after(rkts->rkts_tt, delay, fired,
					       rtmr, &rtmr->rtmr_id);
	rd_kafka_assert(rkts->rkts_rk, r == 0);
}

int rd_kafka_timer_stop(rd_kafka_timers_t *rkts, rd_kafka_timer_t *rtmr,
			int lock)
{
	int stopped = 0;

	if (lock)
		mtx_lock(&rkts->rkts_lock);
	if (rtmr->rtmr_interval) {
		int r = timerthread_cancel(rkts->rkts_tt, rtmr->rtmr_id);

		/* One that fires once, and has begun, owns its argument. */
		stopped = r != 1 || !rtmr->rtmr_oneshot;
		if (stopped)
			rtmr->rtmr_interval = rtmr->rtmr_id = 0;
	}
	if (lock)
		mtx_unlock(&rkts->rkts_lock);
	return stopped;
}

rd_bool_t rd_kafka_timer_is_started(rd_kafka_timers_t *rkts,
				    const rd_kafka_timer_t *rtmr)
{
	rd_bool_t started;

	mtx_lock(&rkts->rkts_lock);
	started = rtmr->rtmr_interval != 0;
	mtx_unlock(&rkts->rkts_lock);
	return started;
}

void rd_kafka_timer_start0(rd_kafka_timers_t *rkts, rd_kafka_timer_t *rtmr,
			   rd_ts_t interval, rd_bool_t oneshot,
			   rd_bool_t restart,
			   void (*callback)(rd_kafka_timers_t *rkts, void *arg),
			   void *arg)
{
	int64_t deadline;

	mtx_lock(&rkts->rkts_lock);
	if (restart || !is_pending(rkts, rtmr, &deadline)) {
		rtmr->rtmr_interval = interval ? interval : 1;
		rtmr->rtmr_oneshot = oneshot;
		rtmr->rtmr_callback = callback;
		rtmr->rtmr_arg = arg;
		arm(rkts, rtmr, rtmr->rtmr_interval);
	}
	mtx_unlock(&rkts->rkts_lock);
}

void rd_kafka_timer_exp_backoff(rd_kafka_timers_t *rkts, rd_kafka_timer_t *rtmr)
{
	int64_t deadline;

	mtx_lock(&rkts->rkts_lock);
	if (is_pending(rkts, rtmr, &deadline))
		rtmr->rtmr_interval *= 2;
	if (rtmr->rtmr_interval)
		arm(rkts, rtmr, rtmr->rtmr_interval);
	mtx_unlock(&rkts->rkts_lock);
}

void rd_kafka_timer_override_once(rd_kafka_timers_t *rkts,
				  rd_kafka_timer_t *rtmr, rd_ts_t interval)
{
	mtx_lock(&rkts->rkts_lock);
	arm(rkts, rtmr, interval);
	mtx_unlock(&rkts->rkts_lock);
}

rd_ts_t rd_kafka_timer_next(rd_kafka_timers_t *rkts, rd_kafka_timer_t *rtmr,
			    int do_lock)
{
	rd_ts_t left = -1;
	int64_t deadline;

	if (do_lock)
		mtx_lock(&rkts->rkts_lock);
	if (is_pending(rkts, rtmr, &deadline)) {
		left = deadline - timerthread_now(rkts->rkts_tt);
		left = left > 0 ? left / TIMERTHREAD_USEC : 0;
	}
	if (do_lock)
		mtx_unlock(&rkts->rkts_lock);
	return left;
}

void rd_kafka_timers_interrupt(rd_kafka_timers_t *rkts)
{
	wake(rkts);
}

/* Rounded up, so that the thread does not spin until then. */
rd_ts_t rd_kafka_timers_next(rd_kafka_timers_t *rkts, int timeout_us,
			     int do_lock)
{
	int64_t next, left;

	if (timerthread_get_next_deadline(rkts->rkts_tt, &next) < 0)
		return timeout_us;
	left = next - timerthread_now(rkts->rkts_tt);
	if (left <= 0)
		return 0;
	left = (left - 1) / TIMERTHREAD_USEC + 1;
	return left < timeout_us ? left : timeout_us;
}

/* All callers sleep on their queue, and do not wait here. */
void rd_kafka_timers_run(rd_kafka_timers_t *rkts, int timeout_us)
{
	rd_kafka_assert(rkts->rkts_rk, timeout_us == RD_POLL_NOWAIT);
	if (!rd_kafka_terminating(rkts->rkts_rk))
		timerthread_dispatch(rkts->rkts_tt);
}

static void stop_one(timerthread_id id, timerthread_fn *fn, void *arg,
		     void *ctx)
{
	rd_kafka_timer_t *rtmr = arg;

	rtmr->rtmr_interval = 0;
}

void rd_kafka_timers_destroy(rd_kafka_timers_t *rkts)
{
	mtx_lock(&rkts->rkts_lock);
	rkts->rkts_enabled = 0;
	rkts->rkts_wakeq = NULL;
	timerthread_cancel_all(rkts->rkts_tt, stop_one, NULL);
	timerthread_destroy(rkts->rkts_tt);
	mtx_unlock(&rkts->rkts_lock);
	mtx_destroy(&rkts->rkts_lock);
}

void rd_kafka_timers_init(rd_kafka_timers_t *rkts, rd_kafka_t *rk,
			  struct rd_kafka_q_s *wakeq)
{
	int r;

	memset(rkts, 0, sizeof(*rkts));
	rkts->rkts_rk = rk;
	rkts->rkts_wakeq = wakeq;
	rkts->rkts_enabled = 1;
	mtx_init(&rkts->rkts_lock, mtx_plain);
	r = timerthread_create(&rkts->rkts_tt);
	if (r == 0)
		r = timerthread_set_wake(rkts->rkts_tt, wake, rkts);
	if (r == 0)
		r = timerthread_set_data(rkts->rkts_tt, rkts);
	if (r == 0)
		r = timerthread_start_polled(rkts->rkts_tt, NULL);
	rd_kafka_assert(rk, r == 0);
}
