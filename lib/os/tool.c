/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/tool.h"

/* Runs before constructors that might use this library. */
__attribute__((constructor(101))) static void find(void)
{
	process.tool = tool_tsan();
	if (!process.tool)
		process.tool = tool_valgrind();
}
