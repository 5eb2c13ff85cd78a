/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine.h"

bool engine_init(struct engine *e, const struct engine_parts *parts)
{
	*e = (struct engine){
		.parts = *parts,
		.limit = INT64_MAX,
		.now = INT64_MIN,
		.next = INT64_MAX,
	};
	return pending_init(&e->pending, parts->intake);
}

void engine_destroy(struct engine *e)
{
	pending_destroy(&e->pending);
}
