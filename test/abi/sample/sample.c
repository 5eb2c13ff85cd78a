/* SPDX-License-Identifier: MIT */
#include "sample.h"

#include <stddef.h>

struct sample {
#ifdef PRIVATE_CHANGED
	long unused;
#endif
	int64_t x;
};

static struct sample only;

sample_result sample_create(struct sample **ret, enum sample_kind kind)
{
	only.x = kind;
	*ret = &only;
	return 0;
}

int sample_call(struct sample *s, sample_time when, sample_fn *fn, void *arg)
{
	s->x = when;
	return fn == NULL || arg == NULL;
}

#ifndef FUNCTION_REMOVED
int sample_move(struct sample *s, const struct sample_point *to)
{
	s->x = to->x + to->y;
	return 0;
}
#endif

#ifdef FUNCTION_ADDED
int sample_grow(struct sample *s, int32_t by)
{
	s->x += by;
	return 0;
}
#endif
