/* SPDX-License-Identifier: MIT */
/*
 * Which number belongs to which stat.
 */
#include "config.h"

#include "api/stats.h"
#include "os/base.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct member {
	enum timerthread_stat which;
	bool looks; /* at all slots */
	size_t offset;
};

#define MEMBER(which, looks, name)                                             \
	{                                                                      \
		TIMERTHREAD_STAT_##which, looks, offsetof(struct stats, name)  \
	}

static const struct member members[] = {
	MEMBER(PENDING, true, pending),
	MEMBER(RUNNING, true, running),
	MEMBER(DEAD, true, dead),
	MEMBER(SCHEDULED, false, scheduled),
	MEMBER(CANCELLED, true, cancelled),
	MEMBER(DRAINED, false, drained),
	MEMBER(RECYCLED, true, recycled),
	MEMBER(FIRED, false, fired),
	MEMBER(RESCHEDULED, false, rescheduled),
	MEMBER(CAPPED, false, capped),
	MEMBER(NO_MEMORY, false, no_memory),
	MEMBER(WAKEUPS, false, wakeups),
	MEMBER(EARLY_WAKEUPS, false, early_wakeups),
	MEMBER(SLOTS, false, slots),
	MEMBER(BYTES, false, bytes),
	MEMBER(RUN_TIME, false, run_time),
	MEMBER(LONGEST_RUN, false, longest_run),
	MEMBER(AWAKE_TIME, false, awake_time),
	MEMBER(LARGEST_LATENESS, false, largest_lateness),
};

static const struct member *find(enum timerthread_stat which)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (members[i].which == which)
			return &members[i];
	}
	return NULL;
}

static int get(struct timerthread *tt, enum timerthread_stat which,
	       uint64_t *ret_value)
{
	const struct member *m = find(which);
	struct stats s = {0};

	if (!m)
		return -EINVAL;
	if (instance_lives(tt)) {
		stats_count(tt, &s);
		if (m->looks)
			stats_look(tt, &s);
	}
	memcpy(ret_value, (const char *)&s + m->offset, sizeof(*ret_value));
	return 0;
}

TT_EXPORT int timerthread_get_stat(struct timerthread *tt,
				   enum timerthread_stat which,
				   uint64_t *ret_value)
{
	int r = instance_check(tt, ret_value != NULL);

	return r < 0 ? r : get(tt, which, ret_value);
}
