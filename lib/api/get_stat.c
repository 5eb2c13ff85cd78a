/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "api/stat.h"
#include "os/base.h"

#include <errno.h>
#include <string.h>

static const struct fact *find(enum timerthread_stat which)
{
	for (const struct fact *r = stat_table; r < stat_end; r++) {
		if (r->which == (int)which && r->which != NO_STAT)
			return r;
	}
	return NULL;
}

static int get(struct timerthread *tt, enum timerthread_stat which,
	       uint64_t *ret_value)
{
	const struct fact *m = find(which);
	struct stats s = {0};

	if (!m)
		return -EINVAL;
	if (instance_lives(tt)) {
		stats_count(tt, &s);
		if (m->offset >= offsetof(struct stats, pending))
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
