/* SPDX-License-Identifier: MIT */
/*
 * Where the system cannot wipe the page in a child, or an emulator only says
 * that it can, a handler of fork(3) does that.  It must not do it once more:
 * the program's own handlers may have started something in the child before.
 */
#include "os/fork.h"
#include "os/tool.h"

#include <string.h>

INTERNAL_OBJECT struct fork_page fork_page = {.generation = 0};

/* Neither this process nor a parent has a later one. */
static atom32 newest;

/* The generation when fork_watch or the handler ran last; 0: neither did. */
static atom32 known;

/*
 * Several threads may each take a number; the first one to write it decides.
 * Nobody uses a number before it is the newest.  So a child that is made
 * meanwhile takes a later one than all that it inherits.
 */
uint32_t fork_need_generation(void)
{
	while (fork_generation() == 0) {
		uint32_t last = atom32_load(&newest);
		uint32_t next = last + 1 < FORK_NO_GENERATION ? last + 1 : 1;

		if (atom32_swap(&newest, last, next) == last)
			(void)atom32_swap(&fork_page.generation, 0, next);
	}
	return fork_generation();
}

/* If the page was wiped, it holds 0, or what was made in this child. */
static void in_child(void)
{
	if (fork_generation() == atom32_load(&known))
		memset(&fork_page, 0, sizeof(fork_page));
	atom32_store(&known, fork_need_generation());
}

int fork_watch(void)
{
	int r = 0;

	tool_hide(&known, sizeof(known));
	/* Two threads at the same time do all of it twice: no harm. */
	if (atom32_load(&known) == 0) {
		system_wipe_in_children(&fork_page);
		r = pthread_atfork(NULL, NULL, in_child);
		if (r == 0)
			atom32_store(&known, fork_need_generation());
	}
	return -r;
}

/* Early: in the child, handlers run in the order of their registration. */
__attribute__((constructor)) static void watch_early(void)
{
	(void)fork_watch();
}
