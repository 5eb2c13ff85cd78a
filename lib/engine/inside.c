/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/inside.h"
#include "os/fork.h"

#include <stddef.h>

struct inside {
	struct timerthread *instance;
	const struct run *run;
	uint32_t generation; /* see fork.h */
	const struct inside *outer;
};

/* In the static block, so that it takes no call into the dynamic linker. */
static _Thread_local const struct inside *innermost
	__attribute__((tls_model("initial-exec")));

bool inside_call(struct timerthread *instance, const struct run *run,
		 timerthread_fn *fn, void *arg)
{
	const struct inside self = {
		.instance = instance,
		.run = run,
		.generation = fork_generation(),
		.outer = innermost,
	};

	innermost = &self;
	fn(arg);
	innermost = self.outer;
	return likely(self.generation == fork_generation());
}

static bool is_for(const struct inside *in, const struct timerthread *instance)
{
	return in->instance == instance && in->generation == fork_generation();
}

bool inside_instance(const struct timerthread *instance)
{
	const struct inside *in = innermost;

	while (in && !is_for(in, instance))
		in = in->outer;
	return in != NULL;
}

bool inside_timer(const struct timerthread *instance, timerthread_id id)
{
	const struct inside *in = innermost;

	while (in && (!in->run || in->run->id != id || !is_for(in, instance)))
		in = in->outer;
	return in != NULL;
}

const struct run *inside_current(struct timerthread **ret_instance)
{
	const struct inside *in = innermost;

	if (!in || in->generation != fork_generation())
		return NULL;
	*ret_instance = in->instance;
	return in->run;
}
