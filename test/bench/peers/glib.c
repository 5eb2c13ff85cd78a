/* SPDX-License-Identifier: MIT */
/*
 * GLib: a GMainContext with a thread that iterates it, and a GSource for each
 * pending timer, with a ready time that is set before the source is attached,
 * as later each change would cost one more wake-up of the loop.  Any thread
 * attaches and destroys sources itself.  A source that was kept attached, and
 * is given another ready time or none, is slower: both wake the loop.
 *
 * The lock here says whether a callback has begun, which GLib does not tell.
 *
 * Against GLib: its sources are made for everything, each iteration goes
 * through all of them, with the context locked, and each attach makes it
 * iterate.  It is made for some hundreds of timers; the limit here is where
 * it needs so long that the workloads would not end.
 */
#include "peer.h"
#include "running.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <stdio.h>

struct timer {
	struct source *source; /* while pending */
};

struct source {
	GSource g;           /* first, so that it leads back here */
	struct timer *timer; /* NULL: cancelled */
	peer_fn *fn;
	void *arg;
	gint64 due;
};

const struct peer_info peer = {
	.name = "glib",
	.clock = "monotonic",
	.resolution = 1000000,
	.timer_size = sizeof(struct timer),
	.timers_most = 200000,
	.cancel_tells = true,
	.callbacks_wait = true,
	.notes = "each iteration looks at all timers; sleeps milliseconds",
};

static GMainContext *context;
static GMainLoop *loop;
static pthread_t thread;
static _Thread_local bool in_loop;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const char *peer_version(void)
{
	static char version[32];

	snprintf(version, sizeof(version), "%u.%u.%u", glib_major_version,
		 glib_minor_version, glib_micro_version);
	return version;
}

static gint64 microseconds(int64_t ns)
{
	return (ns + 999) / 1000;
}

static void end_run(void)
{
	pthread_mutex_lock(&lock);
	running_end();
	pthread_mutex_unlock(&lock);
}

/* It may have been cancelled or moved since the loop saw that it was ready. */
static gboolean dispatch(GSource *g, GSourceFunc unused_fn, gpointer unused)
{
	struct source *s = (struct source *)g;
	struct timer *t;

	(void)unused_fn;
	(void)unused;
	pthread_mutex_lock(&lock);
	t = s->timer;
	if (!t || g_source_get_time(g) < s->due) {
		pthread_mutex_unlock(&lock);
		return t ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
	}
	t->source = NULL;
	running_begin(t);
	pthread_mutex_unlock(&lock);
	s->fn(s->arg);
	end_run();
	return G_SOURCE_REMOVE;
}

static GSourceFuncs functions = {.dispatch = dispatch};

static void *run(void *arg)
{
	in_loop = true;
	g_main_context_push_thread_default(context);
	g_main_loop_run(loop);
	g_main_context_pop_thread_default(context);
	return arg;
}

void peer_start(const struct peer_setup *setup)
{
	int r;

	(void)setup;
	context = g_main_context_new();
	loop = g_main_loop_new(context, FALSE);
	r = pthread_create(&thread, NULL, run, NULL);
	if (r != 0)
		peer_die("pthread_create", r);
}

static gboolean quit(gpointer arg)
{
	g_main_loop_quit(arg);
	return G_SOURCE_REMOVE;
}

/* In the loop: it may not run yet. */
void peer_stop(void)
{
	GSource *g = g_idle_source_new();

	g_source_set_priority(g, G_PRIORITY_HIGH);
	g_source_set_callback(g, quit, loop, NULL);
	g_source_attach(g, context);
	g_source_unref(g);
	pthread_join(thread, NULL);
	g_main_loop_unref(loop);
	g_main_context_unref(context);
}

void peer_enter(void)
{
}

void peer_leave(void)
{
}

/* The context has the only reference to the source, so it frees it. */
int peer_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg)
{
	GSource *g = g_source_new(&functions, sizeof(struct source));
	struct source *s = (struct source *)g;
	struct timer *t = timer;

	s->timer = t;
	s->fn = fn;
	s->arg = arg;
	s->due = microseconds(now + delay);
	t->source = s;
	g_source_set_ready_time(g, s->due);
	g_source_attach(g, context);
	g_source_unref(g);
	return 0;
}

int peer_cancel(void *timer)
{
	struct timer *t = timer;
	struct source *s;

	pthread_mutex_lock(&lock);
	s = t->source;
	if (s) {
		t->source = NULL;
		s->timer = NULL;
		g_source_destroy(&s->g);
	} else if (!in_loop) {
		running_wait(&lock, t);
	}
	pthread_mutex_unlock(&lock);
	return s != NULL;
}

int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	struct timer *t = timer;
	struct source *s;

	pthread_mutex_lock(&lock);
	s = t->source;
	if (s) {
		s->due = microseconds(now + delay);
		g_source_set_ready_time(&s->g, s->due);
	}
	pthread_mutex_unlock(&lock);
	return !s;
}
