/* SPDX-License-Identifier: MIT */
/*
 * The yardstick of "pair": an atomic read-modify-write that no other thread
 * wants.
 */
#include "config.h"

#include "work.h"

static _Atomic unsigned word __attribute__((aligned(64)));

static void nothing(int i)
{
	(void)i;
}

static long turn(int i)
{
	long n = 0;

	(void)i;
	for (; !team_over(); n += 16) {
		for (int k = 0; k < 16; k++)
			atomic_fetch_add(&word, 1);
	}
	return n;
}

int work_rmw(void)
{
	struct team team = {1, argument_ns("seconds", 0.2), nothing, turn,
			    nothing};
	struct cost c = team_run(&team);

	result_cost(&c);
	return 0;
}
