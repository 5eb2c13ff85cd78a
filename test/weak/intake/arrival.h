/* SPDX-License-Identifier: MIT */
/*
 * Where a timer's new entry arrives, in the place of the library's header:
 * there is room for a few, and the driver takes them under the bucket's lock.
 */
#pragma once

#include "harness.h"
#include "intake/bucket.h"

#define ARRIVALS 2

static struct entry arrived[ARRIVALS];
static unsigned n_arrived;

struct arrival {
	struct lane *lane;
	int64_t due;
	bool at_once;
};

enum { ARRIVAL_READY };

static inline struct arrival arrival_aim(struct bucket *b, int64_t deadline)
{
	(void)b;
	return (struct arrival){NULL, deadline, false};
}

static inline struct arrival arrival_aim_old(struct bucket *b, int64_t deadline)
{
	return arrival_aim(b, deadline);
}

/* For the short way (schedule.h), which no harness goes. */
static inline bool arrival_ready(struct bucket *b, struct lane *l, bool slot)
{
	(void)b;
	(void)l;
	(void)slot;
	return false;
}

static inline int arrival_begin(struct bucket *b, struct wakeup *w, bool slot,
				int64_t deadline, const int64_t *now,
				struct arrival *a)
{
	(void)w;
	(void)slot;
	(void)now;
	lock_acquire(&b->lock);
	*a = arrival_aim(b, deadline);
	return 0;
}

static inline bool arrival_is_open(const struct bucket *b, struct wakeup *w)
{
	(void)w;
	return b->state != BUCKET_SHUT;
}

static inline bool arrival_push(struct bucket *b, struct wakeup *w,
				const struct arrival *a, struct entry e)
{
	(void)b;
	(void)w;
	(void)a;
	weak_check(n_arrived < ARRIVALS, "too many entries");
	arrived[n_arrived++] = e;
	return false;
}

static inline void arrival_leave(struct bucket *b, struct wakeup *w, bool kick)
{
	lock_release(&b->lock);
	if (kick)
		wakeup_kick(w);
}

static inline void arrival_add(struct bucket *b, struct wakeup *w,
			       const struct arrival *a, struct entry e)
{
	arrival_leave(b, w, arrival_push(b, w, a, e));
}
