/* SPDX-License-Identifier: MIT */
/*
 * The handler runs in the child of fork(3), not in that of _Fork(3) or of a
 * bare clone(2).  Those may call async-signal-safe functions alone, which none
 * of ours is.
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
	/* Two threads at once count each fork twice, which is as good. */
	if (!atom32_load(&watching)) {
		r = pthread_atfork(NULL, NULL, in_child);
		if (r == 0)
			atom32_store(&watching, 1);
	}
	return -r;
}

/* Early: handlers run in the child in the order in which they came. */
__attribute__((constructor)) static void watch_early(void)
{
	(void)fork_watch();
}
