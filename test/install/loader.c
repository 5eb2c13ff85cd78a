/* SPDX-License-Identifier: MIT */
/*
 * A program that loads a plugin, has it run a timer, and unloads it; several
 * times.  The library stays, with what runs in it.
 */
#include "copy.h"

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct copy first = {0}, now;

	if (argc != 2)
		return 1;
	for (int i = 0; i < 3; i++) {
		void *plugin = dlopen(argv[1], RTLD_NOW);
		copy_use_fn *use;

		if (!plugin) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		*(void **)&use = dlsym(plugin, "plugin_use");
		if (!use || use(&now) != 0)
			return 1;
		if (i == 0)
			first = now;
		if (now.tt != first.tt ||
		    !pthread_equal(now.thread, first.thread))
			return 1;
		dlclose(plugin);
	}
	puts("loaded");
	return 0;
}
