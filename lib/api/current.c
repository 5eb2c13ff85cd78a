/* SPDX-License-Identifier: MIT */
/*
 * What a callback can ask about its own run.
 */
#include "config.h"

#include "engine/inside.h"
#include "os/base.h"

#include <errno.h>

TT_EXPORT int timerthread_get_current(struct timerthread **ret_tt,
				      timerthread_id *ret_id)
{
	struct timerthread *tt;
	const struct run *run = inside_current(&tt);

	if (!run)
		return -ENOENT;
	if (ret_tt)
		*ret_tt = tt;
	if (ret_id)
		*ret_id = run->id;
	return 0;
}

TT_EXPORT int timerthread_get_overrun(uint64_t *ret_n)
{
	struct timerthread *tt;
	const struct run *run = inside_current(&tt);

	if (!ret_n)
		return -EINVAL;
	if (!run)
		return -ENOENT;
	*ret_n = run->overrun;
	return 0;
}
