/* SPDX-License-Identifier: MIT */
/*
 * What was measured, up to one moment or between two.
 *
 * Histograms are never reset, because others may read them, too.  Those of an
 * interval are the difference of two snapshots.
 */
#include "base/keep.h"
#include "os/memory.h"
#include "view/stats.h"

struct timerthread_snapshot {
	/* Both name the instance: a later one may get the same address. */
	const struct timerthread *tt;
	int64_t created;
	struct histogram_counts counts[HISTOGRAMS];
};

TT_EXPORT_RARE int
timerthread_take_snapshot(struct timerthread *tt,
			  struct timerthread_snapshot **ret_snapshot)
{
	KEEP_ERRNO;
	struct timerthread_snapshot *s;
	int r = instance_check(tt, ret_snapshot != NULL);

	if (r < 0)
		return r;
	s = memory_alloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->tt = tt;
	s->created = tt->created;
	stats_measured(tt, s->counts);
	*ret_snapshot = s;
	return 0;
}

TT_EXPORT_RARE void
timerthread_free_snapshot(struct timerthread_snapshot *snapshot)
{
	KEEP_ERRNO;

	memory_free(snapshot);
}

TT_EXPORT_RARE int
timerthread_get_quantile(const struct timerthread_snapshot *snapshot,
			 const struct timerthread_snapshot *before,
			 enum timerthread_histogram which, double part,
			 int64_t *ret_value)
{
	struct histogram_counts c;

	if (!snapshot || !ret_value || !(part >= 0 && part <= 1) ||
	    (unsigned)which >= HISTOGRAMS)
		return -EINVAL;
	c = snapshot->counts[which];
	if (before && (before->tt != snapshot->tt ||
		       before->created != snapshot->created ||
		       !histogram_subtract(&c, &before->counts[which])))
		return -EINVAL;
	if (histogram_number(&c) == 0)
		return -ENOENT;
	*ret_value = histogram_quantile(&c, part);
	return 0;
}
