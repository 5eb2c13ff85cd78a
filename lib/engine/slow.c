/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/slow.h"
#include "os/base.h"

struct report {
	const struct slow *slow;
	const struct run *run;
	int64_t run_time;
};

static void tell(void *arg)
{
	const struct report *r = arg;

	r->slow->hook(r->run->id, r->run->fn, r->run->arg, r->run_time,
		      r->slow->ctx);
}

TT_NOINLINE bool slow_report(struct engine *e, struct inside *in,
			     const struct run *run, int64_t run_time)
{
	struct report r = {&e->slow, run, run_time};

	return inside_call(e->instance, in, &e->task_id, run, tell, &r);
}
