/* SPDX-License-Identifier: MIT */
/*
 * How late callbacks begin, and how long they run.
 *
 * Reading the clock costs about 20 to 50 ns.  So it is read once for a
 * callback, when the callback has returned.  If another callback begins right
 * after it, the same reading is the beginning of that one.  Then the driver's
 * work in between, mostly less than 0.3 us, counts as run time of the second
 * callback.
 *
 * Lateness is measured with the instance's clock.  Run time is measured with
 * CLOCK_MONOTONIC, which is never set.
 *
 * measure_count: one thread at a time.  Any thread may read the counts.
 */
#pragma once

#include "base/histogram.h"
#include "os/clock.h"

struct measured {
	struct histogram lateness;
	struct histogram run_time;
};

/* A moment, by two clocks. */
struct moment {
	int64_t shown;  /* by the instance's clock */
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
	bool ran;    /* else there was none */
	int64_t due; /* when the timer was due */
	struct moment begun;
	int64_t run_time;    /* once it has returned */
	struct moment ended; /* of the callback, and of the slow hook */
};

/*
 * If the clock may be set, a deadline that is not positive means "as soon as
 * possible"; such a call is not late.
 */
static inline void measure_count(struct measured *m, const struct timing *t)
{
	histogram_count(&m->lateness, t->due > 0 ? t->begun.shown - t->due : 0);
	histogram_count(&m->run_time, t->run_time);
}
