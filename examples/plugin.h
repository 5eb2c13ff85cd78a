/* SPDX-License-Identifier: MIT */
/*
 * plugin: a part of a program that comes and goes.  It uses the default
 * instance, as the rest of the program does.  See plugin-leaves.c.
 */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <stdatomic.h>
#include <stdint.h>
#include <timerthread.h>

/* What the timers of all plugins own: at the end all that was made is freed. */
struct plugin_ledger {
	atomic_int made, freed;
	atomic_int runs;
};

/* How a plugin has left: who freed what its timers owned. */
struct plugin_report {
	int cancelled; /* by the visits: these timers did not run any more */
	int left_over; /* by the plugin: their callbacks were just running */
};

struct plugin;

/* Timers that run again and again: each is another timer; the same one. */
enum plugin_kind {
	PLUGIN_CHAIN,
	PLUGIN_PERIODIC,
	PLUGIN_PREPARED,
	PLUGIN_KINDS
};

/* Returns 0 or a negative errno; then nothing is left of it. */
int plugin_come(struct plugin_ledger *ledger, struct plugin **ret_p);

/*
 * To show what happens to a callback that is running: the next one of that kind
 * runs until the plugin leaves, and somewhat longer.  Returns when it runs.
 */
void plugin_hold(struct plugin *p, enum plugin_kind kind);

/* Not in a callback.  Afterwards the code of the plugin can be unloaded. */
void plugin_leave(struct plugin *p, struct plugin_report *ret_report);

/* The arguments of its timers lie from *ret_from up to *ret_to, exclusive. */
void plugin_get_range(const struct plugin *p, uintptr_t *ret_from,
		      uintptr_t *ret_to);

#endif
