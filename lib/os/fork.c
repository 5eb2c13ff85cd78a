/* SPDX-License-Identifier: MIT */
/*
 * The handler runs in a child of fork(3), not in a child of _Fork(3) or of a
 * bare clone(2).  Such a child may call only async-signal-safe functions, and
 * none of ours is one.
 */
#include "config.h"

#include "os/fork.h"
#include "os/tool.h"

#include <pthread.h>

static void in_child(void)
{
	uint32_t next = fork_generation() + 1;

	atom32_store(&process.generation, next ? next : 1);
}

int fork_watch(void)
{
	static atom32 watching;
	int r = 0;

	tool_hide(&watching, sizeof(watching));
	/* Two threads at the same time count each fork twice: no harm. */
	if (!atom32_load(&watching)) {
		r = pthread_atfork(NULL, NULL, in_child);
		if (r == 0)
			atom32_store(&watching, 1);
	}
	return -r;
}

/* Early: in the child, handlers run in the order of their registration. */
__attribute__((constructor)) static void watch_early(void)
{
	(void)fork_watch();
}
