/* SPDX-License-Identifier: MIT */
/*
 * As "pair" with a window, but for a daemon that has many timeouts: each is
 * chosen evenly at random between two.  A facility so slow that the shortest
 * expire before they are cancelled runs them, and "failed" counts these.
 */
#include "config.h"

#include "work.h"

int work_spread(void)
{
	struct window w = {
		.threads = (int)argument("threads", 1),
		.size = (size_t)argument("window", 20000),
	};

	w.least = argument_ns("least", 0.1);
	w.most = argument_ns("most", 10);
	w.ns = argument_ns("seconds", 0.5);
	return window_run(&w);
}
