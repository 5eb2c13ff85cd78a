/* SPDX-License-Identifier: MIT */
/*
 * memcached: in place of the thread in memcached.c that walks over all
 * connections and closes those that were idle for too long.
 *
 * Each connection has a timer.  A command does not touch it: when it expires,
 * its callback looks how long the connection has been idle, and waits for the
 * rest.  The worker that owns a connection closes it, and looks once more
 * before; so no cancel has to wait for a callback.
 */
#include <timerthread.h>

static struct timerthread *idle_timers;

static void check_idle(void *arg)
{
	conn *c = arg;
	int64_t idle = current_time - c->last_cmd_time;
	int64_t left = settings.idle_timeout + 1;
	timerthread_id id;

	/* In other states it is not idle. */
	if (c->state == conn_new_cmd || c->state == conn_read) {
		if (idle > settings.idle_timeout)
			timeout_conn(c);
		else
			left -= idle;
	}
	/* Not c->idle_timer: that may be the next connection's by now. */
	timerthread_get_current(NULL, &id);
	timerthread_reschedule_after(idle_timers, id, left * TIMERTHREAD_SEC);
}

void conn_timeout_begin(conn *c)
{
	if (idle_timers && IS_TCP(c->transport) &&
	    timerthread_schedule_after(
		    idle_timers, (settings.idle_timeout + 1) * TIMERTHREAD_SEC,
		    check_idle, c, &c->idle_timer) < 0)
		fprintf(stderr, "fd %d will not time out\n", c->sfd);
}

void conn_timeout_end(conn *c)
{
	timerthread_cancel(idle_timers, c->idle_timer);
}

static int start_conn_timeout_thread(void)
{
	if (timerthread_create(&idle_timers) < 0 ||
	    timerthread_set_name(idle_timers, "mc-idletimeout") < 0 ||
	    /* All times here are in seconds. */
	    timerthread_set_slack(idle_timers, TIMERTHREAD_SEC) < 0 ||
	    timerthread_start(idle_timers, NULL) < 0) {
		fprintf(stderr, "Can't create idle connection timers\n");
		return -1;
	}
	return 0;
}

int stop_conn_timeout_thread(void)
{
	return timerthread_stop(idle_timers);
}
