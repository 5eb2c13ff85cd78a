/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/roots.h"

#define WEAK __attribute__((weak, visibility("default")))

/* Declared as in the runtime, which has them if the program contains it. */
WEAK void __lsan_register_root_region(const void *p, size_t size);
WEAK void __lsan_unregister_root_region(const void *p, size_t size);

void roots_add(const void *p, size_t size)
{
	if (__lsan_register_root_region)
		__lsan_register_root_region(p, size);
}

void roots_remove(const void *p, size_t size)
{
	if (__lsan_unregister_root_region)
		__lsan_unregister_root_region(p, size);
}
