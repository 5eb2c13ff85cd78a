/* SPDX-License-Identifier: MIT */
/*
 * Timers in a loop of GLib.
 */
#include "loop_test.h"

#include <glib-unix.h>
#include <glib.h>

/* A source as programs write their own. */
struct own_source {
	GSource base;
	struct watch *watch;
	gpointer tag;
};

/* Whether to take that one, or GLib's for a descriptor. */
static bool with_own;
static GMainContext *context;
static GMainLoop *loop;
static GSource *clock_source;
static int watched;

void loop_open(void)
{
	context = g_main_context_new();
	loop = g_main_loop_new(context, FALSE);
}

void loop_close(void)
{
	ck_assert_int_eq(watched, 0);
	ck_assert(!g_main_context_pending(context));
	g_main_loop_unref(loop);
	g_main_context_unref(context);
}

static gboolean own_prepare(GSource *source, gint *timeout)
{
	(void)source;
	*timeout = -1;
	return FALSE;
}

static gboolean own_check(GSource *source)
{
	struct own_source *s = (struct own_source *)source;

	return (g_source_query_unix_fd(source, s->tag) & G_IO_IN) != 0;
}

static gboolean own_dispatch(GSource *source, GSourceFunc fn, gpointer arg)
{
	struct own_source *s = (struct own_source *)source;

	(void)fn;
	(void)arg;
	s->watch->readable(s->watch);
	return G_SOURCE_CONTINUE;
}

static GSourceFuncs own_funcs = {
	.prepare = own_prepare,
	.check = own_check,
	.dispatch = own_dispatch,
};

static GSource *new_own_source(struct watch *w)
{
	GSource *source = g_source_new(&own_funcs, sizeof(struct own_source));
	struct own_source *s = (struct own_source *)source;

	s->watch = w;
	s->tag = g_source_add_unix_fd(source, w->fd, G_IO_IN);
	return source;
}

static gboolean on_readable(gint fd, GIOCondition condition, gpointer arg)
{
	struct watch *w = arg;

	ck_assert_int_eq(fd, w->fd);
	ck_assert_int_eq(condition, G_IO_IN);
	w->readable(w);
	return G_SOURCE_CONTINUE;
}

static GSource *new_source(struct watch *w)
{
	GSource *source = g_unix_fd_source_new(w->fd, G_IO_IN);

	g_source_set_callback(source, G_SOURCE_FUNC(on_readable), w, NULL);
	return source;
}

void loop_watch(struct watch *w)
{
	w->handle = with_own ? new_own_source(w) : new_source(w);
	g_source_attach(w->handle, context);
	watched++;
}

/* A loop of GLib does not end by itself. */
void loop_unwatch(struct watch *w)
{
	g_source_destroy(w->handle);
	g_source_unref(w->handle);
	watched--;
	if (watched == 0)
		g_main_loop_quit(loop);
}

static gboolean on_clock(gpointer arg)
{
	(void)arg;
	beat();
	return G_SOURCE_CONTINUE;
}

void loop_start_clock(int ms)
{
	clock_source = g_timeout_source_new((guint)ms);
	g_source_set_callback(clock_source, on_clock, NULL, NULL);
	g_source_attach(clock_source, context);
}

void loop_stop_clock(void)
{
	g_source_destroy(clock_source);
	g_source_unref(clock_source);
}

void loop_run(void)
{
	if (watched > 0)
		g_main_loop_run(loop);
}

void loop_quit(void)
{
	g_main_loop_quit(loop);
}

bool loop_turn(void)
{
	g_main_context_iteration(context, TRUE);
	return true;
}

int main(void)
{
	int failed = run_loop_tests("GLib");

	with_own = true;
	return failed | run_loop_tests("GLib, own source");
}
