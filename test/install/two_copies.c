/* SPDX-License-Identifier: MIT */
/*
 * A program that has the library in it, and loads a plugin that is linked with
 * the shared one.  Tells whether the plugin uses a copy of its own: "two" or
 * "one"; anything else is wrong.
 */
#include "copy.h"

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct copy mine, its;
	void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	copy_use_fn *use;

	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&use = dlsym(plugin, "plugin_use");
	if (!use || use(&its) != 0 || copy_use(&mine) != 0)
		return 1;
	if (mine.tt == its.tt) {
		if (!pthread_equal(mine.thread, its.thread) ||
		    timerthread_cancel(mine.tt, its.id) != 0)
			return 1;
		puts("one");
	} else {
		if (pthread_equal(mine.thread, its.thread) ||
		    timerthread_cancel(mine.tt, mine.id) != 0 ||
		    timerthread_cancel(its.tt, its.id) != 0)
			return 1;
		puts("two");
	}
	return 0;
}
