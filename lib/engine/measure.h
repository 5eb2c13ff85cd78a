/* SPDX-License-Identifier: MIT */
/*
 * How late callbacks begin, and how long they run.
 *
 * To read the clock costs some 20 to 50 ns.  So it is read once for a callback,
 * when that has returned.  Where another one begins right after that, this is
 * its beginning: then what the driver does in between, mostly less than 0.3 us,
 * counts as the other one's.
 *
 * Lateness is measured with the instance's clock, the time that callbacks run
 * with CLOCK_MONOTONIC, which is never set.
 *
 * measure_count: one thread at a time.  Any thread reads what was counted.
 */
#ifndef TT_MEASURE_H
#define TT_MEASURE_H

#include "os/histogram.h"
#include "os/watch.h"

struct measured {
	struct histogram lateness;
	struct histogram run_time;
};

/* A moment, by two clocks. */
struct moment {
	int64_t shown;  /* by the instance's */
	int64_t steady; /* by CLOCK_MONOTONIC */
};

static inline struct moment moment_now(struct watch *w)
{
	int64_t steady = clock_now(CLOCK_MONOTONIC);
	bool same = likely(!w->is_virtual && w->clock == CLOCK_MONOTONIC);

	return (struct moment){same ? steady : watch_now(w), steady};
}

/* A call of a callback. */
struct timing {
	struct moment begun;
	int64_t run_time;    /* once it has returned */
	struct moment ended; /* and what was called for that has, too */
};

/*
 * Counts a call whose timer was due then.  A deadline that is not positive says
 * "as soon as possible" where the clock may be set: that is not late.
 */
static inline void measure_count(struct measured *m, int64_t due,
				 const struct timing *t)
{
	histogram_count(&m->lateness, due > 0 ? t->begun.shown - due : 0);
	histogram_count(&m->run_time, t->run_time);
}

#endif
