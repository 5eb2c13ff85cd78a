/* SPDX-License-Identifier: MIT */
/* Loads one of the programs as a plugin, which brings the library with it. */
#include "guest.h"
#include <dlfcn.h>

int main(int argc, char *argv[])
{
	void *plugin =
		argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*plugin_main)(void);

	expect(plugin != NULL);
	*(void **)&plugin_main = dlsym(plugin, "plugin_main");
	expect(plugin_main != NULL);
	expect(plugin_main() == 0);
	expect(dlclose(plugin) == 0);
	return 0;
}
