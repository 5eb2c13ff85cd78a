/* SPDX-License-Identifier: MIT */
/*
 * A table of what can be told of an instance: which number a program can ask
 * for by timerthread_get_stat, and how a page of metrics shows it.
 */
#ifndef TT_STAT_H
#define TT_STAT_H

#include "api/stats.h"

#include <stddef.h>

enum stat_kind {
	GAUGE,
	COUNTER,
	HISTOGRAM,
};

enum stat_unit {
	NUMBER,
	BYTES,
	SECONDS, /* counted in nanoseconds */
};

struct facts {
	struct stats stats; /* first: offsets in it are also offsets here */
	struct measured_counts measured;
};

struct fact {
	int which; /* an enum timerthread_stat; NO_STAT: none */
	size_t offset;
	const char *name; /* of a counter: without _total; NULL: not shown */
	enum stat_kind kind;
	enum stat_unit unit;
	const char *help;
};

#define NO_STAT (-1)

extern const struct fact stat_table[];

/* Behind the last one. */
extern const struct fact *const stat_end;

#endif
