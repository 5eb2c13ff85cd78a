/* SPDX-License-Identifier: MIT */
/*
 * Loads programs as plugins, which bring the library with them, and runs them.
 * They are not unloaded: threads that have not ended may be in them.
 */
#include "guest.h"
#include <dlfcn.h>

static void run(const char *file)
{
	void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	int (*plugin_main)(void);

	expect(plugin != NULL);
	*(void **)&plugin_main = dlsym(plugin, "main");
	expect(plugin_main != NULL);
	expect(plugin_main() == 0);
}

int main(int argc, char *argv[])
{
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	return 0;
}
