/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "away.h"
#include "engine.h"

bool engine_init(struct engine *e, const struct engine_parts *parts)
{
	*e = (struct engine){
		.parts = *parts,
		.limit = INT64_MAX,
		.now = INT64_MIN,
		.next = INT64_MAX,
	};
	e->tidy.began = engine_clock(e);
	return pending_init(&e->pending, parts->intake);
}

void engine_destroy(struct engine *e)
{
	pending_destroy(&e->pending);
}

size_t engine_take_back(struct engine *e, struct bucket *b, struct slot *back)
{
	struct slot *s;
	size_t n = 0;

	while ((s = back) != NULL) {
		back = s->next;
		pending_come_back(&e->pending, away_take(b, s));
		n++;
	}
	return n;
}

void engine_forget(struct engine *e)
{
	uint32_t gone = atom32_load(&e->gone);

	pending_forget(&e->pending, gone - e->forgotten);
	e->forgotten = gone;
}
