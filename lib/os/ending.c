/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/ending.h"

#include <stddef.h>

void ending_init(struct ending *e, void (*fn)(void *arg))
{
	e->there = pthread_key_create(&e->key, fn) == 0;
}

bool ending_set(const struct ending *e, void *arg)
{
	return e->there && pthread_setspecific(e->key, arg) == 0;
}

void ending_clear(const struct ending *e)
{
	if (e->there)
		pthread_setspecific(e->key, NULL);
}
