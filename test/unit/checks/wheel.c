/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "checks/slices.h"
#include "checks/wheel.h"

size_t wheel_count(const struct wheel *w)
{
	size_t n = 0;

	for (int i = 0; i < WHEEL_LEVELS; i++)
		n += slices_count(&w->level[i]);
	return n;
}

void wheel_check(const struct wheel *w)
{
	for (int i = 0; i < WHEEL_LEVELS; i++)
		slices_check(&w->level[i]);
}
