/* SPDX-License-Identifier: MIT */
/*
 * What a callback can ask about its own run.
 */
#include "base/base.h"
#include "engine/inside.h"

#include <errno.h>

TT_EXPORT int timerthread_get_current(struct timerthread **ret_tt,
				      timerthread_id *ret_id)
{
	const struct current *c = inside_current();

	if (!c)
		return -ENOENT;
	if (ret_tt)
		*ret_tt = c->tt;
	if (ret_id)
		*ret_id = c->id;
	return 0;
}

TT_EXPORT int timerthread_get_overrun(uint64_t *ret_n)
{
	const struct current *c = inside_current();

	if (!ret_n)
		return -EINVAL;
	if (!c)
		return -ENOENT;
	*ret_n = c->overrun;
	return 0;
}
