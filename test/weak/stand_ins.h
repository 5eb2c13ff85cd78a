/* SPDX-License-Identifier: MIT */
/*
 * What stands in the place of parts that are no protocol of their own: time
 * stands still; where a timer's entry arrives there is room for one.
 */
#pragma once

#include "harness.h"
#include "os/clock.h"
#include "os/fork.h"
#include "os/tool.h"

#define NOW 10

struct fork_page fork_page;
tool_fn *tool_found;

int64_t clock_now(clockid_t clock)
{
	(void)clock;
	return NOW;
}

int64_t watch_virtual_now(struct watch *w)
{
	return w->shown;
}

struct timespec clock_timespec(int64_t t)
{
	return (struct timespec){.tv_sec = t};
}

int64_t clock_add(int64_t a, int64_t b)
{
	return a + b;
}
