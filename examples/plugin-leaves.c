/* SPDX-License-Identifier: MIT */
/*
 * plugin-leaves: a plugin leaves, and with it all its timers.
 *
 *     cc plugin-leaves.c plugin.c -o plugin-leaves \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * All parts of this program share the default instance.  It cannot be stopped,
 * nor all its timers cancelled: that would end those of the others.  So when a
 * plugin leaves, it takes back those timers whose arguments lie in its own
 * memory, with timerthread_cancel_matching: timers that run once, periodic ones
 * and prepared ones, some of which are running at this moment.  It keeps no
 * list of ids.  When the call has returned, none of the plugin's code is
 * running or will run; so the memory can be freed, and the code unloaded.
 *
 * plugin.c says who frees what a timer owns.  It comes as a second source here;
 * it would be the same in a shared object, where plugin_leave is called before
 * dlclose(3).
 *
 * Two plugins are there at a time.  They have the same callbacks: that is why
 * the arguments tell their timers apart, and not the functions.
 */
#include "plugin.h"
#include <errno.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 12, PATIENCE_S = 60 };

static struct timerthread *tt;
static struct plugin_ledger ledger;
static int failures;

static void check(const char *what, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "plugin-leaves: %s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

static void expect(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "plugin-leaves: not so: %s\n", what);
	failures++;
}

/* How many timers have an argument in a range of addresses? */

struct range {
	uintptr_t from, to;
	int n;
};

/* Says no: the timers stay as they are. */
static int count(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	struct range *range = ctx;

	(void)id;
	(void)fn;
	range->n += (uintptr_t)arg >= range->from && (uintptr_t)arg < range->to;
	return 0;
}

/* Those that are pending, unarmed or running.  Only addresses are used. */
static int count_timers(struct range range)
{
	range.n = 0;
	check("timerthread_cancel_matching",
	      timerthread_cancel_matching(tt, count, NULL, &range));
	return range.n;
}

/* The rest of the program, which has two timers of its own. */

struct host {
	timerthread_id beat, far;
	sem_t beaten;
};

static struct host host;

static void beat(void *arg)
{
	struct host *h = arg;

	sem_post(&h->beaten);
}

static void never(void *arg)
{
	(void)arg;
	abort();
}

static void await_beats(int n)
{
	while (sem_trywait(&host.beaten) == 0)
		continue; /* those that are past */
	while (n > 0)
		/* Else a signal handler ran. */
		if (sem_wait(&host.beaten) == 0 || errno != EINTR)
			n--;
}

static void host_begin(void)
{
	sem_init(&host.beaten, 0, 0);
	check("timerthread_default", timerthread_default(&tt));
	check("timerthread_schedule_every",
	      timerthread_schedule_every(tt, timerthread_now(tt),
					 TIMERTHREAD_MSEC, beat, &host,
					 &host.beat));
	check("timerthread_schedule_after",
	      timerthread_schedule_after(tt, 3600 * TIMERTHREAD_SEC, never,
					 &host, &host.far));
}

/* The plugins have not touched them. */
static void host_end(void)
{
	int64_t deadline;

	expect(timerthread_get_deadline(tt, host.beat, &deadline) == 0,
	       "the program's periodic timer goes on");
	expect(timerthread_cancel_wait(tt, host.beat) >= 0,
	       "it is still there");
	expect(timerthread_cancel(tt, host.far) == 0,
	       "the program's other timer is pending");
	sem_destroy(&host.beaten);
}

/* The plugins. */

static struct range range_of(const struct plugin *p)
{
	struct range range = {0, 0, 0};

	plugin_get_range(p, &range.from, &range.to);
	return range;
}

static void leave(struct plugin *p, int round, struct plugin_report *sum)
{
	struct range range = range_of(p);
	struct plugin_report report;

	expect(count_timers(range) > 0, "the plugin has timers");
	plugin_hold(p, (enum plugin_kind)(round % PLUGIN_KINDS));
	plugin_leave(p, &report);
	expect(count_timers(range) == 0, "none of its timers is left");
	sum->cancelled += report.cancelled;
	sum->left_over += report.left_over;
}

static void two_come_and_leave(int round, struct plugin_report *sum)
{
	struct plugin *first, *second;
	struct range range;
	int runs;

	check("plugin_come", plugin_come(&ledger, &first));
	check("plugin_come", plugin_come(&ledger, &second));
	await_beats(2);
	range = range_of(second);
	leave(first, round, sum);
	expect(count_timers(range) > 0, "the other plugin keeps its timers");
	leave(second, round + 1, sum);
	runs = ledger.runs;
	await_beats(2);
	expect(ledger.runs == runs, "no callback of a plugin runs any more");
}

int main(void)
{
	const struct range all = {0, UINTPTR_MAX, 0};
	struct plugin_report sum = {0, 0};

	alarm(PATIENCE_S); /* if something that is awaited never comes */
	host_begin();
	for (int i = 0; i < ROUNDS; i++)
		two_come_and_leave(i, &sum);
	host_end();
	expect(count_timers(all) == 0, "no timer is left at all");
	expect(ledger.made == ledger.freed, "what timers owned was freed");
	printf("plugins that left           %6d\n", 2 * ROUNDS);
	printf("callbacks that ran          %6d\n", ledger.runs);
	printf("timers that were taken back %6d\n", sum.cancelled);
	printf("those that were running     %6d\n", sum.left_over);
	return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
