/* SPDX-License-Identifier: MIT */
/*
 * A plugin that is linked with the library.
 */
#include "copy.h"

extern copy_use_fn plugin_use;

int plugin_use(struct copy *ret)
{
	return copy_use(ret);
}
